"""Which agent a harness runs, where, and what its owner allows: values alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.base.version import version
from tacit.c2a.io.session import Habits
from tacit.harness.budget import DailyBudget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.harness.drivers.port import Price


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """Where the turns of one slot run."""

    state: Path
    """A folder of its own, with the record of its working tree where it has one."""
    directory: str | None = None
    worktree: str = ""


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Which agent, where, and what its owner allows."""

    url: str
    token: str = field(repr=False)
    name: str
    state: Path
    instructions: str = ""
    directory: str | None = None
    time_limit: float = 1800.0
    budget: DailyBudget = DailyBudget()
    claims_roles: bool = True
    ambient: frozenset[str] = frozenset()
    model: str = ""
    price: Price | None = None
    """What the model's tokens cost, for agents that do not say it themselves."""
    surroundings: Callable[[], str] | None = None
    """What the model should know about its folder, asked before each turn."""
    habits: Habits = Habits(name="tacit-harness", version=version())
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that are struck out of what people see of the agent's work, such as the model's key."""
    worktree: str = ""
    """The name of its working tree, where it has one of its own."""
    more_slots: tuple[SlotPlace, ...] = ()
    """Where further turns may run beside the first one's."""
    proven_by: bytes | None = field(default=None, repr=False)
    """The key that a hub has to prove to hold before it is sent the token."""

    @property
    def slots(self) -> tuple[SlotPlace, ...]:
        """Every slot; the first is the agent's own folder."""
        return (SlotPlace(self.state, self.directory, self.worktree), *self.more_slots)
