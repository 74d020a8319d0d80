"""The event envelope: nine members with fixed meaning.

Rows: CCCS-013, CCCS-014, CCCS-015, CCCS-016, CCCS-017, CCCS-018, CCCS-019, CCCS-020, CCCS-025. The hub
encodes an event once; what is stored, exported and streamed are these same bytes. `data` is the submitter's
own JSON with only the white space between tokens removed. Of an event whose content was taken away the same
bytes up to `data` remain; behind what is left of `data` it has a tenth member, which says so (`redaction`).

An event as the read model gives it: what was appended, and for whom it is.

Redaction: the content of an event goes, its envelope stays, and the chain of hashes still holds.

A link of the chain covers the envelope as it is and the content by a salted hash. The salt is a random number
that stands beside the event and goes with the content: whoever guesses the words of an event that is gone has
nothing left to try them against. Events from before there were salts are in the chain by the hash of all
their bytes; when such a one is redacted that hash stays, and short words can be guessed from it.

What remains is `head`, where it stood and to whom (`KEPT`), and who had it taken away. Pure; the bytes on the
disk are the business of `io/erasure`.

What is left of a message that was taken back: where it stood and to whom, none of what it said (C2A-187).

Whoever reads through the hub gets this from the moment of the deletion on; the journal keeps no more of it
either (`redaction`), unless it was taken back before the content went along.

Random bytes for events, for the id and the salt of each; a draw asks the system, so it is for many.
"""

from __future__ import annotations

from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tacit.base.ports import Entropy


VERSION: Final = 1
MAX_EVENT_BYTES: Final = 256 * 1024


class Redaction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an event says of itself once its content is gone: who had it taken away, and when.

    `hash` stands for the content in the chain of hashes; without `salted` it is the whole event's, from a
    ledger that had no salts. `heard` is what a fold above the ledger must still know of it.
    """

    by: str
    at: str
    hash: str
    salted: bool = True
    heard: dict[str, Any] = {}


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event as a reader sees it. Members that the envelope does not have are ignored.

    Rows: CCCS-021, CCCS-022.
    """

    v: int
    id: str
    ts: str
    seq: int
    kind: str
    group_id: str
    scope_key: str
    by: str
    data: dict[str, Any]
    redacted: Redaction | None = None


class _Outgoing(msgspec.Struct, frozen=True, gc=False):
    v: int
    id: str
    ts: str
    seq: int
    kind: str
    group_id: str
    scope_key: str
    by: str
    data: msgspec.Raw


class OnlyData(msgspec.Struct, frozen=True):
    """An event of which only the data is wanted."""

    data: dict[str, Any]


_encoder: Final = msgspec.json.Encoder()
decode_data: Final = msgspec.json.Decoder(OnlyData).decode
"""The data of an event's bytes, without the rest."""


def encode(
    *, event_id: str, ts: str, seq: int, kind: str, group_id: str, scope_key: str, by: str, data: bytes
) -> bytes:
    """The event's bytes, for ever."""
    return _encoder.encode(
        _Outgoing(VERSION, event_id, ts, seq, kind, group_id, scope_key, by, msgspec.Raw(data))
    )


decode: Final = msgspec.json.Decoder(Event).decode
"""The event behind stored or received bytes."""


def data_of(raw: bytes) -> dict[str, Any]:
    """Only the `data` of an event's bytes."""
    return decode_data(raw).data


class StoredEvent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An event of the ledger with what the read model knows about its audience."""

    seq: int
    event_id: str
    kind: str
    by: str
    raw: bytes
    everyone: bool = False
    named: tuple[str, ...] = ()
    private: bool = False
    root: int = 0

    @property
    def data(self) -> dict[str, Any]:
        """The event's data."""
        return decode_data(self.raw).data

    def parties(self) -> frozenset[str]:
        """Who may read it, when it is private (besides `user`)."""
        return frozenset((*self.named, self.by))

    def visible_to(self, principal: str) -> bool:
        """Private events are for their parties and the owner (CCCS-110)."""
        return not self.private or principal in {USER, self.by} or principal in self.named

    def is_known_to_readers_of(self, other: StoredEvent) -> bool:
        """May everybody who reads the other event read this one too (the owner aside)?"""
        return not self.private or (other.private and other.parties() <= self.parties())


SALT_BYTES: Final = 16
GONE: Final = b""
"""In the place of the salt of an event whose content was taken away."""
_CONTENT: Final = b',"data":'


def parts(raw: bytes) -> tuple[bytes, bytes]:
    """The envelope up to its data, and the rest.

    No member before `data` can hold these signs: inside of a text its quotes would be escaped.
    """
    at = raw.find(_CONTENT)
    return (raw[:at], raw[at:]) if at >= 0 else (raw, b"")


def digest(raw: bytes, salt: bytes | None) -> bytes:
    """What of an event the chain of hashes covers; the salt of one from before there were any is None."""
    if salt is None:
        return sha256(raw).digest()
    head, content = parts(raw)
    if salt:
        return sha256(head + sha256(salt + content).digest()).digest()
    try:
        left = decode(raw).redacted
        kept = bytes.fromhex(left.hash) if left is not None else b""
    except (msgspec.DecodeError, ValueError):
        left, kept = None, b""
    if left is None:  # its salt is gone, yet it does not say who took its content: no link fits it
        return sha256(raw).digest()
    return sha256(head + kept).digest() if left.salted else kept


class Remains(msgspec.Struct, frozen=True):
    """What a fold above the ledger must still know of an event: members of its data, and what it heard."""

    data: dict[str, Any] = {}
    heard: dict[str, Any] = {}


NOTHING_MORE: Final = Remains()


def redacted(raw: bytes, salt: bytes | None, by: str, at: str, remains: Remains = NOTHING_MORE) -> bytes:
    """The event without its content; one that has lost it already stays as it is."""
    if salt == GONE:
        return raw
    head, content = parts(raw)
    hashed = sha256(raw if salt is None else salt + content).hexdigest()
    says = Redaction(by=by, at=at, hash=hashed, salted=salt is not None, heard=remains.heard)
    return b"".join(
        (
            head,
            _CONTENT,
            _left(decode(raw).data, remains.data),
            b',"redacted":',
            msgspec.json.encode(says),
            b"}",
        )
    )


def _left(data: Mapping[str, Any], more: Mapping[str, Any]) -> bytes:
    key = {"client_id": data["client_id"]} if "client_id" in data else {}
    return msgspec.json.encode({**kept_of(data), **key, **more, "text": "", "deleted": True})


KEPT: Final = frozenset({"to", "reply_to", "priority", "supersedes", "original", "by"})
_PLACE: Final = frozenset({"kind", "id", "stream"})
SAYING: Final = frozenset({"chat.message", "x.c2a.edit"})
"""The kinds that hold a message's words: its first form, and each that replaced one."""
QUOTING: Final = "x.c2a.digest"
"""The hub's own kind that repeats words of the messages that it lists."""


def kept_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Of a message's data: where it stood and to whom."""
    kept = {name: value for name, value in data.items() if name in KEPT}
    place = data.get("conversation")
    if isinstance(place, dict):
        named = cast("dict[str, Any]", place).items()
        kept["conversation"] = {name: value for name, value in named if name in _PLACE}
    return kept


def emptied(found: StoredEvent) -> dict[str, Any]:
    """The event without its words and files."""
    whole: dict[str, Any] = msgspec.json.decode(found.raw)
    if "redacted" in whole:
        return whole
    return {**whole, "data": {**kept_of(whole["data"]), "text": "", "deleted": True}}


def without_words(found: StoredEvent) -> StoredEvent:
    """The same as a stored event, for whoever passes its bytes on."""
    return msgspec.structs.replace(found, raw=msgspec.json.encode(emptied(found)))


EACH: Final = Struct(f"10s{SALT_BYTES}s")
DRAWN_AT_ONCE: Final = 64


class EventChance:
    """A source of the random bytes of one event after the other; none are given twice."""

    __slots__ = ("_drawn", "_entropy")

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._drawn: Iterator[tuple[Any, ...]] = iter(())

    def next(self) -> tuple[bytes, bytes]:
        """Those for an event's id, and its salt."""
        drawn = next(self._drawn, None)
        if drawn is None:
            self._drawn = EACH.iter_unpack(self._entropy.draw(EACH.size * DRAWN_AT_ONCE))
            drawn = next(self._drawn)
        return cast("tuple[bytes, bytes]", drawn)
