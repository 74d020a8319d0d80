"""JSON as it must be: one value, UTF-8, no duplicate keys, no NaN, no number that readers would lose.

`parse` accepts bytes and either returns the value or raises `Malformed` with a reason; nothing else comes
out. Received bytes are kept by the caller: `compact` only strips white space between tokens.
"""

from __future__ import annotations

import json
import math
from typing import Final

import msgspec

MAX_DEPTH: Final = 64
_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**64 - 1
_INT_DIGITS: Final = 20

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


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def parse(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """The JSON value in `data`."""
    if isinstance(data, bytes):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed("not valid UTF-8") from error
    else:
        text = data
    if text.startswith("\ufeff"):
        raise Malformed("a byte order mark stands before the JSON")
    # Every level opens a bracket, so few brackets mean little depth; only a suspicious text is counted.
    if text.count("{") + text.count("[") > max_depth and _depth(text) > max_depth:
        raise Malformed(f"nested deeper than {max_depth} levels")
    try:
        value = _DECODER.decode(text)
    except Malformed:
        raise
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON at character {error.pos}") from error
    if "\\ud" in text or "\\uD" in text:
        _refuse_lone_surrogates(text, value)
    return value


def _depth(text: str) -> int:
    deepest = depth = 0
    in_string = escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif in_string:
            if char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
    return deepest


def _refuse_lone_surrogates(_text: str, value: object) -> None:
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
