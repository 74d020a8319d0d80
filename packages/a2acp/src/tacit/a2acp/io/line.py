"""The relay connection: one address, its sealed post, and nothing that thinks (A2ACP-006, A2ACP-263).

async with Line(folder) as line:
    await line.register("anna@relay.example", "https://relay.example", code)
    line.send("ben@relay.example", "context", {...}, thread_id=thread_id)
    async for packet in line.received():
        ...

What is sent is on disk before `send` returns and leaves when the relay can be reached; what has arrived is
handed out in order, and again after a crash until the loop has taken the next one. Sealing, ordering,
retries, pinned keys and the mail of strangers are the agent's own (`tacit.a2acp.post`), and so is the filter
that a packet passes: a field that has to be asked for goes when the caller says that its owner released it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self

from tacit.a2acp.consent import filter as consent
from tacit.a2acp.consent.scan import Scanner
from tacit.a2acp.consent.tiers import DEFAULT
from tacit.a2acp.consent.walk import APPROVED
from tacit.a2acp.packets import packet
from tacit.a2acp.post.io.post import Post
from tacit.base.errors import Refused
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.wire import address

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, Iterable
    from pathlib import Path

    from tacit.a2acp.consent.tiers import Policy
    from tacit.a2acp.packets.packet import Fields, Packet
    from tacit.a2acp.post.io.relay_connection import RelayConnection
    from tacit.base.ports import Clock, Entropy


class Line:
    """One address at a relay, open; an async context."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._clock = clock or TimeService()
        self._entropy = entropy or SystemEntropy()
        self._folder = folder
        self._trust = trust
        self._woken = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._connection: RelayConnection | None = None

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            self._post = Post(self._folder, clock=self._clock, entropy=self._entropy, trust=self._trust)
            stack.callback(self._post.store.close)
            stack.callback(FolderLock(self._folder, purpose="an A2ACP line").release)
            await stack.enter_async_context(self._post)
            stack.push_async_callback(self._disconnected)
            if self._post.store.has_identity():
                self._connect()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def _connect(self) -> None:
        if self._connection is None:
            self._connection = self._post.connection(self._woken.set)
            self._running = asyncio.get_running_loop().create_task(self._connection.run())

    async def _disconnected(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    @property
    def address(self) -> str:
        """Our own address, as packets write it."""
        return self._post.store.me().address

    async def register(self, name: str, relay_url: str, code: str) -> str:
        """Make keys here, register their public halves with an enrolment code, and connect; the address."""
        await self._post.directory.register(str(address.parse_typed(name)), relay_url, code)
        self._connect()
        return self.address

    async def ready(self) -> None:
        """Wait until the relay holds our prekeys: from then on strangers can write first."""
        if self._connection is None:
            raise Refused("not_registered", "register first", row="A2ACP-006")
        await self._connection.stocked.wait()

    def welcome(self, peer: str) -> None:
        """Take mail of an address; until then a stranger's first packet waits."""
        self._post.inbox.welcome(str(address.parse_typed(peer)))

    def safety_number(self, peer: str) -> str:
        """Sixty digits to compare with a contact, by another way than this one."""
        return self._post.safety_number(str(address.parse_typed(peer)))

    def send(
        self,
        to: str,
        packet_type: str,
        body: Fields,
        *,
        thread_id: str,
        policy: Policy = DEFAULT,
        released: Iterable[str] = (),
    ) -> str:
        """Clear a packet and hand it to the post; its id.

        `released` are the fields that the owner said may go. `Refused` with `consent_needed` names those that
        are missing, and then nothing is sent; what never goes is left out, and the packet says so.
        """
        who = str(address.parse_typed(to))
        approved = dict.fromkeys(released, APPROVED)
        members = frozenset({self.address, who})
        held = consent.examine(body, packet_type, policy, who, approved, members=members).held
        if held:
            names = sorted({one.field for one in held})
            raise Refused(
                "consent_needed", f"its owner has not released: {', '.join(names)}",
                row="A2ACP-072", details={"fields": names},
            )  # fmt: skip
        identifier = packet.identifier("pkt_", self._entropy.draw(17))
        draft = consent.PacketDraft(who, packet_type, thread_id, identifier, self._clock.now(), body)
        cleared = consent.clear(draft, policy, approved, frozenset(), Scanner([]), members=members)
        sent = self._post.outbox.post(cleared)
        if self._connection is not None:
            self._connection.wake()
        return sent

    async def sent(self) -> None:
        """Wait until the relay has all that was sent."""
        while self._post.outbox.waiting(limit=1):
            self._woken.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await self._woken.wait()

    async def received(self) -> AsyncGenerator[Packet]:
        """What arrives, in its order, for ever; a packet is done when the next one is asked for."""
        while True:
            self._woken.clear()
            for one in self._post.inbox.unhandled():
                if one.payload:
                    yield packet.read(one.payload)
                with self._post.store.transaction():
                    self._post.inbox.handled([one])
            if not self._post.inbox.unhandled(limit=1):
                await self._change()

    async def _change(self) -> None:
        """Wait for news; a connection that ended by itself says why."""
        waiting = asyncio.ensure_future(self._woken.wait())
        ends: set[asyncio.Future[Any]] = {waiting}
        if self._running is not None:
            ends.add(self._running)
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if self._running is not None and self._running.done():
            self._running.result()
