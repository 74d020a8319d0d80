"""`tacit approve`, `tacit permissions`: agents' permission requests, and permanent permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tacit.base.commands.terminal import bold, styled
from tacit.base.errors import Refused
from tacit.base.quoting import shown
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN: Final = 8
"""How many characters of an id are shown and enough to name it."""
_ANSWERS: Final = ("once", "turn", "always", "no")
_VERBS: Final = {
    "command": "wants to run",
    "edit": "wants to change",
    "send": "wants to tell something that was said in private",
}


def short(approval_id: str) -> str:
    """The end of an id: its beginning is the same for all of an agent's."""
    return approval_id[-SHOWN:]


def chosen(rows: Sequence[dict[str, Any]], name: str, otherwise: str) -> dict[str, Any]:
    """The one row that is meant by an id or the end of one; `otherwise` is what to say when there is none."""
    matches = [row for row in rows if row["approval_id"] == name or row["approval_id"].endswith(name)]
    if len(matches) != 1:
        several = f"Several ids end in {name}. Give more of it."
        raise Refused("event_not_found", several if matches else otherwise)
    return matches[0]


@click.command()
@click.argument("group")
@click.argument("approval", required=False, metavar="[ID]")
@click.option("--once", is_flag=True, help="Allow it this time.")
@click.option("--turn", is_flag=True, help="Allow the same for the rest of the turn.")
@click.option(
    "--always", is_flag=True, help="Allow the pattern that is shown, for whoever asked, until revoked."
)
@click.option("--no", is_flag=True, help="Refuse it.")
@click.option("--reason", default="", help="With --no: why, for the agent to read.")
@pass_session
def approve(session: CliSession, group: str, approval: str | None, *, reason: str, **given: bool) -> None:
    """Answer an agent's permission request. Without ID, list open requests.

    With ID alone, show the request; one of --once, --turn, --always and --no answers it.
    """
    answer = _answer(given, approval, reason)
    group_id = session.resolve_group(group)
    hub = session.hub(group_id)
    waiting = hub.call("agents", {"group_id": group_id})["approvals"]
    if approval is None:
        session.answer(waiting, lambda: _list(session, waiting, group))
        return
    asked = chosen(waiting, approval, f"No open request {approval}. `tacit approve {group}` lists them.")
    if answer is None:
        session.answer(asked, lambda: _list(session, [asked], group))
        return
    params: dict[str, Any] = {
        "group_id": group_id,
        "op": "refuse" if answer == "no" else "approve",
        "approval_id": asked["approval_id"],
        "scope": "once" if answer == "no" else answer,
        "reason": reason,
    }
    done = hub.call("steer", params, repeatable=False)
    session.answer(done, lambda: session.out.print(_DONE[done["state"]], style="dim"))


_DONE: Final[dict[str, str]] = {"granted": "Allowed.", "denied": "Refused."}


def _answer(given: dict[str, bool], approval: str | None, reason: str) -> str | None:
    """Which answer was given, if any."""
    answers = [name for name in _ANSWERS if given[name]]
    if len(answers) > 1:
        raise click.UsageError(f"Give one answer, not {len(answers)}: --{' and --'.join(answers)}.")
    if answers and approval is None:
        raise click.UsageError(f"Say which request --{answers[0]} answers: give its ID.")
    if reason and answers != ["no"]:
        raise click.UsageError("--reason goes with --no.")
    return answers[0] if answers else None


def _list(session: CliSession, rows: Sequence[dict[str, Any]], group: str) -> None:
    if not rows:
        session.out.print("No open requests.", style="dim")
    for row in rows:
        session.out.print("\n".join(_card(row)))
    if rows:
        which = short(str(rows[0]["approval_id"])) if len(rows) == 1 else "ID"
        session.out.print(
            f"Answer with `tacit approve {group} {which}` and --once, --turn, --always or --no.", style="dim"
        )


def _card(row: dict[str, Any]) -> list[str]:
    """Who asked for what, what the agent wants to do for it, and how far a yes can go."""
    agent = show.plain(str(row["session"]))
    asked = f"{styled(short(str(row['approval_id'])), 'bold cyan')}  {_request(row, agent)}"
    place = f", in worktree {show.plain(str(row['worktree']))}" if row.get("worktree") else ""
    wanted = bold(f"    {agent} {_VERBS.get(str(row.get('kind')), 'wants to')}{place}:")
    lines = [asked, wanted, *_set_in(str(row.get("title") or ""), "")]
    lines += _set_in(str(row.get("details") or ""), "dim")
    if row.get("directory"):
        lines.append(styled(f"    in {show.plain(str(row['directory']))}", "dim"))
    if row.get("covers"):
        lines.append(styled(f"    --turn and --always cover {show.plain(str(row['covers']))}", "dim"))
    if row.get("may_allow") is False:
        lines.append(styled("    You asked for this yourself: somebody else has to allow it.", "yellow"))
    return lines


def _request(row: dict[str, Any], agent: str) -> str:
    """Who asked the agent, and their words."""
    people = ", ".join(_named(str(one)) for one in row.get("asked_by") or ["user"])
    request = row.get("request")
    if not request:
        return f"{people} asked {agent}."
    words = shown(request["text"])
    return f"{people} asked {agent} (#{request['seq']}: “{words}”)." if words else f"{people} asked {agent}."


def _named(principal: str) -> str:
    return "The owner" if principal == "user" else show.plain(principal.removeprefix("usr:"))


def _set_in(text: str, style: str) -> list[str]:
    return [styled(f"      {line}", style) for line in show.plain(text).split("\n")] if text else []


@click.command()
@click.argument("group")
@click.option("--revoke", metavar="ID", help="Take this one back.")
@pass_session
def permissions(session: CliSession, group: str, revoke: str | None) -> None:
    """Permanent permissions."""
    group_id = session.resolve_group(group)
    hub = session.hub(group_id)
    rows = hub.call("agents", {"group_id": group_id})["permissions"]
    if revoke is None:
        session.answer(rows, lambda: _granted(session, rows))
        return
    otherwise = f"No permanent permission {revoke}. `tacit permissions {group}` lists them."
    row = chosen(rows, revoke, otherwise)
    params = {"group_id": group_id, "op": "revoke", "approval_id": row["approval_id"]}
    done = hub.call("steer", params, repeatable=False)
    session.answer(done, lambda: session.out.print("Taken back.", style="dim"))


def _granted(session: CliSession, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        session.out.print("No permanent permissions.", style="dim")
    for row in rows:
        line = styled(short(str(row["approval_id"])), "bold cyan")
        line += bold(f"  {show.plain(str(row['session']))}")
        line += f"  {show.plain(str(row['covers']))}"
        people = ", ".join(_named(str(one)) for one in row.get("asked_by") or ["user"])
        line += styled(f", asked by {people}, allowed by {_named(str(row['answered_by']))}", "dim")
        session.out.print(line)
