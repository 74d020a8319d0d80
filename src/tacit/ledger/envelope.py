"""The event envelope: nine members with fixed meaning.

Rows: CCCS-013, CCCS-014, CCCS-015, CCCS-016, CCCS-017, CCCS-018, CCCS-019, CCCS-020, CCCS-025. The hub
encodes an event once; what is stored, exported and streamed are these same bytes. `data` is the submitter's
own JSON with only the white space between tokens removed.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

VERSION: Final = 1
MAX_EVENT_BYTES: Final = 256 * 1024


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


class _Outgoing(msgspec.Struct, frozen=True):
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
