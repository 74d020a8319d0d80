"""`tacit approve`, `tacit permissions`: what agents ask leave for, and what they were allowed for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from tacit.base.errors import Refused
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 8
"""How many characters of an id are shown and enough to name it."""


def short(approval_id: str) -> str:
    """The end of an id: its beginning is the same for all of an agent's."""
    return approval_id[-SHOWN:]


def chosen(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """The one row that is meant by an id or the end of one."""
    found = [row for row in rows if row["approval_id"] == name or row["approval_id"].endswith(name)]
    if len(found) != 1:
        raise Refused("event_not_found", "several end so: give more of it" if found else "nothing waits so")
    return found[0]


@click.command()
@click.argument("group")
@click.argument("approval", required=False, metavar="[ID]")
@click.option("--turn", "scope", flag_value="turn", help="Allow the same for the rest of the turn.")
@click.option(
    "--always", "scope", flag_value="always", help="Allow the pattern that is shown, until revoked."
)
@click.option("--no", "refuses", is_flag=True, help="Refuse.")
@click.option("--reason", default="", help="Why not, for the agent to read.")
@pass_session
def approve(
    session: CliSession, group: str, approval: str | None, scope: str | None, refuses: bool, reason: str
) -> None:
    """Answer what an agent asks leave for; without ID, list what waits."""
    group_id = session.resolve_group(group)
    hub = session.hub(group_id)
    waiting = hub.call("agents", {"group_id": group_id})["approvals"]
    if approval is None:
        session.answer(waiting, lambda: _list(session, waiting))
        return
    params: dict[str, Any] = {
        "group_id": group_id,
        "op": "refuse" if refuses or reason else "approve",
        "approval_id": chosen(waiting, approval)["approval_id"],
        "scope": scope or "once",
        "reason": reason,
    }
    answer = hub.call("steer", params, repeatable=False)
    session.answer(answer, lambda: session.out.print(answer["state"], style="dim"))


def _list(session: CliSession, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        session.out.print("nothing waits for you", style="dim")
    for row in rows:
        session.out.print(_headed(row))
        details = str(row.get("details") or "")
        if details:
            session.out.print(Text("    " + show.plain(details).replace("\n", "\n    "), style="dim"))
        if row.get("covers"):
            session.out.print(Text(f"    --always covers {show.plain(str(row['covers']))}", style="dim"))


def _headed(row: dict[str, Any]) -> Text:
    line = Text(short(str(row["approval_id"])), style="bold cyan")
    line.append(f"  {show.plain(str(row['session']))}", style="bold")
    kind = str(row.get("kind", "send"))
    verb = {"command": "wants to run", "edit": "wants to change", "send": "wants to tell"}.get(
        kind, "wants to"
    )
    line.append(f" {verb}: {show.plain(str(row.get('title') or 'something private'))}", style="")
    if row.get("directory"):
        line.append(f"  in {show.plain(str(row['directory']))}", style="dim")
    return line


@click.command()
@click.argument("group")
@click.option("--revoke", metavar="ID", help="Take this one back.")
@pass_session
def permissions(session: CliSession, group: str, revoke: str | None) -> None:
    """What agents were allowed for good, and the way to take it back."""
    group_id = session.resolve_group(group)
    hub = session.hub(group_id)
    rows = hub.call("agents", {"group_id": group_id})["permissions"]
    if revoke is None:
        session.answer(rows, lambda: _granted(session, rows))
        return
    params = {"group_id": group_id, "op": "revoke", "approval_id": chosen(rows, revoke)["approval_id"]}
    answer = hub.call("steer", params, repeatable=False)
    session.answer(answer, lambda: session.out.print(answer["state"], style="dim"))


def _granted(session: CliSession, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        session.out.print("nothing is allowed for good", style="dim")
    for row in rows:
        line = Text(short(str(row["approval_id"])), style="bold cyan")
        line.append(f"  {show.plain(str(row['session']))}", style="bold")
        line.append(f"  {show.plain(str(row['covers']))}")
        line.append(f"  by {show.plain(str(row['answered_by']))}", style="dim")
        session.out.print(line)
