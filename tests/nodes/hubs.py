"""Real hubs on one stream as processes, callers that go from door to door, and the history of what they were told."""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import json
import os
import resource
import shutil
import signal
import time
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import aiohttp
import msgspec

from tacit.attention.io.engine import AttentionEngine
from tacit.base.io.jetstream.lease import SUFFIX as LEASES
from tacit.base.io.jetstream.lease import Holder
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.io import upkeep
from tacit.ledger.io.jetstream.cache import NODE, open_cache
from tacit.ledger.io.jetstream.group_leases import NODES
from tacit.ledger.io.jetstream.group_leases import SUFFIX as ASSIGNED
from tacit.ledger.io.store import StoreOptions
from tacit.ledger.shipment import token
from tests.ledger.io.jetstream.proxy import Proxy
from tests.ledger.io.jetstream.servers import new_name, opened
from tests.nodes.history import Claimed, Ending, History, Kept, Logged, Read, Sent
from tests.nodes.skewed import sitecustomize
from tests.nodes.skewed.sitecustomize import SKEW
from tests.typed import Started

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Sequence

    from tacit.base.io.jetstream.connection import StoredMessage
    from tacit.ledger.io.jetstream.stream import JetStream
    from tests.ledger.io.jetstream.proxy import Deed
    from tests.ledger.io.jetstream.servers import Server

WAIT = 60.0
ANSWER = 4.0
"""Seconds after which a caller goes to another door; what became of its request it does not know then."""
LEASE = 2.0


def _last(stream: JetStream, name: str, subject: str) -> StoredMessage | None:
    """The last message of a subject, as the servers have it."""
    asked = {"last_by_subj": f"{name}.{subject}"}
    return stream.connection.wait(stream.connection.ask(name, "MSG.GET", asked)).message


def _sign_of_life(stream: JetStream, node: str) -> StoredMessage | None:
    return _last(stream, stream.name + LEASES, NODES + node)


def _writer_of(stream: JetStream, group: str) -> str:
    """The id of the node that writes to a group, in a term that goes on; empty when nobody does."""
    assigned = _last(stream, stream.name + ASSIGNED, token(group))
    holder = msgspec.json.decode(assigned.payload, type=Holder) if assigned is not None else Holder("")
    life = _sign_of_life(stream, holder.node) if holder.node else None
    lives = life is not None and msgspec.json.decode(life.payload, type=Holder).term == holder.term
    return holder.node if lives else ""


def _forget(stream: JetStream, group: str) -> None:
    """Have the servers forget that the node lives that writes to a group."""
    found = _sign_of_life(stream, _writer_of(stream, group))
    if found is not None:
        stream.connection.wait(stream.connection.overwrite(stream.name + LEASES, found.seq))


def prepare(seconds: float, skew: Path) -> None:
    """In the hub's own process: no option says how long a lease lasts, nor what time it is.

    `skew`: the file that says by how many seconds the machine's clock is ahead, at any time.
    """
    from tacit.cli.operation import up

    os.setsid()  # so that a hub and its writer can be killed or stopped as one machine would be
    sitecustomize.skew_by(skew)
    asked = up.plan_of
    up.plan_of = lambda *given: replace(asked(*given), lease_seconds=seconds)


class HubProcess:
    """`tacit up --nats`, to be killed, stopped for a while, and started again."""

    def __init__(
        self, folder: Path, servers: Sequence[str], stream: str, replicas: int, lease: float
    ) -> None:
        self.folder = folder
        self.name = folder.name
        self.url = ""
        self._servers, self._stream, self._replicas, self._lease = servers, stream, replicas, lease
        self._skew = folder.parent / f"{folder.name}.skew"
        self._process: Started | None = None

    def start(self) -> None:
        """Returns when its doors are open."""
        self.folder.mkdir(parents=True, exist_ok=True)
        urls = [word for url in self._servers for word in ("--nats", url)]
        stream = ("--nats-stream", self._stream, "--nats-replicas", str(self._replicas))
        words = ("--json", "up", "--no-crew", "--port", "0", "--data", str(self.folder), *urls, *stream)
        home = self.folder.parent / f"{self.name}.home"
        home.mkdir(exist_ok=True)
        env = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
        # Its writer is a process that is begun anew: there the clock is skewed by what it finds in its path.
        env |= {
            SKEW: str(self._skew),
            "PYTHONPATH": f"{Path(sitecustomize.__file__).parent}:{env.get('PYTHONPATH', '')}",
        }
        log = self.folder.parent / f"{self.name}.log"
        self._process = Started(words, env, log, prepare=partial(prepare, self._lease, self._skew))
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        assert told, log.read_text()
        self.url = json.loads(told)["url"]

    def set_clock(self, ahead: float) -> None:
        """Its machine's clock is so many seconds ahead from now on."""
        (new := self._skew.with_suffix(".new")).write_text(f"{ahead}")
        new.replace(self._skew)

    @property
    def is_up(self) -> bool:
        return self._process is not None

    def kill(self) -> None:
        """SIGKILL of the hub and its writer: what the machine's disks were told to keep is kept."""
        self._end(lambda process: os.killpg(process.pid, signal.SIGKILL))

    def kill_alone(self) -> None:
        """SIGKILL of the hub: its writer sees that and ends by itself."""
        self._end(lambda process: process.send_signal(signal.SIGKILL))

    def stop(self) -> None:
        self._end(lambda process: process.send_signal(signal.SIGTERM))

    def _end(self, end: Callable[[Started], None]) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGCONT)
                end(process)
            process.wait(WAIT)
            assert process.stdout is not None
            process.stdout.close()
            self._wait_until_free()

    def _wait_until_free(self) -> None:
        """Nothing that was started with the hub has the folder any more."""
        until = time.monotonic() + WAIT
        with (self.folder / "lock").open("rb") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    assert time.monotonic() < until, "the hub's writer does not end"
                    time.sleep(0.01)
                else:
                    return

    def pause(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGSTOP)

    def pause_alone(self) -> None:
        """The hub stands still, its writer does not."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def limit_files(self, size: int) -> None:
        """No file of its machine takes anything behind so many bytes; -1: as before."""
        for pid in self._pids():
            _soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard if size < 0 else size, hard))

    def _pids(self) -> list[int]:
        """The hub, and its writer beside it."""
        assert self._process is not None
        hub = self._process.pid
        told = [one.read_text(encoding="ascii") for one in Path(f"/proc/{hub}/task").glob("*/children")]
        return [hub, *(int(pid) for pids in told for pid in pids.split())]

    def resume(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGCONT)

    @property
    def token(self) -> str:
        return (self.folder / "owner.token").read_text(encoding="ascii").strip()


class House:
    """Some hubs on one stream, the network between, their callers, and what those were told."""

    def __init__(
        self,
        folder: Path,
        servers: Sequence[Server],
        chance: random.Random,
        hubs: int = 2,
        *,
        lease: float = LEASE,
        through_proxies: bool = False,
        one_each: bool = False,
    ) -> None:
        """`through_proxies`: each hub has a network of its own to the first server, which eats what it is told to.

        `one_each`: each hub is told of one server, another one each; of the rest it learns there.
        """
        self.folder, self.chance, self.stream = folder, chance, new_name()
        self.servers = [server.url for server in servers]
        self._machines = servers
        self.replicas = len(servers)
        self.proxies = [Proxy(servers[0].port, self.stream) for _ in range(hubs if through_proxies else 0)]
        self.hubs = [
            HubProcess(
                folder / f"hub{number}",
                [self.proxies[number].url]
                if through_proxies
                else [self.servers[number]]
                if one_each
                else self.servers,
                self.stream,
                self.replicas,
                lease,
            )
            for number in range(hubs)
        ]
        self.groups: list[str] = []
        self.busy: list[str] = []
        """Where callers write; everywhere unless it says so."""
        self.sent: list[Sent] = []
        self.reads: list[Read] = []
        self.claims: list[Claimed] = []
        self.refusals: list[tuple[int, dict[str, Any]]] = []
        """What callers heard of sends of which nothing was written."""
        self.asked: list[str] = []
        """Events that somebody has to answer."""
        self.token = ""
        self.is_over = False
        self._seen: dict[tuple[str, str], int] = {}

    async def __aenter__(self) -> Self:
        self.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER))
        try:
            for hub in self.hubs:
                await asyncio.to_thread(hub.start)
            self.token = self.hubs[0].token
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()
        for hub in self.hubs:
            await asyncio.to_thread(hub.kill)
        for proxy in self.proxies:
            await asyncio.to_thread(proxy.close)

    # -- calling

    async def call(self, hub: HubProcess, method: str, path: str, body: Any = None, token: str = "") -> Any:
        """Status and body of an answer; None when there was none."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            async with self.session.request(method, hub.url + path, json=body, headers=headers) as answer:
                return answer.status, await answer.json()
        return None

    async def insist(self, method: str, path: str, body: Any = None, hub: HubProcess | None = None) -> Any:
        """Ask, at this door or at any, until it is done."""
        async with asyncio.timeout(WAIT):
            while True:
                at = hub or self.chance.choice(self.hubs)
                answer = await self.call(at, method, path, body) if at.is_up else None
                if answer is not None and answer[0] in {200, 201}:
                    return answer[1]
                await asyncio.sleep(0.02)

    async def open_groups(self, count: int) -> None:
        for number in range(count):
            made = await self.insist("POST", "/v1/groups", {"title": f"Room {number}"}, self.hubs[0])
            self.groups.append(made["group_id"])
        for hub in self.hubs:
            for group in self.groups:
                await self.insist("GET", f"/v1/groups/{group}", hub=hub)

    async def send(self, hub: HubProcess, group: str, body: str, key: str = "") -> Any:
        """One attempt; what the caller heard of it."""
        data = {"text": body, **({"client_id": key} if key else {})}
        invoked = time.monotonic()
        answer = await self.call(
            hub, "POST", f"/v1/groups/{group}/events", {"kind": "chat.message", "data": data}
        )
        told: Any = "unknown"
        if answer is not None and answer[0] in {200, 201}:
            told = Kept(answer[1]["seq"], answer[1]["id"])
        elif answer is not None and answer[1].get("details", {}).get("reason") != "outcome_unknown":
            told = "refused"
            self.refusals.append(answer)
        self.sent.append(Sent(hub.name, group, body, invoked, time.monotonic(), told, key))
        return told

    async def read(self, hub: HubProcess, group: str) -> None:
        """Read behind what was read at this door before, or some of that again."""
        first = 1 + max(0, self._seen.get((hub.name, group), 0) - self.chance.randrange(20))
        invoked = time.monotonic()
        path = f"/v1/groups/{group}/events?since_seq={first - 1}&limit=1000"
        answer = await self.call(hub, "GET", path)
        if answer is not None and answer[0] == 200 and len(answer[1]["events"]) < 1000:
            ids = tuple(event["id"] for event in answer[1]["events"])
            self.reads.append(Read(hub.name, group, invoked, time.monotonic(), first, ids))
            self._seen[hub.name, group] = max(self._seen.get((hub.name, group), 0), first + len(ids) - 1)

    async def caller(self, name: str, least: int) -> None:
        """Somebody who writes and reads, at one door until it does not answer."""
        hub, number = self.chance.choice(self.hubs), 0
        while not (self.is_over and number >= least):
            number += 1
            group, body = self.chance.choice(self.busy or self.groups), f"{name} {number}"
            key = body if self.chance.random() < 0.7 else ""
            async with asyncio.timeout(WAIT):
                while not (tried := await self._tried(hub, group, body, key)) or (
                    key and not any(isinstance(told, Kept) for told in tried)
                ):
                    hub = self.chance.choice(self.hubs)
                    await asyncio.sleep(0.02)
            if self.chance.random() < 0.3:
                await self.read(hub, group)

    async def _tried(self, hub: HubProcess, group: str, body: str, key: str) -> list[Any]:
        """What was heard of one attempt, or of two at once; nothing where no door was open."""
        at = [hub]
        if key and self.chance.random() < 0.2:
            at.append(self.chance.choice(self.hubs))
        return await asyncio.gather(*(self.send(one, group, body, key) for one in at if one.is_up))

    async def follower(self, name: str) -> None:
        """Somebody who listens to the first group, at one door until it ends: what was heard has no gap."""
        group, heard = self.groups[0], list[str]()
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "text/event-stream"}
        try:
            while True:
                hub = self.chance.choice(self.hubs)
                path = f"{hub.url}/v1/groups/{group}/events?since_seq={len(heard)}"
                with suppress(aiohttp.ClientError, TimeoutError, OSError):
                    async with self.session.get(path, headers=headers) as answer:
                        async for line in answer.content:
                            if line.startswith(b"data: ") and b'"seq"' in line:
                                event = json.loads(line[6:])
                                assert event["seq"] == len(heard) + 1, f"{name} misses events at {hub.name}"
                                heard.append(event["id"])
                await asyncio.sleep(0.02)
        finally:
            now = time.monotonic()
            self.reads.append(Read(name, group, now, now, 1, tuple(heard)))

    async def actor(self, name: str) -> tuple[str, str]:
        """An agent of the first group, known at every door; its name and its token.

        Of one who was let in without an answer nobody has the token: the next try has another name.
        """
        async with asyncio.timeout(WAIT):
            path, tries = f"/v1/groups/{self.groups[0]}/actors", itertools.count()
            while True:
                called = f"{name}{next(tries)}"
                made = await self.call(self.hubs[0], "POST", path, {"actor_id": called})
                if made is not None and made[0] == 201:
                    break
                await asyncio.sleep(0.02)
            token = made[1]["token"]
            for hub in self.hubs:
                while (await self.call(hub, "GET", "/v1/groups", token=token) or (0,))[0] != 200:
                    await asyncio.sleep(0.02)
        return called, token

    async def claim(self, hub: HubProcess, session: str, token: str, path: str) -> None:
        """Try to take a file, until it is known who has it."""
        call = {"name": "chat.claim", "arguments": {"path": path}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        told: Any = "unknown"
        async with asyncio.timeout(WAIT):
            while told == "unknown":
                answer = await self.call(hub, "POST", "/c2a", request, token)
                if answer is not None and "result" in answer[1]:
                    told = "won"
                elif answer is not None and "claim_conflict" in json.dumps(answer[1]):
                    told = "lost"
                self.claims.append(Claimed(hub.name, f"path:{path}", session, told))
                await asyncio.sleep(0.02 if told == "unknown" else 0)

    async def ask(self, agent: str, count: int) -> None:
        """Questions that an agent has to answer, at any door."""
        for number in range(count):
            key = f"@{agent} what is {number}?"
            async with asyncio.timeout(WAIT):
                while not isinstance(
                    told := await self.send(self.chance.choice(self.hubs), self.groups[0], key, key), Kept
                ):
                    await asyncio.sleep(0.02)
            self.asked.append(told.event_id)

    # -- what is done to hubs

    async def kill_writer(self, spoil: Callable[[Path], None] = lambda _folder: None) -> None:
        await self.kill(await self.writer(), spoil)

    async def kill(self, hub: HubProcess, spoil: Callable[[Path], None] = lambda _folder: None) -> None:
        """The next one writes; then the killed one comes back. Its folder may be spoilt meanwhile."""
        await asyncio.to_thread(hub.kill)
        await self.writer(*self.others(hub))
        spoil(hub.folder)
        await asyncio.to_thread(hub.start)

    async def stop_writer(self) -> None:
        """As an operator does."""
        stops = await self.writer()
        await asyncio.to_thread(stops.stop)
        await self.writer(*self.others(stops))
        await asyncio.to_thread(stops.start)

    async def kill_hub_alone(self) -> None:
        """The hub that writes is killed, and its writer is not: that one ends by itself."""
        hub = await self.writer()
        await asyncio.to_thread(hub.kill_alone)
        await self.writer(*self.others(hub))
        await asyncio.to_thread(hub.start)

    async def pause_hub_alone(self) -> None:
        """The hub stands still and its writer does not, until another one writes."""
        await self._pause(HubProcess.pause_alone)

    async def pause_writer(self) -> None:
        """It stands still until another one writes, and then goes on as if nothing had been."""
        await self._pause(HubProcess.pause)

    async def _pause(self, pause: Callable[[HubProcess], None]) -> None:
        stands = await self.writer()
        pause(stands)
        await self.writer(*self.others(stands))
        stands.resume()
        await self.follows(stands)

    async def cut_writer(self) -> None:
        """It cannot reach the servers until another one writes."""
        alone = await self.writer()
        proxy = self.proxies[self.hubs.index(alone)]
        proxy.cut()
        await self.writer(*self.others(alone))
        proxy.mend()
        await self.follows(alone)

    async def lose_some(self, deeds: Sequence[Deed], count: int) -> None:
        """Publishes and answers are lost or come late; what was held back lands when another had time to write."""
        for proxy in self.proxies:
            proxy.plan.extend(self.chance.choice(deeds) for _ in range(count))
        for number in range(2 * count):
            if not any(proxy.plan for proxy in self.proxies):
                break
            await self.follows(self.hubs[number % len(self.hubs)])
        for proxy in self.proxies:
            proxy.plan.clear()
            await asyncio.to_thread(proxy.release)

    async def kill_leader(self) -> None:
        """The server that leads the stream dies, and comes back when another one leads."""
        leader = await asyncio.to_thread(self._leader)
        await asyncio.to_thread(leader.kill)
        for hub in self.hubs:
            await self.follows(hub)
        await asyncio.to_thread(leader.restart)

    def _leader(self) -> Server:
        with closing(opened(self.servers, self.stream, self.replicas)) as stream:
            while True:
                told = stream.connection.wait(stream.connection.ask(stream.name, "INFO", {})).cluster
                for server in self._machines:
                    if told is not None and server.name == told.leader:
                        return server

    async def kill_all_servers(self) -> None:
        for server in self._machines:
            await asyncio.to_thread(server.kill)
        await asyncio.gather(*(asyncio.to_thread(server.restart) for server in self._machines))
        for hub in self.hubs:
            await self.follows(hub)

    async def take_lease_away(self) -> None:
        """The servers forget that it lives: for a while two nodes believe that they write."""
        with closing(await asyncio.to_thread(opened, self.servers, self.stream, self.replicas)) as stream:
            await asyncio.to_thread(_forget, stream, self.groups[0])
        await self.writer()

    async def follows(self, hub: HubProcess) -> None:
        """Wait until a node answers, and has a word that was written now."""
        group = self.groups[0]
        async with asyncio.timeout(WAIT):
            while not isinstance(await self.send(hub, group, key := f"seen {len(self.sent)}", key), Kept):
                await asyncio.sleep(0.02)

    # -- who writes

    async def writer(self, *among: HubProcess) -> HubProcess:
        """Wait until one of them writes to the first group; who has lost it is followed when somebody wants to write."""
        group, key = self.groups[0], f"wanted {len(self.sent)}"
        nodes = {(hub.folder / NODE).read_text(): hub for hub in among or self.hubs}
        with closing(await asyncio.to_thread(opened, self.servers, self.stream, self.replicas)) as stream:
            async with asyncio.timeout(WAIT):
                while (found := nodes.get(await asyncio.to_thread(_writer_of, stream, group))) is None:
                    await self.send(next(iter(nodes.values())), group, key, key)
                return found

    def others(self, hub: HubProcess) -> list[HubProcess]:
        return [one for one in self.hubs if one is not hub]

    # -- judging

    async def live(self, nemesis: Callable[[], Awaitable[None]], callers: int = 4, least: int = 10) -> None:
        """Callers and listeners at all doors while something is done to the hubs."""
        listening = [asyncio.create_task(self.follower(f"follower{number}")) for number in range(2)]
        async with asyncio.TaskGroup() as group:
            for number in range(callers):
                group.create_task(self.caller(f"caller{number}", least))
            await nemesis()
            self.is_over = True
        for one in listening:
            one.cancel()
        for one in await asyncio.gather(*listening, return_exceptions=True):
            if isinstance(one, Exception):
                raise one
        self.is_over = False

    async def history(self) -> History:
        """Bring everything to rest, and look at what each node has; and at what one has that had nothing."""
        for group in self.groups:
            key = f"last {len(self.sent)}"
            async with asyncio.timeout(WAIT):
                while not isinstance(await self.send(self.chance.choice(self.hubs), group, key, key), Kept):
                    pass
        for hub in self.hubs:
            for group in self.groups:
                await self.read(hub, group)
        for hub in self.hubs:
            await asyncio.to_thread(hub.stop)
        folders = [hub.folder for hub in self.hubs]
        endings = [await asyncio.to_thread(self._ending, one) for one in (*folders, self.folder / "fresh")]
        return History(self.sent, endings, self.reads, self.claims)

    def _ending(self, folder: Path) -> Ending:
        """A node that stopped before another one lacks what that wrote when it stopped: it reads it first."""
        options = StoreOptions(clock=TimeService(), entropy=SystemEntropy())
        with closing(opened(self.servers, self.stream, self.replicas)) as stream:
            open_cache(folder, options, stream, AttentionEngine, lambda _group_id: False).close()
        prints, chains = upkeep.fingerprint(folder), dict[str, str]()
        *lines, proof = [json.loads(line) for line in upkeep.export(folder, proof=True)]
        for name, end in proof["tacit_export"].items():
            chains[name] = f"{end['last_seq']} {end['chain']}"
        logs: dict[str, list[Logged]] = {name: [] for name in chains}
        owners: dict[str, list[str]] = {}
        duties: dict[str, list[str]] = {event_id: [] for event_id in self.asked}
        for event in (line for line in lines if "seq" in line):
            data, body = event["data"], None
            if event["kind"] == "chat.message" and event["by"] == "user":
                body = data["text"]
            elif event["kind"] == "chat.message":
                duties[data["reply_to"]].append(event["id"])
            elif event["kind"] == "x.c2a.claim" and data["action"] == "take":
                owners.setdefault(data["target"], []).append(data["session"])
            key = data.get("client_id") or "" if body is not None else ""
            logs[event["group_id"]].append(Logged(event["seq"], event["id"], body, key))
        shutil.copytree(folder, again := folder.with_name(f"{folder.name}.again"))
        upkeep.rebuild(again, TimeService(), SystemEntropy(), AdmissionSettings(), AttentionEngine)
        return Ending(folder.name, logs, chains, prints, upkeep.fingerprint(again), owners, duties)
