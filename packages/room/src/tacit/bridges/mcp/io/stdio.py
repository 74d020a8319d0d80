"""`tacit mcp` for clients of later versions of MCP: the SDK's server on standard input and output."""

from __future__ import annotations

import asyncio
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server

from tacit.base.io.time_service import TimeService
from tacit.bridges.mcp.io.hub_caller import HubCaller
from tacit.bridges.mcp.io.server import room_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tacit.base.hub_proof import HubAccess


class _Lines:
    """Standard input from its beginning, although its first line was read already."""

    def __init__(self, first: bytes) -> None:
        self._first = first.decode("utf-8", "replace")

    async def __aiter__(self) -> AsyncIterator[str]:
        yield self._first
        async for line in anyio.wrap_file(TextIOWrapper(sys.stdin.buffer, "utf-8", "replace")):
            yield line


def serve_later_versions(access: HubAccess, first: bytes) -> None:
    """Serve one client whose first line was this. The hub may come and go meanwhile."""
    asyncio.run(_serve(access, _Lines(first)))


async def _serve(access: HubAccess, lines: Any) -> None:
    async with HubCaller(access) as caller:
        server = room_server(lambda _context: caller, TimeService())
        greeting = asyncio.ensure_future(caller.greet())
        try:
            async with stdio_server(stdin=lines) as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
        finally:
            greeting.cancel()
            await asyncio.wait({greeting})
