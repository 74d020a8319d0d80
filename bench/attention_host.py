"""What the C2A host costs, on real sockets and a real file.

python bench/attention_host.py [--events 4000] [--deliveries 400]

Ambient: an event that is aimed at nobody, appended to a group of 1 and of 100 agents whose harnesses are known to the
hub; the ratio is what 99 further agents cost. Delivery: from the call that appends an urgent direct mention to the
arrival of `chat/deliver` at the harness, beside a bare WebSocket echo through the same server library in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp
import msgspec
import uvloop
from aiohttp import web

from tacit.attention.state import records
from tacit.attention.state.records import submitted
from tacit.c2a.negotiation import CAPABILITIES
from tacit.client import Hub
from tacit.hub.config import HubConfig, Limits
from tacit.hub.server import Server

EVERYTHING = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}
BATCH = 64
ROUNDS = 7
LINES = (
    "lunch was good today",
    "the parser is a fine piece of work",
    "I moved the notes into the wiki",
    "we had rain all weekend here",
    "the new build machine hums like an old fridge",
)


async def group_of(server: Server, hub: Hub, agents: int) -> str:
    """A group with this many agents that a harness speaks for."""
    group = (await hub.create_group(f"{agents} agents"))["group_id"]
    modes = ["immediate", "buffered", "notify", "tool_mailbox", "digest", "silent"]
    for number in range(agents):
        await hub.add_actor(group, f"agent{number}", roles=["backend"])
        record = records.SessionRecord(session=f"agent{number}", version="2026-06-24", modes=modes)
        await server.hub.ledger.append(submitted(group, [record])[0])
    return group


async def append_ambient(hub: Hub, group: str, count: int) -> float:
    """Events a second, BATCH calls in flight."""
    started = time.perf_counter()
    for first in range(0, count, BATCH):
        await asyncio.gather(
            *(
                hub.append(group, "chat.message", {"text": LINES[n % len(LINES)]})
                for n in range(first, first + BATCH)
            )
        )
    return count / (time.perf_counter() - started)


async def ambient(server: Server, hub: Hub, count: int) -> dict:
    """The two groups in turns, so that the machine's noise hits both."""
    small, large = await group_of(server, hub, 1), await group_of(server, hub, 100)
    for group in (small, large):
        await append_ambient(hub, group, BATCH * 4)
    rates: dict[str, list[float]] = {"1": [], "100": []}
    for _ in range(ROUNDS):
        rates["1"].append(await append_ambient(hub, small, count // ROUNDS))
        rates["100"].append(await append_ambient(hub, large, count // ROUNDS))
    one, hundred = statistics.median(rates["1"]), statistics.median(rates["100"])
    return {"events_per_s_1_agent": one, "events_per_s_100_agents": hundred, "cost_ratio": one / hundred}


async def echo_server() -> tuple[web.AppRunner, str]:
    """A bare WebSocket echo on the same library."""

    async def echo(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        async for message in socket:
            await socket.send_str(message.data)
        return socket

    app = web.Application()
    app.router.add_get("/", echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner, f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/"


async def bare_echo(client: aiohttp.ClientSession, count: int) -> list[float]:
    runner, url = await echo_server()
    times: list[float] = []
    async with client.ws_connect(url) as socket:
        for _ in range(count):
            started = time.perf_counter()
            await socket.send_str("x" * 900)
            await socket.receive_str()
            times.append(time.perf_counter() - started)
    await runner.cleanup()
    return times


async def deliveries(server: Server, hub: Hub, client: aiohttp.ClientSession, count: int) -> list[float]:
    """One urgent mention at a time, from the append call to the harness."""
    group = (await hub.create_group("urgent"))["group_id"]
    token = (await hub.add_actor(group, "ada"))["token"]
    await hub.attention.change_settings(group, {"injected_per_minute": 100_000})
    socket = await client.ws_connect(server.url + "/c2a", headers={"Authorization": f"Bearer {token}"})
    info = {"name": "bench", "version": "1"}
    params = {"protocolVersion": "2026-06-24", "clientInfo": info, "capabilities": EVERYTHING}
    await socket.send_json({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    await socket.receive_json()
    times: list[float] = []
    for number in range(count):
        data = {"text": f"@ada stop the deploy number {number}", "urgency": "urgent"}
        started = time.perf_counter()
        sent = asyncio.create_task(hub.append(group, "chat.message", data))
        message = msgspec.json.decode((await socket.receive()).data)
        times.append(time.perf_counter() - started)
        result = {"accepted": True, "eventId": message["params"]["eventId"]}
        await socket.send_json({"jsonrpc": "2.0", "id": message["id"], "result": result})
        await sent
        await asyncio.sleep(0.01)  # the acceptance is written down: the hub is idle again before the next one
    await socket.close()
    return times


def percentiles(times: list[float]) -> dict:
    ordered = sorted(times)
    return {"p50_ms": ordered[len(ordered) // 2] * 1000, "p99_ms": ordered[int(len(ordered) * 0.99)] * 1000}


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=7000)
    parser.add_argument("--deliveries", type=int, default=400)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(HubConfig(data=Path(folder), port=0, limits=Limits()))
        await server.start()
        async with Hub(server.url, server.hub.owner_token) as hub, aiohttp.ClientSession() as client:
            found = {"ambient": await ambient(server, hub, options.events)}
            await deliveries(server, hub, client, 50)
            found["delivery"] = percentiles(await deliveries(server, hub, client, options.deliveries))
            found["bare_echo"] = percentiles(await bare_echo(client, options.deliveries))
        await server.stop()
    print(json.dumps(found, indent=2))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    uvloop.run(main())
