"""What several hubs on one NATS stream cost, beside one hub on its own disk: ratios of one run.

python -m bench.nodes [--only one,eight,doors,receipt,failover,leader,join,groups,own] [--replicas 3] [--seconds 5] [--rounds 5]

Real hubs in processes of their own and real servers on the loopback, each write synced. What is compared takes turns, so
that what else runs meets all alike. With `--replicas 3` three servers keep every stream; on one machine they share its disk. `leader` is measured
with three servers whatever is asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import signal
import statistics
import time
from time import perf_counter as now
from typing import TYPE_CHECKING, Any, Final

import msgspec
import uvloop

from bench.jetstream import TEXT
from bench.spine.appends import IN_FLIGHT, Appender, press
from bench.spine.latency import Pace, follow
from bench.spine.machine import describe
from bench.spine.plan import Plan, in_turn, middle, ratio
from bench.spine.processes import RunningHub, cpu_seconds, hub, raise_open_files, scratch
from tacit.attention.io.engine import AttentionEngine
from tacit.base.io.jetstream.connection import Patience
from tacit.base.io.system import SystemEntropy
from tacit.base.stream_plan import StreamPlan
from tacit.ledger.commands import Append, Committed
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.jetstream.snapshots import LedgerSnapshots
from tacit.ledger.io.store import StoreOptions
from tacit.ledger.submission import Submission
from tests.ledger.io.jetstream.servers import new_name, one, opened, three

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from tacit.ledger.io.jetstream.stream import JetStream
    from tacit.ledger.io.store import Store
    from tests.ledger.io.jetstream.servers import Server

CLIENTS: Final = 8
AT_DOORS: Final = 6
"""Clients of the hot group: as many at one door as at two or three together."""
CLIENTS_OF_THREE: Final = 6
"""Clients with a group each, at one node or two at each of three."""
KEPT: Final = 50_000
MANY: Final = 10_000
FEW: Final = 10
LEASE: Final = 15.0
LEADERS: Final = 3
"""How many leaders are killed, one after the other."""
HASTY: Final = Patience(answer=0.25, tries=200, pause=0.05)
"""Of who looks for the next one: the time that it takes is measured."""
PATIENCE: Final = 60.0


class Servers:
    """The NATS servers of a run, one or three, and streams of their own for each part."""

    def __init__(self, folder: Path, replicas: int) -> None:
        self.replicas: Final = replicas
        self._running = three(folder) if replicas > 1 else [one(folder)]
        self.urls: Final = tuple(server.url for server in self._running)
        opened(self.urls, new_name(), replicas).close()  # returns when the servers have found each other

    @property
    def label(self) -> str:
        """R1 or R3."""
        return f"R{self.replicas}"

    def plan(self) -> StreamPlan:
        """A stream that nobody has."""
        return StreamPlan(self.urls, new_name(), self.replicas, lease_seconds=LEASE)

    def leader(self, stream: JetStream, but: str = "") -> Server:
        """The server that leads a stream, another one than is named; blocks."""
        while True:
            told = stream.connection.wait(stream.connection.ask(stream.name, "INFO", {})).cluster
            for server in self._running:
                if told is not None and server.name == told.leader != but:
                    return server
            time.sleep(0.05)

    def in_step(self, stream: JetStream) -> None:
        """Return when every replica has all of a stream; blocks."""
        end = now() + PATIENCE
        while now() < end:
            told = stream.connection.wait(stream.connection.ask(stream.name, "INFO", {})).cluster
            others = told.replicas if told is not None else []
            if len(others) == self.replicas - 1 and all(one.current and not one.offline for one in others):
                return
            time.sleep(0.2)
        raise SystemExit("a server that came back does not catch up")

    def cpu(self) -> float:
        """Seconds of processor time that all have used."""
        return sum(cpu_seconds(server.process.pid) for server in self._running)

    def end(self) -> None:
        """Stop them."""
        for server in self._running:
            server.kill()


@contextlib.asynccontextmanager
async def nodes(folder: Path, plan: StreamPlan, count: int) -> AsyncIterator[list[RunningHub]]:
    """Hubs on one stream, the first of which writes."""
    async with contextlib.AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(hub(folder / f"{plan.stream}-{number}", stream=plan))
            for number in range(count)
        ]


async def load_on(doors: Sequence[RunningHub], groups: Sequence[str], clients: int) -> list[Appender]:
    """Connected clients, spread over doors and groups; tokens are those of the first door's actors."""
    found: list[Appender] = []
    for number in range(clients):
        client = Appender(groups[number % len(groups)], number)
        door, token = doors[number % len(doors)], doors[0].tokens[f"{client_group(groups, number)}/a{number}"]
        client.socket = await connected(door, client.answered, token)
        found.append(client)
    return found


def client_group(groups: Sequence[str], number: int) -> str:
    return groups[number % len(groups)]


async def connected(door: RunningHub, heard: Callable[[bytes], None], token: str) -> Any:
    """A node lets in whom another has made as soon as the stream has brought it."""
    end = now() + PATIENCE
    while True:
        try:
            return await door.connect(heard, token)
        except ConnectionError:
            if now() > end:
                raise
            await asyncio.sleep(0.01)


async def with_actors(running: RunningHub, groups: int, clients: int) -> list[str]:
    """New groups, with the actors that will write to them; tokens are kept under group and name."""
    made = [
        str((await running.call("create_group", {"title": f"{number}"}))["group_id"])
        for number in range(groups)
    ]
    for number in range(clients):
        group, name = client_group(made, number), f"a{number}"
        added = await running.call("add_actor", {"group_id": group, "actor_id": name})
        running.tokens[f"{group}/{name}"] = running.tokens[name] = added["token"]
    return made


def say(what: str, text: str) -> None:
    """One finding, as soon as it is known."""
    print(f"{what}: {text}", flush=True)


def compared(what: str, found: dict[str, list[dict[str, float]]], beside: str) -> None:
    """Appends in a second of each, and the ratio to one of them."""
    for name, rounds in found.items():
        share = ratio(found, (name, "per_second"), (beside, "per_second"))
        say(
            f"{what}, {name}",
            f"{middle(rounds, 'per_second'):,.0f}/s, p50 {middle(rounds, 'p50_ms'):.1f} ms, "
            f"p99 {middle(rounds, 'p99_ms'):.1f} ms, {share:.2f} of {beside}",
        )


async def _appends(what: str, servers: Servers, plan: Plan, folder: Path, groups: int) -> None:
    async with hub(folder / "sqlite") as alone, nodes(folder, servers.plan(), 1) as (node,):
        parts: dict[str, Callable[[], Awaitable[dict[str, float]]]] = {}
        for name, running in (("SQLite", alone), (servers.label, node)):
            load = await load_on([running], await with_actors(running, groups, CLIENTS), CLIENTS)
            await press(load, min(1.0, plan.seconds), IN_FLIGHT)
            parts[name] = lambda load=load: press(load, plan.seconds, IN_FLIGHT)
        compared(what, await in_turn(plan.rounds, parts), "SQLite")


async def one_group(servers: Servers, plan: Plan, folder: Path) -> None:
    """Eight clients, sixteen appends in flight each, into one group."""
    await _appends("one group", servers, plan, folder, 1)


async def eight_groups(servers: Servers, plan: Plan, folder: Path) -> None:
    """The same, a group each."""
    await _appends("eight groups", servers, plan, folder, CLIENTS)


async def doors(servers: Servers, plan: Plan, folder: Path) -> None:
    """One hot group through one, two and three doors at once; the first is that of the node that writes."""
    async with nodes(folder, servers.plan(), 3) as running:
        group = await with_actors(running[0], 1, AT_DOORS)
        loads = {count: await load_on(running[:count], group, AT_DOORS) for count in (1, 2, 3)}
        shares: dict[int, list[list[int]]] = {count: [] for count in loads}
        for load in loads.values():
            await press(load, min(1.0, plan.seconds), IN_FLIGHT)

        async def pressed(count: int) -> dict[str, float]:
            found = await press(loads[count], plan.seconds, IN_FLIGHT)
            taken = [0] * count
            for number, client in enumerate(loads[count]):
                taken[number % count] += len(client.took)
            shares[count].append(taken)
            return found

        names = {count: f"{count} door{'s' * (count > 1)}" for count in loads}
        found = await in_turn(
            plan.rounds, {name: lambda c=count: pressed(c) for count, name in names.items()}
        )
        compared(f"hot group, {servers.label}", found, names[1])
        for count in (2, 3):
            totals = [sum(one[door] for one in shares[count]) for door in range(count)]
            parts = ", ".join(f"{100 * total / sum(totals):.0f} %" for total in totals)
            weakest = min(totals) * count / sum(totals)
            say(f"hot group, {names[count]}", f"shares {parts}; the weakest has {weakest:.2f} of its share")


async def receipt(servers: Servers, plan: Plan, folder: Path) -> None:
    """From append to receipt at 500 a second: one machine; a node that writes; another node."""
    async with hub(folder / "sqlite") as alone, nodes(folder, servers.plan(), 2) as (writes, follows):
        parts: dict[str, Callable[[], Awaitable[dict[str, float]]]] = {}
        for name, at, reads in (
            ("one machine", alone, alone),
            (f"{servers.label}, same node", writes, writes),
            (f"{servers.label}, other node", writes, follows),
        ):
            [group] = await with_actors(at, 1, 2)
            pace, socket = Pace(group, 11), await at.connect(lambda _text: None, at.tokens["a0"])
            reads.tokens["a1"] = at.tokens["a1"]
            (await connected(reads, lambda _text: None, at.tokens["a1"])).close()
            await follow(reads, group, pace.received)
            parts[name] = lambda pace=pace, socket=socket: pace.run(socket, plan.seconds)
        found = await in_turn(plan.rounds, parts)
        for name, rounds in found.items():
            share = ratio(found, (name, "p50_ms"), ("one machine", "p50_ms"))
            say(
                f"receipt, {name}",
                f"p50 {middle(rounds, 'p50_ms'):.2f} ms, p99 {middle(rounds, 'p99_ms'):.2f} ms, "
                f"{share:.2f} of one machine",
            )


class Probe:
    """Writes one after the other through one door, each until it is written; when each was."""

    def __init__(self, door: RunningHub, group: str, token: str) -> None:
        self._door = door
        self._group = group
        self._token = token
        self._numbers = itertools.count()
        self.written: list[float] = []

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            data = {"text": "probe", "client_id": f"probe-{next(self._numbers)}"}
            call = {"group_id": self._group, "kind": "chat.message", "data": data}
            while not await self._is_done(call):
                await asyncio.sleep(0.01)
            self.written.append(now())

    async def _is_done(self, call: dict[str, Any]) -> bool:
        try:
            await self._door.call("append", call, self._token)
        except (RuntimeError, OSError, TimeoutError):
            return False  # under the same key it is done again without harm
        return True

    async def gap_around(self, deed: Callable[[], None]) -> float:
        """The longest time without a write once the deed is done, in seconds."""
        running = asyncio.create_task(self.run())
        try:
            await self._more(20)
            deed()
            begun = len(self.written)
            await self._more(1)
            # What was under way may still be answered: the gap is over when a hundred more are written.
            await self._more(100)
        finally:
            running.cancel()
            await asyncio.wait([running])
        times = self.written[begun - 1 :]
        return max(after - before for before, after in itertools.pairwise(times))

    async def _more(self, count: int) -> None:
        wanted, end = len(self.written) + count, now() + PATIENCE
        while len(self.written) < wanted:
            if now() > end:
                raise SystemExit("nothing is written any more")
            await asyncio.sleep(0.01)


async def failover(servers: Servers, plan: Plan, folder: Path) -> None:
    """How long nothing is written at another door when the node that writes is killed, and when it is stopped."""
    for name, number in (("killed", signal.SIGKILL), ("stopped", signal.SIGTERM)):
        gaps: list[float] = []
        for _ in range(min(plan.rounds, 3)):
            async with nodes(folder, servers.plan(), 2) as (writes, follows):
                [group] = await with_actors(writes, 1, 1)
                (await connected(follows, lambda _text: None, writes.tokens["a0"])).close()
                probe = Probe(follows, group, writes.tokens["a0"])
                gaps.append(await probe.gap_around(lambda pid=writes.pid, how=number: os.kill(pid, how)))
        shown = ", ".join(f"{gap * 1000:,.0f}" for gap in gaps)
        say(
            f"failover, {servers.label}, writer {name}",
            f"no writes for {shown} ms (median {statistics.median(gaps) * 1000:,.0f}; a lease lasts {LEASE:.0f} s)",
        )


async def leader(_servers: Servers, plan: Plan, folder: Path) -> None:
    """How long nothing is written when the server that leads the ledger's stream is killed; and leads nobody."""
    machines = Servers(folder / "nats", 3)
    found = machines.plan()
    gaps: list[float] = []
    try:
        async with nodes(folder, found, 1) as (node,):
            [group] = await with_actors(node, 1, 1)
            probe = Probe(node, group, node.tokens["a0"])
            with contextlib.closing(
                await asyncio.to_thread(opened, machines.urls, found.stream, 3, HASTY)
            ) as stream:
                for _ in range(min(plan.rounds, LEADERS)):
                    leads = await asyncio.to_thread(machines.leader, stream)
                    elected = Elected(machines, stream, leads)
                    gaps.append(await probe.gap_around(elected.begin))
                    say(
                        "leader",
                        f"{leads.name} was killed: another leads after {await elected.after() * 1000:,.0f} ms, "
                        f"no writes for {gaps[-1] * 1000:,.0f}",
                    )
                    await asyncio.to_thread(leads.restart)
                    await asyncio.to_thread(machines.in_step, stream)
    finally:
        machines.end()
    say("leader, R3", f"no writes for {statistics.median(gaps) * 1000:,.0f} ms, median of {len(gaps)}")


class Elected:
    """Kills the server that leads a stream, and finds out when another one does."""

    def __init__(self, machines: Servers, stream: JetStream, leads: Server) -> None:
        self._machines = machines
        self._stream = stream
        self._leads = leads
        self._task: asyncio.Task[float] | None = None

    def begin(self) -> None:
        """Kill it."""
        self._leads.kill()
        self._task = asyncio.create_task(asyncio.to_thread(self._until_another, now()))

    def _until_another(self, begun: float) -> float:
        self._machines.leader(self._stream, self._leads.name)
        return now() - begun

    async def after(self) -> float:
        """Seconds from its death to the next leader."""
        assert self._task is not None
        return await self._task


def fill(store: Store, events: int, batch: int = 128) -> None:
    """One group with many events."""

    def submission(kind: str, data: dict[str, str]) -> Submission:
        return Submission("g_one", "user", kind, data, msgspec.json.encode(data))

    store.append(submission("group.create", {"title": "One"}), creates=True)
    for first in range(0, events, batch):
        many = range(first, min(first + batch, events))
        outcomes = store.writer.commit(
            [Append(submission("chat.message", {"text": f"{number} {TEXT}", "client_id": f"c{number}"})) for number in many]
        )  # fmt: skip
        if not all(isinstance(outcome, Committed) for outcome in outcomes):
            raise SystemExit("a batch was not taken")


async def join(servers: Servers, plan: Plan, folder: Path) -> None:
    """A node with an empty folder: from the stream alone, and from a snapshot."""
    await asyncio.to_thread(_join, servers, plan, folder)


def _join(servers: Servers, plan: Plan, folder: Path) -> None:
    events = KEPT // 10 if plan.quick else KEPT
    stream = opened(servers.urls, new_name(), servers.replicas)
    snapshots = LedgerSnapshots(stream, SystemEntropy())
    store = open_cache(folder / "first", StoreOptions(), stream, AttentionEngine)
    store.start()
    fill(store, events)
    begun = now()
    if not snapshots.keep(store.path):
        raise SystemExit("no snapshot was kept")
    kept, made = now() - begun, snapshots.newest()
    assert made is not None
    took: dict[str, list[float]] = {"nothing": [], "a snapshot": []}
    for number in range(min(plan.rounds, 3)):
        for name, used in (("nothing", None), ("a snapshot", snapshots)):
            begun = now()
            joined = open_cache(
                folder / f"{name}-{number}",
                StoreOptions(purpose="bench"),
                stream,
                AttentionEngine,
                snapshots=used,
            )
            took[name].append(now() - begun)
            joined.close()
    store.close()
    stream.close()
    share = statistics.median(b / a for a, b in zip(*took.values(), strict=True))
    for name, found in took.items():
        say(f"join, {servers.label}, {events:,} events, from {name}", f"{statistics.median(found):.2f} s")
    say("join", f"from a snapshot {share:.2f} of from nothing; a snapshot is made in {kept:.2f} s, "
        f"{made.size / 1e6:.0f} MB, {made.pieces} pieces")  # fmt: skip


async def groups(servers: Servers, plan: Plan, folder: Path) -> None:
    """The same load on eight groups of a ledger with few of them, and with many."""
    many = MANY // 10 if plan.quick else MANY
    async with contextlib.AsyncExitStack() as stack:
        parts: dict[str, Callable[[], Awaitable[dict[str, float]]]] = {}
        for count in (FEW, many):
            [node] = await stack.enter_async_context(nodes(folder, servers.plan(), 1))
            await create_many(node, count - CLIENTS)
            load = await load_on([node], await with_actors(node, CLIENTS, CLIENTS), CLIENTS)
            await press(load, min(1.0, plan.seconds), IN_FLIGHT)

            async def pressed(node: RunningHub = node, load: list[Appender] = load) -> dict[str, float]:
                before = node.cpu()
                found = await press(load, plan.seconds, IN_FLIGHT)
                found["cpu_us"] = (node.cpu() - before) / sum(len(one.took) for one in load) * 1e6
                return found

            parts[f"{count:,} groups"] = pressed
        found = await in_turn(plan.rounds, parts)
        few, large = found
        compared(f"ledger of many groups, {servers.label}", found, few)
        cost = ratio(found, (large, "cpu_us"), (few, "cpu_us"))
        slower = ratio(found, (few, "per_second"), (large, "per_second"))
        say(
            f"{large} of {few}", f"{slower:.2f} times the time, {cost:.2f} times the processor time an append"
        )


async def own(servers: Servers, plan: Plan, folder: Path) -> None:
    """Nodes with clients and groups of their own, beside one node: processor time an append.

    Once the clients of the one are spread over three, so that each writes smaller batches; once each of the
    three has as many as the one.
    """
    async with (
        nodes(folder, servers.plan(), 1) as single,
        nodes(folder, servers.plan(), 3) as several,
    ):
        parts: dict[str, Callable[[], Awaitable[dict[str, float]]]] = {}
        for name, running, share in (
            ("1 node", single, CLIENTS_OF_THREE),
            ("3 nodes with its clients", several, CLIENTS_OF_THREE // 3),
            ("3 nodes with as many each", several, CLIENTS_OF_THREE),
        ):
            load = list[Appender]()
            for node in running:
                load += await load_on([node], await with_actors(node, share, share), share)
            await press(load, min(1.0, plan.seconds), IN_FLIGHT)

            async def pressed(
                running: list[RunningHub] = running, load: list[Appender] = load
            ) -> dict[str, float]:
                before = sum(node.cpu() for node in running)
                found = await press(load, plan.seconds, IN_FLIGHT)
                used = sum(node.cpu() for node in running) - before
                found["cpu_us"] = used / sum(len(one.took) for one in load) * 1e6
                return found

            parts[name] = pressed
        found = await in_turn(plan.rounds, parts)
        one_node = next(iter(found))
        compared(f"own groups, {servers.label}", found, one_node)
        for name, rounds in found.items():
            cost = ratio(found, (name, "cpu_us"), (one_node, "cpu_us"))
            say(
                f"own groups, {name}",
                f"{middle(rounds, 'cpu_us'):.0f} us of processor time an append, {cost:.2f} of {one_node}",
            )


async def create_many(running: RunningHub, count: int) -> None:
    """Groups that nobody writes to, over one connection."""
    answers: asyncio.Queue[bytes] = asyncio.Queue()
    socket = await running.connect(answers.put_nowait)
    for first in range(0, count, 64):
        asked = range(first, min(first + 64, count))
        for number in asked:
            call = {
                "jsonrpc": "2.0",
                "id": number,
                "method": "create_group",
                "params": {"title": f"g{number}"},
            }
            socket.send(msgspec.json.encode(call))
        for _ in asked:
            async with asyncio.timeout(PATIENCE):
                answer = await answers.get()
            if b'"error"' in answer:
                raise SystemExit("a group was not made")
    socket.close()


PARTS: Final[dict[str, Callable[[Servers, Plan, Path], Awaitable[None]]]] = {
    "one": one_group,
    "eight": eight_groups,
    "doors": doors,
    "receipt": receipt,
    "failover": failover,
    "leader": leader,
    "join": join,
    "groups": groups,
    "own": own,
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.nodes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--replicas", type=int, choices=(1, 3), default=1)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the events and groups; to try it")
    given = parser.parse_args()
    asked = [name for name in PARTS if name in given.only.split(",")]
    if not asked:
        parser.error(f"--only knows {', '.join(PARTS)}")
    plan = Plan(seconds=given.seconds, rounds=given.rounds, quick=given.quick)
    raise_open_files()
    machine = ", ".join(f"{name} {value}" for name, value in describe().items())
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}: {machine}", flush=True)
    with scratch() as folder:
        servers = Servers(folder / "nats", given.replicas)
        try:
            for name in asked:
                uvloop.run(PARTS[name](servers, plan, folder / name))
        finally:
            servers.end()


if __name__ == "__main__":
    main()
