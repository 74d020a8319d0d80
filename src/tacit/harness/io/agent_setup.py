"""An agent made ready to run: its options read, its folder and program found, its worktree made.

Everything that can be wrong is found here, before anything runs. Used by `tacit join` and by the crew's
process; knows nothing of tokens, which whoever calls has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.base.errors import Refused
from tacit.harness.drivers import catalogue
from tacit.harness.drivers.options import Access
from tacit.harness.io import sharing, worktrees
from tacit.harness.io.agent_config import AgentConfig
from tacit.harness.io.harness import Harness
from tacit.harness.io.placing import checked
from tacit.harness.io.pricing import price_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tacit.harness.drivers.options import Options
    from tacit.harness.drivers.port import Price
    from tacit.harness.io.context import Teller
    from tacit.harness.team import Member
    from tacit.harness.worktree import Worktree


@dataclass(frozen=True, slots=True)
class ReadyAgent:
    """An agent that can be started, as often as it takes."""

    member: Member
    state: Path
    options: Options
    worktree: Worktree | None = None
    price: Price | None = None
    others: tuple[Path, ...] = ()
    """Folders under which other agents of this machine have their state."""

    def harness(self, url: str, token: str, tell: Teller) -> Harness:
        """A fresh harness, not yet running."""
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
            permission_within=member.permission_wait,
        )
        return Harness(config, catalogue.build(member.driver, self.options), tell=tell)

    def surroundings(self) -> str:
        """What the agent should know of who else is in its folder, as it is now; empty when nobody is."""
        return sharing.note(self.state, self.others)


def ready(
    member: Member, state: Path, *, base: Path, environment: Mapping[str, str], others: Sequence[Path] = ()
) -> ReadyAgent:
    """Read and try everything; `Refused` says what is wrong. Relative paths are meant from `base`."""
    options, says_where = checked(member, state, base=base, environment=environment)
    price = price_for(member, options.model, base)
    catalogue.build(member.driver, options)
    tree = None
    if member.worktree:
        if options.directory is None:
            raise Refused("driver_option", "a worktree is one of a project: say which with --cwd")
        tree = worktrees.ensured(member.name, options.directory, state)
        options = replace(options, directory=tree.directory)
    # A program of one's own may do as it likes where it was told to work.
    writes = options.access is not Access.READ or (member.driver == "command" and says_where)
    sharing.write_place(state, member.name, options.directory, writes=writes)
    return ReadyAgent(member, state, options, tree, price, tuple(others))
