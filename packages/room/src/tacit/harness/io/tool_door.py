"""The door through which a driver's agent reaches the chat tools: a Unix socket in a folder of our own.

Every call goes to one function of the harness. Whoever connects must know a key that only this harness's
driver was given; there is one for each session of the model's, so that a call always says for whom it is
made, also one that comes late. Speaks MCP lines (`tacit.harness.mcp_door`); knows nothing of turns or rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from tacit.base.io.ending import end_listening
from tacit.base.io.own_program import own_program
from tacit.base.io.system import SystemEntropy
from tacit.harness import mcp_door
from tacit.harness.drivers.port import ToolProgram
from tacit.harness.io.tool_pipe import KEY, SOCKET

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log: Final = logging.getLogger("tacit.harness")
LINE: Final = 4 * 2**20
MOST_KEYS: Final = 200
"""Sessions whose agents may come in; a driver keeps a few open."""


class ToolDoor:
    """Open while the harness runs."""

    def __init__(
        self,
        call: Callable[[str, dict[str, Any], str], Awaitable[dict[str, Any]]],
        tools: Callable[[], list[dict[str, Any]]],
    ) -> None:
        self._call = call
        self._tools = tools
        self._keys: dict[str, str] = {}
        # A socket's path is short by nature; the state folder's may not be.
        self._folder = Path(tempfile.mkdtemp(prefix="tacit-"))
        self._server: asyncio.Server | None = None
        self._guests: set[asyncio.Task[None]] = set()

    def program(self, audience: str = "") -> ToolProgram:
        """What a driver tells its agent to start, for one audience.

        The keys of those that were not asked for longest are forgotten: their agents are long closed.
        """
        self._keys[audience] = self._keys.pop(audience, None) or SystemEntropy().draw(24).hex()
        while len(self._keys) > MOST_KEYS:
            del self._keys[next(iter(self._keys))]
        return ToolProgram(
            mcp_door.NAME,
            tuple(own_program("tacit.harness.io.tool_pipe")),
            {SOCKET: str(self._folder / "tools"), KEY: self._keys[audience]},
        )

    def _audience_of(self, key: bytes) -> str | None:
        """For whom a key was made; None for one that was not."""
        found: str | None = None
        for audience, known in self._keys.items():
            if hmac.compare_digest(key, known.encode()):
                found = audience
        return found

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._guest, self._folder / "tools", limit=LINE)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            await end_listening(self._server)
        for guest in self._guests:
            guest.cancel()
        if self._guests:
            await asyncio.wait(self._guests)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _guest(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a connection is served by a task
        self._guests.add(task)
        try:
            audience = self._audience_of((await _line(reader)).strip())
            if audience is not None:
                await self._serve(reader, writer, audience)
        except asyncio.CancelledError:
            log.debug("the tool door closes")
        finally:
            self._guests.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, audience: str) -> None:
        """Calls of one agent may overlap; answers go out whole, in the order in which they are ready."""
        async with asyncio.TaskGroup() as calls:
            while line := await _line(reader):
                try:
                    message: object = msgspec.json.decode(line)
                except (msgspec.DecodeError, RecursionError):
                    message = None
                found = mcp_door.heard(message, self._tools())
                if isinstance(found, mcp_door.ToolCall):
                    calls.create_task(self._answer(found, writer, audience))
                elif found is not None:
                    await _say(writer, found)

    async def _answer(self, call: mcp_door.ToolCall, writer: asyncio.StreamWriter, audience: str) -> None:
        try:
            answer = mcp_door.called(call, await self._call(call.name, call.arguments, audience))
        except Exception:
            # A fault of our own costs the one call: the agent keeps its tools.
            log.exception("a tool call failed")
            answer = mcp_door.failed(call)
        await _say(writer, answer)


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line; empty at the end, which a broken line and one beyond every measure are too."""
    try:
        return await reader.readline()
    except (ConnectionError, ValueError):
        log.info("an agent's tool line broke")
        return b""


async def _say(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    with contextlib.suppress(ConnectionError):
        writer.write(msgspec.json.encode(answer) + b"\n")
        await writer.drain()
