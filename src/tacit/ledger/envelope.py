"""The event envelope: nine members with fixed meaning (CCCS-013 to CCCS-020, CCCS-025).

The hub encodes an event once; what is stored, exported and streamed are these same bytes. `data` is the
submitter's own JSON with only the white space between tokens removed.
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

VERSION: Final = 1
MAX_EVENT_BYTES: Final = 256 * 1024


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event as a reader sees it. Members that the envelope does not have are ignored (CCCS-021, 022)."""

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


class _OnlyData(msgspec.Struct, frozen=True):
    data: msgspec.Raw


_encoder: Final = msgspec.json.Encoder()
_event_decoder: Final = msgspec.json.Decoder(Event)
_data_decoder: Final = msgspec.json.Decoder(_OnlyData)


def encode(
    *, event_id: str, ts: str, seq: int, kind: str, group_id: str, scope_key: str, by: str, data: bytes
) -> bytes:
    """The event's bytes, for ever."""
    return _encoder.encode(
        _Outgoing(VERSION, event_id, ts, seq, kind, group_id, scope_key, by, msgspec.Raw(data))
    )


def decode(raw: bytes) -> Event:
    """The event behind stored or received bytes."""
    return _event_decoder.decode(raw)


def data_of(raw: bytes) -> dict[str, Any]:
    """Only the `data` of an event's bytes."""
    return cast("dict[str, Any]", msgspec.json.decode(_data_decoder.decode(raw).data))
