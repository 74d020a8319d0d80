"""What an agent thinks of a sender: faults, flags, a score; and who is blocked (A2ACP-228, 229, 259 to 261).

Local to the agent, never published. Blocking stays a person's choice unless they have set it otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND

if TYPE_CHECKING:
    from tacit.base.moment import Moment

START: Final = 50
LOW: Final = 20
FLAG_AT: Final = 5
AUTO_BLOCK_AT: Final = 20
WINDOW: Final = 24 * 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Standing:
    """One sender's record."""

    score: int = START
    faults: tuple[Moment, ...] = ()
    flagged: bool = False
    blocked: bool = False

    @property
    def low(self) -> bool:
        """Whether its packets are handled after the others, without a notification."""
        return self.score < LOW


def after_fault(standing: Standing, now: Moment, *, auto_block: bool = False) -> Standing:
    """A malformed packet or a broken limit: five points, and a flag at the fifth within a day."""
    recent = (*(at for at in standing.faults if now - at < WINDOW), now)[-AUTO_BLOCK_AT:]
    return replace(
        standing,
        score=max(0, standing.score - 5),
        faults=recent,
        flagged=standing.flagged or len(recent) >= FLAG_AT,
        blocked=standing.blocked or (auto_block and len(recent) >= AUTO_BLOCK_AT),
    )


def after_thread(standing: Standing) -> Standing:
    """A valid thread: one point."""
    return replace(standing, score=min(100, standing.score + 1))
