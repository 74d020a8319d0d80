"""What a batch of one group is in a stream: one message, its subject, its bytes.

The message carries the link of the chain that it stands on, so that a node notices when what it has is not
what the batch was decided upon. The format has a version in a header; a node that does not know it declines
to read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.ledger.commands import HUB, DatedRecord, RecordBlob
from tacit.ledger.envelope import GONE
from tacit.ledger.ports import JournalEntry, Missed

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

FORMAT: Final = "1"
INSTEAD: Final = "@instead."
"""Before a sequence: the subject of what stands in the place of the message that had it."""
COPYING: Final = "@copying"
COPIED: Final = "@copied"
"""The subjects of the first and of the last message of a ledger that was copied into a stream."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")
_Row = tuple[int, bytes, str, bytes, bytes | None]
_encode: Final = msgspec.msgpack.Encoder().encode
_decode_records: Final = msgspec.msgpack.Decoder(tuple[DatedRecord, ...]).decode
_decode: Final = msgspec.msgpack.Decoder(tuple[bytes, list[_Row]]).decode


class ShipmentPart(msgspec.Struct, frozen=True):
    """One group's share of a shipment: its subject, the sequence it must end with, and the bytes.

    `quiet`: of interest inside its group alone (`tacit.ledger.quiet`).
    """

    group_id: str
    token: str
    guard: int
    payload: bytes
    quiet: bool = False


class Shipment(msgspec.Struct, frozen=True):
    """What is taken as a whole or not at all: one group's batch, or those of groups that are bound."""

    batch_id: str
    parts: tuple[ShipmentPart, ...]


class StreamMessage(msgspec.Struct, frozen=True):
    """A message as the stream has it; a fence has no payload.

    `sequence` and `token` are those that it had first, also where another stands in its place.
    """

    sequence: int
    token: str
    payload: bytes
    quiet: bool = False


def token(group_id: str) -> str:
    """A group's id as the last token of a subject, which may hold neither dots nor blanks."""
    return group_id if _PLAIN.fullmatch(group_id) else "=" + group_id.encode().hex()


def group_of(token: str) -> str:
    """The group's id again."""
    return bytes.fromhex(token[1:]).decode() if token.startswith("=") else token


def packed(before: bytes, entries: Sequence[JournalEntry]) -> bytes:
    """The bytes of a batch that stands on the link `before`."""
    rows = [(entry.seq, entry.event_id, entry.kind, entry.raw, entry.salt) for entry in entries]
    return _encode((before, rows))


def unpacked(group_id: str, payload: bytes) -> tuple[bytes, Missed]:
    """The link that a batch stands on, and its entries."""
    before, rows = _decode(payload)
    return before, Missed(group_id, tuple(JournalEntry(*row) for row in rows))


def packed_records(records: Sequence[DatedRecord]) -> bytes:
    """The bytes of records of the hub's own."""
    return _encode(records)


def unpacked_records(payload: bytes) -> Missed:
    """The records again."""
    return Missed(HUB, records=_decode_records(payload))


def without(payload: bytes, redacted: Mapping[int, bytes]) -> bytes:
    """A group's batch with these events, by position, in the form that has lost its content."""
    before, rows = _decode(payload)
    left = [
        (seq, event_id, kind, redacted[seq], GONE) if seq in redacted and salt != GONE else row
        for row in rows
        for seq, event_id, kind, _raw, salt in (row,)
    ]
    return _encode((before, left))


def without_blobs(payload: bytes, gone: Container[tuple[str, str, str]]) -> bytes:
    """Records of the hub's own without those of blobs, by group, hash and who brought it, that are gone."""
    return _encode(
        [
            dated
            for dated in _decode_records(payload)
            if not isinstance(record := dated.record, RecordBlob)
            or (record.group_id, record.sha256, record.principal) not in gone
        ]
    )
