"""Orders about work that an agent has: call it off, or wait with it (C2A-082, C2A-083, C2A-180).

Whose work an order means is for `belonging.called_off_by`: what it replies to, else its author's own; only
its asker and the owner have a say in it. What is called off ends. What is held stops where it is and waits
for its asker: it goes on with their next line, or by itself when so long has passed that they must have
forgotten. A turn that has spoken is over anyway and is not held. Works on the queue and the running turns
that it is given; how a turn is ended is the caller's, and so is the time.

Going on: the lines that an author adds in a channel without naming the agent again (C2A-083, C2A-086).

People write "@ada" and then the question, or a question and then its other half. Only the first line is aimed
at the agent; what the same author says next, before anybody else speaks and to nobody else, belongs to it.
Pure: the lines come from a look at the conversation.

Parking: a turn that waits for a person's permission makes room for other work (C2A-207).

A person may take days, and the slot is the agent's one place to work. So when another question could begin in
it, the turn is ended and its question waits for the answer, with no process behind it: the model's session
stays, and the same question goes on in it with the person's answer in its note. A turn that has spoken is not
begun again and keeps its slot, and so does one of which another call is under way. Nobody being in the way,
a turn just waits. How a turn is ended is the conduct's; what was asked and answered is kept by
`tacit.harness.io.permissions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.notifications import Work
from tacit.c2a.vocabulary import ConversationKind, Mode
from tacit.harness import belonging
from tacit.harness.effects import Effect, React, Report, Settle
from tacit.harness.question import MS, TurnQuestion
from tacit.harness.running import RunningTurn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tacit.attention.settings import Settings
    from tacit.c2a.messages import Delivered
    from tacit.harness.question import QuestionQueue


EndTurn = Callable[[RunningTurn, TurnQuestion | None], list[Effect]]
BEGUN: Final = "You had begun on this and were asked to wait; check what is done already."


def call_off(
    event: Delivered, queue: QuestionQueue, live: Sequence[RunningTurn], end: EndTurn
) -> list[Effect]:
    """What an order to stop means ends; nothing follows when it means nothing that is here."""
    effects: list[Effect] = []
    for question, running in _meant(event, queue, live):
        for one in question.live:
            effects += [Settle(one.event_id, "superseded"), Report(Work(one.event_id, "called_off"))]
        if running is None:
            queue.remove(question)
        else:
            effects += [Settle(one.event_id, "superseded") for one in _taken_over(running)]
            effects += end(running, None)
    return effects


def hold(
    event: Delivered,
    queue: QuestionQueue,
    live: Sequence[RunningTurn],
    end: EndTurn,
    now: Moment,
    settings: Settings,
) -> list[Effect]:
    """What an order to wait means is put back until its asker goes on, and a signal says so.

    Nothing follows when it means nothing that is here: then it is for the model to read.
    """
    meant, until = _meant(event, queue, live), Moment(now + settings.hold_ms * MS)
    effects: list[Effect] = []
    for question, running in meant:
        if running is None:
            queue.replace(question, _put_back(question, until))
        elif not running.has_spoken:
            more = (*question.events, *_taken_over(running))
            note = BEGUN if running.side_effects else question.note
            effects += end(running, _put_back(replace(question, events=more, note=note), until))
    return [*effects, React(event.event_id, "agree"), Settle(event.event_id)] if meant else []


def go_on(queue: QuestionQueue, now: Moment, means: Callable[[TurnQuestion], bool]) -> None:
    """The asker of what was put back has said something: it waits no longer."""
    for question in list(queue.all):
        if question.is_held and means(question):
            queue.replace(question, replace(question, is_held=False, not_before=now))


def _meant(
    event: Delivered, queue: QuestionQueue, live: Sequence[RunningTurn]
) -> list[tuple[TurnQuestion, RunningTurn | None]]:
    """The work that is meant, each with the turn that runs it."""
    found = belonging.called_off_by(event, [*queue.all, *(one.question for one in live)])
    return [(question, next((one for one in live if one.question is question), None)) for question in found]


def _taken_over(running: RunningTurn) -> list[Delivered]:
    """The fragments that wait for the turn's next boundary, out of it; what is immediate stays its own."""
    more = [one for one in running.waiting if one.mode is not Mode.IMMEDIATE]
    running.waiting = [one for one in running.waiting if one not in more]
    return more


def _put_back(question: TurnQuestion, until: Moment) -> TurnQuestion:
    return replace(question, window=None, held_until=Moment(0), not_before=until, is_held=True)


def may_go_on(event: Delivered) -> bool:
    """Can more of it come without a name? A person's words in a channel or thread; a dm is aimed anyway."""
    return (
        event.author.kind == "human"
        and event.kind is not ConversationKind.DM
        and event.mode is Mode.BUFFERED
        and event.knock is None
        and event.signal is None
    )


def went_on(event: Delivered, said: Iterable[object], cap_ms: int) -> list[tuple[Moment, str]]:
    """The author's further lines, each with its time: until somebody else speaks, or the cap is reached."""
    found: list[tuple[Moment, str]] = []
    for item in said:
        line = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        at = parse_rfc3339(str(line.get("createdAt", "")))
        if int(line.get("sequence") or 0) <= event.sequence or at is None or line.get("deleted"):
            continue
        author = cast("dict[str, Any]", line.get("author") or {})
        late = at - event.created_at > cap_ms * 1000
        if author.get("id") != event.author.id or late or line.get("directedness") == "to_other":
            break
        if line.get("directedness") == "ambient" and isinstance(line.get("content"), str):
            found.append((at, str(line["content"])))
    return found


PERMISSION: Final = "permission"
"""What a turn waits for, as the hub hears it."""


def give_way(
    turns: Mapping[int, RunningTurn], queue: QuestionQueue, now: Moment, settings: Settings
) -> list[RunningTurn]:
    """The turn that is in the way of a question that could begin now; none when there is no such."""
    for slot, running in sorted(turns.items()):
        ready_at = queue.next_due(settings, turns.keys() - {slot}, slot) if _may_park(running) else None
        if ready_at is not None and ready_at <= now:
            return [running]
    return []


def _may_park(running: RunningTurn) -> bool:
    waits = running.waits_for[0] == PERMISSION and not running.is_ending
    return waits and not running.is_in_effect and not running.has_spoken


def parked(running: RunningTurn) -> TurnQuestion:
    """The question of such a turn, as it waits for the person's answer."""
    return replace(running.question, waits_for=running.waits_for[1])


def answered(queue: QuestionQueue, event_ids: Collection[str], note: str, now: Moment) -> None:
    """A person has answered: what waits with these events may begin, and its model is told."""
    for question in list(queue.all):
        if any(question.holds(event_id) for event_id in event_ids):
            not_before = now if question.waits_for else question.not_before
            queue.replace(question, replace(question, waits_for="", not_before=not_before, note=note))
