"""How fast and how lean the relay is: `python -m bench.relay [throughput|idle|seal|start] [--seconds 3]`.

Everything runs on loopback, bounded in time. Servers have one core, the load the other. Figures are printed as
JSON; the ratios are what counts.

`throughput` measures, turn about in one run: bare Ed25519 verification, the relay, and
`magic-wormhole-mailbox-server` with its database on disk. Both servers are driven by the same process in the same
way: eight connections, each with at most 128 messages of 1 KB unanswered; a message counts when the server has said
that it is stored. The relay verifies each packet's signature; the mailbox server has none to verify.

`start` is an agent with 5,000 contacts: when its first packet is there, and the longest step of its loop.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec

import aiohttp
import uvloop
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tacit.a2acp.commands import relay_parts
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.relay.accounts import code_text
from tacit.relay.io import registry
from tacit.relay.io.server import RelayServer, RelaySettings
from tacit.relay.settings import RelayLimits
from tacit.seal import identity, primitives, session, x3dh
from tacit.wire import buckets, envelope, frames, records, version
from tacit.wire.encoding import b64

WIDE = RelayLimits(
    packets_per_minute=10**9, burst=10**9, new_recipients_per_hour=10**6, per_tag=10**9, per_recipient=10**9,
    per_recipient_bytes=10**15, per_sender=10**9, connections_per_source=10**6, lookups_per_minute=10**6,
    challenge_valid=600 * 10**6, unsent_frames=10**6,
)  # fmt: skip
SERVE_CORE, LOAD_CORE = 0, 1


def pin(core: int) -> None:
    os.sched_setaffinity(0, {core % os.cpu_count()})


def many_files() -> None:
    """As many open sockets as this machine allows."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Peer:
    """Keys and frames of one bench agent."""

    def __init__(self, name: str, domain: str) -> None:
        self.address = f"agent:{name}@{domain}"
        self.me = identity.generate(SystemEntropy())

    def enrolment(self, code: str, domain: str) -> dict:
        raw = records.statement_bytes(
            records.Statement(
                self.address,
                b64(self.me.signing_public),
                b64(self.me.agreement_public),
                1,
                list(version.SUPPORTED),
                list(version.ENCRYPTIONS),
            )
        )
        proof = records.enrolment_signed_bytes(relay=domain, owner=self.address, code=code, statement=raw)
        record = {"statement": json.loads(raw), "sig": b64(self.me.sign(records.statement_signed_bytes(raw)))}
        return {"code": code, "record": record, "possession": b64(self.me.sign(proof))}

    def packet(self, to: str, number: int) -> tuple[bytes, bytes]:
        header = envelope.visible_header(
            protocol="a2acp/0.2", packet_id=f"pkt_{os.urandom(12).hex()}", queue_tag="q_" + f"{number % 16:022d}",
            sender=self.address, recipient=to, timestamp="2026-03-21T14:30:00Z",
        )  # fmt: skip
        raw = envelope.compose(header, b64(os.urandom(1024)))
        return raw, frames.packet_bytes(raw, b64(self.me.sign(envelope.signed_bytes(raw))))


async def serve(folder: str, port: int, names: list[str], idle_agents: int) -> None:
    """A relay with wide limits; writes its agents' codes to stdout, then runs until stdin closes."""
    domain = f"localhost:{port}"
    data = pathlib.Path(folder)
    settings = RelaySettings(data=data, domain=domain, port=port, scheme="http", limits=WIDE)
    server = RelayServer(settings, relay_parts.parts(data, public_url=f"http://{domain}"))
    await server.start()
    server.mailboxes.failures.locked = lambda *_: False
    await server.mailboxes.store.write(lambda file: add_idle(file, idle_agents, domain))
    codes = {}
    for name in names:
        code = codes[name] = code_text(os.urandom(16))
        await server.mailboxes.store.write(
            lambda file, code=code, name=name: registry.add_code(
                file, code=code, purpose="invite", username=name, expires=2**60
            )
        )
    print(json.dumps(codes), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(
        json.dumps({"commits": server.mailboxes.store.commits, "accepted": server.mailboxes.counts.accepted}),
        flush=True,
    )
    await server.stop()


class Served:
    """The relay in a process of its own, on a core of its own."""

    def __init__(self, port: int, names: list[str], *, idle: int = 0) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR"))
        self.domain = f"localhost:{port}"
        self.url = f"http://{self.domain}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.relay", "serve", "--folder", self.folder.name, "--port", str(port), "--names", ",".join(names),
             "--connections", str(idle)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.codes = json.loads(self.process.stdout.readline())
        self.peers = {name: Peer(name, self.domain) for name in names}

    async def register(self, http: aiohttp.ClientSession) -> None:
        for name, peer in self.peers.items():
            async with http.post(
                f"{self.url}/v1/agents", json=peer.enrolment(self.codes[name], self.domain)
            ) as answer:
                if answer.status == 429:
                    raise RuntimeError("rate limited: use fewer peers")
                assert answer.status == 201, await answer.text()

    def resident(self) -> int:
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
        return 0

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def close(self) -> dict:
        self.process.stdin.close()
        last = json.loads(self.process.stdout.readline() or "{}")
        self.process.wait(30)
        self.folder.cleanup()
        return last


async def login(http: aiohttp.ClientSession, url: str, peer: Peer, domain: str):
    ws = await http.ws_connect(f"{url}/a2acp", max_msg_size=0)
    challenge = frames.decode((await ws.receive()).data)
    signed = frames.auth_bytes(relay=domain, address=peer.address, challenge=challenge.challenge)
    await ws.send_str(
        frames.encode(frames.AuthFrame(peer.address, challenge.challenge, b64(peer.me.sign(signed)))).decode()
    )
    assert isinstance(frames.decode((await ws.receive()).data), frames.AuthOkFrame)
    return ws


def bare_verification(seconds: float = 1.0) -> dict[str, float]:
    """Verifications a second on the servers' core for the same bytes, by CPU time; with a key read beforehand."""
    pin(SERVE_CORE)
    peer = Peer("bare", "localhost")
    raw, _ = peer.packet("agent:other@localhost", 0)
    message, public = envelope.signed_bytes(raw), peer.me.signing_public
    signature = peer.me.sign(message)
    key = Ed25519PublicKey.from_public_bytes(public)
    found = {}
    for name, work in (
        ("openssl", lambda: key.verify(signature, message)),
        ("libsodium", lambda: primitives.verify(public, message, signature)),
    ):
        count, begun, busy = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - begun < seconds:
            for _ in range(100):
                work()
            count += 100
        found[name] = count / (time.process_time() - busy)
        found[f"{name}_wall"] = count / (time.perf_counter() - begun)
    pin(LOAD_CORE)
    return found


class Ours:
    """The relay under load: eight senders, each with a reader that sleeps or listens."""

    def __init__(self, http: aiohttp.ClientSession, port: int, *, connected: bool) -> None:
        self._senders = [f"sender{letter}" for letter in "abcdefgh"]
        self._readers = [f"reader{letter}" for letter in "abcdefgh"]
        self._http = http
        self._connected = connected
        self._served = Served(port, self._senders + self._readers)
        self._listening: list[asyncio.Task] = []

    async def open(self) -> None:
        served, http = self._served, self._http
        await served.register(http)
        self._sockets = [
            await login(http, served.url, served.peers[name], served.domain) for name in self._senders
        ]
        for name in self._readers if self._connected else ():
            ws = await login(http, served.url, served.peers[name], served.domain)
            self._listening.append(asyncio.create_task(acknowledge(ws)))

    async def turn(self, seconds: float) -> tuple[float, float]:
        """Packets accepted a second, and a second of CPU time."""
        peers = self._served.peers
        each = int(1_000 * seconds)
        ready = [
            [peers[name].packet(peers[reader].address, n)[1].decode() for n in range(each)]
            for name, reader in zip(self._senders, self._readers, strict=True)
        ]
        begun, busy = time.perf_counter(), self._served.cpu_seconds()
        counts = await asyncio.gather(
            *[pump(ws, packets, begun + seconds) for ws, packets in zip(self._sockets, ready, strict=True)]
        )
        spent, cpu = time.perf_counter() - begun, self._served.cpu_seconds() - busy
        return sum(counts) / spent, sum(counts) / cpu

    async def close(self) -> dict:
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        for ws in self._sockets:
            await ws.close()
        return self._served.close()


async def pump(ws: aiohttp.ClientWebSocketResponse, packets: list[str], end: float, window: int = 128) -> int:
    """Send with a window of unanswered packets; returns how many were accepted in time."""
    sent = accepted = 0
    while accepted < len(packets):
        while sent < len(packets) and sent - accepted < window and time.perf_counter() < end:
            await ws.send_str(packets[sent])
            sent += 1
        if accepted >= sent:
            break
        frame = frames.decode((await ws.receive()).data)
        if isinstance(frame, frames.AcceptedFrame):
            accepted += len(frame.packet_ids)
        elif isinstance(frame, frames.ErrorFrame):
            raise RuntimeError(frame.code)  # noqa: TRY004
    return accepted


async def acknowledge(ws: aiohttp.ClientWebSocketResponse) -> None:
    import re

    number = re.compile(r'"delivery":(\d+)}$')
    waiting: list[int] = []
    while True:
        message = await ws.receive()
        if message.type is not aiohttp.WSMsgType.TEXT:
            return
        found = number.search(message.data[-40:])
        if found:
            waiting.append(int(found[1]))
        if len(waiting) >= 32:
            await ws.send_str(frames.encode(frames.ReceivedFrame(waiting)).decode())
            waiting = []


def idle_peer(number: int, domain: str) -> Peer:
    """An agent whose keys both processes can compute."""
    peer = Peer(f"idle{number}x", domain)
    peer.me = identity.Identity(primitives.digest(b"s%d" % number), primitives.digest(b"a%d" % number))
    return peer


def add_idle(file, count: int, domain: str) -> None:
    for number in range(count):
        peer = idle_peer(number, domain)
        account = registry.create_account(
            file, username=f"idle{number}x", email_hash=None, now=TimeService().now()
        )
        registry.register_agent(
            file, account, signing_key=peer.me.signing_public, serial=1, record=b"{}", now=TimeService().now()
        )


async def idle(count: int) -> dict:
    """Memory of a connected, authenticated, silent agent; each has an address of its own."""
    served = Served(7542, ["somebody"], idle=count)
    many_files()
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
            # The first hundred warm up code and allocator; they are not counted.
            sockets = [
                await login(http, served.url, idle_peer(n, served.domain), served.domain) for n in range(100)
            ]
            before = served.resident()
            for n in range(100, count):
                sockets.append(await login(http, served.url, idle_peer(n, served.domain), served.domain))
            after = served.resident()
            for ws in sockets:
                await ws.close()
    finally:
        served.close()
    return {
        "connections": count,
        "kib_per_connection": round((after - before) / (count - 100) / 1024, 1),
        "resident_mib": round(after / 2**20),
    }


def seal_rates(seconds: float) -> dict:
    """Seal and open a 1 KB payload, beside the bare primitives."""
    pin(LOAD_CORE)
    entropy = SystemEntropy()
    alice, bob = identity.generate(entropy), identity.generate(entropy)
    signed, single = entropy.draw(32), entropy.draw(32)
    prekeys = x3dh.PublicPrekeys(
        1, primitives.agreement_public(signed), 2, primitives.agreement_public(single), x3dh.ONE_TIME
    )
    payload = os.urandom(1024)
    binding = session.Binding("agent:a@x", "agent:b@x", "pkt_1234", b"header")

    class Secrets:
        def signed(self, _):
            return signed

        def single(self, *_):
            return single

    one = session.begin(alice, bob.public, prekeys, entropy)
    one, first = session.seal(alice, bob.public, one, payload, binding, buckets.bucket_for, entropy)
    opened = session.open_body(bob, alice.public, (), Secrets(), first, binding, entropy)
    back, body = session.seal(
        bob, alice.public, opened.sessions[0], payload, binding, buckets.bucket_for, entropy
    )
    one = session.open_body(alice, bob.public, (one,), Secrets(), body, binding, entropy).sessions[0]
    theirs = (back,)
    bodies = []

    def seal():
        nonlocal one
        one, sealed = session.seal(alice, bob.public, one, payload, binding, buckets.bucket_for, entropy)
        bodies.append(sealed)

    def open_next():
        nonlocal theirs
        theirs = session.open_body(
            bob, alice.public, theirs, Secrets(), bodies.pop(0), binding, entropy
        ).sessions

    key, nonce = bytes(32), bytes(24)
    box = primitives.encrypt(key, nonce, payload, b"")
    signature, public = alice.sign(payload), alice.signing_public
    rates = {"seal": rate(seal, seconds)}
    rates["open"] = rate(open_next, min(seconds, len(bodies) / rates["seal"] * 0.5))
    stateless = [session.seal_stateless(alice, bob.public, payload, binding, buckets.bucket_for, entropy)]
    rates["seal_stateless"] = rate(
        lambda: session.seal_stateless(alice, bob.public, payload, binding, buckets.bucket_for, entropy),
        seconds,
    )
    rates["open_stateless"] = rate(
        lambda: session.open_body(bob, alice.public, (), Secrets(), stateless[0], binding, entropy), seconds
    )
    rates["bare_sign"] = rate(lambda: alice.sign(payload), seconds)
    rates["bare_verify"] = rate(lambda: primitives.verify(public, payload, signature), seconds)
    rates["bare_x25519"] = rate(lambda: primitives.agree(signed, alice.agreement_public), seconds)
    rates["bare_encrypt"] = rate(lambda: primitives.encrypt(key, nonce, payload, b""), seconds)
    rates["bare_decrypt"] = rate(lambda: primitives.decrypt(key, nonce, box, b""), seconds)
    return {name: round(value) for name, value in rates.items()}


def rate(work, seconds: float) -> float:
    count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for _ in range(20):
            work()
        count += 20
    return count / (time.perf_counter() - begun)


MAILBOX = """
import os, sys
os.sched_setaffinity(0, {0})
from twisted.internet import reactor, endpoints
from wormhole_mailbox_server.database import create_channel_db
from wormhole_mailbox_server.server import make_server
from wormhole_mailbox_server.web import make_web_server
server = make_server(create_channel_db(sys.argv[1]))
endpoints.serverFromString(reactor, "tcp:%s:interface=127.0.0.1" % sys.argv[2]).listen(make_web_server(server, log_requests=False))
reactor.callWhenRunning(lambda: print("ready", flush=True))
reactor.run()
"""


class Mailbox:
    """magic-wormhole-mailbox-server under the same load."""

    def __init__(self, http: aiohttp.ClientSession, port: int) -> None:
        self._http = http
        self._url = f"http://127.0.0.1:{port}/v1"
        self._folder = tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR"))
        self._process = subprocess.Popen(
            [sys.executable, "-c", MAILBOX, f"{self._folder.name}/mailbox.sqlite", str(port)],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._turns = 0

    async def open(self) -> None:
        assert self._process.stdout.readline().strip() == "ready"

    async def turn(self, seconds: float) -> tuple[float, float]:
        """Messages stored a second, and a second of CPU time."""
        self._turns += 1
        begun, busy = time.perf_counter(), cpu_seconds(self._process.pid)
        counts = await asyncio.gather(*[self._client(n, begun + seconds) for n in range(8)])
        spent, cpu = time.perf_counter() - begun, cpu_seconds(self._process.pid) - busy
        return sum(counts) / spent, sum(counts) / cpu

    async def _client(self, number: int, end: float, window: int = 128) -> int:
        side, body = f"side{number}", os.urandom(512).hex()
        ws = await self._http.ws_connect(self._url, max_msg_size=0)
        await ws.receive()
        await ws.send_str(json.dumps({"type": "bind", "appid": "bench", "side": side, "id": "b"}))
        mailbox = f"mailbox{number}of{self._turns}"
        await ws.send_str(json.dumps({"type": "open", "mailbox": mailbox, "id": "o"}))
        sent = stored = 0
        while True:
            while sent - stored < window and time.perf_counter() < end:
                await ws.send_str(
                    json.dumps({"type": "add", "phase": f"{sent}", "body": body, "id": f"{sent}"})
                )
                sent += 1
            if stored >= sent:
                await ws.close()
                return stored
            # The echo of our own message comes after the commit that stored it.
            frame = json.loads((await ws.receive()).data)
            if frame["type"] == "message":
                stored += 1

    async def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)
        self._folder.cleanup()


async def compare(seconds: float, rounds: int) -> dict:
    """Everything turn about, and the medians of the rounds' ratios."""
    if find_spec("wormhole_mailbox_server") is None:
        raise SystemExit("the comparison needs magic-wormhole-mailbox-server: make bench-relay")
    turns: list[dict[str, float]] = []
    async with aiohttp.ClientSession() as http:
        servers = {
            "sleeping": Ours(http, 7541, connected=False),
            "listening": Ours(http, 7544, connected=True),
            "mailbox": Mailbox(http, 7543),
        }
        try:
            for server in servers.values():
                await server.open()
            for _ in range(rounds):
                one = bare_verification()
                for name, server in servers.items():
                    one[f"{name}_wall"], one[name] = await server.turn(seconds)
                turns.append(one)
        finally:
            for server in servers.values():
                await server.close()

    def median(value) -> float:
        return round(statistics.median(value(one) for one in turns), 3)

    found: dict[str, object] = {
        "packets_per_second": {
            name: round(median(lambda one, name=name: one[f"{name}_wall"]))
            for name in ("sleeping", "listening", "mailbox", "openssl", "libsodium")
        },
        "microseconds_of_cpu_per_packet": {
            name: round(median(lambda one, name=name: 1e6 / one[name]))
            for name in ("sleeping", "listening", "mailbox", "openssl", "libsodium")
        },
        "each_round": [{name: round(value) for name, value in one.items()} for one in turns],
    }
    for name in ("sleeping", "listening"):
        found[f"{name}_share_of_bare_verification_by_cpu"] = median(
            lambda one, name=name: one[name] / one["openssl"]
        )
        found[f"{name}_times_the_mailbox_server"] = median(
            lambda one, name=name: one[f"{name}_wall"] / one["mailbox_wall"]
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "what", choices=["all", "throughput", "idle", "seal", "start", "serve"], nargs="?", default="all"
    )
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=5_000)
    parser.add_argument("--contacts", type=int, default=5_000)
    parser.add_argument("--folder")
    parser.add_argument("--port", type=int, default=7541)
    parser.add_argument("--names", default="")
    options = parser.parse_args()
    if options.what == "serve":
        many_files()
        pin(SERVE_CORE)
        uvloop.run(serve(options.folder, options.port, options.names.split(","), options.connections))
        return
    pin(LOAD_CORE)
    found: dict[str, object] = {}
    if options.what in {"all", "throughput"}:
        found["throughput"] = uvloop.run(compare(options.seconds, options.rounds))
    if options.what in {"all", "idle"}:
        found["idle"] = uvloop.run(idle(options.connections))
    if options.what in {"all", "seal"}:
        found["seal"] = seal_rates(min(2.0, options.seconds))
    if options.what in {"all", "start"}:
        from bench.agent_start import start

        found["start"] = asyncio.run(start(options.contacts, options.seconds))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
