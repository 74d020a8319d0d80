"""How many round trips a thread has before people take over (A2ACP-102, A2ACP-103).

Packets of one side in a row are one turn, two turns a round trip, eight of those are enough; a resolution is
none and may always be sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

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
