"""What memory saves and what forgetting costs: part of `python -m bench.agent`.

Packets and questions of the first and the fourteenth dinner are counted, not timed. A purge is timed for a contact
with few packets and one with many, each in a folder with few packets of others and one with many: it grows with the
contact and not with the folder. A start is timed with few contacts remembered and with many.
"""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import tempfile
import time
from typing import Any

import msgspec

from tacit.a2acp.packets import packet
from tacit.a2acp.threads.states import Cause
from tacit.agent.kernel import records
from tacit.agent.memory import remembering
from tacit.agent.memory.records import LEARNED
from tacit.agent.memory.relationship import Episode, Known, Relationship
from tacit.agent.shell.io.agent import Agent
from tests.agent.memory.dinners import dinners, pair
from tests.agent_support import Person
from tests.relay_support import Relay


def counted() -> dict[str, Any]:
    """Packets and questions up to the checkpoint, of the first dinner and of the fourteenth."""
    every = dinners(pair(), 14)
    return {
        name: {"packets": one.sent, "questions": max(one.questions.values())}
        for name, one in (("first", every[0]), ("last", every[-1]))
    }


async def _folder(folder: pathlib.Path) -> None:
    async with Relay(folder / "relay") as relay:
        person = Person(folder / "anna", relay, "anna")
        async with person.post:
            await person.register()
        person.post.store.close()


def _peer(name: object) -> str:
    return f"agent:{name}@localhost:1"


def _fill(agent: Agent, peer: str, packets: int) -> None:
    """Packets of a contact in the post's history."""
    store = agent.post.store
    body = msgspec.json.encode({"context": {"dietary": "no meat"}, "filling": "x" * 600})
    with store.transaction():
        store.know(peer, welcome=True)
        for number in range(packets):
            name = packet.identifier("pkt_", agent.entropy.draw(17))
            store.run(
                "INSERT INTO history (direction, peer, packet_id, thread_id, seq, type, at, state, payload)"
                " VALUES ('in',?,?,?,?,'context',1,'ready',?)",
                peer, name, f"thr_{number // 10}", number, body,
            )  # fmt: skip


def _remember(ws: Any, peer: str) -> None:
    thread_id = packet.identifier("thr_", ws.draw(17))
    ws.say(records.Began(thread_id, peer, ours=False))
    ws.close(thread_id, Cause.CLOSED, "withdrawn")
    found = Relationship(
        cache={name: Known("no meat", ws.now) for name in ("dietary", "transport_mode")},
        episodes=tuple(Episode(f"thr_{one}", ws.now, "scheduling", "COMPLETED") for one in range(10)),
    )
    remembering.keep(ws, peer, found, LEARNED, thread_id)


async def _purged(anna: Agent, number: int, packets: int) -> float:
    """Seconds to let go of a contact with so many packets."""
    peer = _peer(f"ben{number}")
    _fill(anna, peer, packets)
    await anna.decide(lambda ws: _remember(ws, peer))
    anna.post.inbox.block(peer)
    begun = time.perf_counter()
    await anna.forget(peer)
    return time.perf_counter() - begun


async def _purges(folder: pathlib.Path, few: int, many: int, rounds: int) -> dict[str, float]:
    took: dict[str, list[float]] = {"alone": [], "among": [], "small": []}
    async with contextlib.AsyncExitStack() as stack:
        agents: dict[int, Agent] = {}
        for others in (few, many):
            await _folder(folder / str(others))
            agents[others] = await stack.enter_async_context(Agent(folder / str(others) / "anna"))
            for number in range(others // 100):
                _fill(agents[others], _peer(f"other{number}"), 100)
        for number in range(rounds):
            took["alone"].append(await _purged(agents[few], 2 * number, 1000))
            took["among"].append(await _purged(agents[many], 2 * number, 1000))
            took["small"].append(await _purged(agents[many], 2 * number + 1, 100))
    # What the machine does beside is in each of them; the least is what it takes.
    return {name: min(found) for name, found in took.items()}


def purges(few: int, many: int, rounds: int) -> dict[str, Any]:
    """A contact with 1,000 packets beside few and many packets of others, and one with 100; turn about."""
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_purges(pathlib.Path(folder), few, many, rounds))
    return {
        "few": few,
        "many": many,
        **{f"{name}_ms": round(took * 1000, 1) for name, took in found.items()},
        "folder": round(found["among"] / found["alone"], 2),
        "contact": round(found["among"] / found["small"], 2),
    }


async def _remembered(folder: pathlib.Path, contacts: int) -> None:
    await _folder(folder)
    async with Agent(folder / "anna") as anna:
        for number in range(contacts):
            _fill(anna, _peer(f"ben{number}"), 5)
        for first in range(0, contacts, 100):
            together = range(first, min(first + 100, contacts))
            await anna.decide(lambda ws, all_=together: [_remember(ws, _peer(f"ben{one}")) for one in all_])


async def _begun(folder: pathlib.Path) -> float:
    begun = time.perf_counter()
    async with Agent(folder / "anna") as anna:
        await anna.settle()
        return time.perf_counter() - begun


def remembered_starts(few: int, many: int, rounds: int) -> dict[str, Any]:
    """Starts with many contacts remembered beside starts with few, turn about."""
    with tempfile.TemporaryDirectory() as name:
        folders = {count: pathlib.Path(name) / str(count) for count in (few, many)}
        took: dict[int, list[float]] = {few: [], many: []}
        for count, folder in folders.items():
            asyncio.run(_remembered(folder, count))
        for _ in range(rounds):
            for count, folder in folders.items():
                took[count].append(asyncio.run(_begun(folder)))
    ms = {count: min(found) * 1000 for count, found in took.items()}
    ratio = round(ms[many] / ms[few], 2)
    return {
        "few": few,
        "many": many,
        "few_ms": round(ms[few], 1),
        "many_ms": round(ms[many], 1),
        "ratio": ratio,
    }


def memory(*, quick: bool) -> dict[str, Any]:
    """All of it."""
    return {
        "dinners": counted(),
        "purges": purges(1000, 5000 if quick else 20_000, 5),
        "starts": remembered_starts(10, 1000, 3 if quick else 7),
    }


def rows(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of the table."""
    first, last = found["dinners"]["first"], found["dinners"]["last"]
    purge, start = found["purges"], found["starts"]
    met = (first["packets"], first["questions"], last["packets"], last["questions"]) == (4, 1, 2, 0)
    return [
        (
            "Fourteenth dinner with the same person, up to the checkpoint (counted)",
            f"{last['packets']} packets, {last['questions']} questions",
            f"the first: {first['packets']} packets, {first['questions']} question for each", "", "1 each way, 0", met,
        ),
        (
            f"Purge of a contact with 1,000 packets, beside {purge['many']:,} packets of others",
            f"{purge['among_ms']:g} ms", f"beside {purge['few']:,}: {purge['alone_ms']:g} ms",
            f"{purge['folder']:g}x", "≤ 2x", purge["folder"] <= 2,
        ),
        (
            "The same, of a contact with a tenth of the packets", f"{purge['small_ms']:g} ms", "",
            f"{purge['contact']:g}x less", "reported", None,
        ),
        (
            f"Start with {start['many']:,} contacts remembered", f"{start['many_ms']:g} ms",
            f"with {start['few']}: {start['few_ms']:g} ms", f"{start['ratio']:g}x", "≤ 1.5x", start["ratio"] <= 1.5,
        ),
    ]  # fmt: skip
