"""`tacit work`: which agent is at which question, how it stands, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.base.commands.terminal import Table
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence


_STYLES = {
    "failed": "red",
    "waiting": "yellow",
    "working": "green",
    "queued": "cyan",
    "out_of_touch": "yellow",
}


@click.command()
@click.argument("group", required=False)
@click.option("--agent", metavar="NAME", help="Of this agent alone.")
@click.option("--all", "ended", is_flag=True, help="Also what ended lately.")
@pass_session
def work(session: CliSession, group: str | None, agent: str | None, ended: bool) -> None:
    """Which agent is at which question, and how it stands; of every group when none is named."""
    found: list[dict[str, Any]] = []
    groups = [(session.resolve_group(group), "")] if group else _groups(session)
    for group_id, title in groups:
        rows = session.hub(group_id).work(group_id, agent=agent, ended=ended)
        found += [{"group_id": group_id, "group": title, **one} for one in rows]
    session.answer(found, lambda: _print(session, found, named=not group and len(groups) > 1))


def _groups(session: CliSession) -> list[tuple[str, str]]:
    return [(one["group_id"], one["title"]) for one in session.hub().groups()]


def _print(session: CliSession, rows: Sequence[dict[str, Any]], *, named: bool) -> None:
    if not rows:
        session.out.print("Nobody is at anything.", style="dim")
        return
    session.out.print(_table(rows, named=named))
    for row in rows:
        if row["now"]:
            told = f"#{row['seq']}  {row['sentence']}. {row['now']}"
            session.out.print(show.plain(told), style=_STYLES.get(row["state"], "dim"))


def _table(rows: Sequence[dict[str, Any]], *, named: bool) -> Table:
    table = Table(*(("group",) if named else ()), "message", "agent", "state", "since", "cost", "question")
    for row in rows:
        cost = f"{row['cost']:.2f} {row.get('currency', '')}".rstrip() if row.get("cost") else ""
        table.add(
            *((show.plain(row["group"]),) if named else ()),
            f"#{row['seq']}",
            show.plain(row["agent"]),
            (_state(row), _STYLES.get(row["state"], "dim")),
            f"{row['since'][11:16]} UTC",
            cost,
            show.plain(row["about"]),
        )
    return table


def _state(row: dict[str, Any]) -> str:
    state = str(row["state"]).replace("_", " ")
    if row["state"] == "queued" and row.get("position"):
        state += f", {row['position']} before it"
    if row["attempt"] > 1:
        state += f", attempt {row['attempt']}"
    if row["state"] == "failed" and row.get("retry_at"):
        state += f", again at {row['retry_at'][11:16]} UTC"
    return state
