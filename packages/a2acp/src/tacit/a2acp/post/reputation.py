"""What an agent thinks of a sender: faults, flags, a score; and who is blocked.

A2ACP-228, A2ACP-229, A2ACP-259, A2ACP-260, A2ACP-261.

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
class SenderReputation:
    """One sender's record."""

    score: int = START
    faults: tuple[Moment, ...] = ()
    flagged: bool = False
    blocked: bool = False

    @property
    def low(self) -> bool:
        """Whether its packets are handled after the others, without a notification."""
        return self.score < LOW


def after_fault(reputation: SenderReputation, now: Moment, *, auto_block: bool = False) -> SenderReputation:
    """A malformed packet or a broken limit: five points, and a flag at the fifth within a day."""
    recent = (*(at for at in reputation.faults if now - at < WINDOW), now)[-AUTO_BLOCK_AT:]
    return replace(
        reputation,
        score=max(0, reputation.score - 5),
        faults=recent,
        flagged=reputation.flagged or len(recent) >= FLAG_AT,
        blocked=reputation.blocked or (auto_block and len(recent) >= AUTO_BLOCK_AT),
    )


def after_thread(reputation: SenderReputation) -> SenderReputation:
    """A valid thread: one point."""
    return replace(reputation, score=min(100, reputation.score + 1))
