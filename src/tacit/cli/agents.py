"""`tacit agents`: who is online, busy, owing what, spending what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@click.argument("group")
@pass_session
def agents(session: CliSession, group: str) -> None:
    """Who is online, busy, owing what, spending what."""
    group_id = session.resolve_group(group)
    found = session.hub(group_id).call("agents", {"group_id": group_id})
    _add_worktrees(session, group_id, found["agents"])
    session.answer(found["agents"], lambda: session.out.print(_table(found["agents"])))


def _add_worktrees(session: CliSession, group_id: str, rows: Sequence[dict[str, Any]]) -> None:
    """The branches that are on this machine, to the agents whose they are."""
    from tacit.cli.worktree import all_worktrees

    here = {one.tree.agent: one for one in all_worktrees(session) if one.group_id == group_id}
    for row in rows:
        found = here.get(str(row["actor_id"]))
        row["worktree"] = found.shown() if found is not None else None


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(
        box=None, caption="Turns, tokens, time and cost are of today (UTC).", caption_justify="left"
    )
    table.add_column("agent", no_wrap=True, overflow="fold")
    for name in ("roles", "status", "owes", "holds", "turns", "tokens", "time", "cost"):
        table.add_column(name)
    if any(row.get("worktree") for row in rows):
        table.add_column("branch")
    for row in rows:
        today: dict[str, Any] = row.get("today") or {}
        currency = row.get("currency")  # none: the agent does not say what it costs
        cost = f"{today.get('cost', 0.0):.2f} {currency}" if today and currency else ""
        table.add_row(
            show.plain(str(row["actor_id"])),
            show.plain(", ".join(row.get("roles") or ())),
            show.plain(" ".join(filter(None, (row["status"], row.get("detail"))))),
            str(len(row.get("owes") or ())),
            str(len(row.get("claims") or ())),
            str(today.get("turns", 0)),
            str(today.get("tokens", 0)),
            _lasting(today.get("duration_ms", 0)),
            cost,
            *([show.plain(_branch(row["worktree"]))] if row.get("worktree") else []),
        )
    return table


def _lasting(milliseconds: int) -> str:
    seconds = round(milliseconds / 1000)
    return f"{seconds // 60} min" if seconds >= 600 else f"{seconds} s"


def _branch(worktree: dict[str, Any]) -> str:
    status = worktree["status"]
    return f"{worktree['branch']} ({status['words'] if status else worktree['fault']})"
