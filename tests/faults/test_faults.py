"""Kills, loss, duplicates, reordering, full disks: what was accepted arrives once and in order, or was never accepted."""

import asyncio
import contextlib
import random
import subprocess
import sys

import aiohttp
import apsw
import pytest
from aiohttp import web

from tacit.a2acp.post.io.post import Post
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.wire import frames
from tests.agent_support import Person
from tests.processes import RelayProcess
from tests.relay_support import Relay, free_port, relay_with, until


class Chaos:
    """A bad network between agents and relay: 30 % of frames lost, some doubled or swapped, connections cut."""

    def __init__(self, target: str, seed: int) -> None:
        self._target = target
        self._random = random.Random(seed)
        self.lost = self.doubled = self.swapped = self.cut = 0

    async def __aenter__(self):
        self._http = aiohttp.ClientSession()
        app = web.Application()
        app.router.add_get("/a2acp", self._socket)
        app.router.add_route("*", "/{path:.*}", self._plain)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_):
        await self._runner.cleanup()
        await self._http.close()

    async def _plain(self, request: web.Request) -> web.Response:
        try:
            async with self._http.request(
                request.method,
                self._target + request.path_qs,
                data=await request.read(),
                headers={"Content-Type": "application/json"},
            ) as answer:
                return web.Response(body=await answer.read(), status=answer.status)
        except aiohttp.ClientError:
            return web.Response(status=502)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        here = web.WebSocketResponse(max_msg_size=0, autoping=False)
        await here.prepare(request)
        try:
            there = await self._http.ws_connect(self._target + "/a2acp", max_msg_size=0, autoping=False)
        except aiohttp.ClientError:
            return here
        flows = [asyncio.create_task(self._flow(here, there)), asyncio.create_task(self._flow(there, here))]
        life = self._random.uniform(0.8, 3.0)
        await asyncio.wait(flows, timeout=life, return_when=asyncio.FIRST_COMPLETED)
        self.cut += 1
        for flow in flows:
            flow.cancel()
        await asyncio.gather(*flows, return_exceptions=True)
        for socket in (here, there):
            with contextlib.suppress(ConnectionError, RuntimeError):
                await asyncio.wait_for(socket.close(code=1001), 2)
        return here

    async def _flow(self, source, sink) -> None:
        held, number = None, 0
        while True:
            message = await source.receive()
            if message.type in {aiohttp.WSMsgType.PING, aiohttp.WSMsgType.PONG}:
                await (sink.ping if message.type is aiohttp.WSMsgType.PING else sink.pong)(message.data)
                continue
            if message.type is not aiohttp.WSMsgType.TEXT:
                return
            number += 1
            fate = self._random.random() if number > 1 else 1.0
            if fate < 0.30:
                self.lost += 1
            elif fate < 0.40:
                self.doubled += 1
                await sink.send_str(message.data)
                await sink.send_str(message.data)
            elif fate < 0.50 and held is None:
                self.swapped += 1
                held = message.data
                continue
            else:
                await sink.send_str(message.data)
            if held is not None:
                await sink.send_str(held)
                held = None


class Lives:
    """A process that is started again whenever it was killed."""

    def __init__(self, *arguments: object) -> None:
        self._arguments = [str(argument) for argument in arguments]
        self.kills = 0
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.agent_program", *self._arguments], stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)
        self.kills += 1

    def kill_and_start(self) -> None:
        self.kill()
        self.start()


def numbers(folder) -> list[int]:
    import json

    from tacit.a2acp.post.io.store import AgentStore

    store = AgentStore(folder)
    rows = store.rows("SELECT payload FROM history WHERE ready IS NOT NULL ORDER BY ready")
    store.close()
    return [int(json.loads(row[0])["context"]["text"]) for row in rows]


@pytest.mark.spec("A2ACP-215", "A2ACP-209", "A2ACP-219", "A2ACP-002")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("count", "most_kills", "seed"), [(40, 4, 7), pytest.param(120, 12, 8, marks=pytest.mark.soak)]
)
async def test_killed_at_random_over_a_bad_network_every_packet_arrives_once_and_in_order(
    tmp_path, count, most_kills, seed
):
    relay = RelayProcess(
        tmp_path / "relay",
        free_port(),
        "--packets-per-minute",
        1_000_000,
        "--burst",
        1_000_000,
        "--per-tag",
        1000,
    )
    relay.start()
    dice = random.Random(seed)
    lives = []
    try:
        async with Chaos(relay.url, seed) as chaos:
            for name in ("alice", "bob"):
                async with Post(tmp_path / name, clock=TimeService(), entropy=SystemEntropy()) as post:
                    code = await asyncio.to_thread(relay.invite, name)
                    me = await post.directory.register(f"agent:{name}@{relay.domain}", relay.url, code)
                    assert await post.publish()
                    post.store.run("UPDATE identity SET relay_url=?", chaos.url)
                    if name == "bob":
                        post.inbox.welcome(f"agent:alice@{relay.domain}")
                    assert me.address
                    post.store.close()
            alice = Lives(tmp_path / "alice", "send", f"agent:bob@{relay.domain}", count)
            bob = Lives(tmp_path / "bob", "take", f"agent:alice@{relay.domain}", count)
            lives = [alice, bob]
            kills = 0
            async with asyncio.timeout(500):
                while len(numbers(tmp_path / "bob")) < count:
                    await asyncio.sleep(dice.uniform(1.0, 3.0))
                    if kills >= most_kills:
                        continue
                    kills += 1
                    victim = dice.choice(["relay", "alice", "bob"])
                    if victim == "relay":
                        relay.kill()
                        await asyncio.to_thread(relay.start)
                    else:
                        (alice if victim == "alice" else bob).kill_and_start()
            assert min(chaos.lost, chaos.doubled, chaos.swapped, chaos.cut) > 0
            assert kills >= 3
    finally:
        for life in lives:
            life.kill()
        relay.stop()
    assert numbers(tmp_path / "bob") == list(range(count))


# The disk.


class FailingDisk(apsw.VFS):
    """A disk that is full whenever `broken` says so, or from the n-th write on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.full = False
        self.writes_left = -1
        super().__init__(name, base="unix")

    def xOpen(self, name, flags):
        return _FailingFile(self, name, flags)

    def check(self) -> None:
        if self.writes_left == 0:
            self.full = True
        elif self.writes_left > 0:
            self.writes_left -= 1
        if self.full:
            raise apsw.FullError


class _FailingFile(apsw.VFSFile):
    def __init__(self, disk: FailingDisk, name, flags) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data, offset):
        self._disk.check()
        super().xWrite(data, offset)


@pytest.mark.spec("A2ACP-006")
async def test_a_full_disk_means_an_error_and_nothing_accepted_that_is_not_stored(tmp_path):
    disk = FailingDisk("full-disk")
    async with relay_with(tmp_path, "alice", "bob", vfs="full-disk") as (relay, alice, bob):
        async with alice:
            first = await alice.sent(bob.address)
            disk.full = True
            lost = await alice.send(bob.address)
            error = await alice.hear_a(frames.ErrorFrame)
            assert (error.code, error.packet_id) == ("unavailable", lost)
            assert error.retry_after
            assert relay.mailboxes.quota.total()[0] == 1
            disk.full = False
            again = await alice.sent(bob.address)
        async with bob:
            assert await bob.take(2) == [first, again]
    disk.unregister()


@pytest.mark.spec("A2ACP-006", "A2ACP-002")
@pytest.mark.parametrize("writes", range(0, 24, 3))
async def test_whichever_write_fails_what_was_accepted_is_there_after_a_restart(tmp_path, writes):
    disk = FailingDisk(f"nth-write-{writes}")
    accepted = []
    async with relay_with(tmp_path, "alice", "bob", vfs=disk.name) as (relay, alice, bob):
        async with alice:
            disk.writes_left = writes
            for _ in range(12):
                sent = await alice.send(bob.address)
                answer = await alice.hear_a(frames.AcceptedFrame | frames.ErrorFrame)
                if isinstance(answer, frames.AcceptedFrame):
                    accepted.append(sent)
            assert disk.full
        disk.full, disk.writes_left = False, -1
    async with Relay(tmp_path, port=relay.port) as again:
        bob.relay = again
        async with bob:
            assert await bob.take(len(accepted)) == accepted
            assert bob.welcome.queued == len(accepted)
    disk.unregister()


@pytest.mark.spec("A2ACP-215")
async def test_an_agents_full_disk_loses_nothing_the_relay_keeps_what_was_not_written(tmp_path):
    from tests.agent_support import people_on

    disk = FailingDisk("agents-disk")
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.post.publish()
        bob.post.store.close()
        bob.post.store.__init__(bob.folder, vfs=disk.name)
        await alice.online()
        alice.say(bob, "kept")
        await alice.sent()
        disk.full = True
        connection = bob.post.connection()
        running = asyncio.create_task(connection.run())
        await until(lambda: connection.attempts)
        assert bob.texts() == []
        assert relay.mailboxes.quota.total()[0] == 1
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        disk.full = False
        await bob.online()
        await bob.has("kept")
    disk.unregister()


@pytest.mark.spec("A2ACP-207", "A2ACP-208")
async def test_a_half_open_connection_is_noticed_by_the_missing_pong(tmp_path, monkeypatch):
    from tacit.a2acp.post import timing
    from tests.agent_support import people_on

    monkeypatch.setattr(timing, "PONG_SECONDS", 0.3)
    monkeypatch.setattr(timing, "PING_SECONDS", 0.1)
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice") as (alice,):
        assert isinstance(alice, Person)
        swallow = asyncio.Event()

        async def carry(reader, writer):
            onward, back = await asyncio.open_connection("127.0.0.1", relay.port)

            async def pump(source, sink):
                try:
                    while data := await source.read(65_536):
                        if not swallow.is_set():
                            sink.write(data)
                finally:
                    sink.close()

            await asyncio.gather(pump(reader, back), pump(onward, writer), return_exceptions=True)

        server = await asyncio.start_server(carry, "127.0.0.1", 0)
        alice.post.store.run(
            "UPDATE identity SET relay_url=?", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        )
        await alice.online()
        swallow.set()
        await until(lambda: not alice.connection.connected.is_set())
        swallow.clear()
        await until(alice.connection.connected.is_set)
        await alice.offline()
        server.close()
