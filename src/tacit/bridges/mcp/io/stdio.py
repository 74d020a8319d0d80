"""`tacit mcp`: the room's MCP server on standard input and output, until the client closes them."""

from __future__ import annotations

import asyncio

from mcp.server.stdio import stdio_server

from tacit.base.io.system import SystemClock
from tacit.bridges.mcp.io.hub_caller import HubCaller
from tacit.bridges.mcp.io.server import room_server


async def serve(url: str, token: str) -> None:
    """Serve one client as the actor behind the token. The hub may come and go meanwhile."""
    async with HubCaller(url, token) as caller:
        server = room_server(lambda _context: caller, SystemClock())
        greeting = asyncio.ensure_future(caller.greet())
        try:
            async with stdio_server() as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
        finally:
            greeting.cancel()
            await asyncio.wait({greeting})
