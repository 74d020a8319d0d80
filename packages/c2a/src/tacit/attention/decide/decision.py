"""A decision: what one agent gets for one event, and the rule that gave each part (C2A-001, C2A-206).

It names no agent, so that all agents in the same position share one object. Knows nothing of how a decision
is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.c2a.vocabulary import Directedness, Mode, Policy, Priority, Reason

if TYPE_CHECKING:
    from tacit.attention.decide.matrix import Situation


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the house: a stable name, the row it comes from, and what it says to a person."""

    name: str
    row: str
    says: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What one agent gets for one event, and the rule that gave each part."""

    directedness: Directedness
    policy: Policy
    mode: Mode
    reason: Reason
    priority: Priority = Priority.NORMAL
    deadline_ms: int | None = None
    needs_claim: bool = False
    thread_window: bool = False
    escalate: bool = False
    because: tuple[tuple[str, Rule], ...] = ()
    situation: Situation | None = None
    """The entry of the matrix behind it; None where it was read from a record."""

    @property
    def obliges(self) -> bool:
        """Does somebody owe an answer?"""
        return self.policy is Policy.MUST_RESPOND

    def rule(self, part: str) -> Rule:
        """The rule that gave a part (`directedness`, `policy`, `mode`, `reason`, `priority`, `deadline`)."""
        found = None
        for name, rule in self.because:
            if name == part:
                found = rule
        if found is None:
            raise KeyError(part)
        return found
