"""`tacit agent mcp`: the personal agent for a program that speaks MCP, over stdio."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING

import click

from tacit.agent.shell.commands import arrange
from tacit.agent.terminal.commands.asking import invocation
from tacit.base.commands.mcp import command_words, mcp_missing
from tacit.base.commands.outcome import reported
from tacit.base.errors import TacitError, Unavailable
from tacit.base.io import agent_socket as socket
from tacit.base.mcp_configs import CLIENTS, ConfigEntry, config_for

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tacit.agent.shell.mcp.door import AgentCaller

EPILOG = """\b
  tacit agent mcp --print-config claude-code >.mcp.json
  tacit agent mcp --print-config codex >>~/.codex/config.toml
\b
The program can put wishes and look; it can answer no question of yours.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--print-config",
    "client",
    type=click.Choice(list(CLIENTS)),
    help="Print a client's configuration and end.",
)
@click.option(
    "--name", default="tacit-agent", show_default=True, help="With --print-config: the server's name."
)
@reported
def mcp(*, client: str | None, name: str) -> None:
    """Serve your agent's tools over MCP; runs the agent here when it runs nowhere else."""
    data, passphrase_file, trust, _ = invocation()
    if client is not None:
        command, *before = command_words()
        given = ["--data", str(data.absolute())]
        given += ["--passphrase-file", str(passphrase_file.absolute())] if passphrase_file else []
        given += ["--trust", str(trust.absolute())] if trust else []
        entry = ConfigEntry("", name, command, (*before, "agent", *given, "mcp"), None, asks_for_token=False)
        click.echo(config_for(client, entry))
        click.echo(f"This belongs into {CLIENTS[client].file}.", err=True)
        return
    # Reading from a pipe cannot be cancelled; what the agent has acknowledged is durable.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        asyncio.run(_serve())
    except ImportError as missing:
        raise Unavailable(mcp_missing("agent")) from missing


async def _serve() -> None:
    from tacit.agent.shell.mcp.door import SURFACE
    from tacit.base.io.mcp_server import serve_stdio

    async with _caller() as caller:
        await serve_stdio(SURFACE, caller)


@contextlib.asynccontextmanager
async def _caller() -> AsyncGenerator[AgentCaller]:
    """The running agent of the folder; where none runs, this process is it until the client leaves."""
    from tacit.agent.shell.mcp.io.callers import OwnCaller, SocketCaller

    folder = invocation().folder
    try:
        await socket.asked(folder, "program", {"tool": "list_spaces", "arguments": {}})
    except ConnectionError:
        pass
    else:
        yield SocketCaller(folder)
        return
    from tacit.agent.shell.io import door, page

    # The page too, without a word of it: standard output is the client's.
    async with arrange.opened_agent() as opened, door.served(opened, folder), page.served(opened, None):
        stopped = asyncio.Event()
        running = asyncio.ensure_future(opened.run(stopped))
        running.add_done_callback(_say_why)
        try:
            yield OwnCaller(opened)
        finally:
            stopped.set()
            await asyncio.gather(running, return_exceptions=True)


def _say_why(running: asyncio.Future[None]) -> None:
    """The line to the relay ended for a reason that the owner must hear; the client goes on without it."""
    fault = None if running.cancelled() else running.exception()
    if isinstance(fault, TacitError):
        click.echo(f"tacit agent: no longer connected to its relay: {fault}", err=True)
    elif fault is not None:
        click.echo(f"tacit agent: no longer connected to its relay: {type(fault).__name__}", err=True)
