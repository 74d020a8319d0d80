"""How fast and how lean the relay is: `python -m bench.relay [throughput|idle|seal|mailbox] [--seconds 5]`.

Everything runs on loopback, bounded in time. The relay has one core, the load another. Figures are printed as
JSON; the ratios are what counts. `mailbox` needs `pip install magic-wormhole-mailbox-server` in this environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import aiohttp
import uvloop

from tacit.base.io.system import SystemClock, SystemEntropy
from tacit.cli import relay_parts
from tacit.relay.accounts import code_text
from tacit.relay.io import registry
from tacit.relay.io.server import RelayServer, Settings
from tacit.relay.settings import Limits
from tacit.seal import identity, primitives, session, x3dh
from tacit.wire import buckets, envelope, frames, records, version
from tacit.wire.encoding import b64

WIDE = Limits(
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
    settings = Settings(data=data, domain=domain, port=port, scheme="http", limits=WIDE)
    server = RelayServer(settings, relay_parts.parts(data, public_url=f"http://{domain}"))
    await server.start()
    server.office.failures.locked = lambda *_: False
    await server.office.store.write(lambda file: add_idle(file, idle_agents, domain))
    codes = {}
    for name in names:
        code = codes[name] = code_text(os.urandom(16))
        await server.office.store.write(
            lambda file, code=code, name=name: registry.add_code(
                file, code=code, purpose="invite", username=name, expires=2**60
            )
        )
    print(json.dumps(codes), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(
        json.dumps({"commits": server.office.store.commits, "accepted": server.office.counts.accepted}),
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
        frames.encode(frames.Auth(peer.address, challenge.challenge, b64(peer.me.sign(signed)))).decode()
    )
    assert isinstance(frames.decode((await ws.receive()).data), frames.AuthOk)
    return ws


def bare_verification(seconds: float = 2.0) -> tuple[float, float]:
    """Verifications a second of the same library, on the relay's core, for the same bytes; by wall and by CPU time."""
    pin(SERVE_CORE)
    peer = Peer("bare", "localhost")
    raw, _ = peer.packet("agent:other@localhost", 0)
    message, public = envelope.signed_bytes(raw), peer.me.signing_public
    signature = peer.me.sign(message)
    count, begun, busy = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds:
        for _ in range(200):
            primitives.verify(public, message, signature)
        count += 200
    wall, cpu = time.perf_counter() - begun, time.process_time() - busy
    pin(LOAD_CORE)
    return count / wall, count / cpu


async def throughput(seconds: float, *, connected: bool) -> dict:
    senders = [f"sender{letter}" for letter in "abcdefgh"]
    readers = [f"reader{letter}" for letter in "abcdefgh"]
    served = Served(7541, senders + readers)
    try:
        async with aiohttp.ClientSession() as http:
            await served.register(http)
            sockets = [await login(http, served.url, served.peers[name], served.domain) for name in senders]
            listening = []
            if connected:
                for name in readers:
                    ws = await login(http, served.url, served.peers[name], served.domain)
                    listening.append(asyncio.create_task(acknowledge(ws)))
            total = int(8_000 * seconds)
            ready = [
                [
                    served.peers[name].packet(served.peers[reader].address, n)[1].decode()
                    for n in range(total // len(senders))
                ]
                for name, reader in zip(senders, readers, strict=True)
            ]
            begun, busy = time.perf_counter(), served.cpu_seconds()
            counts = await asyncio.gather(
                *[pump(ws, packets, begun + seconds) for ws, packets in zip(sockets, ready, strict=True)]
            )
            spent, cpu = time.perf_counter() - begun, served.cpu_seconds() - busy
            for task in listening:
                task.cancel()
            await asyncio.gather(*listening, return_exceptions=True)
    finally:
        last = served.close()
    return {
        "packets_per_second": round(sum(counts) / spent),
        "packets_per_cpu_second": round(sum(counts) / cpu),
        "packets": sum(counts),
        "commits": last.get("commits"),
    }


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
        if isinstance(frame, frames.Accepted):
            accepted += len(frame.packet_ids)
        elif isinstance(frame, frames.Error):
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
            await ws.send_str(frames.encode(frames.Received(waiting)).decode())
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
            file, username=f"idle{number}x", email_hash=None, now=SystemClock().now()
        )
        registry.register_agent(
            file, account, signing_key=peer.me.signing_public, serial=1, record=b"{}", now=SystemClock().now()
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


async def mailbox(seconds: float) -> dict:
    """magic-wormhole-mailbox-server with its database on disk, driven the same way: 1 KB messages, windowed."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", MAILBOX, f"{folder}/mailbox.sqlite", "7543"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout.readline().strip() == "ready"
            async with aiohttp.ClientSession() as http:
                begun, busy = time.perf_counter(), cpu_seconds(process.pid)
                counts = await asyncio.gather(*[mailbox_client(http, n, begun + seconds) for n in range(8)])
                spent, cpu = time.perf_counter() - begun, cpu_seconds(process.pid) - busy
        finally:
            process.terminate()
            process.wait(10)
    return {
        "packets_per_second": round(sum(counts) / spent),
        "packets_per_cpu_second": round(sum(counts) / cpu),
        "packets": sum(counts),
    }


async def mailbox_client(http: aiohttp.ClientSession, number: int, end: float, window: int = 128) -> int:
    side, body = f"side{number}", os.urandom(512).hex()
    ws = await http.ws_connect("http://127.0.0.1:7543/v1", max_msg_size=0)
    await ws.receive()
    await ws.send_str(json.dumps({"type": "bind", "appid": "bench", "side": side, "id": "b"}))
    await ws.send_str(json.dumps({"type": "open", "mailbox": f"mailbox{number}", "id": "o"}))
    sent = stored = 0
    while True:
        while sent - stored < window and time.perf_counter() < end:
            await ws.send_str(json.dumps({"type": "add", "phase": f"{sent}", "body": body, "id": f"{sent}"}))
            sent += 1
        if stored >= sent:
            await ws.close()
            return stored
        # The echo of our own message comes after the commit that stored it.
        frame = json.loads((await ws.receive()).data)
        if frame["type"] == "message":
            stored += 1


def compare(seconds: float) -> dict:
    """The relay beside bare verification. CPU time is the fair measure on a machine that others use too."""
    wall, cpu = bare_verification()
    found: dict[str, object] = {}
    for name, connected in (
        ("stored_for_sleeping_recipients", False),
        ("stored_delivered_and_deleted", True),
    ):
        one = uvloop.run(throughput(seconds, connected=connected))
        one["share_of_bare_by_cpu"] = round(one["packets_per_cpu_second"] / cpu, 3)
        one["share_of_bare_by_wall"] = round(one["packets_per_second"] / wall, 3)
        found[name] = one
    again_wall, again_cpu = bare_verification()
    found["bare_verifications_per_second"] = [round(wall), round(again_wall)]
    found["bare_verifications_per_cpu_second"] = [round(cpu), round(again_cpu)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "what", choices=["all", "throughput", "idle", "seal", "mailbox", "serve"], nargs="?", default="all"
    )
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--connections", type=int, default=5_000)
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
        found["throughput"] = compare(options.seconds)
    if options.what in {"all", "idle"}:
        found["idle"] = uvloop.run(idle(options.connections))
    if options.what in {"all", "seal"}:
        found["seal"] = seal_rates(min(2.0, options.seconds))
    if options.what in {"all", "mailbox"}:
        found["magic_wormhole_mailbox_server"] = uvloop.run(mailbox(options.seconds))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
