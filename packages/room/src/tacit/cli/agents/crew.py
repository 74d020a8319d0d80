"""`tacit crew`: the agents that the hub runs for its owner; add, start, stop, restart, remove, logs, invite.

Everything goes through the hub, in the owner's name: the page does the same by the same operations. Paths are
meant from where the command was typed, and reach the hub whole.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.base.commands.terminal import Table
from tacit.base.errors import Refused
from tacit.cli import show
from tacit.cli.agents.join import agent_options, member_from
from tacit.cli.session import CliSession, pass_session
from tacit.harness.team import document_of, team_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.harness.team import TeamMember

EPILOG: Final = """\\b
  tacit crew add Lobby ada --driver codex --worktree -- --use-my-config --cwd . --access write
  tacit crew add --all team.toml
  tacit crew list
  tacit crew logs ada
  tacit crew invite Lobby bob          a command for another machine, good once
  tacit crew install                   start with the machine (systemd); `uninstall` ends that
"""


@click.group(epilog=EPILOG)
def crew() -> None:
    """Agents that the hub runs for you: they come back with it after a restart."""


def _agents(session: CliSession) -> list[dict[str, Any]]:
    found = session.hub().call("crew_list", {})
    if not found["enabled"]:
        raise Refused("invalid_request", "this hub runs no crew: start it with `tacit up --crew`")
    return found["agents"]


def _key(session: CliSession, name: str, group: str | None) -> dict[str, str]:
    found = [one for one in _agents(session) if one["actor_id"] == name]
    if group is not None:
        group_id = session.resolve_group(group)
        found = [one for one in found if one["group_id"] == group_id]
    if not found:
        raise Refused("actor_not_found", f"the crew has no agent {name}; `tacit crew list` shows all")
    if len(found) > 1:
        raise Refused("invalid_request", f"{name} is in several rooms: say --group")
    return {"group_id": found[0]["group_id"], "actor_id": name}


@crew.command("list")
@pass_session
def list_(session: CliSession) -> None:
    """Every agent of the crew: how it is, where it works, how its branch stands."""
    rows = _agents(session)
    titles = {one["group_id"]: one["title"] for one in session.hub().groups()}

    def tell() -> None:
        if not rows:
            session.out.print("the crew is empty; `tacit crew add --help`")
            return
        session.out.print(_table(rows, titles))
        for row in rows:
            for words in filter(None, (row["reason"], row["warning"])):
                session.out.print(show.plain(f"{row['actor_id']}: {words}"))

    session.answer(rows, tell)


def _table(rows: Sequence[dict[str, Any]], titles: dict[str, str]) -> Table:
    table = Table("agent", "room", "driver", "state", "branch")
    for row in rows:
        tree = row["worktree"]
        branch = "" if tree is None else tree["fault"] or f"{tree['branch']} ({tree['words']})"
        room = titles.get(row["group_id"], row["group_id"])
        cells = (row["actor_id"], room, row["agent"]["driver"], row["state"], branch)
        table.add(*(show.plain(str(cell)) for cell in cells))
    return table


def whole_paths(words: Sequence[str], base: Path) -> list[str]:
    """A driver's words with the folder and the program named from the root: the hub runs elsewhere."""
    found, rest = list[str](), list(words)
    while rest and rest[0].startswith("--") and rest[0] != "--":
        flag, sign, value = rest.pop(0).partition("=")
        if flag in {"--use-my-config", "--text"}:
            found.append(flag + sign + value)
            continue
        if not sign and rest:
            value = rest.pop(0)
        found += [flag, _whole(value, base) if flag == "--cwd" else value]
    start = 1 if rest[:1] == ["--"] else 0
    found += rest[:start]
    program = rest[start : start + 1]
    return [*found, *(_whole(one, base) if "/" in one else one for one in program), *rest[start + 1 :]]


def _whole(path: str, base: Path) -> str:
    return path if path.startswith("~") else str((base / path).absolute())


def _add(session: CliSession, member: TeamMember, base: Path, *, start: bool) -> dict[str, Any]:
    document = document_of(member)
    words = whole_paths(member.options, base)
    if member.driver == "command" and not any(one.split("=")[0] == "--cwd" for one in words):
        words = ["--cwd", str(base), *words]  # a program of one's own runs where one is
    given = {name: value for name, value in document.items() if name not in {"name", "group", "ambient"}}
    given |= {"group_id": session.resolve_group(member.group), "actor_id": member.name}
    return session.hub().call("crew_add", {**given, "options": words, "start": start})


@crew.command()
@click.argument("group", required=False)
@click.argument("name", required=False)
@click.option(
    "--all", "team", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A team's file."
)
@click.option("--stopped", is_flag=True, help="Do not start it yet.")
@agent_options
@pass_session
def add(
    session: CliSession,
    group: str | None,
    name: str | None,
    team: Path | None,
    *,
    stopped: bool,
    **given: Any,
) -> None:
    """Take an agent into the crew: `tacit crew add GROUP NAME --driver D -- DRIVER OPTIONS`."""
    if team is not None:
        _add_team(session, team, start=not stopped)
        return
    if not group or not name or not given["driver"]:
        raise click.UsageError("say where, who and how: tacit crew add GROUP NAME --driver D")
    made = _add(session, member_from(name, group, given), Path.cwd(), start=not stopped)
    session.answer(made, lambda: session.out.print(f"{show.plain(name)} is of the crew now"))


def _add_team(session: CliSession, path: Path, *, start: bool) -> None:
    try:
        team = team_of(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused("invalid_request", f"{path.name} is not TOML") from error
    faults, made = list(team.faults), list[dict[str, Any]]()
    for member in team.members:
        try:
            made.append(_add(session, member, path.absolute().parent, start=start))
        except Refused as refused:
            faults.append(f"{member.name}: {refused.message}")
    names = ", ".join(str(one["actor_id"]) for one in made)
    session.answer(made, lambda: session.out.print(show.plain(f"of the crew now: {names or 'nobody'}")))
    if faults:
        raise Refused("invalid_request", "; ".join(faults), details={"faults": faults})


def _order(name: str, operation: str, words: str, done: str) -> None:
    @crew.command(name, help=words)
    @click.argument("name", metavar="NAME")
    @click.option("--group", help="The room, where agents of several have this name.")
    @pass_session
    def run(session: CliSession, name: str, group: str | None) -> None:
        found = session.hub().call(operation, _key(session, name, group))
        session.answer(found, lambda: session.out.print(show.plain(f"{name} {done}")))

    del run


_order("start", "crew_start", "Start an agent.", "is starting")
_order("stop", "crew_stop", "Let an agent leave, until it is started again.", "is leaving")
_order("restart", "crew_start", "Start an agent anew.", "is starting anew")
_order(
    "remove",
    "crew_remove",
    "Run an agent no more; its worktree and memory stay.",
    "is not of the crew any more",
)


@crew.command()
@click.argument("name")
@click.option("--group", help="The room, where agents of several have this name.")
@click.option("-n", "--lines", default=50, show_default=True, type=click.IntRange(1, 1000), help="How many.")
@click.option("--program", is_flag=True, help="What the agent's own program said on standard error.")
@pass_session
def logs(session: CliSession, name: str, group: str | None, lines: int, *, program: bool) -> None:
    """What an agent did last: ids, codes and our own words, never chat."""
    found = session.hub().call("crew_log", {**_key(session, name, group), "limit": lines})
    told: list[str] = found["stderr" if program else "lines"]

    def tell() -> None:
        for line in told:
            session.out.print(show.plain(line if program else _readable(line)))

    session.answer(found, tell)


def _readable(line: str) -> str:
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return line
    stamp, what = str(entry.pop("ts", ""))[:19], entry.pop("what", "")
    more = " ".join(f"{name}={value}" for name, value in entry.items() if str(value))
    return f"{stamp}  {what}  {more}".rstrip()


@crew.command()
@click.argument("group")
@click.argument("name")
@click.option("--role", "roles", multiple=True, help="A role the agent answers to, when it is added.")
@click.option("--title", help="The name people see, when it is added.")
@click.option("--hours", default=24.0, show_default=True, help="How long the command is good for.")
@pass_session
def invite(
    session: CliSession, group: str, name: str, roles: tuple[str, ...], title: str | None, hours: float
) -> None:
    """A command that lets an agent of another machine in; it works once."""
    given: dict[str, Any] = {"group_id": session.resolve_group(group), "actor_id": name, "hours": hours}
    given |= {"roles": list(roles)} if roles else {}
    given |= {"title": title} if title else {}
    made = session.hub().call("crew_invite", given)
    command = join_command(session.url, str(made["code"]))

    def tell() -> None:
        session.out.print(f"On the other machine, within {hours:g} hours (the code works once):")
        session.out.print(f"  {show.plain(command)} --driver codex -- --use-my-config --cwd .")

    session.answer({**made, "command": command}, tell)


@crew.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@pass_session
def install(session: CliSession, options: tuple[str, ...]) -> None:
    """Have the hub and its crew start with this machine, by systemd; takes the options of `tacit up`."""
    _as_service(session, "install", ("--crew", *options))


@crew.command()
@pass_session
def uninstall(session: CliSession) -> None:
    """Start them with the machine no more; agents, worktrees and memory stay."""
    _as_service(session, "remove", ())


def _as_service(session: CliSession, what: str, options: tuple[str, ...]) -> None:
    from tacit.cli.operation.service import handle
    from tacit.cli.operation.up import up

    with up.make_context("up", list(options), parent=click.get_current_context()) as typed:
        data: Path | None = typed.params["data"]
        handle(session, what, (data or session.data).resolve(), typed)


def join_command(url: str, code: str) -> str:
    """How the other machine joins, up to its own choice of a driver."""
    return f"tacit --url {shlex.quote(url)} join --invite {shlex.quote(code)}"
