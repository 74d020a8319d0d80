"""Around a turn: what its question still lacks is looked up (C2A-083, C2A-086, C2A-174, C2A-223).

The lines that the author has added without naming the agent again, waited for while they come; where the
question has run out, the thread as it stands now; and for a question in the open flow of a conversation the
lines before it. Reads only; a look that fails leaves the question as it is.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.moment import SECOND, Moment
from tacit.c2a.messages import read_content, read_delivered, read_window
from tacit.c2a.retry import OutcomeUnknown
from tacit.c2a.tools import BRIEF
from tacit.c2a.vocabulary import Mode
from tacit.harness.chat_tools import named, takes
from tacit.harness.continuing import may_go_on, went_on
from tacit.harness.runs import session_name
from tacit.harness.scrolling import LOOKED_AT, open_lines, scrolled_back, wants_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.c2a.messages import Delivered, Earlier
    from tacit.harness.conduct import Conduct
    from tacit.harness.drivers.port import TurnOutcome
    from tacit.harness.effects import ModelTurn
    from tacit.harness.io.context import HarnessContext

READ_THREAD: Final = "chat.read_thread"
READ_CHANNEL: Final = "chat.read_channel"
REMEMBERED_PLACES: Final = 1_000
STANDS: Final = 5 * SECOND
"""How long what came with a question counts as it was said: later it may have been edited or taken back."""


def at_hand(context: HarnessContext, turn: ModelTurn) -> ModelTurn | None:
    """The turn with all that belongs to its question, where that came along; None if one has to look."""
    carrier, now = turn.events[-1], context.clock.now()
    if _has_run_out(turn, now) or _may_lack_more(context, carrier):
        return None
    if not wants_context(carrier):
        return turn
    lines = _came_along(context, turn.events[0], now)
    return None if lines is None else _scrolled(context, turn, lines)


async def prepared(context: HarnessContext, conduct: Conduct, turn: ModelTurn) -> ModelTurn:
    """The same, looked up."""
    return await _in_context(context, await _whole(context, conduct, await _looked_at(context, turn)))


async def _in_context(context: HarnessContext, turn: ModelTurn) -> ModelTurn:
    """The question with what was said before it, as far as this audience's session has not read it."""
    carrier, first = turn.events[-1], turn.events[0]
    if not wants_context(carrier):
        return turn
    lines = _came_along(context, first, context.clock.now())
    if lines is None:
        lines = await _read_before(context, carrier, first)
    return turn if lines is None else _scrolled(context, turn, lines)


def _scrolled(context: HarnessContext, turn: ModelTurn, lines: Sequence[Earlier]) -> ModelTurn:
    """The question with those of the lines before it that belong to it."""
    carrier, first = turn.events[-1], turn.events[0]
    place = (session_name(carrier.audience, turn.slot), carrier.conversation)
    known = None if turn.fresh else context.shown_up_to.get(place)
    window = scrolled_back(first, lines, context.name, shown_up_to=known)
    context.showing[turn.id] = (place, carrier.sequence)
    return replace(turn, events=(*turn.events[:-1], replace(carrier, window=window)))


def _came_along(context: HarnessContext, first: Delivered, now: Moment) -> tuple[Earlier, ...] | None:
    """The lines that the hub sent with the question, while they are sure to stand as they were said."""
    arrived = context.whole.get(first.event_id)
    return first.before if arrived is not None and now - arrived < STANDS else None


async def _read_before(
    context: HarnessContext, carrier: Delivered, first: Delivered
) -> tuple[Earlier, ...] | None:
    """The same from a look at the conversation: for a question that has waited, or was brought again."""
    if not context.offers(READ_CHANNEL):
        return None
    where: dict[str, Any] = {"conversationId": carrier.conversation, "before": first.event_id}
    where["limit"] = LOOKED_AT
    if takes(named(READ_CHANNEL, context.session.tools), BRIEF):
        where[BRIEF] = True
    try:
        result = await context.read(READ_CHANNEL, carrier, **where)
    except (Refused, Unavailable, OutcomeUnknown):
        return None
    return open_lines(result.get("events"))


async def remember(context: HarnessContext, turn: ModelTurn, outcome: TurnOutcome) -> None:
    """After a turn: which session of the model's had it, and how far that has read the conversation.

    Only what a session has answered is sure to be in it: a turn that failed shows its lines again. A new
    session has read nothing, and a program that names none reads everything anew.
    """
    shown, session = context.showing.pop(turn.id, None), outcome.session_id
    audience = session_name(turn.audience, turn.slot)
    if session is None:
        return
    if context.read_in.get(audience) != session:
        context.read_in[audience] = session
        context.shown_up_to = {place: at for place, at in context.shown_up_to.items() if place[0] != audience}
    if shown is not None and outcome.failure is None:
        place, sequence = shown
        context.shown_up_to[place] = max(sequence, context.shown_up_to.get(place, 0))
    while len(context.shown_up_to) > REMEMBERED_PLACES:
        del context.shown_up_to[next(iter(context.shown_up_to))]
    while len(context.read_in) > REMEMBERED_PLACES:
        del context.read_in[next(iter(context.read_in))]
    await keep_session(context, audience, session)


async def keep_session(context: HarnessContext, audience: str, session: str) -> None:
    """With which session of the model's an audience goes on, also in another process."""
    now = context.clock.now()
    await context.write(lambda writing: writing.session_for(audience, session, now))


def _has_run_out(turn: ModelTurn, now: Moment) -> bool:
    """Is an answer overdue?"""
    due = turn.deadline_at
    return due is not None and due <= now and bool(turn.events[-1].created_at)


def _may_lack_more(context: HarnessContext, carrier: Delivered) -> bool:
    """Can its author have said more that nobody told of?"""
    return may_go_on(carrier) and carrier.event_id not in context.whole


async def _looked_at(context: HarnessContext, turn: ModelTurn) -> ModelTurn:
    """An event that has run out is answered only with the thread's present state in sight (C2A-174)."""
    carrier = turn.events[-1]
    if not _has_run_out(turn, context.clock.now()):
        return turn
    try:
        result = await context.read(READ_THREAD, carrier, eventId=carrier.event_id)
    except (Refused, Unavailable, OutcomeUnknown):
        return turn
    window = read_window(result.get("events"))
    note = f"{turn.note} This has waited long; answer only what is still open.".strip()
    return replace(turn, events=(*turn.events[:-1], replace(carrier, window=window)), note=note)


async def _whole(context: HarnessContext, conduct: Conduct, turn: ModelTurn) -> ModelTurn:
    """What the author added in the meantime without naming the agent again, waited for while it comes."""
    carrier, settings = turn.events[-1], context.settings
    if not _may_lack_more(context, carrier):
        return turn
    where = {"threadId": carrier.thread} if carrier.thread else {"conversationId": carrier.conversation}
    more: list[tuple[Moment, str]] = []
    while (running := conduct.turn(turn.id)) is not None and not running.is_ending:
        try:
            result = await context.read(READ_THREAD, carrier, after=carrier.event_id, **where)
        except (Refused, Unavailable, OutcomeUnknown):
            break
        more = went_on(carrier, result.get("events") or (), settings.compose_cap_ms)
        now = context.clock.now()
        quiet_at = more[-1][0] + settings.compose_quiet_ms * 1000 if more else now
        until = min(quiet_at, carrier.created_at + settings.compose_cap_ms * 1000)
        if until <= now:
            break
        await asyncio.sleep((until - now) / SECOND)
    if not more:
        return turn
    text = "\n".join([carrier.text, *(line for _at, line in more)])
    return replace(turn, events=(*turn.events[:-1], carrier.with_text(text)))


def whole_event(knock: Delivered, given: object) -> Delivered:
    """The event behind a claimed knock, from the claim's result."""
    if isinstance(given, dict) and "eventId" in given:
        event = cast("dict[str, Any]", given)
        try:
            whole = read_delivered(event)
        except PeerFault:
            whole = knock.with_text(read_content(event.get("content") or event.get("text")))
        return replace(
            whole, mode=Mode.BUFFERED, knock=None, reply_target=whole.reply_target or knock.reply_target
        )
    return replace(knock, mode=Mode.BUFFERED)
