"""JSON as it must be: one value, UTF-8, no duplicate keys, no NaN, no number that readers would lose.

`parse` accepts bytes or text and either returns the value or raises `Malformed` with a reason; nothing else
comes out. Received bytes are kept by the caller: `compact` only strips white space between tokens.

The valid path is fast and exact. A compiled decoder keeps the last of two equal keys without a word, so its
result is written out again and the colons of both texts are counted: every member has one colon, and a string
keeps its own unless one is spelt as an escape. Equal counts therefore prove that no member was lost; where a
string spells a colon as an escape, those between the strings are counted. Packing the result in MessagePack
proves that every integer fits in 64 bits. What the fast way does not take goes through the slow parser, which
finds the words for a refusal. Every step takes time in proportion to the text, whatever is in it.
"""

from __future__ import annotations

import json
import math
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

MAX_DEPTH: Final = 64
_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**64 - 1
_INT_DIGITS: Final = 20
_COLON: Final = ord(":")
_BACKSLASH: Final = ord("\\")

_REPEATED: Final = "an object repeats a key"
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""A bracket as a step in a level or, as a signed byte, out of it."""
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[{]}"))

if TYPE_CHECKING:
    Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None
    """Any JSON value. What it is, a reader finds out by `isinstance` or `match`."""
    JsonObject: TypeAlias = dict[str, Json]
else:
    # What decodes by type at run time takes no type that names itself.
    Json = Any
    JsonObject = dict[str, Any]


class Malformed(ValueError):
    """Not acceptable JSON; the text says why and never quotes the input."""


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed(_REPEATED)
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


def parse(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> Json:
    """The JSON value in `data`."""
    if isinstance(data, str):
        try:
            data = data.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Malformed("not valid Unicode") from error
    try:
        value = cast("Json", _decode(data))
        proved = no_member_lost(data, _encode(value))
        integers_fit(value)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return _slow(data, max_depth)
    if not proved:
        raise Malformed(_REPEATED)
    # Every level opens a bracket, so few brackets mean little depth; only a suspicious text is counted.
    if data.count(b"{") + data.count(b"[") > max_depth:
        _refuse_depth(data, max_depth)
    return value


def no_member_lost(data: bytes, written: bytes) -> bool:
    """Whether `written`, a decoded `data` encoded again, still holds every member that `data` spells out."""
    spells_colons = _BACKSLASH in data and (rb"\u003a" in data or rb"\u003A" in data)
    if not spells_colons:
        return data.count(_COLON) == written.count(_COLON)
    return _between_strings(data).count(_COLON) == _between_strings(written).count(_COLON)


def _between_strings(data: bytes) -> bytes:
    """What stands between the strings of a text that is JSON."""
    if _BACKSLASH in data:
        # What is left after the pairs escapes one sign each: the quotation mark that ends no string.
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return b"".join(data.split(b'"')[::2])


def _slow(data: bytes, max_depth: int) -> Json:
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
    _refuse_depth(data, max_depth)
    return value


def _refuse_depth(data: bytes, max_depth: int) -> None:
    """Refuse a text of JSON whose brackets stand too deep in one another."""
    steps = array("b", _between_strings(data).translate(_STEPS, _NO_BRACKETS))
    if max(accumulate(steps), default=0) > max_depth:
        raise Malformed(f"nested deeper than {max_depth} levels")


def _refuse_lone_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Malformed("an escape stands for half a character") from error


def as_object(value: Json) -> JsonObject:
    """The value where it is an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_objects(value: Json) -> list[JsonObject]:
    """The objects in a list; none for anything else."""
    return [entry for entry in as_list(value) if isinstance(entry, dict)]


def as_list(value: Json) -> list[Json]:
    """The value where it is a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def compact(data: bytes) -> bytes:
    """The same tokens without white space between them; for bytes that `parse` accepted."""
    return msgspec.json.format(data, indent=-1)


def canonical(value: object) -> bytes:
    """One byte form for equal values: sorted keys, no white space, UTF-8. For hashing, never for storing."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")
