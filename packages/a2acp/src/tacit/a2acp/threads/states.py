"""The states of a thread and every way from one to another: Annex A as one table.

A2ACP-156, A2ACP-157, A2ACP-158, A2ACP-159, A2ACP-160, A2ACP-161, A2ACP-162, A2ACP-163, A2ACP-164.

DECLINED means that a person said no, STALLED that nobody answered while there was something to negotiate,
EXPIRED that a window for confirmation passed or a thread stood still too long. A cause that the table does
not name for a state moves nothing; whoever brought it is told so. Both sides keep the same table, each
from what it has sent and received: no relay is asked (A2ACP-210).

How many round trips a thread has before people take over (A2ACP-102, A2ACP-103).

Packets of one side in a row are one turn, two turns a round trip, eight of those are enough; a resolution is
none and may always be sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where a thread stands; always exactly one of these."""

    INITIATED = "INITIATED"
    NEGOTIATING = "NEGOTIATING"
    PROPOSED = "PROPOSED"
    CONFIRMED = "CONFIRMED"
    EXECUTING = "EXECUTING"
    COMPLETED = "COMPLETED"
    DECLINED = "DECLINED"
    FAILED = "FAILED"
    ROLLBACK = "ROLLBACK"
    STALLED = "STALLED"
    EXPIRED = "EXPIRED"


class Cause(StrEnum):
    """What can move a thread."""

    ANSWERED = "answered"
    """A packet of the side that did not begin, other than a resolution."""
    NEGOTIATED = "negotiated"
    """Any packet of a negotiation, or the owner going on with a thread that stood still."""
    PROPOSED = "proposed"
    STALE = "stale"
    CLOSED = "closed"
    """Withdrawn, closed by its owner, or its contact blocked."""
    FORKED = "forked"
    CONFIRMED = "confirmed"
    COUNTERED = "countered"
    """A counter, a decline that invites another try, or a slot that is no longer free."""
    DECLINED = "declined"
    TIMED_OUT = "timed_out"
    STARTED = "started"
    NOTHING_TO_DO = "nothing_to_do"
    SUCCEEDED = "succeeded"
    ACTION_FAILED = "action_failed"
    UNDOING = "undoing"
    NOTHING_TO_UNDO = "nothing_to_undo"
    UNDONE = "undone"
    STALLED_TOO_LONG = "stalled_too_long"


CATEGORIES: Final = (
    "scheduling",
    "group_scheduling",
    "project_coordination",
    "information",
    "information_request",
    "information_sharing",
)
"""What threads are about, in the words that are counted; another word of anybody's is not."""
TERMINAL: Final = frozenset({State.COMPLETED, State.DECLINED, State.EXPIRED})
NEGOTIABLE: Final = frozenset({State.INITIATED, State.NEGOTIATING})

TRANSITIONS: Final[dict[tuple[State, Cause], State]] = {
    (State.INITIATED, Cause.ANSWERED): State.NEGOTIATING,
    (State.INITIATED, Cause.PROPOSED): State.PROPOSED,
    (State.INITIATED, Cause.STALE): State.STALLED,
    (State.INITIATED, Cause.CLOSED): State.DECLINED,
    # Annex A has the fork in NEGOTIATING alone; A2ACP-117 allows it before the first answer too.
    (State.INITIATED, Cause.FORKED): State.COMPLETED,
    (State.NEGOTIATING, Cause.ANSWERED): State.NEGOTIATING,
    (State.NEGOTIATING, Cause.NEGOTIATED): State.NEGOTIATING,
    (State.NEGOTIATING, Cause.PROPOSED): State.PROPOSED,
    (State.NEGOTIATING, Cause.STALE): State.STALLED,
    (State.NEGOTIATING, Cause.CLOSED): State.DECLINED,
    (State.NEGOTIATING, Cause.FORKED): State.COMPLETED,
    # A newer proposal of the same side takes the older one's place (A2ACP-141).
    (State.PROPOSED, Cause.PROPOSED): State.PROPOSED,
    (State.PROPOSED, Cause.CONFIRMED): State.CONFIRMED,
    (State.PROPOSED, Cause.COUNTERED): State.NEGOTIATING,
    (State.PROPOSED, Cause.DECLINED): State.DECLINED,
    (State.PROPOSED, Cause.CLOSED): State.DECLINED,
    (State.PROPOSED, Cause.TIMED_OUT): State.EXPIRED,
    (State.CONFIRMED, Cause.STARTED): State.EXECUTING,
    (State.CONFIRMED, Cause.NOTHING_TO_DO): State.COMPLETED,
    # Before the first action starts the slot is looked at once more; what is taken is negotiated again.
    (State.CONFIRMED, Cause.COUNTERED): State.NEGOTIATING,
    (State.EXECUTING, Cause.SUCCEEDED): State.COMPLETED,
    (State.EXECUTING, Cause.ACTION_FAILED): State.FAILED,
    (State.FAILED, Cause.UNDOING): State.ROLLBACK,
    (State.FAILED, Cause.NOTHING_TO_UNDO): State.NEGOTIATING,
    (State.ROLLBACK, Cause.UNDONE): State.NEGOTIATING,
    (State.STALLED, Cause.NEGOTIATED): State.NEGOTIATING,
    (State.STALLED, Cause.ANSWERED): State.NEGOTIATING,
    (State.STALLED, Cause.CLOSED): State.DECLINED,
    (State.STALLED, Cause.STALLED_TOO_LONG): State.EXPIRED,
}


def after(state: State, cause: Cause) -> State | None:
    """The state that follows; None when nothing does, and the cause is refused and logged (A2ACP-156)."""
    return TRANSITIONS.get((state, cause))


MOST_ROUNDS: Final = 8
COUNTED: Final = frozenset({"context", "context_request", "context_response", "intent_update"})


@dataclass(frozen=True, slots=True)
class ThreadTurns:
    """The turns of a thread between two sides."""

    count: int = 0
    last: str = ""
    """Whose turn it is: an address, or nobody's before the first packet."""
    granted: int = MOST_ROUNDS
    """Round trips that this side's owner allows."""

    def after(self, side: str, packet_type: str) -> ThreadTurns:
        """The same with a packet of one side, sent or received."""
        if packet_type not in COUNTED or side == self.last:
            return self
        return replace(self, count=self.count + 1, last=side)

    @property
    def round_trips(self) -> int:
        """How many there were."""
        return self.count // 2

    @property
    def exhausted(self) -> bool:
        """Whether it is time to ask the owner (A2ACP-102)."""
        return self.round_trips >= self.granted

    def may_send(self, side: str, packet_type: str) -> bool:
        """Whether a packet of this side stays within the limit."""
        return packet_type not in COUNTED or self.after(side, packet_type).count <= 2 * self.granted
