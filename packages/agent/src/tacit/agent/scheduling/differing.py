"""What of a proposal is not as our owner asked, whoever proposes it: its length, or its time (A2ACP-143).

The length that the owner named, the times that were ruled out and the times that were asked for bind our side
of every proposal: one that keeps to them is shown as it is, any other with what differs, so that nobody says
yes to it unawares. Knows nothing of words of the proposer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.scheduling.goal import DURATION, MEETING
from tacit.base.moment import MINUTE, common

if TYPE_CHECKING:
    from tacit.agent.scheduling.view import View
    from tacit.base.moment import Span

RULED_OUT: Final = "You ruled this time out"
OUTSIDE: Final = "This is outside the times that you asked for"


def differences(view: View, slot: Span | None, *, elsewhere: bool) -> list[str]:
    """What differs from our owner's wish, as sentences; `elsewhere`: other times were wished since."""
    goal = view.goal
    if goal is None or slot is None or goal.kind != MEETING or not view.thread.ours:
        return []
    found: list[str] = []
    minutes = (slot.end - slot.start) // MINUTE
    if DURATION in goal.details and minutes != goal.minutes:
        found.append(f"You asked for {_length(goal.minutes)}; this lasts {_length(minutes)}")
    if common((slot,), goal.excluded):
        found.append(RULED_OUT)
    elif (
        goal.flexibility.get("date") != "flexible"
        and not elsewhere
        and common((slot,), goal.spans) != (slot,)
    ):
        found.append(OUTSIDE)
    return found


def _length(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    parts = [f"{hours} hour{'s' if hours > 1 else ''}"] if hours else []
    return " ".join([*parts, *([f"{rest} minutes"] if rest or not hours else [])])
