"""Two people's posts on a real relay."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec

from tacit.a2acp.post.io.inbox import Arrived
from tacit.a2acp.post.io.post import Post
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import rfc3339
from tacit.seal import session
from tacit.wire import buckets, envelope, frames
from tacit.wire.encoding import b64, canonical
from tests.relay_support import Bare, Relay, until

INTENT = {"category": "scheduling", "summary": "dinner", "urgency": "low"}


def cleared(to, packet_type, fields, *, thread_id, packet_id=None, at=None):
    """A packet for the post alone, as consent would have cleared it."""
    from tacit.a2acp.packets import packet
    from tacit.a2acp.packets.cleared import Cleared
    from tacit.base.io.system import SystemEntropy
    from tacit.base.io.time_service import TimeService

    identifier = packet_id or packet.identifier("pkt_", SystemEntropy().draw(17))
    return Cleared(to, packet_type, thread_id, identifier, at or TimeService().now(), fields)


def body(text: str = "hello") -> dict:
    return {"intent": INTENT, "context": {"text": text}}


def arrived(post: Post) -> list[Arrived]:
    """All that was ever handed on to the application, in the order in which it was."""
    rows = post.store.rows(
        "SELECT ready, peer, packet_id, thread_id, type, payload FROM history WHERE ready>0 ORDER BY ready"
    )
    return [Arrived(*row) for row in rows]


class Person:
    """A post, its connection running or not."""

    def __init__(self, folder, relay: Relay, username: str, clock=None) -> None:
        self.folder = folder
        self.relay = relay
        self.username = username
        self.address = f"agent:{username}@{relay.domain}"
        self.post = Post(folder, clock=clock or relay.clock, entropy=SystemEntropy())
        self.running: asyncio.Task | None = None

    async def register(self) -> None:
        await self.post.directory.register(
            self.address, self.relay.url, await self.relay.invite(self.username)
        )

    async def online(self) -> None:
        self.connection = self.post.connection()
        self.running = asyncio.create_task(self.connection.run())
        await asyncio.wait_for(self.connection.connected.wait(), 60)

    async def offline(self) -> None:
        if self.running is not None:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)
            self.running = None

    def say(self, to: Person, text: str = "hello", thread: str = "thr_dinner", **more) -> str:
        return self.post.outbox.post(
            cleared(to.address, "context", body(text), thread_id=thread, at=self.post.outbox.clock.now()),
            **more,
        )

    def texts(self) -> list[str]:
        from tacit.a2acp.packets.packet import read

        return [read(one.payload).fields["context"]["text"] for one in arrived(self.post)]

    def notes(self) -> str:
        return "\n".join(text for _, text in self.post.store.notes())

    async def sent(self) -> None:
        await until(lambda: not self.post.outbox.waiting())

    async def has(self, *texts: str) -> None:
        await until(lambda: len(self.texts()) >= len(texts))
        assert self.texts() == list(texts)


@contextlib.asynccontextmanager
async def people_on(relay: Relay, folder, *usernames: str, friends: bool = True):
    async with contextlib.AsyncExitStack() as stack:
        found = []
        for name in usernames:
            person = Person(folder / name, relay, name)
            stack.callback(person.post.store.close)
            person.post = await stack.enter_async_context(person.post)
            stack.push_async_callback(person.offline)
            await person.register()
            found.append(person)
        if friends:
            for one in found:
                for other in found:
                    if one is not other:
                        one.post.inbox.welcome(other.address)
        yield found


def sealed_by(stranger: Bare, to: Person, /, *, outer: dict | None = None, **inner) -> frames.PacketFrame:
    """A stranger's packet in the stateless form, sealed as it should be whatever stands inside.

    `outer` changes the envelope, which is sealed and signed with the change.
    """
    peer = to.post.store.me().identity.public
    stranger.count += 1
    fields = {
        "protocol": "a2acp/0.2", "packet_id": f"pkt_{stranger.username}{stranger.count:06d}", "thread_id": "thr_strange",
        "from": stranger.address, "to": to.address, "timestamp": rfc3339(stranger.relay.clock.now()), "type": "context",
        **body(), **inner,
    }  # fmt: skip
    between = {"sender": stranger.address, "recipient": to.address}
    tag = session.queue_tag(stranger.me, peer, thread_id=fields["thread_id"], **between)
    header = envelope.visible_header(
        protocol=fields["protocol"], packet_id=fields["packet_id"], queue_tag="q_" + b64(tag),
        timestamp=fields["timestamp"], **between,
    )  # fmt: skip
    header |= outer or {}
    binding = session.Binding(
        header["from"], header["to"], header["packet_id"], envelope.associated_data(header)
    )
    sealed = session.seal_stateless(
        stranger.me, peer, canonical(fields), binding, buckets.bucket_for, SystemEntropy()
    )
    raw = canonical({**header, "body": b64(sealed)})
    return frames.PacketFrame(msgspec.Raw(raw), b64(stranger.me.sign(envelope.signed_bytes(raw))))
