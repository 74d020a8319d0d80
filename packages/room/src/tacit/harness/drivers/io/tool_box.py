"""Tools for drivers whose agent has no hands of its own: a client of the chat tools' MCP servers.

The official package wants its connections opened and closed in one task, so one task keeps them all. A tool
that fails answers the model with words of its own; a server that is gone makes the box broken, to be opened
again.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from tacit.base.errors import Refused, Unavailable
from tacit.harness.drivers.chat import definition, wire_name
from tacit.harness.drivers.io.missing import needs
from tacit.harness.drivers.port import ToolAddress

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from mcp import Client

    from tacit.harness.drivers.port import ToolServer
    from tacit.harness.drivers.reading import Message


class ToolBox:
    """The tools of some servers. Made by `opened`."""

    def __init__(self, extra: str, stderr: Path) -> None:
        self.definitions: list[Message] = []
        self._lost = False
        self._extra = extra
        self._stderr = stderr
        self._tools: dict[str, tuple[Client, str, str]] = {}
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @classmethod
    async def opened(cls, servers: tuple[ToolServer, ...], *, extra: str, stderr: Path) -> ToolBox:
        """Connect to the servers and learn their tools."""
        box = cls(extra, stderr)
        if servers:
            box._keeper = asyncio.create_task(box._keep(servers))
            try:
                await box._begun(box._keeper)
            except BaseException:
                await box.close()
                raise
        return box

    async def _begun(self, keeper: asyncio.Task[None]) -> None:
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({keeper, ready}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if keeper.done():
            error = keeper.exception()
            raise (
                error if isinstance(error, Refused) else Unavailable("the chat tools did not start")
            ) from error

    @property
    def broken(self) -> bool:
        """Whether a server is gone."""
        return self._lost or (self._keeper is not None and self._keeper.done())

    def name(self, wire: str) -> str:
        """`server.tool` for a wire name; the wire name itself when it is unknown."""
        _, server, tool = self._tools.get(wire, (None, "", ""))
        return f"{server}.{tool}" if tool else wire

    async def call(self, wire: str, arguments: Message | None) -> tuple[str, bool]:
        """Call a tool: what it answers, and whether it says that it succeeded."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED

        if wire not in self._tools:
            return "there is no such tool", False
        if arguments is None:
            return "the arguments are not a JSON object", False
        client, _, tool = self._tools[wire]
        try:
            result = await client.call_tool(tool, arguments)
        except MCPError as error:
            self._lost = error.error.code == CONNECTION_CLOSED
            return f"the tool refused with code {error.error.code}", False
        except (OSError, EOFError, RuntimeError, ValueError):
            self._lost = True
            return "the tool is out of reach", False
        words = [getattr(block, "text", "") for block in result.content]
        return "\n".join(word for word in words if word), not result.is_error

    async def close(self) -> None:
        """Let go of the servers; those we started end."""
        self._closing.set()
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        if not self._ready.is_set():
            keeper.cancel()
        await asyncio.wait({keeper})
        if not keeper.cancelled():
            keeper.exception()  # whoever wanted to know has been told when the box was opened

    async def _keep(self, servers: tuple[ToolServer, ...]) -> None:
        try:
            from mcp import Client
        except ImportError as error:
            raise needs(self._extra) from error
        async with AsyncExitStack() as stack:
            log = stack.enter_context(self._stderr.open("w"))
            for server in servers:
                client = await stack.enter_async_context(Client(_transport(server, log)))
                await self._learn(server.name, client)
            self._ready.set()
            await self._closing.wait()

    async def _learn(self, server: str, client: Client) -> None:
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                wire = wire_name(server, tool.name)
                self._tools[wire] = (client, server, tool.name)
                self.definitions.append(definition(wire, tool.description or "", dict(tool.input_schema)))
            cursor = page.next_cursor
            if not cursor:
                return


def _transport(server: ToolServer, log: Any) -> Any:
    if isinstance(server, ToolAddress):
        return _reached(server)
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program, *rest = server.command
    parameters = StdioServerParameters(command=program, args=rest, env=dict(server.environment))
    return stdio_client(parameters, errlog=log)


@asynccontextmanager
async def _reached(server: ToolAddress) -> AsyncGenerator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {server.token}"} if server.token else None
    patience = httpx2.Timeout(30.0, read=300.0)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=patience) as http,
        streamable_http_client(server.url, http_client=http) as streams,
    ):
        yield streams
