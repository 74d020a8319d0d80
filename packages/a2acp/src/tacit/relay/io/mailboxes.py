"""Mailboxes: takes frames, keeps the order of checks, stores, then answers and hands out.

A2ACP-001, A2ACP-002, A2ACP-003, A2ACP-004, A2ACP-005, A2ACP-006, A2ACP-016, A2ACP-017, A2ACP-018,
A2ACP-218, A2ACP-219, A2ACP-220, A2ACP-221, A2ACP-222, A2ACP-223, A2ACP-249, A2ACP-254, A2ACP-257.

Composes the rules; the rules themselves stand in the core. Nothing is answered `accepted` before its commit.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import logging
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final, Protocol

from tacit.base.callers import Bound, bounds_of
from tacit.base.errors import PeerFault, Refused, TacitError, Unavailable
from tacit.base.io.time_service import time_of
from tacit.base.moment import earlier
from tacit.relay.federation import FederationPolicy
from tacit.relay.io import guest_store, notices, registry, store
from tacit.relay.io.agent_steps import AgentSteps
from tacit.relay.io.budgets import Budgets, forget_old
from tacit.relay.io.correspondence import Correspondence
from tacit.relay.io.intake import MOST_MARKERS, Intake
from tacit.relay.io.metrics import Counts
from tacit.relay.io.packet_batch import PacketBatch
from tacit.relay.io.prekeys import PrekeyUploads
from tacit.relay.io.store import Overtaken
from tacit.relay.login import CHALLENGE_BYTES, NOBODY, LoginFailures, challenge_holds, local_address
from tacit.relay.packet_checks import PacketChecks, retry_after
from tacit.relay.quota import MailboxQuota
from tacit.relay.rate import PerMinute, Reputation
from tacit.wire import address, codes, frames
from tacit.wire.address import Address
from tacit.wire.encoding import b64, unb64

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tacit.base.moment import Moment
    from tacit.base.ports import Clock, Entropy
    from tacit.relay.io.connection import MailboxConnection
    from tacit.relay.io.registry import RegisteredAgent
    from tacit.relay.io.store import Queued, RelayStore
    from tacit.relay.ports import Signatures
    from tacit.relay.settings import RelayLimits
    from tacit.wire.envelope import Envelope

_log: Final = logging.getLogger("tacit.relay")
_MOST_CACHED: Final = 50_000
_MOST_TAGS: Final = 5_000
# A login is a tenth of this.
_MOST_BEFORE_LOGIN: Final = 8 * 1024


class Forwarder(Protocol):
    """Takes what is addressed to another relay."""

    def accept(
        self, connection: MailboxConnection, found: Envelope, sig: str, domain: str, now: Moment
    ) -> None:
        """Store it for that relay, then tell the sender."""
        ...


class Mailboxes:
    """One relay's mailboxes and whoever is connected to them."""

    def __init__(
        self,
        *,
        domain: str,
        relay_store: RelayStore,
        signatures: Signatures,
        clock: Clock,
        entropy: Entropy,
        limits: RelayLimits,
        correspondence_key: bytes,
        open_federation: bool = False,
    ) -> None:
        self.domain = domain
        self.store = relay_store
        self.signatures = signatures
        self.clock = time_of(clock)
        self.clock.remember_in(relay_store.folder, relay_store.newest)
        self.entropy = entropy
        self.limits = limits
        self.counts = Counts()
        self.quota = MailboxQuota(limits, domain)
        self.correspondence = Correspondence(
            relay_store,
            domain=domain,
            key=correspondence_key,
            per_hour=limits.new_recipients_per_hour,
            met=self.quota.befriend,
        )
        self.quota.load(relay_store.occupancy(), self.correspondence.knows)
        self.budgets = Budgets(correspondence_key)
        self.intake = Intake(
            relay_store, self.quota, self.correspondence, self.budgets, limits, home=domain, reader=self
        )
        self.reputation = Reputation()
        self.reputation.load(registry.reputations(relay_store.reader))
        self.failures = LoginFailures(limits)
        self.checks = PacketChecks(
            rates=PerMinute(limits.packets_per_minute, limits.burst),
            prekeys=PerMinute(limits.prekeys_per_minute, 2 * limits.prekeys_per_minute),
            first_contacts=self.correspondence,
            reputation=self.reputation,
        )
        self._uploads = PrekeyUploads(self.checks, signatures, relay_store, most=limits.one_time_prekeys)
        self.steps = AgentSteps(relay_store)
        self._batch = PacketBatch(self.checks, route=self.route, refuse=self.refuse)
        self.connected: dict[int, MailboxConnection] = {}
        self.all: set[MailboxConnection] = set()
        self.sources: Counter[str] = Counter()
        self.forwarder: Forwarder | None = None
        self._agents: OrderedDict[str, RegisteredAgent] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._hash = functools.partial(hashlib.blake2b, key=entropy.draw(32), digest_size=8)
        self._open_federation = open_federation
        self.reload()

    def reload(self) -> None:
        """Read again what an operator may have changed."""
        reader = self.store.reader
        self._read_version = self.store.operator_version()
        self.blocked = registry.blocked(reader)
        allowed, denied = registry.peers(reader)
        self.policy = FederationPolicy(allowed, denied, self._open_federation)
        self._agents.clear()
        for connection in [found for found in self.connected.values() if found.address in self.blocked]:
            connection.close(codes.CLOSE_BLOCKED)

    def reload_if_changed(self) -> None:
        """Read again if an operator has given a command since."""
        if self.store.operator_version() != self._read_version:
            self.reload()

    def permits(self, domain: str) -> bool:
        """Does this relay talk to that one? No is said only after a look at what an operator has changed."""
        if not self.policy.permits(domain):
            self.reload_if_changed()
        return self.policy.permits(domain)

    def sources_of(self, remote: str | None) -> tuple[Bound, ...]:
        """By what a caller's requests are counted, as keyed hashes that mean nothing elsewhere or later."""
        return tuple(Bound(self._hash(key.encode()).hexdigest(), share) for key, share in bounds_of(remote))

    def agent(self, username: str) -> RegisteredAgent | None:
        """A registered agent of this relay."""
        found = self._agents.get(username)
        if found is None:
            found = registry.agent(self.store.reader, username)
            if found is not None:
                self._agents[username] = found
                if len(self._agents) > _MOST_CACHED:
                    self._agents.popitem(last=False)
        return found

    def forget_agent(self, username: str) -> None:
        """Its keys have changed: whoever speaks with the old ones must prove the new ones."""
        self._agents.pop(username, None)
        fresh, spoken = self.agent(username), str(Address(username, self.domain))
        # Among the connected, not in the cache: an operator's command may have emptied that.
        for connection in [found for found in self.connected.values() if found.address == spoken]:
            if fresh is None or fresh.signing_key != connection.key:
                connection.close(codes.CLOSE_AUTH_FAILED)

    def prekeys_low(self, account: int) -> None:
        """Tell a connected agent how few one-time prekeys are left."""
        connection = self.connected.get(account)
        if connection is not None:
            connection.say(frames.PrekeysOkFrame(registry.prekeys_left(self.store.reader, account)))

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run something that has no caller to wait for it; a failure is logged, never lost."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("background work failed: %s", type(error).__name__)

    async def settle(self) -> None:
        """Wait for work in the background."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    # Arrivals and departures.

    def arrived(self, connection: MailboxConnection) -> None:
        """A socket opened: challenge it (A2ACP-016)."""
        self.all.add(connection)
        self.sources.update(bound.key for bound in connection.sources)
        connection.challenge = b64(self.entropy.draw(CHALLENGE_BYTES))
        connection.say(frames.ChallengeFrame(connection.challenge, self.domain, ["0.1", "0.2"]))

    def left(self, connection: MailboxConnection) -> None:
        """A socket closed."""
        connection.abort()
        self.all.discard(connection)
        for bound in connection.sources:
            self.sources[bound.key] -= 1
            if self.sources[bound.key] <= 0:
                del self.sources[bound.key]
        if self.connected.get(connection.account) is connection:
            del self.connected[connection.account]

    # Frames.

    def hear(self, connection: MailboxConnection, text: bytes | str, now: Moment) -> None:
        """One text frame from an agent."""
        if connection.account == 0 and len(text) > _MOST_BEFORE_LOGIN:
            connection.close(codes.CLOSE_AUTH_FAILED, frames.ErrorFrame(codes.NOT_AUTHENTICATED))
            return
        try:
            frame = frames.decode(text)
        except PeerFault:
            self.refuse(connection, codes.BAD_ENVELOPE)
            return
        if isinstance(frame, frames.PacketFrame):
            self._batch.add(connection, frame, now)
        elif isinstance(frame, frames.AuthFrame):
            self._auth(connection, frame, now)
        elif connection.account == 0:
            if frame is not None:
                self.refuse(connection, codes.NOT_AUTHENTICATED)
        elif isinstance(frame, frames.ReceivedFrame):
            self._received(connection, frame)
        elif isinstance(frame, frames.PrekeysFrame):
            # The next frame is read when this one is done: nobody piles up work.
            connection.job = self.spawn(self._keep_prekeys(connection, frame, now))
        elif isinstance(frame, frames.StepsFrame):
            connection.penalty += not self.steps.told(connection.account, connection.key, frame)
        elif isinstance(frame, frames.ContactsFrame):
            connection.job = self.spawn(self._keep_contacts(connection, frame, now))
        elif isinstance(frame, frames.ReportFrame):
            self._report(connection, frame, now)
        else:
            # Nothing for a relay, or from a newer edition: ignored, but not for free.
            connection.penalty += 1

    def refuse(
        self, connection: MailboxConnection, code: str, packet_id: str | None = None, wait: int | None = None
    ) -> None:
        """Say which packet was not taken, and why; whoever is refused is read more slowly."""
        self.counts.errors[code] += 1
        if code != codes.UNAVAILABLE:
            connection.penalty += 1
        connection.say(frames.ErrorFrame(code, packet_id, wait))

    async def _keep_prekeys(
        self, connection: MailboxConnection, frame: frames.PrekeysFrame, now: Moment
    ) -> None:
        try:
            left = await self._uploads.keep(connection, frame, now)
        except Refused as refused:
            self.refuse(connection, refused.code, wait=retry_after(refused))
        except TacitError:
            self.refuse(connection, codes.UNAVAILABLE, wait=5)
        else:
            connection.say(frames.PrekeysOkFrame(left))

    async def _keep_contacts(
        self, connection: MailboxConnection, frame: frames.ContactsFrame, now: Moment
    ) -> None:
        if not 0 < len(frame.tags) <= _MOST_TAGS:
            self.refuse(connection, codes.BAD_ENVELOPE)
            return
        account = connection.account
        try:
            self.checks.prekeys(connection.address, 1 + len(frame.tags) // 32, now)
            await self.correspondence.accept(account, frame.tags, self.quota.senders)
        except Refused as refused:
            self.refuse(connection, refused.code, wait=retry_after(refused))
        except TacitError:
            self.refuse(connection, codes.UNAVAILABLE, wait=5)

    def _auth(self, connection: MailboxConnection, frame: frames.AuthFrame, now: Moment) -> None:
        if self.store.is_shared:
            connection.job = self.spawn(self._auth_among_nodes(connection, frame, now))
        elif (agent := self._proved(connection, frame, now)) is not None:
            self._welcome(connection, agent, frame.address)

    async def _auth_among_nodes(
        self, connection: MailboxConnection, frame: frames.AuthFrame, now: Moment
    ) -> None:
        """Judge a login by what all nodes have written, then have its connection be the last one."""
        claimed: asyncio.Future[TacitError | None] = asyncio.get_running_loop().create_future()

        def then(failed: TacitError | None) -> None:
            claimed.set_result(failed)
            if failed is None and agent is not None and not connection.closing:
                self._welcome(connection, agent, frame.address)

        try:
            await self.store.fresh()
            agent = self._proved(connection, frame, now)
            if agent is not None:
                self.store.claim(agent.account, then)
                if (failed := await claimed) is not None:
                    raise failed
        except TacitError:
            connection.close(codes.CLOSE_BROKEN, frames.ErrorFrame(codes.UNAVAILABLE, None, 5))

    def _proved(
        self, connection: MailboxConnection, frame: frames.AuthFrame, now: Moment
    ) -> RegisteredAgent | None:
        """The agent that a login proves to be; else the connection is closed."""
        sent, connection.challenge = connection.challenge, ""
        source = connection.sources[0].key
        claimed = local_address(frame.address, self.domain)
        agent = self.agent(claimed.username) if claimed else None
        signed = frames.auth_bytes(relay=self.domain, address=frame.address, challenge=frame.challenge)
        # One check for all, whether or not the address exists: the time taken tells nothing.
        key = agent.signing_key if agent else NOBODY
        holds = self.signatures.verify(key, signed, unb64(frame.signature) or b"")
        timely = challenge_holds(sent, frame.challenge, connection.opened, now, self.limits)
        shut = self.failures.locked(source, frame.address, now) or frame.address in self.blocked
        if agent is None or not holds or not timely or shut or connection.account != 0:
            self.counts.login_failures += 1
            if claimed is not None:
                # Whatever is no address here names nobody to be locked out, and is not remembered.
                self.failures.failed(source, frame.address, now)
            connection.close(codes.CLOSE_AUTH_FAILED, frames.ErrorFrame(codes.NOT_AUTHENTICATED))
            return None
        self.failures.succeeded(source, frame.address)
        if not frame.begins and frame.epoch < registry.prekey_epoch(self.store.reader, agent.account):
            # Before it could take the place, or the mail, of the device that was set up after it.
            connection.close(codes.CLOSE_OTHER_DEVICE, frames.ErrorFrame(codes.OTHER_DEVICE))
            return None
        return agent

    def _welcome(self, connection: MailboxConnection, agent: RegisteredAgent, spoken: str) -> None:
        self.supersede(agent.account)
        connection.account, connection.address = agent.account, spoken
        connection.key = agent.signing_key
        connection.check = self.signatures.checker(agent.signing_key)
        self.connected[agent.account] = connection
        self.counts.logins += 1
        steps, steps_sig = self.steps.furthest(agent.account, agent.signing_key)
        connection.say(
            frames.AuthOkFrame(
                spoken,
                self.quota.packets(agent.account),
                self.limits.heartbeat_seconds,
                registry.prekeys_left(self.store.reader, agent.account),
                registry.signed_prekey_id(self.store.reader, agent.account),
                steps=steps,
                steps_sig=steps_sig,
                prekey_epoch=registry.prekey_epoch(self.store.reader, agent.account),
                one_time_ids=registry.one_time_ids(self.store.reader, agent.account),
                time=self.clock.said(),
            )
        )
        for identifier, tag, refused in store.markers(self.store.reader, agent.account):
            connection.markers.add(-identifier)
            connection.say(
                frames.QueueOverflowFrame(tag, self.limits.per_tag, refused=refused, delivery=-identifier)
            )
        notices.say_all(self.store, connection)
        connection.read_mailbox()

    def supersede(self, account: int) -> None:
        """An agent has connected anew: its connection of before, if it is here, is over."""
        if (old := self.connected.get(account)) is not None:
            self.counts.superseded += 1
            old.close(codes.CLOSE_SUPERSEDED, frames.SupersededFrame())

    def ponged(self, connection: MailboxConnection, data: bytes) -> None:
        """An agent answered a ping: what it was told before that is heard."""
        if number := connection.pong(bytes(data)):
            self.spawn(notices.heard(self.store, connection.account, number))

    async def find_agent(self, username: str) -> RegisteredAgent | None:
        """A registered agent; "nobody" is said only after a look at what other nodes have written."""
        found = self.agent(username)
        if found is None and self.store.is_shared:
            await self.store.fresh()
            found = self.agent(username)
        return found

    async def _route_anew(
        self, connection: MailboxConnection, found: Envelope, sig: str, now: Moment
    ) -> None:
        """Once more, after a look at what other nodes have written."""
        try:
            await self.store.fresh()
            self.route(connection, found, sig, now, looked=True)
        except Refused as refused:
            self.refuse(connection, refused.code, found.packet_id, retry_after(refused))
        except Unavailable:
            self.refuse(connection, codes.UNAVAILABLE, found.packet_id, 5)

    def route(
        self, connection: MailboxConnection, found: Envelope, sig: str, now: Moment, *, looked: bool = False
    ) -> None:
        """Store a packet that has passed every check, here or for another relay."""
        to = address.parse(found.recipient)
        if to.domain != self.domain:
            if self.forwarder is None or not self.permits(to.domain):
                raise Refused(
                    codes.FEDERATION_FAILED, "this relay does not talk to that one", row="A2ACP-256"
                )
            self.forwarder.accept(connection, found, sig, to.domain, now)
            return
        agent = self.agent(to.username)
        if agent is None and self.store.is_shared and not looked:
            self.spawn(self._route_anew(connection, found, sig, now))
            return
        if agent is None or found.recipient in self.blocked:
            raise Refused(codes.UNKNOWN_RECIPIENT, "nobody is registered there", row="A2ACP-018")

        def then(failed: TacitError | None) -> None:
            if isinstance(failed, Overtaken):
                self.spawn(self._route_anew(connection, found, sig, now))
            elif isinstance(failed, Refused):
                self.refuse(connection, failed.code, found.packet_id, retry_after(failed))
            elif failed is not None:
                self.refuse(connection, codes.UNAVAILABLE, found.packet_id, 5)
            else:
                self.counts.accepted += 1
                connection.confirm(found.packet_id)

        over = self.intake.take(agent.account, found, sig, now, then)
        if over is not None:
            self._overflow(connection, agent.account, found, over.limit)

    def deliver(self, account: int, queued: Queued) -> None:
        """Hand out what was just stored, if its recipient is connected here."""
        if (recipient := self.connected.get(account)) is not None:
            recipient.deliver(queued)
            self.counts.delivered += 1

    def took_back(self, account: int, position: int) -> None:
        """A packet was replaced: it is no longer on its way to its recipient."""
        if (recipient := self.connected.get(account)) is not None:
            recipient.inflight.pop(position, None)

    def _overflow(self, connection: MailboxConnection, account: int, found: Envelope, limit: int) -> None:
        self.counts.overflows += 1
        connection.say(frames.QueueOverflowFrame(found.queue_tag, limit, found.recipient, found.packet_id))
        self.spawn(self.intake.mark(account, found))

    def _received(self, connection: MailboxConnection, frame: frames.ReceivedFrame) -> None:
        if len(frame.deliveries) > len(connection.inflight) + len(connection.markers):
            # More than was ever handed out, or told twice: not looked at number by number for free.
            connection.penalty += 1
            if len(frame.deliveries) > self.limits.window_packets + MOST_MARKERS:
                self.refuse(connection, codes.BAD_ENVELOPE)
                return
        known = [
            position
            for position in frame.deliveries
            if position in connection.inflight or position in connection.markers
        ]
        for position in known:
            connection.markers.discard(position)
            entry = connection.inflight.pop(position, None)
            if entry is not None:
                sender, tag, size, _ = entry
                if not self.store.is_shared:
                    self.quota.release(connection.account, tag, sender, size)
                self.counts.received += 1
        if known:
            connection.gone += known
            if connection.removing is None:
                connection.removing = self.spawn(self._remove(connection))
            connection.wake()

    async def _remove(self, connection: MailboxConnection) -> None:
        """Forget what an agent has; what it answers meanwhile shares the next write."""
        account = connection.account
        try:
            while connection.gone:
                gone, connection.gone = connection.gone, []
                removed = await self.store.write(lambda file, gone=gone: store.remove(file, account, gone))
                if self.store.is_shared:
                    # Another node may have removed some: whoever did gives the room back.
                    for tag, sender, size in removed:
                        self.quota.release(account, tag, sender, size)
        except TacitError:
            # The packet stays stored and is handed out again; its reader recognises it.
            _log.warning("a received packet could not be removed yet")
        finally:
            connection.removing = None

    def _report(self, connection: MailboxConnection, frame: frames.ReportFrame, now: Moment) -> None:
        """Only who was handed something by a sender may speak of it (A2ACP-261)."""
        if frame.sender in connection.senders:
            self.reputation.report(connection.address, frame.sender, now)
        else:
            connection.penalty += 1

    # Other relays.

    async def take_from_relay(self, found: Envelope, sig: str, now: Moment) -> frames.Frame | None:
        """Store a packet that another relay brought.

        None when it is on disk, else the refusal to pass back.
        """
        agent = await self.find_agent(address.parse(found.recipient).username)
        if agent is None or found.recipient in self.blocked or found.sender in self.blocked:
            return frames.ErrorFrame(codes.UNKNOWN_RECIPIENT, found.packet_id)
        while True:
            done: asyncio.Future[TacitError | None] = asyncio.get_running_loop().create_future()
            over = self.intake.take(agent.account, found, sig, now, functools.partial(_settle, done))
            if over is not None:
                self.counts.overflows += 1
                await self.intake.mark(agent.account, found)
                return frames.QueueOverflowFrame(
                    found.queue_tag, over.limit, found.recipient, found.packet_id
                )
            failed = await done
            if not isinstance(failed, Overtaken):
                break
        if isinstance(failed, Refused):
            return frames.ErrorFrame(failed.code, found.packet_id, retry_after(failed))
        if failed is not None:
            return frames.ErrorFrame(codes.UNAVAILABLE, found.packet_id, 5)
        self.counts.federated_in += 1
        return None

    async def tell(self, sender: str, frame: frames.Frame) -> None:
        """A control frame for a local agent, now and until it was heard."""
        found = local_address(sender, self.domain)
        agent = self.agent(found.username) if found else None
        if agent is None:
            return
        await notices.tell(self.store, agent.account, frame, self.connected.get)

    # Housekeeping.

    async def expire(self) -> None:
        """Forget what nobody fetched in thirty days, and tell the senders (A2ACP-222)."""
        confirmed = self.clock.confirmed()
        gone = await self.store.write(lambda file: store.expire(file, earlier(confirmed, self.limits.keep)))
        await self.store.write(lambda file: guest_store.expire(file, confirmed, self.limits))
        await self.store.write(lambda file: forget_old(file, confirmed))
        for recipient, sender, tag, size, _ in gone:
            self.quota.release(recipient, tag, sender, size)
        self.counts.expired += len(gone)
        errors = (
            (sender, frames.ErrorFrame(codes.EXPIRED, packet_id)) for _, sender, _, _, packet_id in gone
        )
        await asyncio.gather(*(self.tell(sender, error) for sender, error in errors))


def _settle(done: asyncio.Future[TacitError | None], failed: TacitError | None) -> None:
    """Tell whoever waits for a packet's fate, unless it has left meanwhile."""
    if not done.done():
        done.set_result(failed)
