"""A real relay on loopback, and a bare agent that speaks frames: for tests of the relay alone."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
from pathlib import Path  # noqa: TC003
from typing import Self

import aiohttp
import msgspec

from tacit.a2acp.commands import relay_parts
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import Moment
from tacit.relay.io import registry
from tacit.relay.io.server import RelayServer, RelaySettings
from tacit.relay.settings import RelayLimits
from tacit.seal import identity
from tacit.wire import envelope, frames, records, version
from tacit.wire.encoding import b64

PATIENCE = 60


class MovableClock:
    """The real clock plus what a test adds."""

    def __init__(self) -> None:
        self._real = TimeService()
        self.ahead = 0

    def now(self) -> Moment:
        return Moment(self._real.now() + self.ahead)


class KeptMail:
    """Mail that never leaves."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, str]] = []

    async def send(self, to: str, subject: str, text: str) -> None:
        self.sent.append((to, subject, text))

    def last_code(self) -> str:
        return re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{2,4}){6}|\d{8}", self.sent[-1][2])[-1]


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _stream_of(folder: Path):
    """The same suite on the other store: `TACIT_TEST_NATS=nats://127.0.0.1:4222 pytest packages/a2acp/tests/relay`."""
    url = os.environ.get("TACIT_TEST_NATS")
    if not url:
        return None
    from tacit.relay.io.jetstream.opening import RelayStream

    return RelayStream([url], "R" + hashlib.sha256(str(folder).encode()).hexdigest()[:16], 1)


class Relay:
    """One relay under test."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        host: str = "localhost",
        domain: str | None = None,
        limits=None,
        stream=None,
        **settings,
    ) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.domain = domain or f"{host}:{self.port}"
        self.url = f"http://{host}:{self.port}"
        self.clock = MovableClock()
        self.mail = KeptMail()
        self._settings = RelaySettings(
            data=folder, domain=self.domain, host="127.0.0.1", port=self.port, scheme="http",
            limits=limits or RelayLimits(packets_per_minute=100_000, burst=100_000, new_recipients_per_hour=1000, lookups_per_minute=1000),
            **settings,
        )  # fmt: skip
        self.stream = stream or _stream_of(folder)
        if stream is None:
            self._make()

    def _make(self, seed: bytes | None = None, store=None) -> None:
        self._parts = relay_parts.parts(
            self.folder, public_url=self.url, clock=self.clock, mailer=self.mail, seed=seed
        )
        self.server = RelayServer(self._settings, self._parts, store)

    async def start(self) -> None:
        """Serve, for the first time or again."""
        if self.stream is not None:
            from tacit.a2acp.commands.relay_place import open_node

            store, seed = await asyncio.to_thread(open_node, self.folder, self.stream, self.clock)
            self._make(seed, store)
        await self.server.start()

    async def __aenter__(self) -> Self:
        await self.start()
        self.http = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.close()
        await self.server.stop()

    @property
    def operated(self) -> list[str]:
        """How the operator's commands name this relay."""
        words = ["--data", str(self.folder)]
        if self.stream is not None:
            words += [f"--nats={url}" for url in self.stream.access]
            words += [f"--nats-stream={self.stream.name}", f"--nats-replicas={self.stream.replicas}"]
        return words

    @property
    def mailboxes(self):
        return self.server.mailboxes

    async def invite(self, username: str) -> str:
        from tacit.relay.accounts import code_text

        code = code_text(SystemEntropy().draw(16))
        expires = self.clock.now() + 10**12
        await self.mailboxes.store.write(
            lambda file: registry.add_code(
                file, code=code, purpose="invite", username=username, expires=expires
            )
        )
        return code

    async def post(self, path: str, body, **more):
        async with self.http.post(self.url + path, json=body, **more) as response:
            return response.status, json.loads(await response.read() or b"null")

    async def get(self, path: str):
        async with self.http.get(self.url + path) as response:
            return response.status, await response.read()

    async def person(self, username: str) -> Bare:
        person = Bare(self, username)
        status, _ = await self.post("/v1/agents", person.enrolment(await self.invite(username)))
        assert status == 201
        return person


class Bare:
    """An agent without a brain or a disk: keys, a socket and frames."""

    def __init__(self, relay: Relay, username: str) -> None:
        self.relay = relay
        self.username = username
        self.address = f"agent:{username}@{relay.domain}"
        self.me = identity.generate(SystemEntropy())
        self.count = 0
        self.heard: list[frames.Frame] = []

    def statement(self, serial: int = 1, **changes) -> bytes:
        return records.statement_bytes(
            records.Statement(
                address=changes.get("address", self.address),
                signing_key=b64(changes.get("signing", self.me.signing_public)),
                agreement_key=b64(changes.get("agreement", self.me.agreement_public)),
                serial=serial,
                supported_versions=list(version.SUPPORTED),
                supported_encryption=list(version.ENCRYPTIONS),
            )
        )

    def enrolment(self, code: str, serial: int = 1, *, relay: str | None = None, **changes) -> dict:
        raw = self.statement(serial, **changes)
        proof = records.enrolment_signed_bytes(
            relay=relay or self.relay.domain,
            owner=changes.get("address", self.address),
            code=code,
            statement=raw,
        )
        return {
            "code": code,
            "record": {
                "statement": json.loads(raw),
                "sig": b64(self.me.sign(records.statement_signed_bytes(raw))),
            },
            "possession": b64(self.me.sign(proof)),
        }

    def prekey_request(self, owner: str, **changes) -> dict:
        """A signed question for someone's prekeys; `changes` are made before it is signed."""
        fields = {
            "requester": self.address,
            "at": int(self.relay.clock.now()),
            "nonce": b64(SystemEntropy().draw(12)),
            **changes,
        }
        signed = records.prekey_request_signed_bytes(owner, *fields.values())
        return {**fields, "sig": b64(self.me.sign(signed))}

    async def prekeys_of(self, owner: Bare) -> tuple[int, dict]:
        path = f"/v1/agents/{owner.username}/prekeys"
        return await owner.relay.post(path, self.prekey_request(owner.address))

    async def open(self) -> frames.ChallengeFrame:
        self.http = aiohttp.ClientSession()
        self.ws = await self.http.ws_connect(self.relay.url + "/a2acp", max_msg_size=0)
        challenge = await self.hear()
        assert isinstance(challenge, frames.ChallengeFrame)
        return challenge

    def signed(
        self, challenge: str, *, relay: str | None = None, address: str | None = None
    ) -> frames.AuthFrame:
        who = address or self.address
        signed = frames.auth_bytes(relay=relay or self.relay.domain, address=who, challenge=challenge)
        return frames.AuthFrame(who, challenge, b64(self.me.sign(signed)))

    async def connect(self) -> Self:
        challenge = await self.open()
        await self.say(self.signed(challenge.challenge))
        answer = await self.hear()
        assert isinstance(answer, frames.AuthOkFrame), answer
        self.welcome = answer
        return self

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.ws.close()
        await self.http.close()

    async def say(self, frame: frames.Frame) -> None:
        await self.ws.send_str(frames.encode(frame).decode())

    async def hear(self) -> frames.Frame | int:
        """The next frame, or the close code."""
        message = await asyncio.wait_for(self.ws.receive(), PATIENCE)
        if message.type is not aiohttp.WSMsgType.TEXT:
            return message.data if message.type is aiohttp.WSMsgType.CLOSE else self.ws.close_code or 0
        frame = frames.decode(message.data)
        self.heard.append(frame)
        return frame

    async def hear_a(self, kind):
        """The next frame of a kind, others left aside."""
        while True:
            frame = await self.hear()
            if isinstance(frame, kind):
                return frame
            assert not isinstance(frame, int), f"closed with {frame} while waiting for {kind.__name__}"

    def packet(
        self, to: str, *, tag: str = "A", body: bytes = bytes(1024), flags=(), **changes
    ) -> frames.PacketFrame:
        self.count += 1
        header = {
            **envelope.visible_header(
                protocol="a2acp/0.2",
                packet_id=f"pkt_{self.username}{self.count:06d}",
                queue_tag="q_" + tag * 22 if len(tag) == 1 else tag,
                sender=self.address,
                recipient=to,
                timestamp="2026-03-21T14:30:00Z",
                flags=tuple(flags),
            ),
            **changes,
        }
        from tacit.wire.encoding import canonical

        raw = canonical({**header, "body": b64(body)})
        return frames.PacketFrame(msgspec.Raw(raw), b64(self.me.sign(envelope.signed_bytes(raw))))

    async def send(self, to: str, **more) -> str:
        frame = self.packet(to, **more)
        await self.say(frame)
        return json.loads(bytes(frame.envelope))["packet_id"]

    async def sent(self, to: str, **more) -> str:
        identifier = await self.send(to, **more)
        accepted = await self.hear_a(frames.AcceptedFrame)
        assert identifier in accepted.packet_ids
        return identifier

    async def take(self, count: int = 1) -> list[str]:
        """Packet ids of the next deliveries, each acknowledged."""
        found = []
        for _ in range(count):
            packet = await self.hear_a(frames.PacketFrame)
            found.append(json.loads(bytes(packet.envelope))["packet_id"])
            await self.say(frames.ReceivedFrame([packet.delivery]))
        return found


@contextlib.asynccontextmanager
async def relay_with(folder: Path, *usernames: str, **more):
    async with Relay(folder, **more) as relay:
        yield relay, *[await relay.person(name) for name in usernames]


async def until(condition, *, patience: float = PATIENCE) -> None:
    """Wait for something that another task brings about."""
    async with asyncio.timeout(patience):
        while not condition():
            await asyncio.sleep(0.01)
