"""What the personal agent costs beside what it stands on: `python -m bench.agent [--quick]` (`make bench-agent`).

Seven ratios, each measured in one run, turn about with its bare counterpart:

- a thread from its first packet to a standing proposal, two agents with rules for brains on a real relay, beside the
  same packets posted and taken bare over the same relay;
- decisions of the engine, with vault and journal, beside the journal alone taking the very same records;
- an agent's start with many open threads beside one with few, and what an open thread takes on disk and in memory;
- common free time of many calendars beside `portion` (bench/agent_calendars.py);
- a group's sums beside the bare sweep, and the fiftieth answer beside the fifth (bench/agent_groups.py);
- the search for values that may not go: a packet twice as long, a hundred times as many values (bench/agent_scan.py);
- the merge of a shared space's updates beside decoding them (bench/agent_spaces.py).

And what memory saves and forgetting costs (bench/agent_memory.py); what a model costs: calls, bytes and tokens of a
dinner, and what each driver adds (bench/agent_minds.py); and what a hostile one gets out (bench/agent_leaks.py).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import msgspec

from bench import agent_groups, agent_leaks, agent_memory, agent_minds, agent_scan, agent_spaces
from bench.agent_mcp import mcp_calls
from tacit.a2acp.packets import packet
from tacit.agent.consent import answering
from tacit.agent.consent.answering import Answer
from tacit.agent.features import FOLD
from tacit.agent.kernel import records
from tacit.agent.kernel.io.journal import Journal
from tacit.agent.kernel.state import US
from tacit.agent.scheduling import asking, considering, turns
from tacit.agent.scheduling.io import wishes
from tacit.agent.scheduling.view import view_of
from tacit.agent.shell.io.agent import Agent
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tests.agent.arrangements import pair
from tests.agent_support import Person, cleared
from tests.relay_support import Relay

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks-agent.md"
MET = {True: "yes", False: "**no**", None: ""}
DAYS = ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


# A thread, and its packets bare.


async def _threads(folder: pathlib.Path, count: int) -> tuple[list[float], list[list[tuple[str, str, dict]]]]:
    """Seconds of each thread from wish to proposal on both sides; and the packets of each: who, type, fields."""
    seconds: list[float] = []
    said: list[list[tuple[str, str, dict]]] = []
    async with pair(folder) as (_, anna, ben):
        stopped = asyncio.Event()
        running = [asyncio.create_task(one.run(stopped)) for one in (anna, ben)]
        for one in (anna, ben):
            for field in ("dietary", "specific_availability"):
                await one.permissions(field, "always")
        for number in range(count):
            proposed = {name: asyncio.Event() for name in ("anna", "ben")}

            hearing = [
                asyncio.create_task(_hear(one, proposed[name]))
                for one, name in ((anna, "anna"), (ben, "ben"))
            ]
            await asyncio.sleep(0)
            begun = time.perf_counter()
            day = f"{DAYS[number % 6]} {'next week' if number >= 6 else ''}"
            thread = (await anna.ask(f"dinner with ben on {day} evening"))["thread_id"]
            await asyncio.wait(
                [asyncio.create_task(_all(proposed.values())), *running],
                return_when=asyncio.FIRST_COMPLETED,
                timeout=60,
            )
            assert all(one.is_set() for one in proposed.values()), [
                await one.thread(thread) if thread in one.journal.book.threads else "nothing"
                for one in (anna, ben)
            ]
            seconds.append(time.perf_counter() - begun)
            for one in hearing:
                one.cancel()
            said.append([_packet(anna, ben, one) for one in anna.journal.book.threads[thread].packets])
            await anna.stop(thread)
        stopped.set()
        await asyncio.gather(*running)
    return seconds, said


async def _hear(agent: Agent, proposed: asyncio.Event) -> None:
    """Sets the event when a thread's proposal stands."""
    with agent.changes.followed() as follower:
        while (await follower.next()).get("state") != "PROPOSED":
            pass
    proposed.set()


async def _all(events: Iterable[asyncio.Event]) -> None:
    for one in events:
        await one.wait()


def _packet(anna: Agent, ben: Agent, entry: Any) -> tuple[str, str, dict]:
    fields = dict(anna.vault.packet(ben.me, entry.packet_id, entry.side) or {})
    header = ("from", "to", "packet_id", "thread_id", "timestamp", "type", "protocol", "seq", "capabilities")
    for name in header:
        fields.pop(name, None)
    return ("anna" if entry.side == US else "ben"), entry.type, fields


async def _bare(folder: pathlib.Path, said: list[list[tuple[str, str, dict]]]) -> list[float]:
    """Seconds for the same packets, each posted when the one before it has been taken; no agent at all."""
    seconds: list[float] = []
    async with Relay(folder / "relay") as relay:
        people = {name: Person(folder / name, relay, name) for name in ("anna", "ben")}
        arrived = {name: asyncio.Event() for name in people}
        tasks = []
        for name, one in people.items():
            await one.post.__aenter__()
            await one.register()
            one.connection = one.post.connection(arrived[name].set)
            tasks.append(asyncio.create_task(one.connection.run()))
            await one.connection.stocked.wait()
        for one, other in (("anna", "ben"), ("ben", "anna")):
            people[one].post.inbox.welcome(people[other].address)
        for number, thread in enumerate(said):
            begun = time.perf_counter()
            for who, kind, fields in thread:
                other = "ben" if who == "anna" else "anna"
                arrived[other].clear()
                to = people[other].address
                people[who].post.outbox.post(cleared(to, kind, fields, thread_id=f"thr_bench{number:04d}"))
                people[who].connection.wake()
                inbox = people[other].post.inbox
                async with asyncio.timeout(60):
                    while not (found := inbox.unhandled()):
                        await arrived[other].wait()
                        arrived[other].clear()
                with people[other].post.store.transaction():
                    inbox.handled(found)
            seconds.append(time.perf_counter() - begun)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for one in people.values():
            await one.post.__aexit__()
            one.post.store.close()
    return seconds


def threads(count: int) -> dict[str, Any]:
    """A thread beside its packets."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours, said = asyncio.run(_threads(folder / "agents", count))
        bare = asyncio.run(_bare(folder / "bare", said))
    # The first of each pays for its session.
    mine, other = statistics.median(ours[1:]), statistics.median(bare[1:])
    return {
        "ms": round(mine * 1000, 1),
        "bare_ms": round(other * 1000, 1),
        "packets": statistics.median(len(one) for one in said),
        "ratio": round(mine / other, 2),
    }


# Decisions, and the journal alone.


ROUNDS = 10


async def _decisions(folder: pathlib.Path, count: int) -> dict[str, Any]:
    """The engine and the bare journals in turns of a tenth each: what else the machine does meets all alike."""
    took, cpu, bare, together = 0.0, 0.0, 0.0, 0.0
    async with pair(folder) as (_, anna, ben):
        await anna.disconnect()
        groups: list[list[records.Record]] = []
        append = anna.journal.append

        async def noted(layer: Any, said: Any, at: Any, **values: Any) -> None:
            groups.append(list(said))
            await append(layer, said, at, **values)

        anna.journal.append = noted  # type: ignore[method-assign]
        goals = [
            await wishes.goal(anna, f"dinner with ben on {DAYS[number % 6]} evening")
            for number in range(count)
        ]
        journals = [_journal(folder / name) for name in ("bare", "together")]
        done = 0
        for first in range(0, count, max(1, count // ROUNDS)):
            begun, spent = time.perf_counter(), time.process_time()
            for goal in goals[first : first + max(1, count // ROUNDS)]:
                await _decided(anna, goal, ben.me)
            took, cpu = took + time.perf_counter() - begun, cpu + time.process_time() - spent
            new, done = groups[done:], len(groups)
            bare += await _appended(journals[0], [[one] for group in new for one in group])
            together += await _appended(journals[1], new)
        for one in journals:
            one.close()
    events = sum(map(len, groups))
    return {
        "events": events,
        "decisions": len(groups),
        "per_second": round(events / took),
        "bare_per_second": round(events / bare),
        "together_per_second": round(events / together),
        "cpu_us": round(cpu / events * 1e6),
        "ratio": round(bare / took, 2),
        "ratio_together": round(together / took, 2),
    }


async def _decided(anna: Agent, goal: Any, peer: str) -> None:
    """A wish until its first packet is decided: four decisions."""
    thread_id = await anna.decide(lambda ws: asking.ask(ws, goal, peer))
    for _ in range(2):
        ws = anna.workspace()
        thread = ws.thread(thread_id)
        span = considering.calendar_span(ws, view_of(ws, thread))
        seen = turns.outlook(ws, thread, await anna.outside.busy(span) if span else None)
        await anna.decide(lambda ws, seen=seen: turns.take(ws, seen, None))
        for question in anna.workspace().open_questions(thread_id, "consent"):
            asked = anna._question(question)["fields"]
            said = Answer(share=dict.fromkeys(one["field"] for one in asked))
            await anna.decide(lambda ws, one=question, said=said: answering.answer(ws, one.question_id, said))


def _journal(folder: pathlib.Path) -> Journal:
    folder.mkdir()
    return Journal(folder, FOLD, clock=TimeService(), entropy=SystemEntropy())


async def _appended(journal: Journal, groups: list[list[records.Record]]) -> float:
    begun = time.perf_counter()
    for group in groups:
        await journal.append(journal.layer(), group, TimeService().now())
    return time.perf_counter() - begun


def decisions(count: int) -> dict[str, Any]:
    """The engine beside its journal."""
    with tempfile.TemporaryDirectory() as name:
        return asyncio.run(_decisions(pathlib.Path(name), count))


# Starting with many open threads.


async def _fill(folder: pathlib.Path, count: int) -> None:
    """An agent's folder with so many open threads: a wish, two packets, an answer and what was said, each."""
    async with Relay(folder / "relay") as relay:
        person = Person(folder / "anna", relay, "anna")
        async with person.post:
            await person.register()
        person.post.store.close()
    async with Agent(folder / "anna") as anna:
        for first in range(0, count, 100):
            await anna.decide(lambda ws, first=first: _many(ws, first, min(100, count - first)))


def _many(ws: Any, first: int, count: int) -> None:
    peer = "agent:ben@localhost:1"
    for number in range(first, first + count):
        thread_id = f"thr_bench{number:017d}aa"
        ws.say(
            records.Began(
                thread_id,
                peer,
                ours=True,
                goal=ws.keep(
                    peer, {"kind": "meeting", "summary": "Dinner on Friday", "minutes": 90, "spans": []}
                ),
                intent=ws.keep(peer, {"category": "scheduling", "summary": "Dinner on Friday"}),
            )
        )
        for kind in (records.Sent, records.Received):
            more = (
                {"ready": number}
                if kind is records.Received
                else {"bases": (("dietary", "user_approved", "q"),)}
            )
            name = packet.identifier("pkt_", ws.draw(17))
            ws.say(kind(thread_id, peer, name, "context", mac="0" * 32, negotiates=True, **more))
            if kind is records.Sent:
                ws.say(records.Posted(name))
        ws.move(thread_id, "answered")
        ws.change(
            thread_id, wants={"specific_availability": "", "dietary": "data"}, approved={"dietary": "qst"}
        )


async def _begin(folder: pathlib.Path) -> dict[str, Any]:
    resident = _resident()
    begun = time.perf_counter()
    async with Agent(folder) as anna:
        await anna.settle()
        took = time.perf_counter() - begun
        count = len(anna.journal.book.open_threads)
        memory = _resident() - resident
    return {"seconds": took, "open": count, "memory": memory}


def _resident() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def starts(few: int, many: int, rounds: int) -> dict[str, Any]:
    """Starts with many threads beside starts with few; each start is a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found: dict[int, list[dict[str, Any]]] = {few: [], many: []}
        size: dict[int, int] = {}
        for count in found:
            asyncio.run(_fill(folder / str(count), count))
            size[count] = sum(
                one.stat().st_size for one in (folder / str(count) / "anna").rglob("*") if one.is_file()
            )
        for _ in range(rounds):
            for count, runs in found.items():
                done = subprocess.run(
                    [sys.executable, "-m", "bench.agent", "--begin", str(folder / str(count) / "anna")],
                    cwd=ROOT,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                runs.append(json.loads(done.stdout))
        assert all(one["open"] == count for count, runs in found.items() for one in runs)
        took = {count: statistics.median(one["seconds"] for one in runs) for count, runs in found.items()}
        memory = {count: statistics.median(one["memory"] for one in runs) for count, runs in found.items()}
        return {
            "few": few,
            "many": many,
            "few_ms": round(took[few] * 1000, 1),
            "many_ms": round(took[many] * 1000, 1),
            "ratio": round(took[many] / took[few], 2),
            "disk_each": round((size[many] - size[few]) / (many - few)),
            "memory_each": round((memory[many] - memory[few]) / (many - few)),
        }


# The others, and the page.


def calendars() -> dict[str, Any]:
    """Common free time, by the benchmark that stands beside this one."""
    done = subprocess.run(
        [sys.executable, "bench/agent_calendars.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def scan() -> dict[str, Any]:
    """How the search for values grows."""
    agent_scan.seconds(agent_scan.VALUES, agent_scan.WORDS)
    base = agent_scan.seconds(agent_scan.VALUES, agent_scan.WORDS)
    longer = agent_scan.seconds(agent_scan.VALUES, 2 * agent_scan.WORDS)
    more = agent_scan.seconds(100 * agent_scan.VALUES, agent_scan.WORDS)
    return {"ms": round(base * 1000, 2), "packet": round(longer / base, 2), "values": round(more / base, 2)}


def rows(found: dict[str, Any]) -> list[str]:
    """The table: what, ours, beside it, ratio, target, met."""
    one, engine, start = found["threads"], found["decisions"], found["starts"]
    free, search = found["calendars"], found["scan"]
    listed = [
        (
            f"First packet to a proposal on both sides ({one['packets']:g} packets)",
            f"{one['ms']:g} ms", f"the same packets, bare: {one['bare_ms']:g} ms",
            f"{one['ratio']:g}x", "≤ 4x", one["ratio"] <= 4,
        ),
        (
            f"Decisions with their values and records, one at a time ({engine['decisions']} with {engine['events']} events)",
            f"{engine['per_second']:,} events/s", f"the same events appended bare, one by one: {engine['bare_per_second']:,} events/s",
            f"{engine['ratio']:g}x", "≥ 0.5x", engine["ratio"] >= 0.5,
        ),
        (
            "The same, beside appends of each decision's events together", "",
            f"{engine['together_per_second']:,} events/s", f"{engine['ratio_together']:g}x", "reported", None,
        ),
        (
            f"Start with {start['many']:,} open threads",
            f"{start['many_ms']:g} ms", f"with {start['few']}: {start['few_ms']:g} ms",
            f"{start['ratio']:g}x", "≤ 3x", start["ratio"] <= 3,
        ),
        (
            "An open thread, on disk and in memory",
            f"{start['disk_each'] / 1024:.1f} KiB", f"{start['memory_each'] / 1024:.1f} KiB in memory", "", "≤ 8 KiB",
            max(start["disk_each"], start["memory_each"]) <= 8192,
        ),
        (
            f"Common free time of {free['calendars']} calendars with {free['blocks']} blocks, four weeks",
            f"{free['ours_ms']:g} ms", f"`portion`: {free['portion_ms']:g} ms; a brute force agrees",
            f"{free['ratio']:g}x faster", "≥ 20x", free["ratio"] >= 20,
        ),
        (
            "Search of a packet for values that may not go: the packet twice as long",
            f"{search['ms']:g} ms at first", "", f"{search['packet']:g}x", "about 2x", search["packet"] <= 3,
        ),
        (
            "The same: a hundred times as many values", "", "", f"{search['values']:g}x", "about 1x",
            search["values"] <= 2,
        ),
        *agent_groups.rows(found["groups"]),
        *agent_memory.rows(found["memory"]),
        *agent_spaces.rows(found["spaces"]),
        *agent_minds.rows(found["minds"]),
        agent_leaks.row(found["leaks"]),
        (
            f"A tool call over MCP (`list_threads`, {found['mcp']['threads']} threads)",
            f"{found['mcp']['mcp_ms']:g} ms",
            f"from Python at the agent's socket: {found['mcp']['python_ms']:g} ms; in its process: {found['mcp']['inside_ms']:g} ms",
            f"{found['mcp']['ratio']:g}x", "≤ 3x", found["mcp"]["ratio"] <= 3,
        ),
    ]  # fmt: skip
    return [
        f"| {what} | {ours} | {beside} | {ratio} | {target} | {MET[met]} |"
        for what, ours, beside, ratio, target, met in listed
    ]


def page(found: dict[str, Any]) -> str:
    """The whole page."""
    machine = found["machine"]
    busy = float(machine["load before"]) > float(machine["cores"]) / 2
    return "\n".join(
        [
            "# Benchmarks of the personal agent",
            "",
            "Every number stands beside a bare counterpart that was measured in the same run; read the **ratio**. Written by",
            "`python -m bench.agent` (`make bench-agent`); do not edit by hand.",
            "",
            f"Measured {found['measured']}, Python {machine['Python']}, {machine['cores']} cores, load {machine['load before']}.",
            "",
            *(["**The machine was busy with other work**: times are long.", ""] if busy else []),
            "| What | Tacit | Beside it | Ratio | Target | Met |",
            "|---|---|---|---|---|---|",
            *rows(found),
            "",
            "A thread is two agents that go by rules, on a real relay, from the owner's sentence until the proposal stands on",
            "both sides; both owners have allowed the fields, so nobody is asked. *Bare* is the same fields, sealed and posted",
            "over the same relay. A decision is durable before the next begins: its values and records in one transaction. A",
            "start is a new process, until everything that can be done is done.",
            "",
            "Model calls are those of both agents, with a model in every tier; a token counts as four bytes. What a driver adds",
            "is the request as it left, less the rules and words that it was given. A thought starts the program anew, so its",
            "milliseconds are those of a start; an ordinary turn also carries the programs' own tools and instructions.",
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.agent", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="little of each, not for the docs")
    parser.add_argument("--begin", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.begin is not None:
        print(msgspec.json.encode(asyncio.run(_begin(given.begin))).decode())
        return 0
    from bench.spine.machine import describe

    found = {
        "measured": time.strftime("%Y-%m-%d"),
        "machine": describe(),
        "threads": threads(3 if given.quick else 12),
        "decisions": decisions(20 if given.quick else 150),
        "starts": starts(100, 1000 if given.quick else 10_000, 2 if given.quick else 5),
        "calendars": calendars(),
        "scan": scan(),
        "groups": agent_groups.groups(),
        "memory": agent_memory.memory(quick=given.quick),
        "spaces": agent_spaces.spaces(),
        "minds": agent_minds.minds(quick=given.quick),
        "leaks": agent_leaks.leaks(100 if given.quick else 1000),
        "mcp": mcp_calls(20 if given.quick else 200),
    }
    print("\n".join(rows(found)))
    if not given.quick:
        PAGE.write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
