"""Reading CBOR as authenticators write it (CTAP2's canonical form): what a passkey's key and data are in.

Integers, byte strings, texts, lists, maps, true, false and null, each of a stated length and nested a few
levels at most. Tags, floats, endless items, a key that comes twice and keys that are neither a number nor a
text are refused: Python would take `true` for 1. Writes nothing.
"""

from __future__ import annotations

from typing import Any, Final

DEEPEST: Final = 8
_ARGUMENT_BYTES: Final = {24: 1, 25: 2, 26: 4, 27: 8}
_SIMPLE: Final = {20: False, 21: True, 22: None}


def whole_map(data: bytes) -> dict[int | str, Any]:
    """The map that these bytes are, from the first to the last; `ValueError` for anything else."""
    if not data or data[0] >> 5 != 5:
        raise ValueError("CBOR is no map")
    size, at = _argument(data, 1, data[0] & 0b11111)
    pairs, end = _map(data, at, size, 0)
    if end != len(data):
        raise ValueError("CBOR says more than its map")
    return pairs


def read(data: bytes, start: int = 0, *, depth: int = 0) -> tuple[Any, int]:
    """The item at `start`, and where it ends; `ValueError` for what is cut short or not read here."""
    if start >= len(data) or depth > DEEPEST:
        raise ValueError("CBOR is cut short or too deep")
    kind, short = data[start] >> 5, data[start] & 0b11111
    if kind == 7:
        if short not in _SIMPLE:
            raise ValueError("CBOR holds what is not read here")
        return _SIMPLE[short], start + 1
    size, at = _argument(data, start + 1, short)
    match kind:
        case 0:
            return size, at
        case 1:
            return -1 - size, at
        case 2 | 3:
            end = at + size
            if end > len(data):
                raise ValueError("CBOR is cut short")
            return (data[at:end] if kind == 2 else data[at:end].decode()), end
        case 4:
            items: list[Any] = []
            for _ in range(size):
                item, at = read(data, at, depth=depth + 1)
                items.append(item)
            return items, at
        case 5:
            return _map(data, at, size, depth)
        case _:
            raise ValueError("CBOR holds what is not read here")


def _argument(data: bytes, at: int, short: int) -> tuple[int, int]:
    if short < 24:
        return short, at
    size = _ARGUMENT_BYTES.get(short, len(data))
    if at + size > len(data):
        raise ValueError("CBOR is cut short or endless")
    return int.from_bytes(data[at : at + size], "big"), at + size


def _map(data: bytes, at: int, size: int, depth: int) -> tuple[dict[int | str, Any], int]:
    pairs: dict[int | str, Any] = {}
    for _ in range(size):
        key, at = read(data, at, depth=depth + 1)
        if type(key) not in {int, str} or key in pairs:
            raise ValueError("CBOR has a key that is not read here, or one that comes twice")
        pairs[key], at = read(data, at, depth=depth + 1)
    return pairs, at
