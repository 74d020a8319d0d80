"""`tacit agent mcp`: the personal agent's tools on standard input and output, for both eras of MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.stdio import stdio_server

from tacit.agent.shell.io import calls
from tacit.agent.shell.mcp.io.server import agent_server
from tacit.base.errors import Unavailable
from tacit.base.io import agent_socket as socket

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.agent.shell.io.commands import Commands
    from tacit.agent.shell.mcp.door import AgentCaller


class SocketCaller:
    """The running agent of a folder, by its socket; it may come and go meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def ask(self, command: str, arguments: dict[str, Any]) -> Any:
        """Have it carry out a command."""
        try:
            return await socket.asked(self._folder, command, arguments)
        except ConnectionError:
            raise Unavailable("the agent is not running; `tacit agent run` starts it") from None


class OwnCaller:
    """An agent in this very process."""

    def __init__(self, agent: Commands) -> None:
        self._agent = agent

    async def ask(self, command: str, arguments: dict[str, Any]) -> Any:
        """Have it carry out a command."""
        return await calls.call(self._agent, command, arguments)


async def serve(caller: AgentCaller) -> None:
    """Serve one client until it closes our input."""
    server = agent_server(lambda _context: caller)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
