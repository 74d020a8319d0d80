"""Bytes as text and values as bytes: unpadded base64url and the canonical JSON of RFC 8785.

The outer layer holds strings, integers, booleans, lists and objects only, for which RFC 8785 and sorted,
compact JSON agree. What does not come back byte for byte was not canonical: one check refuses repeated keys,
stray white space, odd escapes and wrong order alike, so nobody can read the same bytes differently.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final, cast

import msgspec

_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_ALPHABET: Final = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


def b64(data: bytes) -> str:
    """Unpadded base64url."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def unb64(text: str) -> bytes | None:
    """The bytes behind unpadded base64url; None for any other spelling, unused bits included."""
    if _ALPHABET.fullmatch(text) is None:
        return None
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return data if b64(data) == text else None


def canonical(value: object) -> bytes:
    """The one byte form of `value`."""
    return _ENCODER.encode(value)


def canonical_object(raw: bytes) -> dict[str, Any] | None:
    """The object in `raw` when `raw` is its canonical form and holds no float; None otherwise."""
    try:
        value: object = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(value, dict) or _ENCODER.encode(cast("object", value)) != raw:
        return None
    found = cast("dict[str, Any]", value)
    return None if _has_float(found) else found


def _has_float(value: object) -> bool:
    if isinstance(value, dict):
        return any(_has_float(item) for item in cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return any(_has_float(item) for item in cast("list[object]", value))
    return isinstance(value, float)
