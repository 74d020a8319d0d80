"""Real hubs on one stream as processes, callers that go from door to door, and the history of what they were told."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import signal
import time
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import aiohttp

from tacit.attention.io.engine import AttentionEngine
from tacit.base.io.jetstream.lease import SUFFIX
from tacit.base.io.system import SystemClock, SystemEntropy
from tacit.ledger.admission import Settings
from tacit.ledger.io import upkeep
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.store import Options
from tests.cli.typed import Started
from tests.ledger.io.jetstream.proxy import Proxy
from tests.ledger.io.jetstream.servers import new_name, opened
from tests.nodes.history import Claimed, Ending, History, Kept, Logged, Read, Sent

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from tacit.ledger.io.jetstream.stream import JetStream
    from tests.ledger.io.jetstream.proxy import Deed
    from tests.ledger.io.jetstream.servers import Server

WAIT = 60.0
ANSWER = 4.0
"""Seconds after which a caller goes to another door; what became of its request it does not know then."""
LEASE = 2.0


def _forget_nodes(stream: JetStream) -> None:
    leases, connection = stream.name + SUFFIX, stream.connection
    there = connection.wait(connection.ask(leases, "INFO", {"subjects_filter": f"{leases}.>"})).state
    for subject in there.subjects if there is not None else ():
        found = connection.wait(connection.ask(leases, "MSG.GET", {"last_by_subj": subject})).message
        if found is not None:
            connection.wait(connection.overwrite(leases, found.seq))


def shorten_lease(seconds: float) -> None:
    """In the hub's own process: no option says how long a lease lasts."""
    from tacit.cli import up

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
        log = self.folder.parent / f"{self.name}.log"
        self._process = Started(words, env, log, prepare=partial(shorten_lease, self._lease))
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        assert told, log.read_text()
        self.url = json.loads(told)["url"]

    @property
    def is_up(self) -> bool:
        return self._process is not None

    def kill(self) -> None:
        """SIGKILL: the process is gone, what the machine's disks were told to keep is kept."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: int) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(how)
            process.wait(WAIT)
            assert process.stdout is not None
            process.stdout.close()

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

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
    ) -> None:
        """`through_proxies`: each hub has a network of its own to the first server, which eats what it is told to."""
        self.folder, self.chance, self.stream = folder, chance, new_name()
        self.servers = [server.url for server in servers]
        self._machines = servers
        self.replicas = len(servers)
        self.proxies = [Proxy(servers[0].port, self.stream) for _ in range(hubs if through_proxies else 0)]
        self.hubs = [
            HubProcess(
                folder / f"hub{number}",
                [self.proxies[number].url] if through_proxies else self.servers,
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
        await self.follows(self.others(hub)[0])
        spoil(hub.folder)
        await asyncio.to_thread(hub.start)

    async def stop_writer(self) -> None:
        """As an operator does."""
        stops = await self.writer()
        await asyncio.to_thread(stops.stop)
        await self.follows(self.others(stops)[0])
        await asyncio.to_thread(stops.start)

    async def pause_writer(self) -> None:
        """It stands still until another one writes, and then goes on as if nothing had been."""
        stands = await self.writer()
        stands.pause()
        await self.follows(self.others(stands)[0])
        stands.resume()
        await self.follows(stands)

    async def cut_writer(self) -> None:
        """It cannot reach the servers until another one writes."""
        alone = await self.writer()
        proxy = self.proxies[self.hubs.index(alone)]
        proxy.cut()
        await self.follows(self.others(alone)[0])
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
        """The servers forget who lives: for a while two nodes believe that they write to a group."""
        with closing(await asyncio.to_thread(opened, self.servers, self.stream, self.replicas)) as stream:
            await asyncio.to_thread(_forget_nodes, stream)
        for hub in self.hubs:
            await self.follows(hub)

    async def follows(self, hub: HubProcess) -> None:
        """Wait until a node answers, and has a word that was written now."""
        group = self.groups[0]
        async with asyncio.timeout(WAIT):
            while not isinstance(await self.send(hub, group, key := f"seen {len(self.sent)}", key), Kept):
                await asyncio.sleep(0.02)

    # -- who writes

    async def writes_to(self, hub: HubProcess) -> int:
        """To how many groups it writes."""
        answer = await self.call(hub, "GET", "/v1/status") if hub.is_up else None
        return int(answer[1]["nodes"][0]["groups"]) if answer is not None and answer[0] == 200 else 0

    async def writer(self) -> HubProcess:
        """Wait until one of them writes; the one that writes to most groups."""
        async with asyncio.timeout(WAIT):
            while not any(counts := [await self.writes_to(hub) for hub in self.hubs]):
                await asyncio.sleep(0.02)
        return self.hubs[counts.index(max(counts))]

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
        options = Options(clock=SystemClock(), entropy=SystemEntropy())
        with closing(opened(self.servers, self.stream, self.replicas)) as stream:
            open_cache(folder, options, stream, AttentionEngine, lambda: False).close()
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
        upkeep.rebuild(again, SystemClock(), SystemEntropy(), Settings(), AttentionEngine)
        return Ending(folder.name, logs, chains, prints, upkeep.fingerprint(again), owners, duties)
