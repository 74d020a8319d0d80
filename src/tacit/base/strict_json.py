"""JSON as it must be: one value, UTF-8, no duplicate keys, no NaN, no number that readers would lose.

`parse` accepts bytes or text and either returns the value or raises `Malformed` with a reason; nothing else
comes out. Received bytes are kept by the caller: `compact` only strips white space between tokens.

The valid path is fast and exact. A compiled decoder keeps the last of two equal keys without a word, so its
result is written out again and the colons of both texts are counted: every member has one colon, and a string
keeps its own unless one is spelt as an escape. Equal counts therefore prove that no member was lost. Packing
the result in MessagePack proves that every integer fits in 64 bits. Whatever is not proved goes through the
slow parser, which also finds the words for a refusal.
"""

from __future__ import annotations

import json
import math
from typing import Final, cast

import msgspec

MAX_DEPTH: Final = 64
_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**64 - 1
_INT_DIGITS: Final = 20
_COLON: Final = ord(":")
_BACKSLASH: Final = ord("\\")

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


class Malformed(ValueError):
    """Not acceptable JSON; the text says why and never quotes the input."""


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("an object repeats a key")
    return found


def _integer(digits: str) -> int:
    if len(digits) <= 15:
        return int(digits)
    if len(digits) > _INT_DIGITS or not _INT_MIN <= (value := int(digits)) <= _INT_MAX:
        raise Malformed("an integer does not fit in 64 bits")
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise Malformed("a number is too large for a double")
    return value


def _constant(_: str) -> object:
    raise Malformed("NaN and Infinity are not JSON")


_SLOW: Final = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode
integers_fit: Final = msgspec.msgpack.Encoder().encode
"""Called for its `OverflowError` when an integer within the value does not fit in 64 bits."""


def parse(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """The JSON value in `data`."""
    if isinstance(data, str):
        try:
            data = data.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Malformed("not valid Unicode") from error
    try:
        value = cast("JsonValue", _decode(data))
        proved = no_member_lost(data, _encode(value))
        integers_fit(value)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return _slow(data, max_depth)
    if not proved:
        return _slow(data, max_depth)
    # Every level opens a bracket, so few brackets mean little depth; only a suspicious text is walked.
    if data.count(b"{") + data.count(b"[") > max_depth:
        _refuse_depth(value, max_depth)
    return value


def no_member_lost(data: bytes, written: bytes) -> bool:
    """Whether `written`, a decoded `data` encoded again, still holds every member that `data` spells out."""
    if data.count(_COLON) != written.count(_COLON):
        return False
    return _BACKSLASH not in data or (rb"\u003a" not in data and rb"\u003A" not in data)


def _slow(data: bytes, max_depth: int) -> JsonValue:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("not valid UTF-8") from error
    if text.startswith("\ufeff"):
        raise Malformed("a byte order mark stands before the JSON")
    try:
        value = _SLOW.decode(text)
    except Malformed:
        raise
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON at character {error.pos}") from error
    except RecursionError as error:
        raise Malformed(f"nested deeper than {max_depth} levels") from error
    if "\\ud" in text or "\\uD" in text:
        _refuse_lone_surrogates(value)
    _refuse_depth(value, max_depth)
    return value


def _refuse_depth(value: JsonValue, max_depth: int) -> None:
    level: list[JsonValue] = [value]
    for _ in range(max_depth + 1):
        below: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below and not any(isinstance(item, dict | list) for item in level):
            return
        level = below
    raise Malformed(f"nested deeper than {max_depth} levels")


def _refuse_lone_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Malformed("an escape stands for half a character") from error


def compact(data: bytes) -> bytes:
    """The same tokens without white space between them; for bytes that `parse` accepted."""
    return msgspec.json.format(data, indent=-1)


def canonical(value: object) -> bytes:
    """One byte form for equal values: sorted keys, no white space, UTF-8. For hashing, never for storing."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")
