"""Packets between relays: out with a signature and retries, in with every check.

A2ACP-254, A2ACP-255, A2ACP-256.

Outgoing packets are on disk before the sender hears `accepted`, go out in the order in which a sender wrote
to a recipient, one relay at a time in a task of its own, and are tried for 48 hours. Incoming requests are
signed by the relay they come from; each packet's `from` must belong to that relay, and the agent's own
signature is still verified. Whoever has this relay look for others, by a packet or by a claim, does so within
a day's allowance; connections go to public addresses and listed networks only (`base.io.public_sockets`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final, TypeVar

import aiohttp
import msgspec

from tacit.base.errors import PeerFault, Refused, TacitError, Unavailable
from tacit.base.io.public_sockets import PrivateAddressError
from tacit.base.moment import SECOND, Moment, earlier
from tacit.relay.federation import (
    BATCH,
    KEY_CACHE,
    NONCE_KEPT,
    UNKNOWN_CACHE,
    Pair,
    PairBackoff,
    RelayCard,
    deliver_url,
    given_up,
    read_card,
    wait_after,
)
from tacit.relay.io import registry, store
from tacit.relay.io.budgets import DailyAllowance
from tacit.relay.io.replies import bounded
from tacit.relay.packet_checks import RateLimited, retry_after
from tacit.relay.rate import PerMinute
from tacit.relay.settings import HOUR
from tacit.wire import address, codes, frames, records
from tacit.wire.encoding import UNREADABLE, b64, unb64
from tacit.wire.http_date import their_time

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    import apsw

    from tacit.base.callers import Bound
    from tacit.relay.io.connection import MailboxConnection
    from tacit.relay.io.mailboxes import Mailboxes
    from tacit.relay.io.store import Outgoing
    from tacit.relay.quota import Overflow
    from tacit.wire.address import Address
    from tacit.wire.envelope import Envelope

_log: Final = logging.getLogger("tacit.relay")
_TIMEOUT: Final = aiohttp.ClientTimeout(total=30, connect=10)
_MOST_BYTES: Final = 64 * 1024
_MOST_REMEMBERED: Final = 50_000
V = TypeVar("V")
_Late = dict["str | Pair", tuple[str, "int | None"]]
"""Whose packets must come again, a sender's or a pair's: the code, and the seconds to wait."""


class Carried(msgspec.Struct, frozen=True):
    """A packet between relays."""

    envelope: msgspec.Raw
    sig: str


class DeliveryBody(msgspec.Struct, frozen=True):
    """The body of a signed request."""

    packets: list[Carried]


class DeliveryResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one packet: `accepted`, or a code and whether to come again."""

    packet_id: str | None
    code: str
    retry_after: int | None = None
    limit: int | None = None
    queue_tag: str | None = None


ACCEPTED: Final = "accepted"
OVERFLOW: Final = "queue_overflow"


class Federation:
    """This relay's dealings with others."""

    def __init__(
        self, mailboxes: Mailboxes, session: aiohttp.ClientSession, *, scheme: str = "https"
    ) -> None:
        self._mailboxes = mailboxes
        self._http = session
        self._scheme = scheme
        self._wakes: dict[str, asyncio.Event] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._rates = PerMinute(
            mailboxes.limits.peer_packets_per_minute, mailboxes.limits.peer_packets_per_minute
        )
        self._requests = PerMinute(
            mailboxes.limits.peer_packets_per_minute, mailboxes.limits.peer_packets_per_minute
        )
        self._keys: dict[str, tuple[bytes, Moment]] = {}
        self._unknown: dict[str, Moment] = {}
        self._apart: dict[str, int] = {}
        """By how much the clocks of other relays are ahead of ours, where they refused a request."""
        self._used_in: dict[str, int] = {}
        self._closing = False

    # Outward.

    def accept(
        self, connection: MailboxConnection, found: Envelope, sig: str, domain: str, now: Moment
    ) -> None:
        """Store a packet for another relay, then tell its sender."""
        mailboxes = self._mailboxes
        listed = domain in mailboxes.policy.allowed

        def put(file: apsw.Connection) -> Overflow | None:
            if not listed and not store.waits_for(file, domain) and registry.peer_key(file, domain) is None:
                allowance = DailyAllowance(
                    f"new relays\nof {found.sender}", mailboxes.limits.new_relays_a_day
                )
                mailboxes.budgets.spend(file, [allowance], now)
            position = mailboxes.store.next_position()
            return store.put_outgoing(file, position, found, sig, domain, now, mailboxes.limits)

        mailboxes.spawn(self._answer(connection, found, domain, mailboxes.store.write(put)))

    async def _answer(
        self,
        connection: MailboxConnection,
        found: Envelope,
        domain: str,
        kept: asyncio.Future[Overflow | None],
    ) -> None:
        try:
            over = await kept
        except Refused as refused:
            self._mailboxes.refuse(connection, refused.code, found.packet_id, retry_after(refused))
            return
        except TacitError:
            self._mailboxes.refuse(connection, codes.UNAVAILABLE, found.packet_id, 5)
            return
        if over is None:
            self._mailboxes.counts.accepted += 1
            connection.confirm(found.packet_id)
            self.wake(domain)
            return
        self._mailboxes.counts.overflows += 1
        connection.say(
            frames.QueueOverflowFrame(found.queue_tag, over.limit, found.recipient, found.packet_id)
        )

    def start(self) -> None:
        """Go on with what waits, if it is this node that carries it."""
        for domain in store.outgoing_domains(self._mailboxes.store.reader):
            self.wake(domain)

    def wake(self, domain: str) -> None:
        """Something waits for a relay."""
        if not self._mailboxes.store.is_on_duty:
            return
        self._wakes.setdefault(domain, asyncio.Event()).set()
        if domain not in self._workers and not self._closing:
            task = asyncio.get_running_loop().create_task(self._work(domain))
            self._workers[domain] = task
            task.add_done_callback(lambda done: self._ended(domain, done))

    def _ended(self, domain: str, task: asyncio.Task[None]) -> None:
        self._workers.pop(domain, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("delivery to a relay stopped: %s", type(error).__name__)

    async def close(self) -> None:
        """Stop; what waits stays on disk."""
        self._closing = True
        await self.rest()

    async def rest(self) -> None:
        """Carry nothing for now."""
        for task in list(self._workers.values()):
            task.cancel()
        await asyncio.gather(*self._workers.values(), return_exceptions=True)

    async def _work(self, domain: str) -> None:
        attempts, resting = 0, PairBackoff()
        while True:
            self._wakes[domain].clear()
            now = self._mailboxes.clock.now()
            waiting = store.outgoing(self._mailboxes.store.reader, domain, BATCH, resting.pairs(now))
            if not waiting:
                await self._pause(domain, resting.ends_in(now))
                continue
            late = await self._try(domain, waiting)
            if late is None:
                await self._give_up(waiting)
                await asyncio.sleep(wait_after(attempts) / SECOND)
                attempts += 1
                continue
            attempts = 0
            for pair in {packet.pair for packet in waiting}:
                resting.note(pair, now, late.get(pair))
            await self._give_up([packet for packet in waiting if packet.pair in late])

    async def _pause(self, domain: str, most: int | None) -> None:
        """Wait for another packet, or until a sender's rest is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if most is None else most / SECOND):
                await self._wakes[domain].wait()

    async def _try(self, domain: str, waiting: Sequence[Outgoing]) -> dict[Pair, int] | None:
        """Pairs whose packets must come again, with the seconds to wait; None when all must."""
        try:
            return await self._deliver(domain, waiting)
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, PrivateAddressError):
                _log.warning("a relay has no public address; list its network with --federation-network")
            else:
                _log.warning("a relay does not take our packets: %s", type(error).__name__)
        except (aiohttp.ClientError, TimeoutError, PeerFault, Refused, Unavailable) as error:
            _log.warning("a relay does not take our packets: %s", type(error).__name__)
        except Exception as error:  # noqa: BLE001 - whatever a stranger's card or answer does to us, we try again and give up in time
            _log.error("a relay's answer was too much for us: %s", type(error).__name__)
        return None

    async def _deliver(self, domain: str, waiting: Sequence[Outgoing]) -> dict[Pair, int]:
        card = await self.card(domain)
        body = msgspec.json.encode(
            DeliveryBody([Carried(msgspec.Raw(one.envelope), one.sig) for one in waiting])
        )
        url = deliver_url(card, self._scheme)
        headers = self._sign(domain, url, body)
        async with self._http.post(
            url, data=body, headers=headers, timeout=_TIMEOUT, allow_redirects=False
        ) as response:
            if response.status != 200:
                self._learn_time(domain, response.headers)
                raise Unavailable(f"the relay answered {response.status}")
            outcomes = _results(await bounded(response.content, _MOST_BYTES))
        if len(outcomes) != len(waiting):
            raise PeerFault("the relay answered for another number of packets")
        return await self._settle(domain, waiting, outcomes)

    async def _settle(
        self, domain: str, waiting: Sequence[Outgoing], outcomes: Sequence[DeliveryResult]
    ) -> dict[Pair, int]:
        """Forget what is settled; the pairs of the rest, with the seconds that were asked for."""
        mailboxes, settled, late = self._mailboxes, list[int](), dict[Pair, int]()
        for one, outcome in zip(waiting, outcomes, strict=True):
            if outcome.code in codes.RETRYABLE:
                late[one.pair] = max(late.get(one.pair, 0), outcome.retry_after or 0)
                continue
            settled.append(one.position)
            if outcome.code == ACCEPTED:
                mailboxes.counts.federated_out += 1
            elif outcome.code == OVERFLOW:
                tag, limit = outcome.queue_tag or "", outcome.limit or 0
                over = frames.QueueOverflowFrame(tag, limit, one.recipient, one.packet_id)
                await mailboxes.tell(one.sender, over)
            else:
                code = outcome.code if outcome.code in codes.ERROR_CODES else codes.FEDERATION_FAILED
                await mailboxes.tell(one.sender, frames.ErrorFrame(code, one.packet_id))
        now = mailboxes.clock.now()

        def settle(file: apsw.Connection) -> None:
            store.remove_outgoing(file, settled)
            if any(outcome.code == ACCEPTED for outcome in outcomes):
                registry.use_peer(file, domain, now)

        await mailboxes.store.write(settle)
        return late

    async def _give_up(self, waiting: Sequence[Outgoing]) -> None:
        mailboxes, confirmed = self._mailboxes, self._mailboxes.clock.confirmed()
        dead = [
            one for one in waiting if given_up(one.accepted_at, confirmed, mailboxes.limits.federation_keep)
        ]
        positions = [one.position for one in dead]
        try:
            for one in dead:
                await mailboxes.tell(one.sender, frames.ErrorFrame(codes.FEDERATION_FAILED, one.packet_id))
            if dead:
                await mailboxes.store.write(lambda file: store.remove_outgoing(file, positions))
        except TacitError:
            _log.warning("a packet that failed could not be given up yet")

    # Cards and keys.

    async def _get(self, url: str) -> bytes:
        async with self._http.get(url, timeout=_TIMEOUT, allow_redirects=False) as response:
            if response.status == 404:
                raise Refused("not_found", "the relay knows nothing there", row="A2ACP-255")
            if response.status != 200:
                raise Unavailable(f"the relay answered {response.status}")
            return await bounded(response.content, _MOST_BYTES)

    async def card(self, domain: str) -> RelayCard:
        """Another relay's card; its key must be the pinned one, and is pinned when it is the first."""
        card = await self._said_card(domain)
        key, now = unb64(card.relay_key) or b"", self._mailboxes.clock.now()
        if self._pinned(domain) is None:
            await self._mailboxes.store.write(lambda file: self._pin(file, domain, key, now))
        if self._pinned(domain) != key:
            raise PeerFault("the relay's key is not the pinned one; an operator must decide")
        return card

    async def _said_card(self, domain: str) -> RelayCard:
        return read_card(await self._get(f"{self._scheme}://{domain}/.well-known/a2acp"), domain)

    def _pinned(self, domain: str) -> bytes | None:
        return registry.peer_key(self._mailboxes.store.reader, domain)

    def _pin(self, file: apsw.Connection, domain: str, key: bytes, now: Moment) -> None:
        registry.pin_peer(file, domain, key, now, self._mailboxes.limits.pinned_relays)

    async def _count_lookup(self, domain: str, bounds: Sequence[Bound], now: Moment) -> None:
        """`RateLimited` when a source has had us look up too many relays in a day that we had not met."""
        mailboxes = self._mailboxes
        if domain in mailboxes.policy.allowed or self._pinned(domain) is not None:
            return
        most, budgets = mailboxes.limits.new_relays_a_day, mailboxes.budgets
        allowances = [DailyAllowance(f"new relays\n{bound.key}", int(most * bound.share)) for bound in bounds]
        if wait := budgets.wait(mailboxes.store.reader, allowances, now):
            raise RateLimited(wait)
        await mailboxes.store.write(lambda file: budgets.spend(file, allowances, now))

    async def agent_keys(self, sender: str, bounds: Sequence[Bound]) -> AsyncGenerator[bytes]:
        """The keys of another relay's agent: the known one, then, if that may be old, the one of now.

        `Refused` when it has none that holds. Whoever signs badly has us ask once a minute at most; who asks
        (`bounds`) has us look up so many relays in a day.
        """
        now = self._mailboxes.clock.now()
        key, at = self._keys.get(sender, (b"", now))
        if key and now - at < KEY_CACHE:
            yield key
            if now - at < UNKNOWN_CACHE:
                return
        await self._count_lookup(address.parse(sender).domain, bounds, now)
        yield await self._agent_key(sender, now)

    async def _agent_key(self, sender: str, now: Moment) -> bytes:
        """The key of another relay's agent, as its relay says now; `Refused` when it has none that holds."""
        missed = self._unknown.get(sender)
        if missed is not None and now - missed < UNKNOWN_CACHE:
            raise _no_key()
        who = address.parse(sender)
        try:
            key = self._key_in(await self._record(who), sender)
        except Refused:
            _remember(self._unknown, sender, now)
            raise _no_key() from None
        _remember(self._keys, sender, (key, now))
        return key

    async def _record(self, who: Address) -> bytes:
        """An agent's record, asked for with a relay's limits; an older relay is asked as anyone asks."""
        body = msgspec.json.encode({"username": who.username})
        url = f"{self._scheme}://{who.domain}/v1/federation/agents"
        headers = self._sign(who.domain, url, body)
        async with self._http.post(
            url, data=body, headers=headers, timeout=_TIMEOUT, allow_redirects=False
        ) as response:
            if response.status == 200:
                return await bounded(response.content, _MOST_BYTES)
            self._learn_time(who.domain, response.headers)
        return await self._get(f"{self._scheme}://{who.domain}/v1/agents/{who.username}")

    def _learn_time(self, domain: str, headers: Mapping[str, str]) -> None:
        """Another relay refused a request, perhaps for its time: the next one is signed by theirs."""
        now = self._mailboxes.clock.now()
        if (theirs := their_time(headers, now)) is not None:
            _remember(self._apart, domain, theirs - now)

    def _sign(self, domain: str, url: str, body: bytes) -> dict[str, str]:
        mailboxes = self._mailboxes
        return mailboxes.signatures.sign_request(
            url=url,
            body=body,
            key_id=mailboxes.domain,
            now=Moment(mailboxes.clock.now() + self._apart.get(domain, 0)),
            nonce=b64(mailboxes.entropy.draw(18)),
        )

    def _key_in(self, raw: bytes, sender: str) -> bytes:
        record = records.read_record(raw)
        statement = records.read_statement(bytes(record.statement))
        key = unb64(statement.signing_key) or b""
        signed = records.statement_signed_bytes(bytes(record.statement))
        if statement.address != sender or not self._mailboxes.signatures.verify(
            key, signed, unb64(record.sig) or b""
        ):
            raise _no_key()
        return key

    # Inward.

    def admit(self, headers: Mapping[str, str]) -> str:
        """The relay that a request claims to come from, if we talk to it at all.

        Asked before its body is read.
        """
        domain = self._mailboxes.signatures.claimed_relay(headers) or ""
        own = domain == self._mailboxes.domain
        if own or not address.is_domain(domain) or not self._mailboxes.permits(domain):
            raise Refused(codes.FEDERATION_FAILED, "this relay does not talk to that one", row="A2ACP-256")
        return domain

    async def speaker(
        self, *, url: str, headers: Mapping[str, str], body: bytes, bounds: Sequence[Bound]
    ) -> str:
        """The relay that has signed a request, once; `Refused` when the signature does not hold.

        What was used before is known over a restart, and each request counts against that relay's own rate.
        Who calls (`bounds`) has us look up so many relays in a day; only one that has signed is pinned.
        """
        mailboxes, now = self._mailboxes, self._mailboxes.clock.now()
        domain = self.admit(headers)
        await self._count_lookup(domain, bounds, now)
        try:
            key = self._pinned(domain) or unb64((await self._said_card(domain)).relay_key) or b""
            signer, nonce = mailboxes.signatures.verify_request(
                url=url, headers=headers, body=body, public=key, now=now
            )
        except (aiohttp.ClientError, TimeoutError, PeerFault, Refused, Unavailable):
            raise Refused(codes.BAD_SIGNATURE, "the relay signature does not hold", row="A2ACP-255") from None
        wait = self._requests.take(domain, now)
        if wait:
            raise Refused(codes.RATE_LIMITED, "too many requests", details={"retry_after": wait})

        forgotten = earlier(mailboxes.clock.confirmed(), NONCE_KEPT)

        def use(file: apsw.Connection) -> bool:
            if not registry.use_nonce(file, domain, nonce, now, forgotten):
                return False
            if registry.peer_key(file, domain) is None:
                self._pin(file, domain, key, now)
            return registry.peer_key(file, domain) == key

        if signer != domain or not await mailboxes.store.write(use):
            raise Refused(codes.BAD_SIGNATURE, "the relay signature was used before", row="A2ACP-255")
        return domain

    async def receive(
        self, *, url: str, headers: Mapping[str, str], body: bytes, bounds: Sequence[Bound]
    ) -> list[DeliveryResult]:
        """The outcome of each packet of a signed request; `Refused` when the request itself does not hold."""
        now = self._mailboxes.clock.now()
        domain = await self.speaker(url=url, headers=headers, body=body, bounds=bounds)
        try:
            delivery = msgspec.json.decode(body, type=DeliveryBody)
        except UNREADABLE:
            raise Refused(codes.BAD_ENVELOPE, "not a delivery", row="A2ACP-255") from None
        late: _Late = {}
        outcomes = [await self._take(carried, domain, now, late) for carried in delivery.packets[:BATCH]]
        if any(outcome.code == ACCEPTED for outcome in outcomes):
            await self._note_use(domain, now)
        return outcomes

    async def _note_use(self, domain: str, now: Moment) -> None:
        """Write down once an hour that packets come from a relay."""
        if self._used_in.get(domain) != now // HOUR:
            _remember(self._used_in, domain, now // HOUR)
            await self._mailboxes.store.write(lambda file: registry.use_peer(file, domain, now))

    async def _take(self, carried: Carried, domain: str, now: Moment, late: _Late) -> DeliveryResult:
        mailboxes = self._mailboxes
        try:
            found = mailboxes.checks.from_relay(
                bytes(carried.envelope), signer=domain, own_domain=mailboxes.domain
            )
        except Refused as refused:
            mailboxes.counts.errors[refused.code] += 1
            return DeliveryResult(None, refused.code)
        pair = found.sender, found.recipient
        for whose in (found.sender, pair):
            if whose in late:
                # One of these packets must come again: the later ones with it, in their order.
                return DeliveryResult(found.packet_id, *late[whose])
        outcome, whose = await self._sender_result(found, carried.sig, domain, now), found.sender
        if outcome is None:
            outcome, whose = await self._stored_result(found, carried.sig, now), pair
        if outcome.code in codes.RETRYABLE:
            late[whose] = outcome.code, outcome.retry_after
        return outcome

    async def _sender_result(
        self, found: Envelope, sig: str, domain: str, now: Moment
    ) -> DeliveryResult | None:
        """Why no packet of this sender is taken now; None when one is."""
        mailboxes = self._mailboxes
        wait = self._rates.take(domain, now)
        if wait:
            return DeliveryResult(found.packet_id, codes.RATE_LIMITED, wait)
        try:
            mailboxes.checks.rate(found.sender, now)
            await self._check_agent(found, sig)
        except Refused as refused:
            mailboxes.counts.errors[refused.code] += 1
            return DeliveryResult(found.packet_id, refused.code, retry_after(refused))
        except (aiohttp.ClientError, TimeoutError, TacitError):
            return DeliveryResult(found.packet_id, codes.UNAVAILABLE, 5)
        return None

    async def _stored_result(self, found: Envelope, sig: str, now: Moment) -> DeliveryResult:
        """What becomes of a packet whose sender may send it."""
        try:
            answer = await self._mailboxes.take_from_relay(found, sig, now)
        except TacitError:
            return DeliveryResult(found.packet_id, codes.UNAVAILABLE, 5)
        if isinstance(answer, frames.QueueOverflowFrame):
            return DeliveryResult(found.packet_id, OVERFLOW, limit=answer.limit, queue_tag=answer.queue_tag)
        if isinstance(answer, frames.ErrorFrame):
            return DeliveryResult(found.packet_id, answer.code, answer.retry_after)
        return DeliveryResult(found.packet_id, ACCEPTED)

    async def _check_agent(self, found: Envelope, sig: str) -> None:
        checks, signatures = self._mailboxes.checks, self._mailboxes.signatures
        now = self._mailboxes.clock.now()
        key, at = self._keys.get(found.sender, (b"", now))
        if key and now - at < KEY_CACHE:
            with contextlib.suppress(Refused):
                checks.check_signature(found, sig, signatures.checker(key))
                return
            # Perhaps the agent has new keys: look once more before refusing (A2ACP-255).
        fresh = await self._agent_key(found.sender, now)
        checks.check_signature(found, sig, signatures.checker(fresh))


def _results(raw: bytes) -> list[DeliveryResult]:
    try:
        return msgspec.json.decode(raw, type=list[DeliveryResult])
    except UNREADABLE:
        raise PeerFault("the relay's answer cannot be read") from None


def _no_key() -> Refused:
    return Refused(codes.BAD_SIGNATURE, "the agent has no key that holds", row="A2ACP-255")


def _remember(kept: dict[str, V], sender: str, value: V) -> None:
    if len(kept) > _MOST_REMEMBERED:
        kept.clear()
    kept[sender] = value
