"""`tacit worktree`: the agents' own branches on this machine; look at them, merge, rebase, discard.

Works on the folders themselves, so it needs no hub: whoever may write the project may do this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from tacit.base.commands.terminal import Table
from tacit.base.errors import Refused
from tacit.base.io.folder_lock import is_held
from tacit.cli import show
from tacit.cli.agents.join import state_roots
from tacit.cli.session import CliSession, pass_session
from tacit.harness.io import worktrees
from tacit.harness.io.turn_lock import changing
from tacit.harness.team import SLOT
from tacit.harness.worktree import Worktree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.harness.worktree import WorktreeOutcome


@dataclass(frozen=True, slots=True)
class KeptWorktree:
    """A worktree of this machine, and the state folder of its agent, or of the agent's further session."""

    state: Path
    tree: Worktree
    fault: str = ""
    """Why the record is no use, where it is not: then of the tree no more than its agent's name is known."""

    @property
    def home(self) -> Path:
        """The state folder of the agent itself."""
        return self.state.parent if self.state.name.startswith(SLOT) else self.state

    @property
    def group_id(self) -> str:
        """The room that its agent is in."""
        return self.home.parent.name

    def shown(self) -> dict[str, Any]:
        """For a table or a program; a tree that is gone says so."""
        found: dict[str, Any] = {"agent": self.tree.agent, "group_id": self.group_id, **self.tree.as_record()}
        found["running"] = is_held(self.home)
        if self.fault:
            return {**found, "status": None, "fault": self.fault}
        try:
            return {**found, "status": worktrees.status(self.tree).as_json()}
        except Refused as refused:
            return {**found, "status": None, "fault": refused.message}


def all_worktrees(session: CliSession) -> list[KeptWorktree]:
    """Every worktree that an agent of this account has here."""
    found: list[KeptWorktree] = []
    for root in state_roots(session):
        records = {*root.glob(f"*/*/{worktrees.RECORD}"), *root.glob(f"*/*/{SLOT}*/{worktrees.RECORD}")}
        for path in sorted(records):
            try:
                tree = worktrees.kept(path.parent)
            except Refused as refused:  # it fails alone
                name = path.parent.name
                if name.startswith(SLOT):
                    name = f"{path.parent.parent.name}.{name.removeprefix(SLOT)}"
                broken = Worktree(name, "", str(path.parent / "worktree"), "")
                found.append(KeptWorktree(path.parent, broken, refused.message))
                continue
            if tree is not None:
                found.append(KeptWorktree(path.parent, tree))
    return found


def _one(session: CliSession, name: str, group: str | None) -> KeptWorktree:
    found = [one for one in all_worktrees(session) if one.tree.agent == name]
    if group is not None:
        group_id = session.resolve_group(group)
        found = [one for one in found if one.group_id == group_id]
    if not found:
        raise Refused("worktree_missing", f"no worktree of {name} is on this machine; `tacit worktree list`")
    if len(found) > 1:
        raise Refused("invalid_request", f"{name} has worktrees in several rooms: say --group")
    if found[0].fault:
        raise Refused("worktree_missing", found[0].fault)
    return found[0]


@click.group()
def worktree() -> None:
    """Agents' own branches: look at them, merge, rebase, discard."""


_group = click.option("--group", help="The room, where agents of several have this name.")


@worktree.command("list")
@pass_session
def list_(session: CliSession) -> None:
    """Every agent's branch on this machine, and how it stands to its project."""
    rows = [one.shown() for one in all_worktrees(session)]
    session.answer(
        rows, lambda: session.out.print(_table(rows)) if rows else session.out.print("no worktrees")
    )


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table("agent", "branch", "status", "folder")
    for row in rows:
        status = row["status"]["words"] if row["status"] else row["fault"]
        cells = (row["agent"], row["branch"], status, row["path"])
        table.add(*(show.plain(str(cell)) for cell in cells))
    return table


@worktree.command()
@click.argument("name")
@_group
@pass_session
def status(session: CliSession, name: str, group: str | None) -> None:
    """How an agent's branch stands to its project, and what is not committed."""
    found = _one(session, name, group).shown()

    def tell() -> None:
        now = found["status"]
        session.out.print(show.plain(f"{found['branch']} of {found['project']}"))
        session.out.print(show.plain(now["words"] if now else found["fault"]))
        for path in now["files"] if now else ():
            session.out.print(f"  {show.plain(path)}")
        session.out.print(show.plain(f"in {found['path']}"))

    session.answer(found, tell)


@worktree.command()
@click.argument("name")
@_group
@pass_session
def diff(session: CliSession, name: str, group: str | None) -> None:
    """All that an agent changed, uncommitted and new files too."""
    told = worktrees.diff(_one(session, name, group).tree)
    session.answer({"diff": told}, lambda: click.echo(told))


def _done(session: CliSession, outcome: WorktreeOutcome) -> None:
    if not outcome.done:
        raise Refused("worktree_conflict", outcome.message, details={"conflicts": list(outcome.conflicts)})
    session.answer(outcome.as_json(), lambda: session.out.print(show.plain(outcome.message)))


def _change(name: str, words: str, act: Callable[[Worktree], WorktreeOutcome]) -> None:
    @worktree.command(name, help=words)
    @click.argument("name", metavar="NAME")
    @_group
    @pass_session
    def run(session: CliSession, name: str, group: str | None) -> None:
        found = _one(session, name, group)
        with changing(found.state, name):
            outcome = act(found.tree)
        _done(session, outcome)

    del run


_change("merge", "Bring an agent's work into the branch that the project is on.", worktrees.merge)
_change("rebase", "Put an agent's work on top of the branch that the project is on.", worktrees.rebase)


@worktree.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Also when there is work that was not merged.")
@_group
@pass_session
def discard(session: CliSession, name: str, *, force: bool, group: str | None) -> None:
    """Remove an agent's worktree and branch; the next start makes new ones."""
    found = _one(session, name, group)
    if is_held(found.home):
        raise Refused("worktree_in_use", f"{name} is running in this worktree: stop it first")
    _done(session, worktrees.discard(found.tree, found.state, force=force))
