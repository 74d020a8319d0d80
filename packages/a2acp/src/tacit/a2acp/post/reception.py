"""The order in which an incoming packet is checked, and what each failure means.

A2ACP-029, A2ACP-031, A2ACP-226, A2ACP-227, A2ACP-243, A2ACP-247, A2ACP-250, A2ACP-259.

Envelope shape, blocklist, memory of ids and of what was dropped before, pinned key, signature, date, seal,
inner header equal to outer, schema of the type, participants. A drop changes no session: what can be sent
twice must not move anything. It is silent too, with one exception: what its sender signed and we cannot open,
or cannot take under its date, is asked for again (`agent.receipt`).

What an agent thinks of a sender: faults, flags, a score; and who is blocked.

A2ACP-228, A2ACP-229, A2ACP-259, A2ACP-260, A2ACP-261.

Local to the agent, never published. Blocking stays a person's choice unless they have set it otherwise.

The order inside a thread: a gap is held for thirty seconds, then passed and asked about.

A2ACP-030, A2ACP-219.

Numbers count from 1 per sender and thread; 0 means that a packet has no place in the order.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from tacit.a2acp.packets import packet
from tacit.a2acp.post import receipt
from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tacit.seal import primitives, session
from tacit.wire import envelope
from tacit.wire.encoding import b64, unb64

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tacit.base.moment import Moment
    from tacit.base.ports import Entropy
    from tacit.seal.identity import Identity, Pin
    from tacit.seal.session import Opened, RatchetSession
    from tacit.wire.envelope import Envelope


HOLD: Final = 30 * SECOND


def releasable(expected: int, held: Mapping[int, Moment], now: Moment) -> tuple[list[int], int, bool]:
    """Numbers to hand on now, the next number expected, and whether a gap was passed over."""
    out: list[int] = []
    gap = False
    for number in sorted(held):
        if number <= expected:
            pass
        elif now - held[number] >= HOLD:
            gap = True
        else:
            break
        out.append(number)
        expected = max(expected, number + 1)
    return out, expected, gap


class Drop(StrEnum):
    """Why a packet was not handed on."""

    BAD_ENVELOPE = "bad envelope"
    NOT_OURS = "not for us"
    BLOCKED = "blocked sender"
    REPEAT = "seen before"
    STALE = "outside the replay window"
    NO_KEY = "sender's key not known yet"
    KEY_CHANGED = "sender's key changed"
    BAD_SIGNATURE = "signature does not hold"
    SEALED = "seal does not open"
    HEADER = "inner and outer header differ"
    MALFORMED = "malformed packet"
    OUTSIDER = "not a participant"


FAULTS = frozenset({Drop.BAD_ENVELOPE, Drop.HEADER, Drop.MALFORMED, Drop.OUTSIDER})
"""Drops that only the sender itself can have caused; the rest may be a relay's doing, or nobody's."""


@dataclass(frozen=True, slots=True)
class SignedEnvelope:
    """An envelope whose signature holds: its packet's id, and what names these very bytes."""

    packet_id: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Dropped:
    """A packet that ends here; `signed` when its sender has surely sent it."""

    why: Drop
    sender: str | None = None
    signed: SignedEnvelope | None = None


@dataclass(frozen=True, slots=True)
class ReceivedPacket:
    """A packet to hand on, and the sessions after it."""

    envelope: Envelope
    packet: packet.Packet
    opened: Opened
    signed: SignedEnvelope


@dataclass(frozen=True, slots=True)
class ReceivedReceipt:
    """A receipt: a word about a packet, and none itself."""

    envelope: Envelope
    receipt: receipt.Receipt


class Knowledge(Protocol):
    """What the receiver knows, read inside one transaction."""

    def blocked(self, sender: str) -> bool:
        """Whether a sender is on the local blocklist."""
        ...

    def seen(self, sender: str, packet_id: str) -> bool:
        """Whether this id was processed before."""
        ...

    def came_before(self, sender: str, packet_id: str) -> bool:
        """Whether a packet of this id was taken at any time, also longer ago than `seen` reaches."""
        ...

    def dropped(self, sender: str, digest: bytes) -> bool:
        """Whether these very bytes were dropped before, their sender's signature upon them."""
        ...

    def pin(self, sender: str) -> Pin | None:
        """The pinned keys of a sender."""
        ...

    def sessions(self, sender: str) -> tuple[RatchetSession, ...]:
        """The sessions with a sender."""
        ...

    def participant(self, thread_id: str, sender: str) -> bool:
        """False only for a known thread in which the sender has no part."""
        ...

    @property
    def prekeys(self) -> session.PrekeySecrets:
        """Our own prekeys."""
        ...

    def formers(self) -> list[Identity]:
        """Our keys before the present ones, as long as packets sealed for them may come."""
        ...


def receive(
    raw: bytes,
    sig: str,
    *,
    me: Identity,
    address: str,
    knowledge: Knowledge,
    entropy: Entropy,
    times: tuple[Moment, Moment],
) -> ReceivedPacket | ReceivedReceipt | Dropped:
    """What becomes of a packet frame; `times` are the earliest and the latest that it may be now."""
    try:
        outer = envelope.read(raw)
    except Refused:
        return Dropped(Drop.BAD_ENVELOPE)
    sender = outer.sender
    if outer.recipient != address:
        return Dropped(Drop.NOT_OURS, sender)
    # In this order a sender who is not wanted costs no key, no signature check and no step of a ratchet.
    if knowledge.blocked(sender):
        return Dropped(Drop.BLOCKED, sender)
    if knowledge.seen(sender, outer.packet_id):
        return Dropped(Drop.REPEAT, sender)
    digest = session.digest(raw)
    if knowledge.dropped(sender, digest):
        return Dropped(Drop.REPEAT, sender)
    pin = knowledge.pin(sender)
    if pin is None:
        return Dropped(Drop.NO_KEY, sender)
    if not pin.usable:
        return Dropped(Drop.KEY_CHANGED, sender)
    if not primitives.verify(pin.keys.signing, envelope.signed_bytes(raw), unb64(sig) or b""):
        return Dropped(Drop.BAD_SIGNATURE, sender)
    signed = SignedEnvelope(outer.packet_id, digest)
    created = envelope.timestamp_of(outer.timestamp)
    if created is None or not session.within_window(created, *times):
        # A packet that came before is a repeat, however long ago; any other is asked for under a date that
        # can be right, for one of the two clocks is wrong.
        known = knowledge.came_before(sender, outer.packet_id)
        return Dropped(Drop.REPEAT, sender) if known else Dropped(Drop.STALE, sender, signed)
    found = _unseal(outer, pin, signed, me=me, knowledge=knowledge, entropy=entropy)
    return Dropped(found, sender, signed) if isinstance(found, Drop) else found


def _unseal(
    outer: Envelope, pin: Pin, signed: SignedEnvelope, *, me: Identity, knowledge: Knowledge, entropy: Entropy
) -> ReceivedPacket | ReceivedReceipt | Drop:
    sender = outer.sender
    binding = session.Binding(
        sender, outer.recipient, outer.packet_id, envelope.associated_data(envelope.header_of(outer))
    )
    opened = None
    for who in _ourselves(me, knowledge):
        with contextlib.suppress(primitives.CannotOpen):
            opened = session.open_body(
                who,
                pin.keys,
                knowledge.sessions(sender),
                knowledge.prekeys,
                unb64(outer.body) or b"",
                binding,
                entropy,
            )
            break
    if opened is None:
        return Drop.SEALED
    try:
        if opened.receipt:
            return ReceivedReceipt(outer, receipt.read(opened.payload))
        inner = packet.read(opened.payload)
    except packet.MalformedPacket:
        return Drop.MALFORMED
    if not any(_headers_agree(outer, inner, who, pin) for who in _ourselves(me, knowledge)):
        return Drop.HEADER
    # Last, as only an opened packet tells its thread: the relay sees a tag that means nothing to it.
    if not knowledge.participant(inner.thread_id, sender):
        return Drop.OUTSIDER
    return ReceivedPacket(outer, inner, opened, signed)


def _ourselves(me: Identity, knowledge: Knowledge) -> Iterator[Identity]:
    """The keys a packet may be for; the former ones are looked for only when the present ones do not fit."""
    yield me
    yield from knowledge.formers()


def _headers_agree(outer: Envelope, inner: packet.Packet, me: Identity, pin: Pin) -> bool:
    try:
        tag = queue_tag(me, pin, sender=outer.sender, recipient=outer.recipient, thread_id=inner.thread_id)
    except primitives.CannotOpen:
        # Its agreement key agrees on nothing, so no tag is the right one.
        return False
    return (
        inner.protocol == outer.protocol
        and inner.packet_id == outer.packet_id
        and inner.sender == outer.sender
        and inner.recipient == outer.recipient
        and inner.timestamp == outer.timestamp
        and tag == outer.queue_tag
    )


def queue_tag(me: Identity, pin: Pin, *, sender: str, recipient: str, thread_id: str) -> str:
    """The opaque tag that stands for a thread between these two."""
    return "q_" + b64(
        session.queue_tag(me, pin.keys, sender=sender, recipient=recipient, thread_id=thread_id)
    )


START: Final = 50
LOW: Final = 20
FLAG_AT: Final = 5
AUTO_BLOCK_AT: Final = 20
WINDOW: Final = 24 * 3600 * SECOND


@dataclass(frozen=True, slots=True)
class SenderReputation:
    """One sender's record."""

    score: int = START
    faults: tuple[Moment, ...] = ()
    flagged: bool = False
    blocked: bool = False

    @property
    def low(self) -> bool:
        """Whether its packets are handled after the others, without a notification."""
        return self.score < LOW


def after_fault(reputation: SenderReputation, now: Moment, *, auto_block: bool = False) -> SenderReputation:
    """A malformed packet or a broken limit: five points, and a flag at the fifth within a day."""
    recent = (*(at for at in reputation.faults if now - at < WINDOW), now)[-AUTO_BLOCK_AT:]
    return replace(
        reputation,
        score=max(0, reputation.score - 5),
        faults=recent,
        flagged=reputation.flagged or len(recent) >= FLAG_AT,
        blocked=reputation.blocked or (auto_block and len(recent) >= AUTO_BLOCK_AT),
    )


def after_thread(reputation: SenderReputation) -> SenderReputation:
    """A valid thread: one point."""
    return replace(reputation, score=min(100, reputation.score + 1))
