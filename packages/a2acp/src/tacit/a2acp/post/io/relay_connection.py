"""The connection to the relay: connect, prove who we are, keep it alive, carry packets both ways.

A2ACP-207, A2ACP-208, A2ACP-209, A2ACP-213, A2ACP-215, A2ACP-219, A2ACP-223, A2ACP-258.

Everything that matters is on disk on both sides of this module; it may die at any point. After `superseded`
it does not fight: another device speaks for this address now.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final, TypeVar

import aiohttp
from aiohttp import WSMsgType

from tacit.a2acp.post import timing
from tacit.a2acp.post.io import epochs, prekeys
from tacit.a2acp.post.io.comparisons import Comparisons
from tacit.a2acp.post.io.prekey_requests import PrekeyRequests
from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.fair_turns import TokenBucket
from tacit.base.moment import SECOND, Moment
from tacit.seal.limits import REFILL_BELOW
from tacit.wire import address, codes, frames, records
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.a2acp.post.io.directory import Directory
    from tacit.a2acp.post.io.inbox import PacketInbox
    from tacit.a2acp.post.io.outbox import Outbox, UnsentPacket
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.io.time_service import TimeService
    from tacit.base.ports import Entropy

_log: Final = logging.getLogger("tacit.agent")
_HOUR: Final = 3600 * SECOND
_IN_FLIGHT: Final = 64
_LOOK_AROUND: Final = 0.2
_MINUTE: Final = 60
_LOOKUPS_AT_ONCE: Final = 8
_LOOK_AGAIN: Final = 1.0
_LONGEST_NOTICE: Final = 300
_ANSWER_WITHIN: Final = 20.0
# What a relay takes from one agent, by default; what comes after the mail leaves this much of a burst to it.
_A_SECOND: Final = 1.0
_BURST: Final = 120.0
_FOR_MAIL: Final = 20.0
_LATER_IN_FLIGHT: Final = 32
_TAGS_TOGETHER: Final = 500
# What waited at the relay comes first.
_FIRST_MAIL: Final = 1.0
# The same bytes under the same id: a relay that has them already just says so again.
_REPEAT_AFTER: Final = 3.0


F = TypeVar("F")


class ConnectionSuperseded(Refused):
    """Another device has taken over this address."""

    def __init__(self) -> None:
        super().__init__("superseded", "another device speaks for this address now", row="A2ACP-208")


class OtherDevice(Refused):
    """The relay holds the keys of a device that was set up after this one."""

    def __init__(self) -> None:
        super().__init__(
            codes.OTHER_DEVICE,
            "this address has moved to another device; `tacit agent take-over` brings it back here",
            row="A2ACP-223",
        )


class LoginRefused(Refused):
    """The relay does not accept our proof."""


class _Lookups:
    """When a sender's relay may be asked again for its key: rarer each time it gave none."""

    def __init__(self) -> None:
        self._after: dict[str, tuple[float, int]] = {}

    def rests(self, sender: str) -> bool:
        return asyncio.get_running_loop().time() < self._after.get(sender, (0.0, 0))[0]

    def rest(self, sender: str) -> None:
        failures = self._after.get(sender, (0.0, 0))[1]
        until = asyncio.get_running_loop().time() + timing.KEY_LOOKUP.pause(failures)
        self._after[sender] = (until, failures + 1)

    def done(self, sender: str) -> None:
        self._after.pop(sender, None)


class RelayConnection:
    """One agent's connection to its relay, over and over."""

    def __init__(
        self,
        store: AgentStore,
        outbox: Outbox,
        inbox: PacketInbox,
        directory: Directory,
        http: aiohttp.ClientSession,
        *,
        clock: TimeService,
        entropy: Entropy,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._outbox = outbox
        self._inbox = inbox
        self._directory = directory
        self._http = http
        self._clock = clock
        self._entropy = entropy
        self._changed = changed
        self._in_flight: dict[str, float] = {}
        # Which copies of a packet the relay still owes an answer for: their places in the outbox, and of how
        # many steps the relay was told before each.
        self._copies: dict[str, list[tuple[int, int]]] = {}
        self._held: dict[str, float] = {}
        self._lookups = _Lookups()
        self._wake = asyncio.Event()
        self._bundles = PrekeyRequests(directory, outbox, self._wake.set)
        self._comparisons = Comparisons(store, inbox, self._wake.set)
        self._rate = TokenBucket(_BURST, 0.0)
        # What was uploaded and not yet answered, and when it may be tried again.
        self._upload: frames.PrekeysFrame | None = None
        self._upload_at = 0.0
        self._told_contacts: set[str] = set()
        self._kept = asyncio.Event()
        self._pong = asyncio.Event()
        self._hold_until = 0.0
        self._answered = 0.0
        self._next_hour = 0
        # What the relay was told of our steps; None for a relay that keeps no count.
        self._told_steps: int | None = None
        self.connected = asyncio.Event()
        self.stocked = asyncio.Event()
        # Whether answers of guests may wait at the relay: after each login, and when it says so.
        self.guest_news = False
        self.attempts = 0

    def wake(self) -> None:
        """Something new waits to be sent."""
        self._wake.set()

    async def run(self) -> None:
        """Stay connected until cancelled; only `ConnectionSuperseded` or `OtherDevice` ends it otherwise."""
        moved: Refused | None = None
        while True:
            try:
                await self._once()
            except* (aiohttp.ClientError, OSError, TimeoutError, PeerFault, Unavailable) as group:
                _log.info(
                    "connection lost: %s", ", ".join(type(error).__name__ for error in group.exceptions)
                )
            except* LoginRefused:
                _log.warning("the relay refused our login")
            except* ConnectionSuperseded:
                moved = ConnectionSuperseded()
            except* OtherDevice:
                moved = OtherDevice()
            self.connected.clear()
            if moved is not None:
                raise moved
            pause = timing.RECONNECT.pause(
                self.attempts, int.from_bytes(self._entropy.draw(4), "big") / 2**32
            )
            self.attempts += 1
            await asyncio.sleep(pause)

    async def _once(self) -> None:
        """One connection to its end, in a task of its own.

        A group that is being ended while one of its tasks fails tells of the failure alone: whoever ends the
        agent would wait for ever for a connection that was made anew.
        """
        line = asyncio.create_task(self._connected())
        try:
            await asyncio.wait({line})
        finally:
            line.cancel()
            await asyncio.wait({line})
            failed = None if line.cancelled() else line.exception()
        if failed is not None:
            raise failed

    async def _connected(self) -> None:
        me = self._store.me()
        url = me.relay_url.rstrip("/") + "/a2acp"
        async with self._http.ws_connect(url, autoping=False, max_msg_size=frames.MAX_TEXT * 2) as ws:
            await self._login(ws)
            self._in_flight.clear()
            self._copies.clear()
            self._wake.set()
            self.guest_news = True
            self.connected.set()
            self.attempts = 0
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read(ws))
                tasks.create_task(self._fetch_keys())
                tasks.create_task(self._write(ws))
                tasks.create_task(self._stay_alive(ws))
                tasks.create_task(self._bundles.run())
                tasks.create_task(self._comparisons.compare_open(_FIRST_MAIL))
                tasks.create_task(self._comparisons.find_refused())

    async def _login(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        me = self._store.me()
        challenge = await self._expect(ws, frames.ChallengeFrame)
        domain = address.parse(me.address).domain
        if challenge.relay != domain:
            # Our signature would be good at that other relay; it gets none (A2ACP-017).
            raise PeerFault("the relay speaks for another domain")
        signed = frames.auth_bytes(relay=domain, address=me.address, challenge=challenge.challenge)
        proof, begins = b64(me.identity.sign(signed)), not epochs.is_published(self._store)
        epoch = epochs.epoch_of(self._store)
        await self._say(ws, frames.AuthFrame(me.address, challenge.challenge, proof, epoch, begins))
        welcome = await self._expect(ws, frames.AuthOkFrame)
        if welcome.time is not None:
            self._clock.witness(Moment(welcome.time))
        epochs.compare(self._store, welcome, self._clock.now())
        epochs.agree(self._store, welcome, self._clock.shared())
        with self._store.transaction():
            if epochs.relay_is_behind(self._store, welcome, self._clock.now()):
                self._outbox.unfetched(self._clock.now())
                self._store.note(epochs.RELAY_NOTE, self._clock.now())
        self._told_steps = None if welcome.steps is None else -1
        await self._tell_steps(ws)
        # Whether the last upload arrived is told by what the relay has now.
        self._upload = None
        self._told_contacts.clear()
        await self._restock(ws, welcome.one_time_prekeys, welcome.signed_prekey)

    async def _restock(self, ws: aiohttp.ClientWebSocketResponse, left: int, held: int | None = None) -> None:
        frame = prekeys.restock(
            self._store, self._clock, self._entropy, left, held, confirmed=self._clock.confirmed()
        )
        if frame is None:
            self.stocked.set()
        else:
            await self._tell_steps(ws)
            self._upload, self._upload_at = frame, float("inf")
            await self._say(ws, frame)

    async def _tell_steps(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        """Say how far our keys have come, before anything leaves that they have sealed or opened."""
        if self._told_steps is not None and self._store.steps() != self._told_steps:
            statement = epochs.statement(self._store)
            self._told_steps = statement.steps
            await self._say(ws, statement)

    async def _prekeys_ok(self, ws: aiohttp.ClientWebSocketResponse, left: int) -> None:
        """An upload was stored, or keys were handed out; while one is on its way no more keys are made."""
        if self._upload is not None and left < min(REFILL_BELOW, len(self._upload.one_time)):
            return
        self._upload = None
        epochs.published(self._store)
        await self._restock(ws, left)

    async def _upload_again(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        """The same keys once more: who refused them has stored none, so none can have been handed out."""
        if self._upload is not None and asyncio.get_running_loop().time() >= self._upload_at:
            self._upload_at = float("inf")
            await self._say(ws, self._upload)

    async def _tell_contacts(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        """Tell the relay whom the owner has accepted, as tags: they are no strangers to it."""
        domain = address.parse(self._store.me().address).domain
        known = self._store.rows("SELECT address FROM contacts WHERE welcome=1 AND blocked=0")
        fresh = [contact for (contact,) in known if contact not in self._told_contacts]
        for start in range(0, len(fresh), _TAGS_TOGETHER):
            some = fresh[start : start + _TAGS_TOGETHER]
            await self._say(
                ws, frames.ContactsFrame([records.contact_tag(domain, contact) for contact in some])
            )
            self._told_contacts.update(some)
            await asyncio.sleep(0)

    async def _expect(self, ws: aiohttp.ClientWebSocketResponse, kind: type[F]) -> F:
        async with asyncio.timeout(_ANSWER_WITHIN):
            while (message := await ws.receive()).type is WSMsgType.TEXT:
                frame = frames.decode(message.data)
                if isinstance(frame, kind):
                    return frame
                if isinstance(frame, frames.ErrorFrame) and frame.code == codes.OTHER_DEVICE:
                    self._store.note(OtherDevice().message, self._clock.now())
                    raise OtherDevice
                if isinstance(frame, frames.ErrorFrame):
                    raise LoginRefused(frame.code, "the relay did not accept the login")
                if frame is not None:
                    break
                # A newer relay may say what we do not know (A2ACP-006).
        raise PeerFault("the relay said something else")

    async def _say(self, ws: aiohttp.ClientWebSocketResponse, frame: frames.Frame) -> None:
        await ws.send_str(frames.encode(frame).decode("utf-8"))

    # Alive.

    async def _stay_alive(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        while True:
            self._pong.clear()
            await ws.ping()
            try:
                async with asyncio.timeout(timing.PONG_SECONDS):
                    await self._pong.wait()
            except TimeoutError:
                raise PeerFault("the relay does not answer pings") from None
            # The house is kept when the first packets are in, and in steps between which others come.
            await self._keep_house(ws)
            await asyncio.sleep(0)
            await self._tell_contacts(ws)
            await asyncio.sleep(timing.PING_SECONDS)

    async def _keep_house(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        """Once an hour, however long the connection stands: prekeys change, what is old is let go."""
        now = self._clock.now()
        if not self._next_hour - _HOUR <= now < self._next_hour:
            self._next_hour = now + _HOUR
            for _ in self._inbox.forgetting():
                await asyncio.sleep(0)
            renewed = prekeys.restock(
                self._store, self._clock, self._entropy, prekeys.STOCK, confirmed=self._clock.confirmed()
            )
            if renewed is not None:
                await self._tell_steps(ws)
                await self._say(ws, renewed)

    # Inward.

    async def _read(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        while True:
            message = await ws.receive()
            if message.type is WSMsgType.TEXT:
                frame = frames.decode(message.data)
                if frame is not None:
                    await self._hear(ws, frame)
            elif message.type is WSMsgType.PONG:
                self._pong.set()
            elif message.type is WSMsgType.PING:
                await ws.pong(message.data)
            else:
                if message.type is WSMsgType.CLOSE and message.data == codes.CLOSE_SUPERSEDED:
                    raise ConnectionSuperseded
                raise PeerFault("the relay closed the connection")

    async def _hear(self, ws: aiohttp.ClientWebSocketResponse, frame: frames.Frame) -> None:
        match frame:
            case frames.PacketFrame():
                await self._packet(ws, frame)
            case frames.AcceptedFrame():
                told = max((self._told_with(one) for one in frame.packet_ids), default=0)
                answered = [one for one in frame.packet_ids if self._is_answered(one)]
                self._outbox.accepted(answered, told)
                for packet_id in answered:
                    self._in_flight.pop(packet_id, None)
                self._answered = asyncio.get_running_loop().time()
                self._wake.set()
            case frames.ErrorFrame():
                self._error(frame)
            case frames.QueueOverflowFrame():
                await self._overflow(ws, frame)
            case frames.SupersededFrame():
                self._store.note(
                    "this agent was started elsewhere; this device has stopped", self._clock.now()
                )
                raise ConnectionSuperseded
            case frames.PrekeysOkFrame():
                await self._prekeys_ok(ws, frame.one_time)
            case frames.NoticeFrame(kind=frames.GUEST_ANSWERED):
                self.guest_news = True
            case frames.NoticeFrame():
                said = f"the relay says: {frame.kind} {frame.at or ''}".strip()[:_LONGEST_NOTICE]
                self._store.note(said, self._clock.now())
            case _:
                pass
        self._changed()

    def _told_with(self, packet_id: str) -> int:
        """How many steps the relay was told before it heard the packet for which it answers."""
        copies = self._copies.get(packet_id)
        return copies[0][1] if copies else 0

    def _is_answered(self, packet_id: str) -> bool:
        """Whether the relay's answer is for the copy that waits, and not for one sealed before it."""
        copies = self._copies.get(packet_id, [])
        answered = copies.pop(0)[0] if copies else None
        if not copies:
            self._copies.pop(packet_id, None)
        return answered is None or self._outbox.position(packet_id) in {answered, None}

    async def _packet(self, ws: aiohttp.ClientWebSocketResponse, frame: frames.PacketFrame) -> None:
        if self._inbox.admit(bytes(frame.envelope), frame.sig):
            await self._tell_steps(ws)
            await self._say(ws, frames.ReceivedFrame([frame.delivery]))
        self._kept.set()

    async def _fetch_keys(self) -> None:
        """Judge what was kept, each sender by itself: a relay that is silent holds up nobody else."""
        asking: set[str] = set()
        async with asyncio.TaskGroup() as tasks:
            while True:
                for sender in self._inbox.wanted_keys():
                    if len(asking) >= _LOOKUPS_AT_ONCE:
                        break
                    if sender not in asking and not self._lookups.rests(sender):
                        asking.add(sender)
                        task = tasks.create_task(self._fetch_key(sender))
                        task.add_done_callback(lambda _, sender=sender: asking.discard(sender))
                self._kept.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_AGAIN):
                        await self._kept.wait()

    async def _fetch_key(self, sender: str) -> None:
        if not self._inbox.judge(sender, asked=False):
            # Set before the question: whoever cuts the connection while we wait for an answer gains nothing.
            self._lookups.rest(sender)
            try:
                await self._directory.refresh(sender)
            except (Unavailable, Refused, PeerFault) as error:
                _log.info("key not available: %s", type(error).__name__)
                return
            self._lookups.done(sender)
            self._inbox.judge(sender, asked=True)
        self._changed()

    def _error(self, frame: frames.ErrorFrame) -> None:
        if frame.packet_id is not None:
            self._is_answered(frame.packet_id)
            self._in_flight.pop(frame.packet_id, None)
        if frame.code in codes.RETRYABLE and frame.packet_id is None:
            # Not of a packet: prekeys or contacts come again by themselves, and hold up no mail.
            self._upload_at = asyncio.get_running_loop().time() + timing.rest(frame.retry_after)
            self._told_contacts.clear()
        elif frame.code in codes.RETRYABLE:
            self._hold(frame)
        elif frame.packet_id is not None:
            self._outbox.refused(frame.packet_id, frame.code)
        self._wake.set()

    def _hold(self, frame: frames.ErrorFrame) -> None:
        """Wait as long as the relay says: with all packets, or with those for a recipient too many.

        The limit on packets counts by the minute and never asks for more than one; what asks for more is the
        limit on new recipients, and packets to the others may go on (A2ACP-258).
        """
        now = asyncio.get_running_loop().time()
        wait = timing.rest(frame.retry_after)
        to = self._outbox.recipient(frame.packet_id) if frame.packet_id is not None else None
        if wait > _MINUTE and to is not None:
            self._held[to] = now + wait
        else:
            self._hold_until = now + wait

    async def _overflow(self, ws: aiohttp.ClientWebSocketResponse, frame: frames.QueueOverflowFrame) -> None:
        if frame.packet_id is not None:
            self._is_answered(frame.packet_id)
            self._in_flight.pop(frame.packet_id, None)
            self._outbox.refused(frame.packet_id, "queue_overflow", overflow=True)
            return
        self._comparisons.ask_about(frame.queue_tag)
        await self._say(ws, frames.ReceivedFrame([frame.delivery]))

    # Outward.

    async def _write(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        seen = -1
        while True:
            now = asyncio.get_running_loop().time()
            if self._in_flight and now - self._answered > _ANSWER_WITHIN:
                raise PeerFault("the relay has stopped answering")
            if now >= self._hold_until:
                await self._flush(ws)
            await self._upload_again(ws)
            self._inbox.release_overdue()
            self._wake.clear()
            try:
                async with asyncio.timeout(_LOOK_AROUND):
                    await self._wake.wait()
            except TimeoutError:
                version = self._store.data_version()
                if version != seen:
                    seen = version
                    self._changed()

    async def _flush(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        """Send what waits, in order; a peer that cannot be reached yet holds up only itself."""
        stuck: set[str] = set()
        held = [peer for peer, end in self._held.items() if asyncio.get_running_loop().time() < end]
        unkeyed = self._bundles.resting()
        for waiting in self._outbox.waiting(limit=_IN_FLIGHT * 4, besides=held, unkeyed=unkeyed):
            now = asyncio.get_running_loop().time()
            said = self._in_flight.get(waiting.packet_id)
            behind = waiting.peer in stuck and not waiting.receipt
            if behind or (said is not None and now - said < _REPEAT_AFTER):
                continue
            if len(self._in_flight) >= _IN_FLIGHT and said is None:
                return
            if said is None and not self._may_go(now, later=waiting.later):
                return
            sealed = waiting if waiting.envelope is not None else self._seal(waiting)
            if sealed is None or sealed.envelope is None:
                stuck.add(waiting.peer)
                continue
            if not self._in_flight:
                self._answered = now
            self._in_flight[sealed.packet_id] = now
            await self._tell_steps(ws)
            copy = (sealed.position, self._told_steps or 0)
            self._copies.setdefault(sealed.packet_id, []).append(copy)
            await ws.send_str(frames.packet_bytes(sealed.envelope, sealed.sig).decode("utf-8"))

    def _may_go(self, now: float, *, later: bool) -> bool:
        """Whether a packet may go now: mail always, the rest while enough of the rate is left for mail."""
        if later and (
            len(self._in_flight) >= _LATER_IN_FLIGHT
            or self._rate.take(now, rate=_A_SECOND, burst=_BURST, count=1 + _FOR_MAIL)
        ):
            return False
        if later:
            self._rate.level += _FOR_MAIL
        else:
            self._rate.take(now, rate=_A_SECOND, burst=_BURST)
        return True

    def _seal(self, waiting: UnsentPacket) -> UnsentPacket | None:
        bundle = None
        if not waiting.receipt and self._outbox.needs_prekeys(waiting.peer):
            there, bundle = self._bundles.take(waiting.peer, waiting.packet_id)
            if not there:
                return None
            self._lookups.done(waiting.peer)
        sealed = self._outbox.seal(waiting.position, bundle)
        if sealed is not None:
            self._bundles.sealed(waiting.peer)
        if sealed is None and self._outbox.pending(waiting.packet_id) == "waiting":
            self._bundles.rest(waiting.peer)
        return sealed
