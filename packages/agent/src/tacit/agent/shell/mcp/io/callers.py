"""The two ways to the personal agent from `tacit agent mcp`: its socket, or an agent in this very process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.agent.shell.io import calls
from tacit.base.errors import Unavailable
from tacit.base.io import agent_socket as socket

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.agent.shell.io.commands import Commands


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
