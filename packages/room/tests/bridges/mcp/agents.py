"""Two personal agents whose owner of one has a program that speaks MCP: a real `tacit agent mcp` process."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tacit.agent.shell.io import door
from tests.agent.arrangements import pair, people
from tests.bridges.mcp.rooms import TACIT, Agent, environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

DINNER = {"category": "scheduling", "summary": "dinner on Friday evening", "urgency": "normal"}
NEED = {"field": "favourite_colour", "reason": "to paint the fence", "priority": "required"}


@contextlib.asynccontextmanager
async def running(folder: Path, *friends: str) -> AsyncIterator[tuple[Any, ...]]:
    """Anna's agent answers at its socket, and all turn by themselves; with friends named, they beside Ben."""
    playing = people(folder, "anna", "ben", *friends) if friends else pair(folder)
    async with playing as (both, *agents), door.served(agents[0], agents[0].folder):
        stopped = asyncio.Event()
        wheels = [asyncio.ensure_future(one.run(stopped)) for one in agents]
        try:
            yield both, *agents
        finally:
            stopped.set()
            await asyncio.gather(*wheels)


@contextlib.asynccontextmanager
async def program(folder: Path, mode: str = "auto", **options: Any) -> AsyncIterator[Agent]:
    """Anna's program, with the SDK's own client."""
    words = ["agent", "--data", str(folder), "mcp"]
    parameters = StdioServerParameters(command=TACIT, args=words, env=environment())
    async with Client(stdio_client(parameters), mode=mode, **options) as client:
        yield Agent(client)
