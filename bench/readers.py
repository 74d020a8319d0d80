"""What a person waits for its timeline while one credential reads as hard as it can.

    python -m bench.readers [--only OPERATION ...] [--rounds N] [--quick] [--save] [--note WORDS]

A hub as `tacit up` starts it, with a long room. For every operation that reads, in turn: a person asks for its
timeline some times, alone; then an agent's token asks for that operation without end on 16 connections, with the
largest limit that the hub takes, while the person asks again. What counts is the ratio of the two p95: at most 3. At
the end the hub is told to stop while the agent still asks: it must be gone within 5 s.

The results go into bench/results/readers.json, and from there into a part of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import aiohttp

from bench.spine.machine import describe

ROOT: Final = Path(__file__).resolve().parent.parent
SAVED: Final = ROOT / "bench" / "results" / "readers.json"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
TITLE: Final = "## One hostile reader"
MESSAGES: Final = 3000
LINES: Final = 16
MOST: Final = 3.0
STOPS: Final = 5.0


class HubProcess:
    """A hub of its own."""

    def __init__(self, folder: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "tacit",
            "--json",
            "up",
            "--port",
            "0",
            "--data",
            str(folder / "data"),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        while b'"url"' not in (line := self.process.stdout.readline()):
            if not line:
                raise SystemExit("the hub did not start")
        self.url = str(json.loads(line)["url"])
        self.token = (folder / "data" / "owner.token").read_text().strip()

    def stop(self) -> float:
        """Seconds from the signal to the end."""
        begun = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
        return time.perf_counter() - begun


async def call(session: aiohttp.ClientSession, method: str, url: str, token: str, body: Any = None) -> Any:
    """One request, read to its end."""
    async with session.request(
        method,
        url,
        headers={"Authorization": f"Bearer {token}"},
        json=body,
        timeout=aiohttp.ClientTimeout(total=60),
    ) as response:
        raw = await response.read()
        return json.loads(raw) if response.status < 300 and raw else None


async def filled(hub: HubProcess, session: aiohttp.ClientSession) -> dict[str, str]:
    """A long room: its id, an agent's token, and what operations can be asked about."""
    group = (await call(session, "POST", hub.url + "/v1/groups", hub.token, {"title": "Long"}))["group_id"]
    base = f"{hub.url}/v1/groups/{group}"
    agent = (await call(session, "POST", base + "/actors", hub.token, {"actor_id": "hostile"}))["token"]
    first = await call(
        session,
        "POST",
        base + "/events",
        hub.token,
        {"kind": "chat.message", "data": {"text": "the first word"}},
    )
    headers = {"Authorization": f"Bearer {hub.token}"}
    async with session.ws_connect(hub.url + "/v1/ws", headers=headers, max_msg_size=0) as line:
        for number in range(MESSAGES):
            text = f"word{number % 97} and another word " + "lorem ipsum dolor " * (number % 40)
            data: dict[str, Any] = {"text": text}
            if number % 2:
                data["reply_to"] = first["id"]
            params = {"group_id": group, "kind": "chat.message", "data": data}
            await line.send_str(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": "append", "params": params})
            )
            if number % 200 == 199:
                for _ in range(200):
                    await line.receive()
    return {"group": group, "agent": agent, "event": first["id"]}


def asked(operation: str, group: str, event: str) -> tuple[str, str, Any]:
    """Method, path and body of the worst request of an operation."""
    base = f"/v1/groups/{group}"
    one = f"{base}/events/{event}"

    def tool(name: str, **arguments: Any) -> tuple[str, str, Any]:
        params = {"name": name, "arguments": arguments}
        return "POST", "/c2a", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    return {
        "timeline": ("GET", f"{base}/timeline?limit=500", None),
        "search": ("GET", f"{base}/search?q=w&limit=1000", None),
        "events": ("GET", f"{base}/events?limit=1000", None),
        "window": ("GET", f"{base}/window?limit=1000", None),
        "thread": ("GET", f"{one}/thread?limit=1000", None),
        "inbox": ("GET", f"{base}/inbox?limit=1000", None),
        "event": ("GET", one, None),
        "conversations": ("GET", f"{base}/conversations", None),
        "traces": ("GET", f"{base}/traces?limit=200", None),
        "group": ("GET", base, None),
        "decisions": ("GET", f"{one}/decisions", None),
        "agents": ("GET", f"{base}/agents", None),
        "work": ("GET", f"{base}/work?limit=1000&ended=true", None),
        "chat.search": tool("chat.search", query="w", limit=200),
        "chat.list_events": tool("chat.list_events", limit=200),
        "chat.read_thread": tool("chat.read_thread", threadId=event, limit=200),
    }[operation]


OPERATIONS: Final = (
    "timeline", "search", "events", "window", "thread", "inbox", "event", "conversations", "traces", "group",
    "decisions", "agents", "work", "chat.search", "chat.list_events", "chat.read_thread",
)  # fmt: skip


async def hostile(url: str, token: str, operation: str, group: str, event: str) -> None:
    """Ask without end."""
    method, path, body = asked(operation, group, event)
    headers = {"Authorization": f"Bearer {token}"}

    async def one(session: aiohttp.ClientSession) -> None:
        while True:
            try:
                async with session.request(method, url + path, headers=headers, json=body) as response:
                    await response.read()
            except (aiohttp.ClientError, TimeoutError):
                await asyncio.sleep(0.01)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(one(session) for _ in range(LINES)))


async def waited(session: aiohttp.ClientSession, hub: HubProcess, group: str, times: int) -> float:
    """The p95 of a person's timeline, in milliseconds."""
    found: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        await call(session, "GET", f"{hub.url}/v1/groups/{group}/timeline", hub.token)
        found.append((time.perf_counter() - begun) * 1000)
    return statistics.quantiles(found, n=20)[-1]


async def measured(operations: list[str], times: int) -> dict[str, Any]:
    """The ratio for each operation, and how long the hub takes to stop."""
    with tempfile.TemporaryDirectory() as folder:
        hub = HubProcess(Path(folder))
        results: dict[str, Any] = {}
        enemy: subprocess.Popen[bytes] | None = None
        try:
            async with aiohttp.ClientSession() as session:
                room = await filled(hub, session)
                await waited(session, hub, room["group"], 10)
                for operation in operations:
                    alone = await waited(session, hub, room["group"], times)
                    given = [hub.url, room["agent"], operation, room["group"], room["event"]]
                    enemy = subprocess.Popen([sys.executable, "-m", "bench.readers", "--hostile", *given])
                    await asyncio.sleep(2)
                    beside = await waited(session, hub, room["group"], times)
                    results[operation] = {"alone_ms": alone, "beside_ms": beside, "ratio": beside / alone}
                    print(f"{operation:18} {alone:8.1f} {beside:8.1f} {beside / alone:6.2f}", flush=True)
                    if operation != operations[-1]:
                        enemy.kill()
                        enemy.wait()
                stops = hub.stop()
        finally:
            hub.process.kill()
            if enemy is not None:
                enemy.kill()
        return {"operations": results, "stop_s": stops}


def page(saved: dict[str, Any]) -> str:
    """The part of the page that these results are."""
    rows = "\n".join(
        f"| `{name}` | {one['alone_ms']:.1f} | {one['beside_ms']:.1f} | {one['ratio']:.2f} |"
        for name, one in saved["operations"].items()
    )
    return (
        f"{TITLE}\n\nA person's timeline (p95, ms) alone, and while one agent's token asks for an operation without end\n"
        f"on {LINES} connections; the ratio may be {MOST:.0f}. `make bench-readers`; {saved['machine']['cores']} cores, {saved['machine']['processor']}. {saved['note']}\n\n"
        f"| operation | alone | beside it | ratio |\n|---|---|---|---|\n{rows}\n\n"
        f"Stopping the hub while it asks on: {saved['stop_s']:.1f} s (at most {STOPS:.0f}).\n"
    )


def write(saved: dict[str, Any]) -> None:
    """Keep the results, and say them on the page."""
    SAVED.write_text(json.dumps(saved, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    before, found, after = text.partition(TITLE)
    rest = after.partition("\n## ")
    tail = "\n## " + rest[2] if found and rest[1] else ""
    PAGE.write_text(before.rstrip() + "\n\n" + page(saved) + tail, encoding="utf-8")


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", choices=OPERATIONS)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--note", default="")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--hostile", nargs=5)
    given = parser.parse_args()
    if given.hostile:
        asyncio.run(hostile(*given.hostile))
        return
    operations = list(given.only or OPERATIONS)
    found = asyncio.run(measured(operations, 20 if given.quick else given.rounds))
    if given.save or not (given.only or given.quick):
        write({**found, "machine": describe(), "note": given.note})
    worst = max(one["ratio"] for one in found["operations"].values())
    print(
        f"worst ratio {worst:.2f} (at most {MOST:.0f}); stopped in {found['stop_s']:.1f} s (at most {STOPS:.0f})"
    )
    sys.exit(worst > MOST or found["stop_s"] > STOPS)


if __name__ == "__main__":
    main()
