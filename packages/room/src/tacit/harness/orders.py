"""Orders about work that an agent has: call it off, or wait with it (C2A-082, C2A-083, C2A-180).

Whose work an order means is for `belonging.called_off_by`: what it replies to, else its author's own; only
its asker and the owner have a say in it. What is called off ends. What is held stops where it is and waits
for its asker: it goes on with their next line, or by itself when so long has passed that they must have
forgotten. A turn that has spoken is over anyway and is not held. Works on the queue and the running turns
that it is given; how a turn is ended is the caller's, and so is the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.base.moment import Moment
from tacit.c2a.notifications import Work
from tacit.c2a.vocabulary import Mode
from tacit.harness import belonging
from tacit.harness.effects import Effect, React, Report, Settle
from tacit.harness.question import MS, TurnQuestion
from tacit.harness.running import RunningTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

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
