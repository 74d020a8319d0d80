"""An agent made ready to run: its options read, its folder and program found, its worktree made.

Everything that can be wrong is found here, before anything runs. Used by `tacit join` and by the crew's
process; knows nothing of tokens, which whoever calls has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.harness.drivers import catalogue
from tacit.harness.io import sharing, worktrees
from tacit.harness.io.agent_config import AgentConfig, SlotPlace
from tacit.harness.io.harness import Harness
from tacit.harness.io.placing import checked
from tacit.harness.io.pricing import price_for
from tacit.harness.team import SLOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import Price
    from tacit.harness.io.context import Teller
    from tacit.harness.team import TeamMember
    from tacit.harness.worktree import Worktree


@dataclass(frozen=True, slots=True)
class ReadyAgent:
    """An agent that can be started, as often as it takes."""

    member: TeamMember
    state: Path
    options: DriverOptions
    worktree: Worktree | None = None
    price: Price | None = None
    beside: tuple[tuple[Path, DriverOptions], ...] = ()
    """The further slots: each one's folder, and its driver's options."""
    others: tuple[Path, ...] = ()
    """Folders under which other agents of this machine have their state."""

    def harness(self, url: str, token: str, tell: Teller, proven_by: bytes | None = None) -> Harness:
        """A fresh harness, not yet running; with `proven_by` the token goes only to a hub with this key."""
        member = self.member
        config = AgentConfig(
            url,
            token,
            member.name,
            self.state,
            member.instructions,
            self.options.directory,
            member.time_limit,
            member.budget,
            member.claims,
            frozenset(member.ambient),
            model=self.options.model,
            price=self.price,
            surroundings=self.surroundings if self.others else None,
            secrets=(self.options.key,) if self.options.key else (),
            proven_by=proven_by,
            worktree=self._tree(1),
            more_slots=tuple(
                SlotPlace(state, options.directory, self._tree(number))
                for number, (state, options) in enumerate(self.beside, 2)
            ),
        )
        beside = [catalogue.build(member.driver, options) for _, options in self.beside]
        return Harness(config, catalogue.build(member.driver, self.options), beside=beside, tell=tell)

    def _tree(self, slot: int) -> str:
        """The name of a slot's working tree; empty where the agent has none of its own."""
        if self.worktree is None:
            return ""
        return self.member.name if slot == 1 else f"{self.member.name}.{slot}"

    def surroundings(self) -> str:
        """What the agent should know of who else is in its folder, as it is now; empty when nobody is."""
        return sharing.note(self.state, self.others)


def ready(
    member: TeamMember,
    state: Path,
    *,
    base: Path,
    environment: Mapping[str, str],
    others: Sequence[Path] = (),
) -> ReadyAgent:
    """Read and try everything; `Refused` says what is wrong. Relative paths are meant from `base`."""
    options, writes = checked(member, state, base=base, environment=environment)
    price = price_for(member, options.model, base)
    catalogue.build(member.driver, options)
    project, tree = options.directory, None
    if member.worktree and project is not None:
        tree = worktrees.ensured(member.name, project, state)
        options = replace(options, directory=tree.directory)
    sharing.write_place(state, member.name, options.directory, writes=writes)
    beside = tuple(_slot(member, number, state, options, project) for number in range(2, member.sessions + 1))
    return ReadyAgent(member, state, options, tree, price, beside, tuple(others))


def _slot(
    member: TeamMember, number: int, state: Path, options: DriverOptions, project: str | None
) -> tuple[Path, DriverOptions]:
    """A further slot: a folder of its own for its driver, and a tree of its own where the agent has one."""
    own = state / f"{SLOT}{number}"
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    options = replace(options, state=str(own / "driver"))
    if member.worktree and project is not None:
        tree = worktrees.ensured(f"{member.name}.{number}", project, own)
        options = replace(options, directory=tree.directory)
    return own, options
