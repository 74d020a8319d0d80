"""What a quiet member waits while others are as loud as they can be.

    python -m bench.loud [--only ATTACK ...] [--seconds N] [--quick]

A hub as `tacit up` starts it, with a room. A quiet member appends and reads its timeline at a steady pace over two
WebSockets, first alone, then beside one hostile member, then beside eight; each hostile member is a person with a
token and a program of its own (`bench.loud_hostile`). The same then against a dummy (`bench.loud_dummy`), a bare
server that reads, answers and commits a row, since on a small machine the hostile programs alone cost the quiet
member something. What counts is how many times longer the p99 gets at the hub, divided by the same at the dummy: at
most 3. What was refused to the quiet member, or not answered to it, is counted and has to be nothing.

The results go into bench/results/loud.json, and from there into a part of docs/benchmarks.md. Quick: short, printed
only. It is loud for some ten minutes, on loopback alone, and ends what it started.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import msgspec
import uvloop

from bench.loud_hostile import ATTACKS, LEDGER_EVENTS
from bench.readers import HubProcess
from bench.spine.machine import describe
from bench.spine.plan import percentile
from bench.spine.processes import RunningHub, scratch, started
from bench.spine.wire import WebSocket, masked, websocket
from tacit.c2a.negotiation import CAPABILITIES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
SAVED: Final = ROOT / "bench" / "results" / "loud.json"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
TITLE: Final = "## One loud member"
AT_MOST: Final = 3.0
MOST_HOSTILE: Final = 8
CROWDS: Final = (1, MOST_HOSTILE)
PACE: Final = {"append": 40.0, "timeline": 20.0}
"""What the quiet member asks for, how often in a second."""
WARMING_SECONDS: Final = 1.5
"""From the start of hostile programs until it counts."""
LAST_SECONDS: Final = 10.0
"""How long the last answers may take to come."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server under attack: where it is, and who may speak there."""

    port: int
    group_id: str
    quiet: str
    hostile: list[str]


@dataclass(slots=True)
class Waits:
    """How long the quiet member waited, in seconds, by what it asked for; and what went wrong."""

    took: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in PACE})
    refused: int = 0
    unanswered: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "refused": self.refused,
            "unanswered": self.unanswered,
            **{
                name: {
                    "p50_ms": round(statistics.median(took) * 1e3, 3),
                    "p99_ms": round(percentile(took, 0.99) * 1e3, 3),
                    "count": len(took),
                }
                for name, took in self.took.items()
            },
        }


class Quiet:
    """The quiet member: asks when its time has come, whether or not the last answer is there."""

    def __init__(self, group_id: str) -> None:
        self._group_id = group_id
        self._sent: dict[int, tuple[str, float]] = {}
        self._number = 0
        self._idle = asyncio.Event()
        self.waits = Waits()
        self.lines: dict[str, WebSocket] = {}

    @classmethod
    async def connect(cls, target: Target) -> Quiet:
        quiet = cls(target.group_id)
        for name in PACE:
            quiet.lines[name] = await websocket(target.port, "/v1/ws", target.quiet, quiet._answered)
        return quiet

    def _answered(self, text: bytes) -> None:
        at = time.perf_counter()
        start = text.index(b'"id":') + 5
        asked = self._sent.pop(int(text[start : text.index(b",", start)]), None)
        if asked is None:
            return  # too late: it was counted as not answered
        name, sent = asked
        self.waits.took[name].append(at - sent)
        self.waits.refused += b'"error":' in text[: start + 40]
        if not self._sent:
            self._idle.set()

    def _ask(self, name: str) -> None:
        self._number += 1
        params: dict[str, Any] = {"group_id": self._group_id}
        if name == "append":
            data = {"text": "a quiet word, as people say it", "client_id": f"q{time.time_ns()}"}
            params |= {"kind": "chat.message", "data": data}
        call = {"jsonrpc": "2.0", "id": self._number, "method": name, "params": params}
        self._sent[self._number] = name, time.perf_counter()
        self._idle.clear()
        self.lines[name].transport.write(masked(msgspec.json.encode(call)))

    async def _at_pace(self, name: str, seconds: float) -> None:
        begun, count = time.perf_counter(), int(seconds * PACE[name])
        for number in range(count):
            await asyncio.sleep(max(0.0, begun + number / PACE[name] - time.perf_counter()))
            self._ask(name)

    async def live(self, seconds: float) -> Waits:
        """So long a life; how long it waited."""
        self.waits = Waits()
        await asyncio.gather(*(self._at_pace(name, seconds) for name in PACE))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                while self._sent:
                    await self._idle.wait()
        now = time.perf_counter()
        self.waits.unanswered = len(self._sent)
        for name, sent in self._sent.values():
            self.waits.took[name].append(now - sent)
        self._sent.clear()
        return self.waits


@contextlib.contextmanager
def hostile(attack: str, target: Target, count: int) -> Iterator[None]:
    """So many hostile members, each a process of its own."""
    processes = [
        subprocess.Popen(
            [
                sys.executable, "-m", "bench.loud_hostile",
                attack, str(target.port), target.hostile[number], target.group_id, str(number),
            ],
            stdin=subprocess.PIPE,
            cwd=ROOT,
        )
        for number in range(count)
    ]  # fmt: skip
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextlib.asynccontextmanager
async def hub_target(folder: Path) -> AsyncIterator[tuple[Target, dict[str, bytes]]]:
    """A hub with a filled room, and the answers that its reads give."""
    process = HubProcess(folder)
    try:
        running = RunningHub(int(process.url.rpartition(":")[2]), process.process.pid, process.token)
        group_id = str((await running.call("create_group", {"title": "Loud"}))["group_id"])
        added = await running.call("add_actor", {"group_id": group_id, "actor_id": "ann"})
        await attend(process.url, str(added["token"]))
        tokens: list[str] = []
        for name in ("quiet", *(f"loud{number}" for number in range(MOST_HOSTILE))):
            person = await running.call("add_person", {"group_id": group_id, "principal": f"usr:{name}"})
            tokens.append(str(person["token"]))
        await fill(running, group_id)
        canned = {
            "timeline": await running.call("timeline", {"group_id": group_id}),
            "search": await running.call("search", {"group_id": group_id, "q": "w", "limit": 1000}),
            "events": await running.call("events", {"group_id": group_id, "limit": 1000}),
        }
        answers = {name: msgspec.json.encode(answer) for name, answer in canned.items()}
        yield Target(running.port, group_id, tokens[0], tokens[1:]), answers
    finally:
        process.stop()


async def attend(url: str, token: str) -> None:
    """Let an agent's harness be known in the room: from then on everything that is said is read for it."""
    params = {
        "protocolVersion": "2026-06-24",
        "clientInfo": {"name": "bench", "version": "1"},
        "capabilities": {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()},
    }
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(url + "/c2a", headers={"Authorization": f"Bearer {token}"}) as line,
    ):
        await line.send_json({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        answer = await line.receive_json()
        if "result" not in answer:
            raise RuntimeError(f"the harness was not taken: {answer}")


async def fill(running: RunningHub, group_id: str) -> None:
    """A room with a history."""
    heard = asyncio.Semaphore(200)
    line = await running.connect(lambda _text: heard.release())
    for number in range(LEDGER_EVENTS):
        await heard.acquire()
        text = f"word{number % 97} and another word " + "lorem ipsum dolor " * (number % 20)
        params = {"group_id": group_id, "kind": "chat.message", "data": {"text": text}}
        line.send(msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "append", "params": params}))
    for _ in range(200):
        await heard.acquire()
    line.close()


@contextlib.asynccontextmanager
async def dummy_target(folder: Path, answers: dict[str, bytes]) -> AsyncIterator[Target]:
    """The dummy, with the hub's answers."""
    folder.mkdir()
    for name, answer in answers.items():
        (folder / f"{name}.json").write_bytes(answer)
    async with started("bench.loud_dummy", str(folder)) as (_process, ready):
        yield Target(ready["port"], "g", "quiet", [f"loud{number}" for number in range(MOST_HOSTILE)])


async def attacked(attack: str, target: Target, seconds: float) -> dict[str, Any]:
    """The quiet member's waits: alone, and beside each crowd."""
    quiet = await Quiet.connect(target)
    await quiet.live(1.0)
    waits = {"quiet": (await quiet.live(seconds)).as_json()}
    for count in CROWDS:
        with hostile(attack, target, count):
            await quiet.live(WARMING_SECONDS)
            waits[str(count)] = (await quiet.live(seconds)).as_json()
        await quiet.live(1.0)
    for line in quiet.lines.values():
        line.close()
    return waits


def compared(hub: dict[str, Any], dummy: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each crowd and each thing that the quiet member asks for."""
    rows: list[dict[str, Any]] = []
    for count in CROWDS:
        for name in PACE:
            ratios = {
                where: waits[str(count)][name]["p99_ms"] / waits["quiet"][name]["p99_ms"]
                for where, waits in (("hub", hub), ("dummy", dummy))
            }
            rows.append(
                {
                    "hostile": count,
                    "asks": name,
                    "quiet_p50_ms": hub["quiet"][name]["p50_ms"],
                    "quiet_p99_ms": hub["quiet"][name]["p99_ms"],
                    "p50_ms": hub[str(count)][name]["p50_ms"],
                    "p99_ms": hub[str(count)][name]["p99_ms"],
                    "dummy_p99_ms": dummy[str(count)][name]["p99_ms"],
                    "hub_ratio": round(ratios["hub"], 2),
                    "dummy_ratio": round(ratios["dummy"], 2),
                    "result": round(ratios["hub"] / max(1.0, ratios["dummy"]), 2),
                    "lost": hub[str(count)]["refused"] + hub[str(count)]["unanswered"],
                }
            )
    return rows


def as_line(attack: str, row: dict[str, Any]) -> str:
    return (
        f"| {attack} | {row['hostile']} | {row['asks']} | {row['quiet_p50_ms']:.1f} / {row['quiet_p99_ms']:.1f} "
        f"| {row['p50_ms']:.1f} / {row['p99_ms']:.1f} | {row['hub_ratio']:.1f} | {row['dummy_ratio']:.1f} "
        f"| {row['result']:.1f} | {'yes' if row['result'] <= AT_MOST and not row['lost'] else '**no**'} |"
    )


async def measured(attacks: list[str], seconds: float) -> dict[str, Any]:
    """Every attack on a fresh hub and on a fresh dummy."""
    found: dict[str, Any] = {}
    for attack in attacks:
        with scratch() as folder:
            async with hub_target(folder / "hub") as (target, answers):
                hub = await attacked(attack, target, seconds)
            async with dummy_target(folder / "dummy", answers) as target:
                dummy = await attacked(attack, target, seconds)
        rows = compared(hub, dummy)
        found[attack] = {"rows": rows, "hub": hub, "dummy": dummy}
        for row in rows:
            print(as_line(attack, row), f"lost {row['lost']}" if row["lost"] else "", flush=True)
    return found


def section(saved: dict[str, Any]) -> str:
    """The part of the page that these results are."""
    machine = saved["machine"]
    rows = "\n".join(
        as_line(attack, row) for attack, results in saved["attacks"].items() for row in results["rows"]
    )
    return (
        f"{TITLE}\n\n"
        "How long a quiet member waits for an append and for its timeline (p50 / p99, ms) alone, and beside one and eight\n"
        "hostile members that each have a program of their own. *Hub* is how many times longer the p99 got; *dummy* is the\n"
        "same at a bare server that reads, answers and commits a row, which is what the programs cost on this machine;\n"
        f"the *result*, the one divided by the other, may be {AT_MOST:g}. Written by `python -m bench.loud`.\n\n"
        f"Measured {saved['measured']} with Python {machine['Python']} on {machine['cores']} cores, load before "
        f"{machine['load before']}; {saved['seconds']:g} s for each number.\n\n"
        "| Attack | Members | Asks for | Quiet | Beside them | Hub | Dummy | Result | Met |\n"
        f"|---|---|---|---|---|---|---|---|---|\n{rows}\n"
    )


def write(saved: dict[str, Any]) -> None:
    """Keep the results, and say them on the page, before whatever part stands behind this one."""
    SAVED.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    before, title, after = text.partition(TITLE)
    following = after.partition("\n## ")
    tail = "\n## " + following[2] if title and following[1] else ""
    PAGE.write_text(before.rstrip() + "\n\n" + section(saved) + tail, encoding="utf-8")


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=tuple(ATTACKS))
    parser.add_argument("--seconds", type=float, help="length of each measurement")
    parser.add_argument("--quick", action="store_true", help="short, printed only")
    given = parser.parse_args()
    seconds = given.seconds or (4.0 if given.quick else 12.0)
    machine = describe()
    attacks = uvloop.run(measured(list(given.only or ATTACKS), seconds))
    if not given.quick:
        before = json.loads(SAVED.read_text(encoding="utf-8"))["attacks"] if SAVED.exists() else {}
        merged = {
            name: attacks.get(name, before.get(name)) for name in ATTACKS if name in attacks or name in before
        }
        measured_on = time.strftime("%Y-%m-%d", time.gmtime())
        write({"measured": measured_on, "machine": machine, "seconds": seconds, "attacks": merged})
    worst = max(row["result"] for results in attacks.values() for row in results["rows"])
    print(f"worst result {worst:.1f} (at most {AT_MOST:g})")


if __name__ == "__main__":
    main()
