"""`tacit nodes`: the hubs that share a ledger, to how many groups each writes, and how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.base.commands.terminal import Table
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
    session.answer(found, lambda: print_nodes(session, found))


def print_nodes(session: CliSession, found: Sequence[dict[str, Any]]) -> None:
    """A line for each node; a sentence where there is one hub."""
    if not found:
        session.out.print("One hub, with its ledger in its own folder.")
        return
    table = Table("machine", "", "writes to", "behind", "asleep")
    for row in found:
        here = "this one" if row["here"] else ""
        groups, behind = show.counted(row["groups"], "group"), show.counted(row["behind"], "message")
        asleep = show.counted(row.get("asleep", 0), "group")
        table.add(show.plain(str(row["machine"])), here, groups, behind, asleep)
    session.out.print(table)
