"""Questions to relays: an exact address becomes keys, checked and pinned; a code becomes a registration.

A2ACP-013, A2ACP-014, A2ACP-015, A2ACP-020, A2ACP-021, A2ACP-245, A2ACP-247, A2ACP-250.

A relay is asked, never believed: records and prekeys carry their owner's signatures, and the pin decides.
Private keys are made here and stay here.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import aiohttp
import msgspec

from tacit.a2acp.packets.packet import LARGEST_NUMBER
from tacit.a2acp.post import rotation
from tacit.a2acp.post.io import epochs, prekeys, purging
from tacit.a2acp.post.io.store import OWN_FAULTS, Myself
from tacit.base.errors import PeerFault, Refused, TacitError, Unavailable
from tacit.base.shown_addresses import without_secret
from tacit.base.visible import visible
from tacit.seal import identity, primitives, x3dh
from tacit.wire import address, guests, records, version
from tacit.wire.encoding import UNREADABLE, b64, canonical, unb64
from tacit.wire.http_date import their_time

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.io.time_service import TimeService
    from tacit.base.moment import Moment
    from tacit.base.ports import Entropy
    from tacit.seal.identity import Identity, Pin
    from tacit.wire.records import KeyRecord

_TIMEOUT: Final = aiohttp.ClientTimeout(total=20, connect=10)
_MOST_BYTES: Final = 65_536
_NOT_BELIEVED: Final = 401
_NOT_FEDERATED: Final = 403
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1"})


class _RelayAnswer(NamedTuple):
    """What a relay answered."""

    status: int
    raw: bytes
    headers: Mapping[str, str]


class Directory:
    """One agent's dealings with relays over HTTP."""

    def __init__(
        self, store: AgentStore, http: aiohttp.ClientSession, clock: TimeService, entropy: Entropy
    ) -> None:
        self._store = store
        self._http = http
        self._clock = clock
        self._entropy = entropy

    def base_url(self, domain: str) -> str:
        """Where a domain's relay answers: our own where we were told, others by HTTPS.

        Plain HTTP is for loopback alone, and only while our own relay speaks it too.
        """
        plain = domain.partition(":")[0] in _LOOPBACK
        if self._store.has_identity():
            me = self._store.me()
            if address.parse(me.address).domain == domain:
                return me.relay_url
            plain = plain and me.relay_url.startswith("http://")
        return f"http://{domain}" if plain else f"https://{domain}"

    async def _ask_timely(self, url: str, request: Callable[[Moment], dict[str, Any]]) -> tuple[int, bytes]:
        """Ask with what bears a time; once more by the time of whoever does not believe ours."""
        now = self._clock.shared()
        status, raw, headers = await self._ask("POST", url, request(now))
        if status == _NOT_BELIEVED and (theirs := their_time(headers, now)) is not None:
            status, raw, _ = await self._ask("POST", url, request(theirs))
        return status, raw

    async def _ask(self, method: str, url: str, body: dict[str, Any] | None = None) -> _RelayAnswer:
        try:
            # Nobody's relay sends us on: it could have us ask whatever only this device can reach.
            async with self._http.request(
                method, url, json=body, timeout=_TIMEOUT, allow_redirects=False
            ) as response:
                answer = bytearray()
                async for part in response.content.iter_any():
                    answer += part
                    if len(answer) > _MOST_BYTES:
                        raise PeerFault("the relay's answer is too long")
                return _RelayAnswer(response.status, bytes(answer), response.headers)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable(f"the relay does not answer: {type(error).__name__}") from None

    # Links of guests, at our own relay.

    async def guest(self, do: str, guest: str, **more: Any) -> guests.GuestStanding:
        """Open, fetch from or revoke a link, signed (A2ACP-276); `Refused` with the relay's word."""
        me = self._store.me()

        def command(at: Moment) -> dict[str, Any]:
            nonce = b64(self._entropy.draw(12))
            command = guests.GuestCommand(me.address, int(at), nonce, do, guest, **more)
            signed = guests.signed_bytes(address.parse(me.address).domain, command)
            return {**msgspec.to_builtins(command), "sig": b64(me.identity.sign(signed))}

        status, raw = await self._ask_timely(f"{me.relay_url}/v1/guests", command)
        if status != 200:
            raise _refusal(status, raw)
        with _answer_of_another():
            return msgspec.json.decode(raw, type=guests.GuestStanding)

    # Others.

    async def refresh(self, peer: str, *, fingerprint: str = "") -> Pin | None:
        """Ask for a peer's record and let the pin see it.

        With a fingerprint that we had from the peer itself, another key is refused and nothing of it kept.
        """
        who = address.parse(peer)
        status, raw, _ = await self._ask("GET", f"{self.base_url(who.domain)}/v1/agents/{who.username}")
        _expect(status, peer)
        with _answer_of_another():
            return self._observe(peer, records.read_record(raw), fingerprint)

    async def prekeys(self, peer: str) -> x3dh.PublicPrekeys | None:
        """A peer's prekeys for a first packet, signatures checked.

        None when it has none or its key changed.
        """
        who = address.parse(peer)
        url = f"{self.base_url(who.domain)}/v1/agents/{who.username}/prekeys"
        status, raw = await self._ask_timely(url, functools.partial(self._prekey_request, peer))
        if status == _NOT_FEDERATED:
            raise _refusal(status, raw)
        if status == _NOT_BELIEVED:
            self._tell_disbelieved(peer)
        _expect(status, peer)
        with _answer_of_another():
            return self._read_prekeys(peer, raw)

    def _tell_disbelieved(self, peer: str) -> None:
        text = (
            f"packets to {peer} wait: its relay does not believe our request for keys;"
            " if that lasts, see that the clock of this device is right"
        )
        with self._store.transaction():
            if self._store.row("SELECT 1 FROM notes WHERE text=?", text) is None:
                self._store.note(text, self._clock.now())

    def _prekey_request(self, peer: str, at: Moment) -> dict[str, Any]:
        """Who asks, signed: a relay hands out one-time prekeys to nobody it does not know."""
        me, nonce = self._store.me(), b64(self._entropy.draw(12))
        signed = records.prekey_request_signed_bytes(peer, me.address, int(at), nonce)
        return {"requester": me.address, "at": int(at), "nonce": nonce, "sig": b64(me.identity.sign(signed))}

    def _read_prekeys(self, peer: str, raw: bytes) -> x3dh.PublicPrekeys | None:
        bundle = records.read_bundle(raw)
        pin = self._observe(peer, bundle.record)
        if not pin.usable or bundle.signed is None:
            return None
        single, kind = (
            (bundle.one_time, "one_time") if bundle.one_time else (bundle.last_resort, "last_resort")
        )
        if single is None:
            return None
        # An epoch is worth its signature: an unsigned number must not be held against the keys that follow.
        found = x3dh.PublicPrekeys(
            signed_id=bundle.signed.id,
            signed=_prekey(peer, pin, "signed", bundle.signed),
            single_id=single.id,
            single=_prekey(peer, pin, kind, single),
            single_kind=x3dh.ONE_TIME if kind == "one_time" else x3dh.LAST_RESORT,
        )
        with self._store.transaction():
            now = self._clock.now()
            epochs.check_epoch(self._store, peer, bundle.signed.epoch, single.epoch, now)
        return found

    def _observe(self, peer: str, record: KeyRecord, fingerprint: str = "") -> Pin:
        store = self._store
        with store.transaction():
            contact = store.contact(peer)
            before = contact.pin if contact else None
            offer = rotation.read_offer(peer, record, before)
            statement = offer.statement
            fingerprint = fingerprint or purging.fingerprint_of(store, peer).replace(" ", "")
            if fingerprint and _digits(peer, offer.keys.signing) != fingerprint:
                raise Refused(
                    "wrong_fingerprint",
                    f"the relay hands out another key for {peer} than the one you were shown: somebody stands"
                    " between you, or the text is not theirs. Nothing of it was kept",
                    row="A2ACP-022",
                )
            store.know(peer)
            pin = identity.observe(
                before,
                offer.keys,
                statement.serial,
                rotation_proven=offer.rotation_proven,
                reset=offer.reset,
            )
            if pin != before:
                store.set_pin(peer, pin)
                purging.known_again(store, peer)
            if pin.usable and pin.serial == statement.serial:
                store.set_offers(
                    peer, encryption=statement.supported_encryption, versions=statement.supported_versions
                )
            if before is not None and before.usable and not pin.usable:
                store.note(
                    f"the key of {peer} has changed; nothing is sent to or taken from it until you accept",
                    self._clock.now(),
                )
        return pin

    # Ourselves.

    def own_record(
        self,
        owner: str,
        keys: Identity,
        serial: int,
        previous: Identity | None = None,
        *,
        reset: bool = False,
    ) -> dict[str, Any]:
        """Our signed key record, and the old key's word for it after a rotation."""
        raw = records.statement_bytes(
            records.Statement(
                address=owner,
                signing_key=b64(keys.signing_public),
                agreement_key=b64(keys.agreement_public),
                serial=serial,
                supported_versions=list(version.SUPPORTED),
                supported_encryption=list(version.ENCRYPTIONS),
                previous_signing_key=b64(previous.signing_public) if previous else None,
                reset=reset,
            )
        )
        record = {
            "statement": msgspec.json.decode(raw),
            "sig": b64(keys.sign(records.statement_signed_bytes(raw))),
        }
        if previous is not None:
            record["rotation_sig"] = b64(previous.sign(records.rotation_signed_bytes(raw)))
        return record

    async def register(
        self, owner: str, relay_url: str, code: str, *, rotate: bool = False, reset: bool = False
    ) -> Myself:
        """Make keys on this device and register their public halves with a code.

        New keys are on disk before the relay hears of them. When its answer is lost, the same command finds
        out whether the relay has them, and tries again with them if not. `reset` begins the numbers of our
        statements anew, under new keys, with the code of a recovered account.
        """
        without_secret(relay_url, "the relay's address")
        rotate = rotate or reset
        known = self._store.me() if self._store.has_identity() else None
        if known is not None and known.address != owner:
            raise Refused("other_identity", "this folder belongs to another agent; choose another --data")
        pending = self._store.pending(owner)
        if pending is not None and await self._is_published(pending, relay_url):
            return self._become(replace(pending, relay_url=relay_url), known)
        keys = known.identity if known is not None and not rotate else None
        if keys is None:
            keys = pending.identity if pending is not None else identity.generate(self._entropy)
        previous = known.identity if known is not None and rotate else None
        said = max((one.serial for one in (known, pending) if one is not None), default=0)
        me = self._statement(owner, relay_url, keys, 1 if reset else said + 1, previous, reset=reset)
        try:
            await self._enrol(me, code, keep=rotate or known is None)
        except Refused as refused:
            if reset or refused.code != "stale_record":
                raise
            # An older copy of this folder, or a device that never spoke for this address: go on from there.
            serial = await self._after_published(owner, relay_url, known)
            me = self._statement(owner, relay_url, keys, serial, previous)
            await self._enrol(me, code, keep=rotate or known is None)
        return self._become(me, known)

    def _statement(
        self,
        owner: str,
        relay_url: str,
        keys: Identity,
        serial: int,
        previous: Identity | None,
        *,
        reset: bool = False,
    ) -> Myself:
        record = self.own_record(owner, keys, serial, previous, reset=reset)
        return Myself(owner, relay_url, keys, serial, msgspec.json.encode(record))

    async def _after_published(self, owner: str, relay_url: str, known: Myself | None) -> int:
        """The number after the one our relay hands out; `Refused` when that is no number to follow."""
        username = address.parse(owner).username
        status, raw, _ = await self._ask("GET", f"{relay_url}/v1/agents/{username}")
        _expect(status, owner)
        with _answer_of_another():
            published = records.read_statement(bytes(records.read_record(raw).statement)).serial
        # What lies far beyond what we said ourselves, our contacts would not follow either.
        most = known.serial + records.LARGEST_LEAP if known is not None else LARGEST_NUMBER - 1
        if published >= most:
            raise Refused(
                "serial_out_of_reach",
                "the relay holds a key statement with a number that we cannot follow; recover the account on"
                " its page, then register with --reset and the code shown there",
                row="A2ACP-015",
            )
        return published + 1

    async def _enrol(self, me: Myself, code: str, *, keep: bool) -> None:
        """Offer keys to the relay; `keep`: they are new, and are on disk before it hears of them."""
        if keep:
            with self._store.transaction():
                self._store.set_pending(me)
        record = msgspec.json.decode(me.record, type=dict[str, Any])
        raw, owner = canonical(record["statement"]), me.address
        proof = records.enrolment_signed_bytes(
            relay=address.parse(owner).domain, owner=owner, code=code, statement=raw
        )
        body = {"code": code, "record": record, "possession": b64(me.identity.sign(proof))}
        try:
            status, answer, _ = await self._ask("POST", f"{me.relay_url}/v1/agents", body)
        except Unavailable as error:
            raise Unavailable(f"{error}; the keys are kept, run the same command again") from None
        if status != 201:
            raise _refusal(status, answer)

    async def _is_published(self, me: Myself, relay_url: str) -> bool:
        """Whether a relay hands out these keys of ours: then it had heard us, though we had no answer."""
        username = address.parse(me.address).username
        status, raw, _ = await self._ask("GET", f"{relay_url}/v1/agents/{username}")
        if status == 404:
            return False
        _expect(status, me.address)
        with _answer_of_another():
            statement = records.read_statement(bytes(records.read_record(raw).statement))
            return unb64(statement.signing_key) == me.identity.signing_public

    def _become(self, me: Myself, known: Myself | None) -> Myself:
        with self._store.transaction():
            self._store.set_identity(me)
            self._store.run("DELETE FROM pending WHERE address=?", me.address)
            if known is None:
                self._store.run("DELETE FROM prekeys")
                self._store.run("DELETE FROM sessions")
            elif known.identity != me.identity:
                prekeys.replace_keys(self._store, known.identity, self._clock.now())
        return me


@contextlib.contextmanager
def _answer_of_another() -> Generator[None]:
    try:
        yield
    except (TacitError, *OWN_FAULTS):
        raise
    except Exception as fault:
        # Whatever a stranger's relay answers must not end our own connection.
        raise PeerFault(f"the relay's answer cannot be read: {type(fault).__name__}") from fault


def _digits(peer: str, signing: bytes) -> str:
    return identity.fingerprint(peer, signing).replace(" ", "")


def _prekey(peer: str, pin: Pin, kind: str, prekey: records.Prekey) -> bytes:
    signed = records.prekey_signed_bytes(peer, kind, prekey.id, prekey.key, prekey.epoch)
    key = unb64(prekey.key)
    if not 0 <= prekey.id < LARGEST_NUMBER:
        raise PeerFault("the relay handed out a prekey with an impossible id")
    if key is None or not primitives.verify(pin.keys.signing, signed, unb64(prekey.sig) or b""):
        raise PeerFault("the relay handed out a prekey that does not hold")
    return key


def _expect(status: int, peer: str) -> None:
    if status == 404:
        raise Refused("unknown_recipient", f"no agent answers to {peer}", row="A2ACP-018")
    if status != 200:
        raise Unavailable(f"the relay answered {status}")


def _refusal(status: int, answer: bytes) -> Refused | Unavailable:
    try:
        found = msgspec.json.decode(answer, type=dict[str, Any])
    except UNREADABLE:
        return Unavailable(f"the relay answered {status}")
    if status >= 500:
        return Unavailable(f"the relay answered {status}")
    return Refused(_word(found.get("code", "refused")), _word(found.get("message", "the relay refused")))


def _word(said: object) -> str:
    """A relay's word for a person's terminal, which it must not steer."""
    return visible(str(said)[:300])
