"""From a payload to a sealed body and back: inner signature, padding, ratchet or stateless form.

A2ACP-243, A2ACP-244, A2ACP-245, A2ACP-248, A2ACP-250.

Both forms look alike from outside: a version byte and noise of a bucket's length. The receiver tries its
sessions with that sender, then the form that needs none. The first packets of a session carry the X3DH
opening inside the stateless form, so even that is hidden. The inner signature binds sender, recipient, packet
id and visible header.

Padding to a given length: one 0x80, then zeros (ISO/IEC 7816-4) (A2ACP-252).

Which lengths are given is the caller's rule. Padding stands inside the authenticated ciphertext.

The replay window: how long packet ids are remembered, and how old a packet may be (A2ACP-029, A2ACP-222).

Ids are remembered for sixty days; a packet older than that is refused, since nobody remembers any more
whether it came before. Two days of grace forwards cover wrong clocks.

Sessions as the bytes that are kept of them (A2ACP-243).

Of a skipped key everything but the key itself is short: keys of one chain share their header key and have no
names, so that `MAX_STORED` of them fit into `MAX_SESSION_BYTES`. A state from before, without the leading
byte, is read too. Knows nothing of where the bytes are kept, nor under which key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import msgspec

from tacit.base.moment import SECOND, ConfirmedTime, Moment, earlier
from tacit.seal import primitives, ratchet, x3dh
from tacit.seal.limits import FIRST_FLIGHT_KEPT, MAX_CHAINS, MAX_SESSIONS, MAX_STORED, SESSION_KEPT
from tacit.seal.primitives import NONCE_BYTES, SIGNATURE_BYTES, TAG_BYTES, CannotOpen
from tacit.seal.ratchet import JUST_NOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.base.moment import ConfirmedTime, Moment
    from tacit.base.ports import Entropy
    from tacit.seal.identity import Identity, PublicIdentity


def pad(payload: bytes, length: int) -> bytes:
    """`payload` filled up to `length`, which is at least one more than it has."""
    return payload + b"\x80" + bytes(length - len(payload) - 1)


def unpad(padded: bytes) -> bytes:
    """The payload; `CannotOpen` when the end is not padding."""
    stripped = padded.rstrip(b"\x00")
    if not stripped.endswith(b"\x80"):
        raise CannotOpen
    return stripped[:-1]


VERSION: Final = b"\x01"
_STATELESS: Final = b"\x00"
_FIRST: Final = b"\x01"
_RECEIPT: Final = b"\x02"
_BOX_OVERHEAD: Final = 32 + NONCE_BYTES + TAG_BYTES + 1
MOST_OVERHEAD: Final = (
    len(VERSION) + ratchet.OVERHEAD + _BOX_OVERHEAD + x3dh.OPENING_BYTES + SIGNATURE_BYTES + 1
)
"""What sealing adds to a payload at most: whatever fits with it fits in either form."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What a sealed body is bound to: it opens nowhere else."""

    sender: str
    recipient: str
    packet_id: str
    header: bytes


@dataclass(frozen=True, slots=True, repr=False)
class RatchetSession:
    """A ratchet with one peer. `opening` is repeated until the peer has answered.

    When it was begun and last used is `JUST_NOW` until `tended` has written the moment.
    """

    ratchet: ratchet.Ratchet
    ephemeral: bytes
    opening: bytes | None = None
    begun: int = JUST_NOW
    used: int = JUST_NOW


class PrekeySecrets(Protocol):
    """Finds the private halves of our own prekeys."""

    def signed(self, identifier: int) -> bytes | None:
        """The private signed prekey."""
        ...

    def single(self, kind: int, identifier: int) -> bytes | None:
        """The private one-time or last-resort prekey; None once it was used up."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """A payload, the sessions after it, and the one-time prekey that must now be destroyed."""

    payload: bytes
    sessions: tuple[RatchetSession, ...]
    used_one_time: int | None = None
    stateless: bool = False
    receipt: bool = False


def begin(
    me: Identity, peer: PublicIdentity, prekeys: x3dh.PublicPrekeys, entropy: Entropy
) -> RatchetSession:
    """A new session towards a peer's prekeys."""
    opening, secret = x3dh.initiate(me, peer, prekeys, entropy.draw(32))
    state = ratchet.start_initiator(secret, prekeys.signed, entropy.draw(32))
    return RatchetSession(state, opening.ephemeral, opening.encode())


def with_new(sessions: tuple[RatchetSession, ...], session: RatchetSession) -> tuple[RatchetSession, ...]:
    """The newest first, few kept: both sides may have begun at once."""
    others = tuple(other for other in sessions if other.ephemeral != session.ephemeral)
    return _bounded((session, *others))


def _bounded(sessions: tuple[RatchetSession, ...]) -> tuple[RatchetSession, ...]:
    """As many sessions, and as many skipped keys in all of them, as are kept with one peer."""
    keys, chains = MAX_STORED, MAX_CHAINS
    kept: list[RatchetSession] = []
    for session in sessions[:MAX_SESSIONS]:
        skipped = ratchet.newest(session.ratchet.skipped, keys=keys, chains=chains)
        keys -= len(skipped)
        chains -= len({one.header_key for one in skipped})
        same = len(skipped) == len(session.ratchet.skipped)
        kept.append(session if same else replace(session, ratchet=replace(session.ratchet, skipped=skipped)))
    return tuple(kept)


def tended(
    sessions: tuple[RatchetSession, ...], now: Moment, confirmed: ConfirmedTime
) -> tuple[RatchetSession, ...]:
    """The sessions at a moment: what is new bears it, what is past its time by `confirmed` is gone.

    The newest that the peer has answered stays however old it is: it is what the peer will write under.
    """
    stamped = tuple(
        replace(
            one,
            ratchet=ratchet.aged(one.ratchet, now, confirmed),
            begun=one.begun or int(now),
            used=one.used or int(now),
        )
        for one in sessions
    )
    answered = next((one for one in stamped if one.opening is None), None)
    return tuple(one for one in stamped if one is answered or not _expired(one, confirmed))


def _expired(session: RatchetSession, now: ConfirmedTime) -> bool:
    if session.opening is not None:
        return now - session.begun >= FIRST_FLIGHT_KEPT
    return now - session.used >= SESSION_KEPT


def sealing(sessions: tuple[RatchetSession, ...]) -> RatchetSession | None:
    """The session to seal the next packet with: the newest that has a chain to send on."""
    return next((one for one in sessions if one.ratchet.sending is not None), None)


def seal(
    me: Identity,
    peer: PublicIdentity,
    session: RatchetSession,
    payload: bytes,
    binding: Binding,
    fit: Callable[[int], int],
    entropy: Entropy,
) -> tuple[RatchetSession, bytes]:
    """The session after it, and a body whose length `fit` has chosen."""
    overhead = len(VERSION) + ratchet.OVERHEAD
    if session.opening is not None:
        overhead += _BOX_OVERHEAD + x3dh.OPENING_BYTES
    plain = _fill(_signed(me, payload, binding), overhead, fit)
    state, message = ratchet.seal(session.ratchet, plain, _bound(binding), entropy.draw(NONCE_BYTES))
    if session.opening is not None:
        message = _box(peer, _FIRST + session.opening + message, binding, entropy)
    return replace(session, ratchet=state, used=JUST_NOW), VERSION + message


def seal_stateless(
    me: Identity,
    peer: PublicIdentity,
    payload: bytes,
    binding: Binding,
    fit: Callable[[int], int],
    entropy: Entropy,
) -> bytes:
    """A body for a peer without the ratchet: an ephemeral key for this packet alone (A2ACP-245)."""
    plain = _fill(_signed(me, payload, binding), len(VERSION) + _BOX_OVERHEAD, fit)
    return VERSION + _box(peer, _STATELESS + plain, binding, entropy)


def seal_receipt(
    me: Identity, peer: PublicIdentity, payload: bytes, binding: Binding, size: int, entropy: Entropy
) -> bytes:
    """A word about a packet, in no session: it must be read when none is left. It has `size` bytes.

    A reader who does not know the form takes it for a packet that does not open, and shows it to nobody.
    """
    signature = me.sign(_receipt_bytes(payload, binding))
    plain = _fill(signature + payload, len(VERSION) + _BOX_OVERHEAD, lambda _: size)
    return VERSION + _box(peer, _RECEIPT + plain, binding, entropy)


def digest(envelope: bytes) -> bytes:
    """What names one sealing of a packet among all others."""
    return primitives.digest(b"tacit-sealing-v1\n" + envelope)


def open_body(
    me: Identity,
    peer: PublicIdentity,
    sessions: tuple[RatchetSession, ...],
    prekeys: PrekeySecrets,
    body: bytes,
    binding: Binding,
    entropy: Entropy,
) -> Opened:
    """The payload of a sealed body, or `CannotOpen`; nothing changes unless it opened."""
    if not body.startswith(VERSION):
        raise CannotOpen
    message = body[len(VERSION) :]
    # A header that opens under a session's keys was sealed by its other side: if the body then fails, no
    # other session and no other form would open it, so the failure is final.
    for session in sessions:
        if ratchet.opens(session.ratchet, message):
            state, plain = ratchet.open_message(session.ratchet, message, _bound(binding), entropy)
            answered = replace(session, ratchet=state, opening=None, used=JUST_NOW)
            return Opened(_verified(peer, plain, binding), with_new(sessions, answered))
    inner = _unbox(me, message, binding)
    if inner.startswith(_STATELESS):
        return Opened(_verified(peer, inner[1:], binding), sessions, stateless=True)
    if inner.startswith(_RECEIPT):
        content = unpad(inner[1:])
        signature, said = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
        if not primitives.verify(peer.signing, _receipt_bytes(said, binding), signature):
            raise CannotOpen
        return Opened(said, sessions, stateless=True, receipt=True)
    if not inner.startswith(_FIRST):
        raise CannotOpen
    return _open_first(me, peer, sessions, prekeys, inner[1:], binding, entropy)


def _open_first(
    me: Identity,
    peer: PublicIdentity,
    sessions: tuple[RatchetSession, ...],
    prekeys: PrekeySecrets,
    inner: bytes,
    binding: Binding,
    entropy: Entropy,
) -> Opened:
    opening = x3dh.Opening.decode(inner[: x3dh.OPENING_BYTES])
    message = inner[x3dh.OPENING_BYTES :]
    known = next((session for session in sessions if session.ephemeral == opening.ephemeral), None)
    if known is not None:
        # The peer repeats its opening until it hears from us; the prekey behind it may be destroyed by now.
        state, plain = ratchet.open_message(known.ratchet, message, _bound(binding), entropy)
        updated = replace(known, ratchet=state, used=JUST_NOW)
        kept = _bounded(tuple(updated if session is known else session for session in sessions))
        return Opened(_verified(peer, plain, binding), kept)
    signed = prekeys.signed(opening.signed_id)
    single = prekeys.single(opening.single_kind, opening.single_id)
    if signed is None or single is None:
        raise CannotOpen
    secret = x3dh.respond(me, peer, opening, signed_private=signed, single_private=single)
    state = ratchet.start_responder(secret, signed)
    state, plain = ratchet.open_message(state, message, _bound(binding), entropy)
    payload = _verified(peer, plain, binding)
    used = opening.single_id if opening.single_kind == x3dh.ONE_TIME else None
    return Opened(payload, with_new(sessions, RatchetSession(state, opening.ephemeral)), used)


def _bound(binding: Binding) -> bytes:
    return primitives.framed(
        b"tacit-seal-v1",
        binding.sender.encode(),
        binding.recipient.encode(),
        binding.packet_id.encode(),
        binding.header,
    )


def _inner_bytes(payload: bytes, binding: Binding) -> bytes:
    return b"a2acp-inner-v1\n" + _bound(binding) + payload


def _receipt_bytes(payload: bytes, binding: Binding) -> bytes:
    return b"a2acp-receipt-v1\n" + _bound(binding) + payload


def _signed(me: Identity, payload: bytes, binding: Binding) -> bytes:
    return me.sign(_inner_bytes(payload, binding)) + payload


def _verified(peer: PublicIdentity, plain: bytes, binding: Binding) -> bytes:
    content = unpad(plain)
    signature, payload = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
    if not primitives.verify(peer.signing, _inner_bytes(payload, binding), signature):
        raise CannotOpen
    return payload


def _fill(content: bytes, overhead: int, fit: Callable[[int], int]) -> bytes:
    return pad(content, fit(len(content) + 1 + overhead) - overhead)


def _box_key(shared: bytes, ephemeral: bytes, recipient: bytes, binding: Binding) -> bytes:
    info = primitives.framed(b"tacit-box-v1", ephemeral, recipient, _bound(binding))
    return primitives.hkdf(shared, salt=b"", info=info, length=32)


def _box(peer: PublicIdentity, content: bytes, binding: Binding, entropy: Entropy) -> bytes:
    private = entropy.draw(32)
    ephemeral = primitives.agreement_public(private)
    key = _box_key(primitives.agree(private, peer.agreement), ephemeral, peer.agreement, binding)
    nonce = entropy.draw(NONCE_BYTES)
    return ephemeral + nonce + primitives.encrypt(key, nonce, content, _bound(binding))


def _unbox(me: Identity, message: bytes, binding: Binding) -> bytes:
    ephemeral, nonce = message[:32], message[32 : 32 + NONCE_BYTES]
    key = _box_key(primitives.agree(me.agreement_private, ephemeral), ephemeral, me.agreement_public, binding)
    return primitives.decrypt(key, nonce, message[32 + NONCE_BYTES :], _bound(binding))


def queue_tag(me: Identity, peer: PublicIdentity, *, sender: str, recipient: str, thread_id: str) -> bytes:
    """Sixteen bytes that only these two can compute: a relay sees a tag, never a thread."""
    shared = primitives.agree(me.agreement_private, peer.agreement)
    key = primitives.hkdf(shared, salt=b"", info=b"tacit-queue-tag-v1", length=32)
    return primitives.mac(key, primitives.framed(sender.encode(), recipient.encode(), thread_id.encode()))[
        :16
    ]


REMEMBERED: Final = 60 * 24 * 3600 * SECOND
AHEAD: Final = 2 * 24 * 3600 * SECOND


def within_window(created: Moment, earliest: Moment, latest: Moment) -> bool:
    """Whether a packet's own time lies where replays are still recognised.

    It may be any time from `earliest` to `latest`: these differ where the clock is in doubt.
    """
    return earliest - REMEMBERED < created < latest + AHEAD


def forget_before(confirmed: ConfirmedTime) -> ConfirmedTime:
    """Ids first seen before this moment may be forgotten."""
    # A packet may carry a time ahead of ours; its id must outlive the window of that time.
    return earlier(confirmed, REMEMBERED + AHEAD)


_SHORT: Final = b"\x02"
_Sessions = tuple[RatchetSession, ...]
_BYTES: Final = (bytes,)


def encode(sessions: _Sessions) -> bytes:
    """The bytes of some sessions."""
    plain = cast("list[dict[str, Any]]", msgspec.to_builtins(sessions, builtin_types=_BYTES))
    for one in plain:
        chains: dict[bytes, list[tuple[int, bytes, int]]] = {}
        for skipped in one["ratchet"]["skipped"]:
            kept = chains.setdefault(skipped["header_key"], [])
            kept.append((skipped["number"], skipped["message_key"], skipped["at"]))
        one["ratchet"]["skipped"] = list(chains.items())
    return _SHORT + msgspec.msgpack.encode(plain)


def decode(data: bytes) -> _Sessions:
    """The sessions in some bytes."""
    if not data.startswith(_SHORT):
        return msgspec.msgpack.decode(data, type=_Sessions)
    plain = msgspec.msgpack.decode(data[len(_SHORT) :], type=list[dict[str, Any]])
    for one in plain:
        one["ratchet"]["skipped"] = [
            {"header_key": header_key, "number": number, "message_key": message_key, "at": at}
            for header_key, keys in one["ratchet"]["skipped"]
            for number, message_key, at in keys
        ]
    return msgspec.convert(plain, type=_Sessions, builtin_types=_BYTES)
