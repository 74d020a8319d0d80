"""Fuzz an agent by its relay: sentences of the grammar, said to a real agent's connection without a socket.

Whatever its relay says, an agent keeps to the errors that its connection expects, an honest packet after it is handed
on and answered, and what its owner said is waiting, told as failed, or was called accepted by that very relay.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import tempfile
from types import SimpleNamespace

import aiohttp
import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fuzz import frame_grammar
from tacit.a2acp.post.io.relay_connection import ConnectionSuperseded, RelayConnection
from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.wire import envelope, frames
from tacit.wire.encoding import b64
from tests.a2acp.post.session_model import Agent, Clock, MemoryRelay, Sealed, altered

EXPECTED = (PeerFault, Unavailable, Refused)


class Line:
    """A websocket without a wire: what is said to it is kept, what it says is given."""

    def __init__(self, texts: list[bytes] = ()) -> None:
        self.said: list[frames.Frame] = []
        self._texts = list(texts)

    async def send_str(self, text: str) -> None:
        self.said.append(frames.decode(text))

    async def receive(self) -> SimpleNamespace:
        if not self._texts:
            return SimpleNamespace(type=aiohttp.WSMsgType.CLOSED, data=None)
        text = self._texts.pop(0)
        return SimpleNamespace(type=aiohttp.WSMsgType.TEXT, data=text.decode("utf-8", "replace"))


class AgentGround:
    """Alice, whose relay lies, and bob, who is honest; both real, both acquainted."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.clock, self.relay = Clock(), MemoryRelay()
        self.alice, self.bob = (Agent(name, folder, self.relay, self.clock) for name in ("alice", "bob"))
        self.alice.peer, self.bob.peer = self.bob, self.alice
        for agent in (self.alice, self.bob):
            agent.enrol()
            agent.connect()
            agent.post.inbox.welcome(agent.peer.address)
        self.count = 0
        self.called_accepted: set[str] = set()
        for one in (self.alice, self.bob, self.alice):
            one.say("hello", "thr_fuzz")
            one.flush()
            one.peer.drain()
        self.connection = self.connect()

    def connect(self) -> RelayConnection:
        alice = self.alice
        return RelayConnection(
            alice.store, alice.post.outbox, alice.post.inbox, alice.directory, None,
            clock=alice.post.clock, entropy=alice.entropy,
        )  # fmt: skip

    def sealed(self) -> Sealed:
        """One more honest packet of bob's."""
        self.count += 1
        packet_id = self.bob.say(f"text {self.count}", "thr_fuzz")
        self.bob.connect()
        self.bob.flush()
        mailbox = self.relay.mailbox[self.alice.address]
        found = next(one for one in mailbox if one.packet_id == packet_id)
        mailbox.clear()
        return found

    # Sentences.

    def _name(self, name: str) -> str:
        known = {"$me": self.alice.address, "$peer": self.bob.address, "$relay": "relay.example"}
        return known.get(
            name, name.replace("$", "agent:") + "@relay.example" if name.startswith("$") else name
        )

    def _id(self, name: str | None) -> str | None:
        waiting = self.alice.post.outbox.waiting()
        said = list(self.alice.memory.said)
        known = {
            "$waiting": waiting[0].packet_id if waiting else "pkt_none",
            "$said": said[-1] if said else "pkt_none",
            "$unknown": "pkt_unknown",
        }
        return known.get(name, name) if name is not None else None

    def text(self, sentence: dict) -> bytes:
        """The frame of a sentence."""
        fields = {key: value for key, value in sentence.items() if key != "say"}
        if sentence["say"] == "packet":
            return self._packet(sentence)
        for key in ("address", "sender", "to", "relay"):
            if isinstance(fields.get(key), str):
                fields[key] = self._name(fields[key])
        if "packet_id" in fields:
            fields["packet_id"] = self._id(fields["packet_id"])
        if "packet_ids" in fields:
            fields["packet_ids"] = [self._id(one) for one in fields["packet_ids"]]
        if fields.get("queue_tag") == "$tag" and self.relay.ever:
            fields["queue_tag"] = envelope.read(self.relay.ever[-1].raw).queue_tag
        if sentence["say"] == "accepted":
            self.called_accepted |= set(fields["packet_ids"])
        return json.dumps({"frame": sentence["say"], **fields}).encode()

    def _packet(self, sentence: dict) -> bytes:
        twist, ever = sentence["twist"], self.relay.ever
        sealed = self.sealed() if twist in {"", "letter", "sig", "other signer", "header"} else None
        if sealed is None:
            sealed = ever[sentence["which"] % len(ever)]
        raw, sig = sealed.raw, sealed.sig
        match twist:
            case "letter":
                raw = altered(sealed, sentence["at"]).raw
            case "sig":
                sig = b64(bytes(64))
            case "other signer":
                sig = b64(self.alice.store.me().identity.sign(envelope.signed_bytes(raw)))
            case "header":
                changed = msgspec.json.decode(raw) | {"queue_tag": "q_" + "A" * 22}
                raw = envelope.compose({k: v for k, v in changed.items() if k != "body"}, changed["body"])
                sig = b64(self.bob.store.me().identity.sign(envelope.signed_bytes(raw)))
            case "nothing":
                raw = b"{}"
            case "no envelope":
                raw = b"[1]"
            case _:
                pass
        return frames.packet_bytes(raw, sig, sentence["delivery"])

    # What must hold.

    async def hear(self, sentences: list[dict]) -> None:
        packet_id = self.alice.say(f"of alice {self.count}", "thr_alice")
        for sentence in sentences:
            text = self.text(sentence)
            try:
                frame = frames.decode(text)
                if frame is not None:
                    await self.connection._hear(Line(), frame)
            except EXPECTED:
                # The connection is lost, and made again.
                self.connection = self.connect()
        await self._still_works()
        said = {packet_id, *self.alice.memory.said} - self.called_accepted
        assert all(self.alice.told(one) for one in said if one not in self.given), "lost, and nobody told"

    async def log_in(self, sentences: list[dict]) -> None:
        with contextlib.suppress(*EXPECTED):
            await self.connection._login(Line([self.text(one) for one in sentences]))
        await self._still_works()

    async def _still_works(self) -> None:
        sealed, line = self.sealed(), Line()
        raw = frames.packet_bytes(sealed.raw, sealed.sig, 7)
        await self.connection._hear(line, frames.decode(raw))
        assert frames.ReceivedFrame([7]) in line.said, "an honest packet was not answered"
        if self.alice.post.inbox.unverified.holds(self.bob.address):
            # Behind a packet whose signature does not hold: the key is asked for, then all is judged.
            self.alice.look_up(self.bob.address)
        seen = "SELECT 1 FROM seen WHERE packet_id=?"
        assert self.alice.store.row(seen, sealed.packet_id), "an honest packet was not taken"
        self.alice.read()

    @property
    def given(self) -> set[str]:
        """What the relay had before it began to lie."""
        return {one.packet_id for one in self.relay.ever if one.sender == self.alice.address}


def fuzz_agent(examples: int, number: int) -> None:
    """An agent's end, bounded and seeded."""
    bounded = settings(
        max_examples=examples, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        ground = AgentGround(pathlib.Path(folder))

        @seed(number)
        @bounded
        @given(st.lists(frame_grammar.OF_A_RELAY, max_size=6))
        def heard(sentences):
            runner.run(ground.hear(sentences))

        @seed(number)
        @bounded
        @given(st.lists(frame_grammar.EITHER_AT_LOGIN, max_size=4))
        def welcomed(sentences):
            runner.run(ground.log_in(sentences))

        async def superseded() -> None:
            try:
                await ground.connect()._hear(Line(), frames.SupersededFrame())
            except ConnectionSuperseded:
                return
            raise AssertionError("another device speaks for us, and we go on")

        try:
            heard()
            welcomed()
            runner.run(superseded())
        finally:
            for agent in (ground.alice, ground.bob):
                agent.store.close()
