"""The event envelope: nine members with fixed meaning.

Rows: CCCS-013, CCCS-014, CCCS-015, CCCS-016, CCCS-017, CCCS-018, CCCS-019, CCCS-020, CCCS-025. The hub
encodes an event once; what is stored, exported and streamed are these same bytes. `data` is the submitter's
own JSON with only the white space between tokens removed. Of an event whose content was taken away the same
bytes up to `data` remain; behind what is left of `data` it has a tenth member, which says so (`redaction`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

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
