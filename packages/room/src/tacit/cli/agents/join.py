"""`tacit join`: run an agent in a room, or a team of them.

The owner's token is needed once, to add the agent; from then on the agent's own is kept in its state
folder, for this account's eyes only. Ctrl-C leaves cleanly: what is ready is still said, what is open is
done next time.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import signal
import tomllib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import click

from tacit.base.commands.folders import beside_hub
from tacit.base.commands.terminal import bold
from tacit.base.errors import Refused, Unavailable
from tacit.cli import show
from tacit.cli.session import CliSession, kept_tokens, pass_session
from tacit.harness.budget import DailyBudget
from tacit.harness.drivers import catalogue
from tacit.harness.team import Team, TeamMember, is_amount, team_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tacit.harness.io.agent_setup import ReadyAgent
    from tacit.harness.io.context import Teller
    from tacit.harness.io.harness import Harness
    from tacit.harness.io.supervisor import SupervisedAgent

_DRIVERS: Final = [one.name for one in catalogue.CATALOGUE]
_UNSAFE: Final = re.compile(r"[^\w.-]+")
_ANSWER_BYTES: Final = 64 * 1024
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
            if data.get("cause"):
                self._say(f"its program said: {data['cause']}")
        elif what in SAYS:
            self._say(SAYS[what].format_map(data))

    def _say(self, words: str) -> None:
        self._session.out.print(f"{bold(show.plain(self._name))} {show.plain(words)}")


def _broken_off(code: str, hint: str) -> str:
    """How a turn without an answer ended, and what a person can do about it where that is known."""
    if code == "cancelled":
        return "stopped thinking about it"
    return f"got no answer ({code}{': ' if hint else ''}{hint})"


def state_folder(group_id: str, name: str) -> Path:
    """Where an agent's harness keeps its memory."""
    return beside_hub("join") / _UNSAFE.sub("_", group_id) / _UNSAFE.sub("_", name)


def token_of(session: CliSession, member: TeamMember, group_id: str, state: Path) -> str:
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


def _added(session: CliSession, member: TeamMember, group_id: str) -> str:
    with session.owner() as owner:
        known = {str(one["actor_id"]) for one in owner.group(group_id)["actors"]}
        if member.name in known:
            return str(owner.issue_token(group_id, member.name)["token"])
        made = owner.add_actor(group_id, member.name, title=member.title, roles=list(member.roles))
    if not session.as_json:
        session.out.print(f"added {bold(show.plain(member.name))} to the group")
    return str(made["token"])


def _instructions(file: Any) -> str:
    try:
        return file.read() if file else ""
    except UnicodeDecodeError as error:
        raise Refused("invalid_request", f"{Path(file.name).name} is not UTF-8 text") from error


def state_roots(session: CliSession) -> tuple[Path, ...]:
    """The folders under which agents of this machine have their state: those that joined, and the crew's."""
    return beside_hub("join"), session.data / "crew"


def _prepared(
    session: CliSession, member: TeamMember, base: Path
) -> tuple[Callable[[Teller], Harness], ReadyAgent]:
    """Everything that can be wrong is found now, before anything runs."""
    from tacit.harness.io.agent_setup import ready

    group_id = session.resolve_group(member.group)
    state = state_folder(group_id, member.name)
    try:
        agent = ready(member, state, base=base, environment=os.environ, others=state_roots(session))
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        token = token_of(session, member, group_id, state)
    except OSError as error:
        raise Unavailable(f"the agent's folder {state} cannot be used: {error.strerror}") from error
    return lambda tell: agent.harness(session.url, token, tell, session.proof_for(token)), agent


def _tell_sharing(session: CliSession, agent: ReadyAgent, starting: Collection[Path] = ()) -> None:
    """Two agents that write in one folder are a person's business, before they overwrite each other."""
    from tacit.harness.io import sharing

    others = sharing.sharers(agent.state, agent.others, starting)
    if words := sharing.warning(agent.member.name, agent.options.directory, others):
        session.err.print(show.plain(words), style="yellow")


def _tell_worktree(session: CliSession, agent: ReadyAgent) -> None:
    tree = agent.worktree
    if tree is not None and not session.as_json:
        words = f"{agent.member.name} works on branch {tree.branch} in {tree.directory}"
        session.out.print(show.plain(words))
        for number, (_state, options) in enumerate(agent.beside, 2):
            words = f"its session {number} works on branch {tree.branch}.{number} in {options.directory}"
            session.out.print(show.plain(words))


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


_AGENT_OPTIONS: Final = (
    click.option("--driver", type=click.Choice(_DRIVERS), help="What runs the agent."),
    click.option("--role", "roles", multiple=True, help="A role the agent answers to, when it is added."),
    click.option("--title", help="The name people see, when it is added."),
    click.option(
        "--instructions",
        type=click.File(encoding="utf-8"),
        help="A file of standing instructions for the agent.",
    ),
    click.option(
        "--budget-usd", type=float, callback=_amount, help="Dollars that it may spend in a day (UTC)."
    ),
    click.option("--budget-tokens", type=int, callback=_amount, help="Tokens that it may use in a day."),
    click.option("--budget-turns", type=int, callback=_amount, help="Turns that it may take in a day."),
    click.option(
        "--time-limit",
        type=float,
        default=1800.0,
        show_default=True,
        callback=_amount,
        help="Seconds for one turn.",
    ),
    click.option(
        "--prices",
        type=click.Path(exists=True, dir_okay=False),
        help="A list of prices by model, instead of the one that comes with Tacit.",
    ),
    click.option("--price-in", type=click.FloatRange(min=0), help="Dollars for a million tokens that go in."),
    click.option(
        "--price-out", type=click.FloatRange(min=0), help="Dollars for a million tokens that come out."
    ),
    click.option("--no-claim", is_flag=True, help="Do not take on by itself what is put up for its roles."),
    click.option(
        "--worktree", is_flag=True, help="Work in a git worktree and branch of its own, of --cwd's project."
    ),
    click.option(
        "--sessions",
        type=click.IntRange(1, 8),
        default=1,
        show_default=True,
        help="Questions that it works on side by side, each in a session of its own.",
    ),
    click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- DRIVER OPTIONS]"),
)


def agent_options(command: Callable[..., None]) -> Callable[..., None]:
    """What a person says about an agent, wherever it will run."""
    for option in reversed(_AGENT_OPTIONS):
        command = option(command)
    return command


def member_from(name: str, group: str, given: dict[str, Any]) -> TeamMember:
    """An agent as its options say it."""
    return TeamMember(
        name,
        given["driver"],
        group,
        tuple(given["words"]),
        tuple(given["roles"]),
        given["title"],
        _instructions(given["instructions"]),
        DailyBudget(given["budget_turns"], given["budget_tokens"], given["budget_usd"]),
        given["time_limit"],
        not given["no_claim"],
        prices=given["prices"] or "",
        price_in=given["price_in"],
        price_out=given["price_out"],
        worktree=given["worktree"],
        sessions=given["sessions"],
    )


@click.command(epilog=EPILOG)
@click.argument("group", required=False)
@click.option(
    "--all", "team", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A team's file."
)
@click.option("--invite", metavar="CODE", help="A one-time code of `tacit crew invite`: says where and who.")
@agent_options
@pass_session
def join(session: CliSession, group: str | None, team: Path | None, invite: str | None, **given: Any) -> None:
    """Run an agent in a room: `tacit join GROUP --as NAME --driver D -- DRIVER OPTIONS`."""
    name, session.speaker = session.speaker, None
    if team is not None:
        if group or given["driver"]:
            raise click.UsageError("--all takes everything from the file")
        _run_team(session, team)
        return
    if invite is not None:
        # What looks like the room is the first word of the driver's.
        given["words"] = (*([group] if group else []), *given["words"])
        group, name = invited(session, invite)
    if not group or not name or not given["driver"]:
        raise click.UsageError("say where, who and how: tacit join GROUP --as NAME --driver D")
    make, agent = _prepared(session, member_from(name, group, given), Path.cwd())
    _tell_sharing(session, agent)
    _tell_worktree(session, agent)
    harness = make(Narrator(session, name))
    if not session.as_json:
        session.out.print(
            f"{show.plain(name)} joins {show.plain(group)} with {given['driver']}. Leave with Ctrl-C."
        )
    try:
        _loop(harness)
    except Refused as refused:
        raise with_way_out(refused, agent.state) from refused


def invited(session: CliSession, code: str) -> tuple[str, str]:
    """Where and as whom a code lets in. It works once; what it brought is kept, for the next start."""
    kept = beside_hub("join") / "invited" / (hashlib.sha256(code.encode()).hexdigest()[:32] + ".json")
    found = _kept_invitation(kept)
    if found is None:
        found = answer = _redeemed(session.url, code)
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(answer, file)
    session.token = str(found["token"])
    return str(found["group_id"]), str(found["actor_id"])


def _kept_invitation(kept: Path) -> dict[str, Any] | None:
    """What a code brought before; None when it has not been used here."""
    try:
        with kept.open("rb") as file:
            found = _members(file)
    except FileNotFoundError:
        return None
    if not all(isinstance(found.get(name), str) for name in _REDEEMED):
        raise Refused("invalid_request", f"{kept} is broken: remove it, and ask for another code")
    return found


def _redeemed(url: str, code: str) -> dict[str, Any]:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    if not url.startswith(("http://", "https://")):
        raise Refused("invalid_request", "--url begins with http:// or https://")
    body = json.dumps({"code": code}).encode()
    request = Request(f"{url}/v1/redeem", body, {"Content-Type": "application/json"})  # noqa: S310 - above
    try:
        with urlopen(request, timeout=20) as answer:  # noqa: S310
            said = _members(answer)
    except HTTPError as error:
        with error:
            said = _members(error)
        if "code" in said:
            raise Refused(str(said["code"]), str(said.get("message", ""))) from None
        raise Unavailable(
            f"{url} answered {error.code}, and not as a hub does: is --url the hub's?"
        ) from None
    except OSError as error:
        raise Unavailable(f"the hub at {url} cannot be reached") from error
    if not all(isinstance(said.get(name), str) for name in _REDEEMED):
        raise Unavailable(f"{url} answered, and not as a hub does: is --url the hub's?")
    return said


_REDEEMED: Final = ("token", "group_id", "actor_id")


def _members(answer: IO[bytes]) -> dict[str, Any]:
    """What an answer says; nothing where it is none of a hub's."""
    try:
        said: object = json.loads(answer.read(_ANSWER_BYTES))
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", said) if isinstance(said, dict) else {}


def with_way_out(refused: Refused, state: Path) -> Refused:
    """A hub's no to an agent's token, with what its owner can do about it."""
    if refused.code != "permission_denied":
        return refused
    way = f"if it may come back, remove {state / 'token'} and join again in the owner's name"
    return Refused(refused.code, f"{refused.message}; {way}", details=refused.details)


def _run_team(session: CliSession, path: Path) -> None:
    from tacit.harness.io.supervisor import Supervisor

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused("invalid_request", f"{path.name} is not TOML") from error
    team = team_of(document)
    failed, agents = _each_alone(session, team, path.absolute().parent)
    supervisor = Supervisor(agents, lambda name: Narrator(session, name))
    if not session.as_json:
        for fault in failed:
            session.err.print(show.plain(fault), style="red")
        count = f"{len(agents)} agent{'s' if len(agents) != 1 else ''} join{'s' if len(agents) == 1 else ''}"
        session.out.print(f"{count}. Leave with Ctrl-C.")
    _loop(supervisor)
    ended = [
        (log, with_way_out(error, log.parent) if isinstance(error, Refused) else error)
        for log, error in supervisor.failed.items()
    ]
    if len(ended) == 1 and not failed:
        raise ended[0][1]
    if failed or ended:
        told = [f"{log.parent.name}: {error}" for log, error in ended]
        raise Refused("invalid_request", "; ".join([*failed, *told]))


def _each_alone(session: CliSession, team: Team, base: Path) -> tuple[list[str], list[SupervisedAgent]]:
    """What is wrong with which entry, and the agents of all others; `Refused` when none is right."""
    from tacit.harness.io.supervisor import SupervisedAgent

    faults, agents = list(team.faults), list[SupervisedAgent]()
    for member in team.members:
        try:
            make, agent = _prepared(session, member, base)
        except Refused as refused:
            faults.append(f"{member.name}: {refused.message}")
            continue
        log = agent.state / "agent.log"
        if any(one.log == log for one in agents):
            faults.append(f"{member.name} is named twice in {member.group}")
            continue
        _tell_sharing(session, agent, [one.log.parent for one in agents])
        agents.append(SupervisedAgent(member.name, make, log))
    if not agents:
        raise Refused("invalid_request", "; ".join(faults), details={"faults": faults})
    return faults, agents


def _loop(work: Any) -> None:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_until_stopped(work))
