"""Parking: a turn that waits for a person's permission makes room for other work (C2A-207).

A person may take days, and the slot is the agent's one place to work. So when another question could begin in
it, the turn is ended and its question waits for the answer, with no process behind it: the model's session
stays, and the same question goes on in it with the person's answer in its note. A turn that has spoken is not
begun again and keeps its slot, and so does one of which another call is under way. Nobody being in the way,
a turn just waits. How a turn is ended is the conduct's; what was asked and answered is kept by
`tacit.harness.io.permissions`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tacit.attention.settings import Settings
    from tacit.base.moment import Moment
    from tacit.harness.question import QuestionQueue, TurnQuestion
    from tacit.harness.running import RunningTurn

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


def go_on(queue: QuestionQueue, event_ids: Collection[str], note: str, now: Moment) -> None:
    """A person has answered: what waits with these events may begin, and its model is told."""
    for question in list(queue.all):
        if any(question.holds(event_id) for event_id in event_ids):
            not_before = now if question.waits_for else question.not_before
            queue.replace(question, replace(question, waits_for="", not_before=not_before, note=note))
