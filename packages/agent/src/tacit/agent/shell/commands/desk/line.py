"""The agent behind a face at the terminal: the one that runs for the folder, or this process for a while.

A face calls commands by name and follows changes, and does not notice which of the two it is. Whoever is the
agent for a while also answers at the folder's socket, so that other commands work meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tacit.base import agent_operations as operations
from tacit.base.errors import Unavailable
from tacit.base.io import agent_socket as socket

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from tacit.agent.shell.io.agent import Agent
    from tacit.base.agent_operations import AgentOperation

Result = TypeVar("Result")


class Line(Protocol):
    """What a face needs of an agent."""

    async def call(self, operation: AgentOperation[Result], /, **given: object) -> Result:
        """The answer to an operation; `ConnectionError` when the agent has gone."""
        ...

    def changes(self) -> AsyncGenerator[dict[str, Any]]:
        """`following` first, then what changes, as it happens; `ConnectionError` when the agent has gone."""
        ...


class Running:
    """The agent that runs for a folder, over its socket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def call(self, operation: AgentOperation[Result], /, **given: object) -> Result:
        """Ask the running agent; one that ended meanwhile is `ConnectionError`, whatever it was doing."""
        try:
            return operation.answer(await socket.asked(self._folder, operation.command, given))
        except Unavailable:
            await socket.asked(self._folder, "hints", {})
            raise

    def changes(self) -> AsyncGenerator[dict[str, Any]]:
        """Follow the running agent."""
        return socket.follow(self._folder, begun=True)


class Here:
    """The agent in this process."""

    def __init__(self, agent: Agent, turning: asyncio.Future[None] | None = None) -> None:
        self._agent = agent
        self._turning = turning

    async def call(self, operation: AgentOperation[Result], /, **given: object) -> Result:
        """Ask the agent itself, by the same table as its socket does."""
        from tacit.agent.shell.io import calls

        return operation.answer(await calls.call(self._agent, operation.command, given))

    async def changes(self) -> AsyncGenerator[dict[str, Any]]:
        """Follow the agent itself; what ends its wheel ends this, with its reason."""
        with self._agent.changes.followed() as follower:
            yield {"change": "following"}
            while True:
                following = asyncio.ensure_future(follower.next())
                waiting = {following, self._turning} if self._turning is not None else {following}
                try:
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not following.done():
                        following.cancel()
                if self._turning is not None and self._turning.done():
                    self._turning.result()
                yield following.result()


@contextlib.asynccontextmanager
async def line(folder: Path, opened: Callable[[], Agent]) -> AsyncGenerator[Line]:
    """The running agent of a folder, or a new one that runs while the block does."""
    running = Running(folder)
    try:
        await running.call(operations.HINTS)
    except ConnectionError:
        async with here(opened()) as found:
            yield found
    else:
        yield running


@contextlib.asynccontextmanager
async def here(agent: Agent) -> AsyncGenerator[Line]:
    """Be the agent while the block runs: hold the line to the relay, answer at the socket."""
    from tacit.agent.shell.io import door

    async with agent, door.served(agent, agent.folder):
        stopped = asyncio.Event()
        turning = asyncio.ensure_future(agent.run(stopped))
        try:
            yield Here(agent, turning)
        finally:
            stopped.set()
            await turning
