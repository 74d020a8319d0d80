"""Bytes as text and values as bytes: unpadded base64url and the canonical JSON of RFC 8785.

The outer layer holds strings, integers, booleans, lists and objects only, for which RFC 8785 and sorted,
compact JSON agree. What does not come back byte for byte was not canonical: one check refuses repeated keys,
stray white space, odd escapes and wrong order alike, so nobody can read the same bytes differently.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final, cast

import msgspec

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""All that decoding a stranger's bytes can raise; text that is not UTF-8 is none of msgspec's own errors."""

_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_STRANGE: Final = ord("!")
_USUAL_LETTERS: Final = bytes(
    {ord("-"): ord("+"), ord("_"): ord("/")}.get(letter, letter) if letter in _LETTERS else _STRANGE
    for letter in range(256)
)
"""The letters of base64url as those of base64; every other one, also of base64, as one that is none."""
_LAST: Final = {2: _LETTERS[::16], 3: _LETTERS[::4]}
_PADDING: Final = (b"", b"", b"==", b"=")


def b64(data: bytes) -> str:
    """Unpadded base64url."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def unb64(text: str) -> bytes | None:
    """The bytes behind unpadded base64url; None for any other spelling, unused bits included."""
    if not text.isascii():
        return None
    raw = text.encode()
    usual = raw.translate(_USUAL_LETTERS)
    over = len(raw) % 4
    # Two letters carry one byte and four unused bits, three carry two bytes and two; one carries nothing.
    if _STRANGE in usual or over == 1 or (over and raw[-1] not in _LAST[over]):
        return None
    return binascii.a2b_base64(usual + _PADDING[over])


def is_base64url(raw: bytes) -> bool:
    """Whether `raw` has only letters of base64url."""
    return _STRANGE not in raw.translate(_USUAL_LETTERS)


def canonical(value: object) -> bytes:
    """The one byte form of `value`."""
    return _ENCODER.encode(value)


def canonical_object(raw: bytes) -> dict[str, Any] | None:
    """The object in `raw` when `raw` is its canonical form and holds no float; None otherwise."""
    try:
        value: object = msgspec.json.decode(raw)
        if not isinstance(value, dict) or _ENCODER.encode(cast("object", value)) != raw:
            return None
        found = cast("dict[str, Any]", value)
        return None if _has_float(found) else found
    except UNREADABLE:
        return None


def _has_float(value: object) -> bool:
    if isinstance(value, dict):
        return any(_has_float(item) for item in cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return any(_has_float(item) for item in cast("list[object]", value))
    return isinstance(value, float)
