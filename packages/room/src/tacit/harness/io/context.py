"""What the parts of one agent's harness share: its session with the hub, its store, what it has seen.

Around a turn: what its question still lacks is looked up (C2A-083, C2A-086, C2A-174, C2A-223).

The lines that the author has added without naming the agent again, waited for while they come; where the
question has run out, the thread as it stands now; and for a question in the open flow of a conversation the
lines before it. Reads only; a look that fails leaves the question as it is.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.moment import SECOND, Moment
from tacit.c2a.messages import read_content, read_delivered, read_window
from tacit.c2a.retry import OutcomeUnknown
from tacit.c2a.tools import BRIEF, DURING, body_of
from tacit.c2a.vocabulary import Mode
from tacit.harness.chat_tools import named, takes
from tacit.harness.naming import NamedAddressees, company, may_name, named_in
from tacit.harness.orders import may_go_on, went_on
from tacit.harness.session_view import LOOKED_AT, open_lines, scrolled_back, session_name, wants_context

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from tacit.base.ports import Clock
    from tacit.c2a.io.session import AgentSession
    from tacit.c2a.messages import Delivered, Earlier
    from tacit.harness.conduct import Conduct
    from tacit.harness.drivers.port import TurnOutcome
    from tacit.harness.effects import ModelTurn
    from tacit.harness.io.store import HarnessStore, StoreTransaction
    from tacit.harness.session_view import SessionView


MEMBERS: Final = "chat.members"


class Teller(Protocol):
    """Whoever wants to know what goes on; gets our own words and ids, never what anybody wrote."""

    def __call__(self, what: str, **data: object) -> None:
        """Something happened."""
        ...


def tell_nobody(what: str, **data: object) -> None:
    """The teller of a harness that nobody watches."""
    del what, data


@dataclass(slots=True)
class HarnessContext:
    """What the parts of one harness share."""

    name: str
    session: AgentSession
    store: HarnessStore
    view: SessionView
    clock: Clock
    tell: Teller = tell_nobody
    model: str = ""
    """The model that the agent was given, where it was named."""
    settings: Settings = DEFAULTS
    in_flight: set[str] = field(default_factory=set[str])
    """Keys of sends that somebody is making at this moment."""
    outgoing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the outbox has something."""
    shown_up_to: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """How far each audience's session has read each conversation, in this process."""
    showing: dict[str, tuple[tuple[str, str], int]] = field(
        default_factory=dict[str, tuple[tuple[str, str], int]]
    )
    """By turn: how far its session will have read its conversation, if it is answered."""
    read_in: dict[str, str] = field(default_factory=dict[str, str])
    """By audience: the session that has read so far."""
    unreached: dict[str, NamedAddressees] = field(default_factory=dict[str, NamedAddressees])
    """By audience: whom the last answer named in vain. Its model is told with the next turn."""
    whole: dict[str, Moment] = field(default_factory=dict[str, Moment])
    """Events after which their author has said nothing more, with when they came.

    They came as they happened, on this connection, from a hub that tells when an author goes on, and it has
    not told so.
    """

    asked: dict[str, str] = field(default_factory=dict[str, str])
    """Events whose answer is written and waits for a person's leave to be said, with a sentence on it."""

    ask_again: Callable[[Delivered, str], Awaitable[None]] | None = None
    """Has the model asked once more, with a note on why its answer may not be said."""
    work_changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a piece of work may stand otherwise than the hub was told."""

    def write(self, work: Callable[[StoreTransaction], None]) -> Coroutine[Any, Any, None]:
        """One synced transaction, off the loop."""
        return asyncio.to_thread(self.store.write, work)

    async def said(self, key: str, state: str, result: str = "") -> None:
        """Keep how a send went."""
        await self.write(lambda writing: writing.said(key, state, result))

    def offers(self, tool: str) -> bool:
        """Does the hub have this tool?"""
        return bool(named(tool, self.session.tools))

    async def read(self, tool: str, about: Delivered, **where: Any) -> dict[str, Any]:
        """A look around for an event's turn: what those who read its answer may know."""
        if takes(named(tool, self.session.tools), DURING):
            where[DURING] = about.event_id
        return await self.session.call(tool, **where)

    async def named(self, arguments: Mapping[str, Any], about: Delivered) -> NamedAddressees:
        """Whom the words of a send name; nobody where the hub does not say who is here."""
        if not may_name(arguments) or not self.offers(MEMBERS):
            return NamedAddressees()
        try:
            result = await self.read(MEMBERS, about)
        except Refused:
            return NamedAddressees()
        elsewhere = arguments.get("target") not in {None, about.reply_target}
        return named_in(
            body_of(arguments.get("content")),
            company(result.get("members")),
            me=self.name,
            about=about,
            elsewhere=elsewhere,
        )

    def describe(self, error: Any) -> dict[str, object]:
        """An error as a tool result's error object."""
        return {"code": error.code, "message": error.message, "details": dict(error.details)}


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
