"""Unit costs of a hub on several nodes, measured on this machine with real hubs and real servers, for `bench.sizing`.

Processor time is a process's own, in microseconds, so that what else runs on the machine changes it little. Of a hub
with its writer in a process, both are counted together, and the writer alone where its one thread is the bound. A cost
for each event, each message of the stream (one group's batch) and each commit is told apart by three kinds of load:
one hot group, many groups at once, one append at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import time
from dataclasses import dataclass, fields
from itertools import count
from time import perf_counter as now
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import aiohttp
import msgspec

from bench.nodes import Servers, connected, fill, load_on, nodes, with_actors
from bench.sizing_model import Costs
from bench.spine.appends import press
from bench.spine.processes import RunningHub, cpu_seconds, resident, websocket
from tacit.attention.io.engine import AttentionEngine
from tacit.attention.state.work import SessionLife
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import Moment
from tacit.c2a.negotiation import CAPABILITIES
from tacit.hub.nodes.codec import Beat, decode, encode
from tacit.hub.nodes.neighbours import Neighbours
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.jetstream.snapshots import LedgerSnapshots
from tacit.ledger.io.store import StoreOptions
from tests.ledger.io.jetstream.servers import new_name, one, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tacit.ledger.io.jetstream.stream import JetStream

SOME_GROUPS: Final = 64
"""Groups of the load on many: each with one append under way, so that a commit has many groups."""
ROUNDS: Final = 3
KEPT: Final = 20_000
"""Events of the ledger that is weighed and joined."""
FEW_SUBJECTS: Final = 10_000
MANY_SUBJECTS: Final = 100_000
SESSIONS: Final = (300, 1200)
"""Agents that are connected, a group each, while memory is measured."""
WORDS: Final = 5_000
"""Groups of which it is said who is connected."""
ASKED: Final = 20
"""Of them, so many are asked something and answer."""
IDLE_SECONDS: Final = 12.0
EVERYTHING: Final = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}
MIB: Final = 1024 * 1024


def parts(
    lone: float, many: float, hot: float, many_commands: float, hot_commands: float
) -> tuple[float, float, float]:
    """What each event, message and commit costs, of the cost of an append under three loads.

    Alone an append pays all three; with many groups in a commit they share that; in a hot group the message too.
    """
    commit = max(0.0, (lone - many) / (1 - 1 / many_commands))
    together = max(0.0, many - commit / many_commands)
    event = (hot - (together + commit) / hot_commands) / (1 - 1 / hot_commands)
    event = min(max(0.0, event), together)
    return event, together - event, commit


@dataclass(slots=True)
class Used:
    """What two nodes and the servers have used of the processor, in seconds, and done."""

    first: float
    writer: float
    second: float
    servers: float
    commits: float

    def since(self, before: Used, appends: int) -> Used:
        """For each append, in microseconds (but commits)."""
        return Used(
            *(
                (getattr(self, name) - getattr(before, name)) / appends * 1e6
                for name in ("first", "writer", "second", "servers")
            ),
            (self.commits - before.commits) / appends,
        )


async def used(writes: RunningHub, other: RunningHub, servers: Servers) -> Used:
    """So far."""
    writer = sum(cpu_seconds(pid) for pid in writes.children())
    return Used(writes.cpu(), writer, other.cpu(), servers.cpu(), await commits(writes))


async def commits(running: RunningHub) -> float:
    """How many a hub has made, as it says."""
    headers = {"Authorization": f"Bearer {running.token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{running.port}/metrics", headers=headers) as answer,
    ):
        for line in (await answer.text()).splitlines():
            if line.startswith("tacit_commit_jobs_count"):
                return float(line.split()[1])
    raise SystemExit("the hub counts no commits")


class Pressed:
    """Clients with groups of their own at a door, and how long and how much they write."""

    def __init__(self, servers: Servers, running: Sequence[RunningHub], seconds: float) -> None:
        self._servers = servers
        self._running = running
        self._seconds = seconds

    async def at(
        self, door: RunningHub, groups: int, clients: int, in_flight: int, *, awake: bool = False
    ) -> tuple[Used, float]:
        """What an append costs, and how many there are in a second."""
        writes, other = self._running[0], self._running[1]
        made = await with_actors(writes, groups, clients)
        door.tokens |= writes.tokens
        load = await load_on([door], made, clients)
        # The tokens and the groups' leases are the first node's: it writes, wherever the load comes in.
        for number, group in enumerate(made):
            said = {"group_id": group, "kind": "chat.message", "data": {"text": f"first {number}"}}
            await writes.call("append", said)
        followed = [await followed_at(other, group) for group in made] if awake else []
        await press(load, 0.5, in_flight)
        rounds: list[tuple[Used, float]] = []
        for _ in range(ROUNDS):
            before = await used(writes, other, self._servers)
            found = await press(load, self._seconds, in_flight)
            await asyncio.sleep(0.3)  # what others apply of it ends a little later
            spent = await used(writes, other, self._servers)
            rounds.append((spent.since(before, sum(len(one.took) for one in load)), found["per_second"]))
        for socket in [client.socket for client in load] + followed:
            if socket is not None:
                socket.close()
        return middle_of([one for one, _ in rounds]), statistics.median(rate for _, rate in rounds)


def middle_of(rounds: Sequence[Used]) -> Used:
    """The median of each figure: a snapshot that is kept meanwhile is in one round, not in all."""
    return Used(*(statistics.median(getattr(one, each.name) for one in rounds) for each in fields(Used)))


async def followed_at(node: RunningHub, group: str) -> Any:
    """Somebody who follows a group at a node."""
    answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    socket = await connected(node, lambda text: answer.done() or answer.set_result(text), node.token)
    call = {"jsonrpc": "2.0", "id": 1, "method": "follow", "params": {"group_id": group, "since_seq": 0}}
    socket.send(msgspec.json.encode(call))
    async with asyncio.timeout(60):
        await answer
    return socket


async def of_events(servers: Servers, folder: Path, seconds: float) -> dict[str, float]:
    """Appending, applying, noting, bringing up and forwarding, between two nodes."""
    async with nodes(folder, servers.plan(), 2) as running:
        writes, other = running
        pressed = Pressed(servers, running, seconds)
        lone, lone_rate = await pressed.at(writes, 1, 1, 1)
        hot, hot_rate = await pressed.at(writes, 1, 8, 16)
        many, _ = await pressed.at(writes, SOME_GROUPS, SOME_GROUPS, 1)
        awake, _ = await pressed.at(writes, SOME_GROUPS, SOME_GROUPS, 1, awake=True)
        through, _ = await pressed.at(other, SOME_GROUPS, SOME_GROUPS, 1)
        brought = await brought_up(writes, other)
    commands = [max(1.01, 1 / one.commits) for one in (many, hot)]
    all_of = parts(lone.first, many.first, hot.first, *commands)
    of_writer = parts(lone.writer, many.writer, hot.writer, *commands)
    return {
        **dict(zip(("append_event", "append_message", "append_commit"), all_of, strict=True)),
        **dict(zip(("writer_event", "writer_message", "writer_commit"), of_writer, strict=True)),
        "commit_seconds": 1 / lone_rate,
        "applied_event": awake.second,
        "noted_message": many.second,
        "brought_up_event": brought,
        "forwarded": max(0.0, through.second - awake.second),
        "hot_group": hot_rate,
        "server_message": many.servers,
    }


async def brought_up(writes: RunningHub, other: RunningHub) -> float:
    """Microseconds by the clock for each event that was noted, when somebody asks for its group."""
    [group] = await with_actors(writes, 1, 1)
    [client] = await load_on([writes], [group], 1)
    await press([client], 2.0, 1)
    await asyncio.sleep(0.5)
    begun = now()
    found = await other.call("group", {"group_id": group})
    return (now() - begun) / found["last_seq"] * 1e6


async def of_agents(servers: Servers, folder: Path) -> dict[str, float]:
    """Agents that are connected and silent: memory at their node; and what the ledger gains by a question to one."""
    memory: list[int] = []
    used: list[float] = []
    plan = servers.plan()
    async with nodes(folder, plan, 2) as (first, second), contextlib.AsyncExitStack() as stack:
        agents = Agents(first)
        for wanted in (0, *SESSIONS):
            while len(agents.sockets) < wanted:
                await agents.connect(stack)
            await asyncio.sleep(2.0)
            memory.append(first.rss() + sum(resident(pid) for pid in first.children()))
            if not wanted:
                before, begun = first.cpu() + second.cpu(), now()
                await asyncio.sleep(IDLE_SECONDS)
                used.append((first.cpu() + second.cpu() - before) / (now() - begun) / 2)
        stream = await asyncio.to_thread(opened, servers.urls, plan.stream, servers.replicas)
        stack.callback(stream.close)
        end = await asyncio.to_thread(stream.end)
        gained = await agents.answer_all()
        sent = (await asyncio.to_thread(stream.end) - end) / ASKED
    each = (memory[2] - memory[1]) / (SESSIONS[1] - SESSIONS[0])
    return {"idle": used[0], "session_bytes": each, "agent_events": gained, "agent_messages": sent}


class Told:
    """Two nodes in this process: what the first says to all the second hears, as bytes."""

    def __init__(self, address: str, heard: Callable[[bytes], None]) -> None:
        self.address = address
        self.seconds, self.room, self.held, self.reached, self.asleep = 15.0, 1_000_000, 0, 0, 0
        self.on_word: Callable[[Any], None] = lambda _word: None
        self._heard = heard

    def say_to_all(self, word: Any) -> None:
        """As bytes."""
        self._heard(encode(word))

    def say_to(self, _address: str, word: Any) -> bool:
        """The same."""
        self._heard(encode(word))
        return True


class Present:
    """One agent in each of many groups, and nobody else."""

    def __init__(self, groups: int) -> None:
        life = SessionLife("ann", Moment(1), Moment(1))
        link = SimpleNamespace(session="ann", status="busy", detail="")
        self._there = {f"g_{number:024x}": ([link], (life,)) for number in range(groups)}

    def groups(self) -> list[str]:
        """Where somebody is."""
        return list(self._there)

    def links(self, group_id: str) -> list[Any]:
        """Connections."""
        return self._there[group_id][0] if group_id in self._there else []

    def lives(self, group_id: str) -> tuple[SessionLife, ...]:
        """Signs of life."""
        return self._there[group_id][1] if group_id in self._there else ()

    def people_here(self, _group_id: str) -> dict[str, Any]:
        """Nobody."""
        return {}

    def statuses(self, group_id: str) -> dict[str, tuple[str, str]]:
        """What each agent does."""
        return {link.session: (link.status, link.detail) for link in self.links(group_id)}

    statuses_here = statuses

    def connected_elsewhere(self, *_: Any) -> None:
        """No earlier connection of theirs is here."""

    tell_writer = tell_presence = stir = connected_elsewhere


def of_words() -> dict[str, float]:
    """What a group costs of a word about who is connected, at who says it and at who hears it, in this process."""
    told: list[bytes] = []
    saying = Neighbours(
        cast("Any", Told("a", told.append)), cast("Any", Present(WORDS)), cast("Any", Present(0))
    )
    hears = Told("b", lambda _payload: None)
    Neighbours(cast("Any", hears), cast("Any", Present(0)), cast("Any", Present(0)))
    said, heard = list[float](), list[float]()

    async def rounds() -> None:
        saying._nodes.on_word(Beat("b", "", 0, 0))
        for _ in range(ROUNDS + 1):
            told.clear()
            begun = time.process_time()
            saying._say(saying._everywhere())
            said.append(time.process_time() - begun)
            begun = time.process_time()
            for payload in told:
                hears.on_word(decode(payload))
            heard.append(time.process_time() - begun)

    asyncio.run(rounds())
    # The first round is news to the other node; later ones say what it knows, as most do.
    costs = {"here_said": said[1:], "here_heard": heard[1:]}
    return {name: statistics.median(found) / WORDS * 1e6 for name, found in costs.items()}


class Agents:
    """Agents that are connected to a node, a group each; they take what they are sent, and answer it."""

    def __init__(self, node: RunningHub) -> None:
        self._node = node
        self.sockets: list[tuple[str, Any]] = []
        self._tokens: dict[str, str] = {}
        self._heard = asyncio.Semaphore(0)
        self._loop = asyncio.get_running_loop()

    async def connect(self, stack: contextlib.AsyncExitStack) -> None:
        """One more, in a new group."""
        group = await self._node.open_group("present", 1)
        ready: asyncio.Future[None] = self._loop.create_future()
        socket: Any = None

        def heard(text: bytes) -> None:
            word = json.loads(text)
            if word.get("method") == "chat/deliver":
                taken = {"accepted": True, "eventId": word["params"]["eventId"]}
                socket.send(msgspec.json.encode({"jsonrpc": "2.0", "id": word["id"], "result": taken}))
                self._heard.release()
            elif not ready.done():
                ready.set_result(None)

        socket = await websocket(self._node.port, "/c2a", self._node.tokens["a0"], heard)
        info = {"name": "bench", "version": "1"}
        params = {"protocolVersion": "2026-06-24", "clientInfo": info, "capabilities": EVERYTHING}
        call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        socket.send(msgspec.json.encode(call))
        async with asyncio.timeout(60):
            await ready
        stack.callback(socket.close)
        self._tokens[group] = self._node.tokens["a0"]
        self.sockets.append((group, socket))

    async def answer_all(self, asked: int = ASKED) -> float:
        """Events that a question and its answer leave, of some of them."""
        before = [await self._last(group) for group, _ in self.sockets[:asked]]
        for group, _ in self.sockets[:asked]:
            data = {"text": "@a0 which port does the build use?"}
            said = await self._node.call("append", {"group_id": group, "kind": "chat.message", "data": data})
            async with asyncio.timeout(60):
                await self._heard.acquire()
            reply = {"text": "It uses port 7433.", "reply_to": said["id"]}
            call = {"group_id": group, "kind": "chat.message", "data": reply}
            await self._node.call("append", call, self._tokens[group])
        await asyncio.sleep(1.0)
        after = [await self._last(group) for group, _ in self.sockets[:asked]]
        return sum(late - early for early, late in zip(before, after, strict=True)) / asked

    async def _last(self, group: str) -> int:
        return int((await self._node.call("group", {"group_id": group}))["last_seq"])


def of_bytes(servers: Servers, folder: Path) -> dict[str, float]:
    """What an event weighs in the stream and in a folder, and how long a node takes that joins."""
    stream = opened(servers.urls, new_name(), servers.replicas)
    snapshots = LedgerSnapshots(stream, SystemEntropy())
    store = open_cache(folder / "first", StoreOptions(), stream, AttentionEngine)
    store.start()
    # As agents write: an event is mostly a batch of its own, and never one of a hundred.
    fill(store, KEPT, batch=2)
    state = stream.connection.wait(stream.connection.ask(stream.name, "INFO", {})).state
    assert state is not None
    if not snapshots.keep(store.path):
        raise SystemExit("no snapshot was kept")
    took: list[float] = []
    weighs = 0
    for name, given in (("joined", snapshots), ("read", None)):
        begun = now()
        joined = open_cache(
            folder / name, StoreOptions(purpose="bench"), stream, AttentionEngine, snapshots=given
        )
        took.append(now() - begun)
        joined.close()
        weighs = joined.path.stat().st_size
    store.close()
    stream.close()
    return {
        "event_bytes": state.bytes / KEPT,
        "cache_bytes": weighs / KEPT,
        "join_seconds": took[0] / KEPT,
        "read_seconds": took[1] / KEPT,
    }


def of_stream(servers: Servers, seconds: float) -> dict[str, float]:
    """How many messages a second one stream takes when many are under way."""
    stream = opened(servers.urls, new_name(), servers.replicas)
    numbers, end = count(), now() + seconds

    async def some() -> None:
        for number in numbers:
            if now() > end:
                return
            await stream.connection.publish(f"{stream.name}.g_{number % 4096:024x}", b"x" * 300, {})

    async def all_of() -> None:
        await asyncio.gather(*(some() for _ in range(256)))

    stream.connection.wait(all_of())
    rate = stream.end() / (now() - end + seconds)
    stream.close()
    return {"stream_rate": rate}


def of_subjects(folder: Path) -> dict[str, float]:
    """What a subject takes of a server's memory, in a stream that keeps all and in one that keeps the last.

    Without syncing, which costs time and no memory.
    """
    found: dict[str, float] = {}
    for name, what in (("subject_bytes", ""), ("lease_bytes", "_GROUPS")):
        server = one(folder / name)
        server.kill()
        config = server.config.read_text(encoding="utf-8")
        server.config.write_text(config.replace(", sync_interval: always", ""), encoding="utf-8")
        server.restart()
        try:
            stream = opened([server.url], new_name() + what, 1)
            memory = list[int]()
            numbers = count()
            for upto in (FEW_SUBJECTS, MANY_SUBJECTS):
                stream.connection.wait(_published(stream, numbers, upto))
                time.sleep(3.0)
                memory.append(resident(server.process.pid))
            found[name] = (memory[1] - memory[0]) / (MANY_SUBJECTS - FEW_SUBJECTS)
            stream.close()
        finally:
            server.kill()
    return found


async def _published(stream: JetStream, numbers: count[int], upto: int) -> None:
    payload = b"x" * 300

    async def some() -> None:
        for number in numbers:
            if number >= upto:
                return
            await stream.connection.publish(f"{stream.name}.g_{number:024x}", payload, {})

    await asyncio.gather(*(some() for _ in range(64)))


async def measured(folder: Path, replicas: int, seconds: float, machine: str) -> Costs:
    """All of it; some minutes."""
    servers = Servers(folder / "nats", replicas)
    try:
        found = await of_events(servers, folder / "events", seconds)
        found |= await of_agents(servers, folder / "agents")
        found |= await asyncio.to_thread(of_bytes, servers, folder / "bytes")
        found |= await asyncio.to_thread(of_stream, servers, seconds)
    finally:
        servers.end()
    found |= await asyncio.to_thread(of_subjects, folder / "subjects")
    found |= await asyncio.to_thread(of_words)
    rounded = {name: float(f"{value:.4g}") for name, value in found.items()}
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return Costs(measured=day, machine=machine, replicas=replicas, **rounded)
