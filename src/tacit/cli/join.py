"""`tacit join`: run an agent in a room, or a team of them.

The owner's token is needed once, to add the agent; from then on the agent's own is kept in its state
folder, for this account's eyes only. Ctrl-C leaves cleanly: what is ready is still said, what is open is
done next time.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.base.errors import Refused, Unavailable
from tacit.cli import show
from tacit.cli.pricing import price_for
from tacit.cli.session import CliSession, beside_hub, kept_tokens, pass_session
from tacit.harness.budget import Budget
from tacit.harness.drivers import catalogue
from tacit.harness.team import Member, is_amount, team_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.harness.drivers.options import Options
    from tacit.harness.io.context import Teller
    from tacit.harness.io.harness import Harness

_DRIVERS: Final = [one.name for one in catalogue.CATALOGUE]
_UNSAFE: Final = re.compile(r"[^\w.-]+")
SAYS: Final[dict[str, str]] = {
    "connected": "is in the room",
    "disconnected": "lost the hub; coming back by itself",
    "heard": "heard something ({policy}, {mode})",
    "turn": "thinks about it ({events} message(s), attempt {attempt})",
    "posted": "replied",
    "signalled": "answered with the signal {signal}",
    "refused": "was not allowed to say it ({code})",
    "claimed": "took it on",
    "claim_lost": "left it to another agent",
    "cancelled": "was told to drop a question",
    "told": "{message}",
    "budget": "{message}",
    "given_up": "was given up: {reason}",
    "fallen": "fell and will be started again: {reason}",
    "stopped": "left",
}
"""What a person at the terminal is told, by what happened."""
_TAKES: Final = "\n".join(
    f"  {one.name:8} {' '.join(one.takes)}{' PROGRAM …' if one.program and not one.key_env else ''}"
    for one in catalogue.CATALOGUE
)
EPILOG: Final = f"""\b
  tacit join Lobby --as ada --driver codex -- --use-my-config --cwd . --access write
  tacit join Lobby --as bob --driver command -- --text ./answer.sh
  tacit join --all team.toml
\b
What the drivers take after `--`:
{_TAKES}
"""


class Narrator:
    """Tells what goes on: calm lines for people, one JSON value a line for programs."""

    def __init__(self, session: CliSession, name: str) -> None:
        self._session = session
        self._name = name

    def __call__(self, what: str, **data: object) -> None:
        """Something happened."""
        if self._session.as_json:
            self._session.print_json({"agent": self._name, "what": what, **data})
        elif what == "turn_ended" and data.get("failure"):
            self._say(_broken_off(str(data["failure"]), str(data.get("hint") or "")))
        elif what in SAYS:
            self._say(SAYS[what].format_map(data))

    def _say(self, words: str) -> None:
        self._session.out.print(f"[bold]{show.plain(self._name)}[/bold] {show.plain(words)}", soft_wrap=True)


def _broken_off(code: str, hint: str) -> str:
    """How a turn without an answer ended, and what a person can do about it where that is known."""
    if code == "cancelled":
        return "stopped thinking about it"
    return f"got no answer ({code}{': ' if hint else ''}{hint})"


def state_folder(group_id: str, name: str) -> Path:
    """Where an agent's harness keeps its memory."""
    return beside_hub("join") / _UNSAFE.sub("_", group_id) / _UNSAFE.sub("_", name)


def _token(session: CliSession, member: Member, group_id: str, state: Path) -> str:
    """The agent's own token: given, kept here, or asked for in the owner's name."""
    given = session.token
    if given and session.hub(group_id).call("whoami", {})["principal"] == member.name:
        # What the web room hands out: on the agent's machine nobody needs the owner's token.
        return given
    path = state / "token"
    if path.exists() and (kept := path.read_bytes().strip()).isascii() and kept:
        return kept.decode("ascii")
    token = kept_tokens().get(session.url, {}).get(group_id, {}).get(member.name) or _added(
        session, member, group_id
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(token + "\n")
    return token


def _added(session: CliSession, member: Member, group_id: str) -> str:
    with session.owner() as owner:
        known = {str(one["actor_id"]) for one in owner.group(group_id)["actors"]}
        if member.name in known:
            return str(owner.issue_token(group_id, member.name)["token"])
        made = owner.add_actor(group_id, member.name, title=member.title, roles=list(member.roles))
    if not session.as_json:
        session.out.print(f"added [bold]{show.plain(member.name)}[/bold] to the group")
    return str(made["token"])


def placed(driver: str, options: Options, base: Path) -> Options:
    """The options with paths as whoever wrote them meant them: from `base`, and there.

    A program of the person's own runs where they are, unless they say where; agents have their own folder.
    """
    directory = options.directory or ("." if driver == "command" else None)
    if directory is not None:
        folder = _from(base, directory)
        if not folder.is_dir():
            raise Refused("driver_unusable", f"there is no folder {folder} to work in")
        options = replace(options, directory=str(folder))
    if not options.command:
        return options
    program, *rest = options.command
    path = _from(base, program)
    if "/" not in program:
        if shutil.which(program) is None:
            at = f"; for the one in this folder write ./{program}" if path.is_file() else ""
            raise Refused("driver_unusable", f"there is no program {program} on the PATH{at}")
        return options
    if not path.is_file():
        raise Refused("driver_unusable", f"there is no program {path}")
    if not os.access(path, os.X_OK):
        raise Refused("driver_unusable", f"{path} may not be run: chmod +x makes it a program")
    return replace(options, command=(str(path), *rest))


def _from(base: Path, path: str) -> Path:
    try:
        return (base / Path(path).expanduser()).absolute()
    except RuntimeError as error:  # a home that nobody has
        raise Refused("driver_unusable", f"there is nobody whose home {path} could be in") from error


def _instructions(file: Any) -> str:
    try:
        return file.read() if file else ""
    except UnicodeDecodeError as error:
        raise Refused("invalid_request", f"{Path(file.name).name} is not UTF-8 text") from error


def _prepared(session: CliSession, member: Member, base: Path) -> tuple[Callable[[Teller], Harness], Path]:
    """Everything that can be wrong is found now, before anything runs."""
    from tacit.harness.io.harness import AgentConfig, Harness

    group_id = session.resolve_group(member.group)
    state = state_folder(group_id, member.name)
    options = catalogue.parse(
        member.driver, member.options, state=str(state / "driver"), environment=os.environ
    )
    options = placed(member.driver, options, base)
    price = price_for(member, options.model, base)
    catalogue.build(member.driver, options)
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        token = _token(session, member, group_id, state)
    except OSError as error:
        raise Unavailable(f"the agent's folder {state} cannot be used: {error.strerror}") from error
    config = AgentConfig(
        session.url,
        token,
        member.name,
        state,
        member.instructions,
        options.directory,
        member.time_limit,
        member.budget,
        member.claims,
        frozenset(member.ambient),
        options.model,
        price,
    )
    return lambda tell: Harness(config, catalogue.build(member.driver, options), tell=tell), state


async def _until_stopped(work: Any) -> None:
    """Run something that has `run` and `stop`; Ctrl-C and TERM stop it."""
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, work.stop)
    try:
        await work.run()
    finally:
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(one)


def _amount(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not is_amount(value):
        raise click.BadParameter("this has to be a number above 0")
    return value


@click.command(epilog=EPILOG)
@click.argument("group", required=False)
@click.option("--driver", type=click.Choice(_DRIVERS), help="What runs the agent.")
@click.option(
    "--all", "team", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A team's file."
)
@click.option("--role", "roles", multiple=True, help="A role the agent answers to, when it is added.")
@click.option("--title", help="The name people see, when it is added.")
@click.option(
    "--instructions", type=click.File(encoding="utf-8"), help="A file of standing instructions for the agent."
)
@click.option("--budget-usd", type=float, callback=_amount, help="Dollars that it may spend in a day (UTC).")
@click.option("--budget-tokens", type=int, callback=_amount, help="Tokens that it may use in a day.")
@click.option("--budget-turns", type=int, callback=_amount, help="Turns that it may take in a day.")
@click.option(
    "--prices",
    type=click.Path(exists=True, dir_okay=False),
    help="A list of prices by model, instead of the one that comes with Tacit.",
)
@click.option("--price-in", type=click.FloatRange(min=0), help="Dollars for a million tokens that go in.")
@click.option("--price-out", type=click.FloatRange(min=0), help="Dollars for a million tokens that come out.")
@click.option(
    "--time-limit",
    type=float,
    default=1800.0,
    show_default=True,
    callback=_amount,
    help="Seconds for one turn.",
)
@click.option("--no-claim", is_flag=True, help="Do not take on by itself what is put up for its roles.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- DRIVER OPTIONS]")
@pass_session
def join(session: CliSession, group: str | None, driver: str | None, team: Path | None, **given: Any) -> None:
    """Run an agent in a room: `tacit join GROUP --as NAME --driver D -- DRIVER OPTIONS`."""
    name, session.speaker = session.speaker, None
    if team is not None:
        if group or driver:
            raise click.UsageError("--all takes everything from the file")
        _run_team(session, team)
        return
    if not group or not name or not driver:
        raise click.UsageError("say where, who and how: tacit join GROUP --as NAME --driver D")
    member = Member(
        name,
        driver,
        group,
        tuple(given["words"]),
        tuple(given["roles"]),
        given["title"],
        _instructions(given["instructions"]),
        Budget(given["budget_turns"], given["budget_tokens"], given["budget_usd"]),
        given["time_limit"],
        not given["no_claim"],
        prices=given["prices"] or "",
        price_in=given["price_in"],
        price_out=given["price_out"],
    )
    make, state = _prepared(session, member, Path.cwd())
    harness = make(Narrator(session, name))
    if not session.as_json:
        session.out.print(f"{show.plain(name)} joins {show.plain(group)} with {driver}. Leave with Ctrl-C.")
    try:
        _loop(harness)
    except Refused as refused:
        raise with_way_out(refused, state) from refused


def with_way_out(refused: Refused, state: Path) -> Refused:
    """A hub's no to an agent's token, with what its owner can do about it."""
    if refused.code != "permission_denied":
        return refused
    way = f"if it may come back, remove {state / 'token'} and join again in the owner's name"
    return Refused(refused.code, f"{refused.message}; {way}", details=refused.details)


def _run_team(session: CliSession, path: Path) -> None:
    from tacit.harness.io.supervisor import SupervisedAgent, Supervisor

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused("invalid_request", f"{path.name} is not TOML") from error
    agents: list[SupervisedAgent] = []
    for member in team_of(document):
        try:
            make, state = _prepared(session, member, path.absolute().parent)
        except Refused as refused:
            message = f"{member.name}: {refused.message}"
            raise Refused(refused.code, message, details=refused.details) from refused
        log = state / "agent.log"
        if any(agent.log == log for agent in agents):
            raise Refused("invalid_request", f"{member.name} is named twice in {member.group}")
        agents.append(SupervisedAgent(member.name, make, log))
    supervisor = Supervisor(agents, lambda name: Narrator(session, name))
    if not session.as_json:
        session.out.print(f"{len(agents)} agents join. Leave with Ctrl-C.")
    _loop(supervisor)
    for log, error in supervisor.failed.items():
        raise with_way_out(error, log.parent) if isinstance(error, Refused) else error


def _loop(work: Any) -> None:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_until_stopped(work))
