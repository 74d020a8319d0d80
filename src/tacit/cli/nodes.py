"""`tacit nodes`: the hubs that share a ledger, which of them writes, and how far each has come."""

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
    """The hubs that share this ledger: which one writes, and how far behind the others are."""
    with session.owner() as hub:
        found = hub.call("status", {})["nodes"]
    session.answer(found, lambda: _print(session, found))


def _print(session: CliSession, found: Sequence[dict[str, Any]]) -> None:
    if not found:
        session.out.print("One hub, with its ledger in its own folder.")
        return
    from rich.table import Table

    table = Table(box=None)
    for name in ("machine", "", "behind"):
        table.add_column(name)
    for row in found:
        what = ", ".join(
            word for word, holds in (("writes", row["writes"]), ("this one", row["here"])) if holds
        )
        table.add_row(show.plain(str(row["machine"])), what, f"{row['behind']} messages")
    session.out.print(table)
