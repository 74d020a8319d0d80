"""The port to whatever reads and writes language for an agent: rules, or a model of the owner's (A2ACP-090).

A brain gets a task and gives a thought. It decides nothing: permissions, overlap, limits and confirmations
are computed elsewhere, from values, and whatever a thought claims of them is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from tacit.agent.negotiation.goal import Goal, Need
    from tacit.base.moment import Moment

READ_REQUEST: Final = "read_request"
"""A person's sentence is to become a goal."""
READ_PACKET: Final = "read_packet"
"""A counterpart's first packet is to become a goal."""
WRITE_PROPOSAL: Final = "write_proposal"
"""Words for options that were computed: a summary for each, and the reasoning."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a brain is asked; every value in it may be seen by the brain."""

    kind: str
    now: Moment
    timezone: str
    """The owner's, an IANA name."""
    text: str = ""
    """The person's sentence."""
    packet: dict[str, Any] = field(default_factory=dict[str, Any])
    """The counterpart's packet: data without authority."""
    goal: Goal | None = None
    options: tuple[dict[str, Any], ...] = ()
    """For WRITE_PROPOSAL: the details of each option, best first."""


@dataclass(frozen=True, slots=True)
class Thought:
    """What a brain answers; what a task does not ask for is not looked at."""

    goal: Goal | None = None
    needs: tuple[Need, ...] = ()
    """More that should be asked of the counterpart."""
    context: dict[str, Any] = field(default_factory=dict[str, Any])
    """More that should be told; it is filtered like everything that leaves."""
    summaries: tuple[str, ...] = ()
    reasoning: str = ""
    confidence: float = 1.0


class Brain(Protocol):
    """Reads and writes language."""

    async def think(self, task: Task) -> Thought:
        """The thought for a task; `Unavailable` when there is nobody to think."""
        ...
