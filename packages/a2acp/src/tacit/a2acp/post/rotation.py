"""Following a contact's rotations, one signed word after the other (A2ACP-015, A2ACP-247).

A contact may have replaced its keys several times while we slept. Its record names each rotation; from the
key that we hold, each must be signed by the key before it and vouched for by its own. What does not lead from
our key to the offered one proves nothing, however well the rest of it is signed. Pure: nothing is asked or
stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.base.errors import PeerFault, Refused
from tacit.seal import primitives
from tacit.seal.identity import PublicIdentity
from tacit.wire import records
from tacit.wire.encoding import unb64

if TYPE_CHECKING:
    from tacit.seal.identity import Pin
    from tacit.wire.records import KeyRecord, SignedStatement, Statement


@dataclass(frozen=True, slots=True)
class KeyOffer:
    """A contact's statement that holds, and what its record proves of the way to it."""

    statement: Statement
    keys: PublicIdentity
    rotation_proven: bool = False
    reset: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    """A signed statement that holds by itself."""

    signed: SignedStatement
    statement: Statement
    keys: PublicIdentity

    def handed_over_by(self, key: bytes) -> bool:
        """Whether `key` has signed this statement to be its successor."""
        signed = records.rotation_signed_bytes(bytes(self.signed.statement))
        return primitives.verify(key, signed, unb64(self.signed.rotation_sig or "") or b"")


def read_offer(peer: str, record: KeyRecord, pin: Pin | None) -> KeyOffer:
    """What a relay hands out for `peer`, checked against the pin; `PeerFault` when it does not hold."""
    present = _held(peer, record)
    if present is None:
        raise PeerFault("the relay handed out a key record that does not hold")
    if not primitives.is_sound_agreement_key(present.keys.agreement):
        raise PeerFault("the relay handed out an agreement key of small order")
    if pin is None:
        return KeyOffer(present.statement, present.keys)
    same = present.keys.signing == pin.keys.signing
    way = [present] if same else _way(peer, record, present)
    ours = [index for index, step in enumerate(way) if step.handed_over_by(pin.keys.signing)]
    if (same or ours) and present.statement.serial > pin.serial + records.LARGEST_LEAP:
        # Whoever has the key for a moment could otherwise pin a number that its owner never reaches. A key
        # that is not proven is put before a person, whatever its number.
        raise PeerFault("the relay handed out a key record whose serial leaps")
    if same:
        return KeyOffer(present.statement, present.keys)
    walked = way[ours[-1] :] if ours else way
    return KeyOffer(
        present.statement,
        present.keys,
        rotation_proven=bool(ours),
        reset=any(step.statement.reset for step in walked),
    )


def _way(peer: str, record: KeyRecord, present: _Step) -> list[_Step]:
    """The rotations that lead to the record's key without a gap, oldest first, the record itself last."""
    way = [present]
    earlier = [one for one in record.rotations[-records.MOST_ROTATIONS :] if one.sig != record.sig]
    for rotation in reversed(earlier):
        try:
            step = _held(peer, rotation)
        except Refused:
            break
        # The same key may have spoken again since, without rotating.
        if step is None or not (
            step.keys.signing == way[0].keys.signing or way[0].handed_over_by(step.keys.signing)
        ):
            break
        way.insert(0, step)
    return way


def _held(peer: str, signed: SignedStatement) -> _Step | None:
    raw = bytes(signed.statement)
    statement = records.read_statement(raw)
    keys = PublicIdentity(unb64(statement.signing_key) or b"", unb64(statement.agreement_key) or b"")
    if statement.address != peer or not primitives.verify(
        keys.signing, records.statement_signed_bytes(raw), unb64(signed.sig) or b""
    ):
        return None
    return _Step(signed, statement, keys)
