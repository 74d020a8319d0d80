"""`tacit up`: run the hub, and say how to come in."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from tacit.base.commands.folders import beside_hub
from tacit.base.commands.stream_options import plan_of, stream_options
from tacit.base.commands.terminal import bold
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.cli.session import CliSession, pass_session
from tacit.hub.config import (
    AgentBeside,
    BackupPlan,
    HubConfig,
    Limits,
    default_readers,
    default_writer,
    is_loopback,
)
from tacit.hub.people.sign_in_links import OWNERS_MINUTES
from tacit.hub.server import Server
from tacit.hub.telemetry import logs
from tacit.ledger.admission import AdmissionSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.hub.config import Writer

_PASSPHRASES: Final = ("TACIT_AGENT_PASSPHRASE", "TACIT_AGENT_PASSPHRASE_FILE")


def _ready(session: CliSession) -> Callable[[Server], None]:
    def ready(server: Server) -> None:
        first = server.hub.is_first_start
        if session.as_json:
            session.print_json({"url": server.url, "data": str(server.config.data), "first_start": first})
            return
        out = session.out
        out.print(f"{bold('Tacit')} is up at {server.url}, data in {server.config.data}")
        if first:
            out.print(f"Sign in with this link; it works once, for {OWNERS_MINUTES} minutes:")
            out.print(f"  {bold(server.new_link())}")
            out.print(f"A further one, for another browser or later: {bold('tacit link')}")
        else:
            out.print(f"Sign in with the link that {bold('tacit link')} prints.")
        if server.config.local_trust:
            session.err.print(
                "local trust is on: `by` is whatever callers say, no security boundary", style="yellow"
            )
        if server.config.agent is not None:
            out.print(f"Your agent of {server.config.agent.folder} is beside it; only you are shown it.")
        out.print(f"Talk from another terminal: {bold('tacit --help')}. Stop with Ctrl-C.")

    return ready


def _seconds(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    """A duration as one types it."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    if value[:-1].isdigit() and value[-1] in units and (seconds := int(value[:-1]) * units[value[-1]]):
        return seconds
    raise click.BadParameter("a time is a number with s, m, h or d, such as 12h")


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder for the ledger; made if missing.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=7433,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--socket", type=click.Path(path_type=Path), help="Listen on this Unix socket too.")
@click.option("--tls-cert", type=click.Path(path_type=Path, exists=True), help="Certificate chain (PEM).")
@click.option("--tls-key", type=click.Path(path_type=Path, exists=True), help="Its private key (PEM).")
@click.option("--insecure-public", is_flag=True, help="Listen publicly without TLS (a proxy encrypts).")
@click.option("--public-url", default="", metavar="URL", help="Where people find the hub, behind a proxy.")
@click.option(
    "--trust-proxy",
    "trusted_proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Believe this proxy (address or network) about who calls.",
)
@click.option("--local-trust", is_flag=True, help="Take callers on loopback at their word; not secure.")
@click.option("--allow-origin", multiple=True, metavar="ORIGIN", help="Let pages of this origin in.")
@click.option("--allow-service", multiple=True, metavar="NAME", help="Allow a reserved svc:cccc.* name.")
@click.option("--rate", default=20_000.0, show_default=True, help="Requests a second for each credential.")
@click.option(
    "--idempotency-window",
    default=300,
    show_default=True,
    type=click.IntRange(min=300),
    help="Seconds for which a repeated client_id is recognised.",
)
@click.option(
    "--writer",
    type=click.Choice(["thread", "process"]),
    help="Where the ledger's writer stands; by itself the hub chooses by the number of cores.",
)
@click.option(
    "--crew/--no-crew",
    default=None,
    help="Run agents for the owner (`tacit crew`); the default on loopback, without local trust.",
)
@click.option(
    "--service",
    is_flag=False,
    flag_value="install",
    type=click.Choice(["install", "print", "remove"]),
    help="Run as a service of this account that starts with the machine (systemd), instead of here.",
)
@click.option(
    "--agent",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Run your personal agent of this folder beside the hub; its questions are shown to you alone.",
)
@click.option(
    "--agent-passphrase-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The passphrase of that agent's keys, in its first line; or TACIT_AGENT_PASSPHRASE.",
)
@click.option(
    "--agent-trust",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Extra CA for that agent's relays (PEM).",
)
@click.option(
    "--backup",
    "backup_to",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Take backups into this folder by itself.",
)
@click.option(
    "--backup-every",
    default="24h",
    show_default=True,
    metavar="TIME",
    callback=_seconds,
    help="How often: a number with s, m, h or d.",
)
@click.option(
    "--backup-keep", default=7, show_default=True, type=click.IntRange(min=1), help="How many stay."
)
@click.option(
    "--backup-passphrase-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Encrypt the backups with the passphrase in its first line; or TACIT_BACKUP_PASSPHRASE.",
)
@click.option(
    "--nats",
    "servers",
    multiple=True,
    metavar="URL",
    help="Keep the ledger in a NATS JetStream stream there; the data folder is then a cache.",
)
@stream_options
@click.option("--demo", is_flag=True, help="Open a lobby with three scripted agents to try things with.")
@click.option("--log-json", is_flag=True, help="Log as JSON lines (the default when not at a terminal).")
@pass_session
def up(
    session: CliSession,
    data: Path | None,
    rate: float,
    idempotency_window: int,
    demo: bool,
    service: str | None,
    **given: object,
) -> None:
    """Run the hub: the ledger, its doors, and the page that the sign-in link opens."""
    import uvloop

    if service is not None:
        from tacit.cli.operation.service import handle

        handle(session, service, (data or session.data).resolve(), click.get_current_context())
        return

    as_json = bool(given.pop("log_json")) or not sys.stderr.isatty()
    logs.set_up(as_json=as_json)
    origins, services = given.pop("allow_origin"), given.pop("allow_service")
    plan_of_stream = plan_of(cast("tuple[str, ...]", given.pop("servers")), given)
    stream = plan_of_stream if plan_of_stream.servers else None
    writer = cast("Writer", given.pop("writer") or default_writer())
    crew = given.pop("crew")
    if crew is None:
        crew = is_loopback(str(given["host"])) and not given["local_trust"]
    beside = _beside(given.pop("agent"), given.pop("agent_passphrase_file"), given.pop("agent_trust"))
    every, keep = cast("int", given.pop("backup_every")), cast("int", given.pop("backup_keep"))
    plan = _plan(given.pop("backup_to"), every, keep, given.pop("backup_passphrase_file"))
    config = HubConfig(
        stream=stream,
        agent=beside,
        backups=plan,
        crew=bool(crew),
        agent_folders=(beside_hub("join"),),
        data=(data or session.data).resolve(),
        allow_origins=tuple(origins),  # type: ignore[arg-type]
        trusted_proxies=tuple(cast("tuple[str, ...]", given.pop("trusted_proxies"))),
        allow_services=frozenset(services),  # type: ignore[arg-type]
        limits=Limits(requests_per_second=rate, burst=2 * rate),
        settings=AdmissionSettings(idempotency_window=Moment(idempotency_window * SECOND)),
        writer=writer,
        readers=default_readers() if writer == "process" else 0,
        **given,  # type: ignore[arg-type]
    )

    async def run() -> None:
        server = Server(config)
        try:
            await server.run(_ready(session), _with_agents if demo else None)
        except OSError:
            await server.stop()
            raise

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def _plan(folder: object, every: int, keep: int, passphrase_file: object) -> BackupPlan | None:
    if not isinstance(folder, Path):
        return None
    from tacit.cli.operation.backup import passphrase_of

    words = passphrase_of(passphrase_file if isinstance(passphrase_file, Path) else None)
    return BackupPlan(folder.resolve(), every, keep, words)


def _beside(folder: object, passphrase_file: object, trust: object) -> AgentBeside | None:
    """The personal agent to run, refused here where it could never start."""
    if not isinstance(folder, Path):
        return None
    from tacit.hub import beside

    path = beside.agent_in(folder.resolve())
    if path is None:
        raise Refused(
            "no_agent", f"there is no agent in {folder}; make one with `tacit agent --data {folder} register`"
        )
    words = passphrase_file if isinstance(passphrase_file, Path) else None
    given = words or any(os.environ.get(name) for name in _PASSPHRASES)
    if beside.key_protection(path) == "passphrase" and not given:
        raise Refused(
            "keys_locked",
            f"the agent in {folder} is locked: give --agent-passphrase-file FILE or TACIT_AGENT_PASSPHRASE",
        )
    return AgentBeside(
        folder.resolve(),
        words.resolve() if words is not None else None,
        trust.resolve() if isinstance(trust, Path) else None,
    )


async def _with_agents(server: Server) -> Callable[[], Awaitable[None]]:
    """Let the demo's agents in; gives what ends them again."""
    from tacit.cli.operation import demo
    from tacit.client import Hub

    async with Hub(server.url, server.hub.owner_token) as hub:
        _group_id, tokens = await demo.lobby(hub)
    company = demo.company(server.url, tokens, server.config.data / "demo", lambda _name: None)
    task = asyncio.create_task(company.run())

    async def end() -> None:
        company.stop()
        await task

    return end
