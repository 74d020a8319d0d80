"""How a ledger on a stream stands, as its operator is told: values, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tacit.base.shipping import Fate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.base.shipping import Tracking

BEHIND: Final = 1_000
"""Messages that a node may lack of the stream before somebody should look."""


@dataclass(slots=True)
class ShipmentCounts:
    """What became of the batches that this node sent, since its start."""

    shipped: int = 0
    stale: int = 0
    unknown: int = 0
    fenced: int = 0
    declined: int = 0
    seconds: float = 0.0

    def count(self, tracked: Sequence[Tracking], seconds: float) -> None:
        """What became of some that were sent side by side, and how long that took."""
        self.seconds += seconds
        for tracking in tracked:
            match tracking.fate:
                case Fate.KEPT:
                    self.shipped += 1
                case Fate.OVERTAKEN:
                    self.stale += 1
                case Fate.UNKNOWN:
                    self.unknown += 1
                case _ if tracking.fencing:
                    self.fenced += 1
                case _:
                    self.declined += 1


@dataclass(frozen=True, slots=True)
class Replica:
    """One of the servers that keep the stream, as their leader sees it."""

    server: str
    is_current: bool
    lag: int = 0


@dataclass(frozen=True, slots=True)
class StreamStanding:
    """How a stream stands, as this node sees it; what it could not ask is empty."""

    name: str
    wanted_replicas: int
    applied: int
    lives: bool
    """Does this node hold its own lease? Without, it writes to no group."""
    groups: int
    """To how many groups this node writes."""
    lease_changes: int
    reconnects: int
    counts: ShipmentCounts
    reached: bool = False
    end: int = 0
    server: str = ""
    version: str = ""
    replicas: tuple[Replica, ...] = ()
    wrong: tuple[str, ...] = ()
    snapshot: int = 0
    """The sequence that the newest snapshot holds the ledger up to; 0 where there is none."""
    silent: tuple[str, ...] = field(default=())
    """Which of the servers that the operator named do not answer."""
    asleep: int = 0
    """Of how many groups, that nobody here reads or writes, something is only noted."""
    clock_off: float = 0.0
    """Seconds by which this machine's clock is ahead of the servers', at least; behind: negative."""

    @property
    def lag(self) -> int:
        """How many messages the stream has that are not applied here."""
        return max(0, self.end - self.applied)

    @property
    def behind_snapshot(self) -> int:
        """How many messages a node that joins would read."""
        return max(0, self.end - self.snapshot)
