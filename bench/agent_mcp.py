"""What a call of a tool costs over MCP, beside the same call by Python: one run, call by call in turn."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import statistics
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, Final

from tacit.agent import Agent
from tacit.agent.kernel import records
from tacit.agent.shell.io import calls, door
from tacit.base.io import agent_socket as socket
from tests.agent_support import Person
from tests.relay_support import Relay

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

THREADS: Final = 50
TACIT: Final = str(pathlib.Path(sys.executable).parent / "tacit")


def _some(ws: Any) -> None:
    peer = "agent:ben@localhost:1"
    for number in range(THREADS):
        intent = ws.keep(peer, {"category": "scheduling", "summary": "Dinner on Friday"})
        ws.say(records.Began(f"thr_bench{number:017d}aa", peer, ours=True, intent=intent))


async def _timed(call: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    await call()
    return time.perf_counter() - begun


async def _measured(folder: pathlib.Path, count: int) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async with Relay(folder / "relay") as relay:
        person = Person(folder / "anna", relay, "anna")
        async with person.post:
            await person.register()
        person.post.store.close()
        words = ["agent", "--data", str(folder / "anna"), "mcp"]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TACIT")}
        parameters = StdioServerParameters(command=TACIT, args=words, env=kept)
        async with contextlib.AsyncExitStack() as stack:
            anna = await stack.enter_async_context(Agent(folder / "anna"))
            await anna.decide(_some)
            await stack.enter_async_context(door.served(anna, anna.folder))
            client = await stack.enter_async_context(Client(stdio_client(parameters)))
            given = {"tool": "list_threads", "arguments": {}}
            ways: dict[str, Callable[[], Awaitable[Any]]] = {
                "mcp": lambda: client.call_tool("list_threads", {}),
                "python": lambda: socket.asked(anna.folder, "program", given),
                "inside": lambda: calls.call(anna, "program", given),
            }
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for number in range(count + 5):
                for name, way in ways.items():
                    seconds = await _timed(way)
                    if number >= 5:
                        taken[name].append(seconds)
    found = {f"{name}_ms": round(statistics.median(each) * 1000, 2) for name, each in taken.items()}
    return {**found, "ratio": round(found["mcp_ms"] / found["python_ms"], 2), "threads": THREADS}


def mcp_calls(count: int) -> dict[str, Any]:
    """The median of so many calls each way."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(pathlib.Path(folder), count))


if __name__ == "__main__":
    print(mcp_calls(200))
