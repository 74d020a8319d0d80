"""`tacit nodes`: the hubs that share a ledger, to how many groups each writes, and how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@pass_session
def nodes(session: CliSession) -> None:
    """The hubs that share this ledger: to how many groups each writes, and how far behind it is."""
    with session.owner() as hub:
        found = hub.call("status", {})["nodes"]
    session.answer(found, lambda: _print(session, found))


def _print(session: CliSession, found: Sequence[dict[str, Any]]) -> None:
    if not found:
        session.out.print("One hub, with its ledger in its own folder.")
        return
    from rich.table import Table

    table = Table(box=None)
    for name in ("machine", "", "writes to", "behind"):
        table.add_column(name)
    for row in found:
        here = "this one" if row["here"] else ""
        groups, behind = f"{row['groups']} groups", f"{row['behind']} messages"
        table.add_row(show.plain(str(row["machine"])), here, groups, behind)
    session.out.print(table)
