"""The shape of a packet type or of a part of one, read from the struct that declares it.

A member's shape follows from its type: text, flag, whole number, any JSON, list, another struct. What a type
cannot say stands beside it in `Annotated`: a shape of its own, `Many` for a list's limits, `Asks` for
who must write the member. A member without a default is needed by everybody. Knows no packet type.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Final, Union, get_args, get_origin, get_type_hints

import msgspec

from tacit.a2acp.packets.shapes import (
    Anything,
    Erased,
    Flag,
    ListOf,
    MapOf,
    RecordMember,
    RecordShape,
    Shape,
    Text,
    Whole,
    Word,
)
from tacit.base.strict_json import Json, JsonObject

_SHAPES: Final = (Anything, Erased, Flag, Whole, Text, Word, ListOf, MapOf, RecordShape)
_PLAIN: Final[dict[object, Shape]] = {
    str: Text(),
    bool: Flag(),
    int: Whole(),
    NoneType: Erased(),
    Json: Anything(),
    JsonObject: MapOf(Anything()),
}


@dataclass(frozen=True, slots=True)
class Asks:
    """Who must write a member, and what becomes of one that does not fit (see `RecordMember`)."""

    row: str = ""
    needed: bool = False
    """By everybody, though a value may lack it once it is read."""
    sent: bool = False
    sent_shape: Shape | None = None
    advisory: bool = False


@dataclass(frozen=True, slots=True)
class Many:
    """The limits of a list (see `ListOf`)."""

    least: int = 0
    most: int | None = None
    sent_least: int = 0
    unique: bool = False


def members_of(kind: type[msgspec.Struct]) -> tuple[RecordMember, ...]:
    """The members that a struct itself declares, in its order, without those of its bases."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    return tuple(_member(fields[name], hints[name]) for name in kind.__annotations__ if name in fields)


def record_of(kind: type[msgspec.Struct]) -> RecordShape:
    """A struct as the shape of an object."""
    return RecordShape(members_of(kind))


def _member(field: msgspec.structs.FieldInfo, hint: object) -> RecordMember:
    kind, notes = _apart(hint)
    asked = next((note for note in reversed(notes) if isinstance(note, Asks)), Asks())
    shape = _shape(kind, notes)
    # A word that is read into what lacks it is there once a packet is read.
    is_filled = isinstance(shape, Word) and shape.filled
    return RecordMember(
        field.encode_name,
        shape,
        needed=asked.needed or (field.required and not is_filled),
        sent=asked.sent,
        sent_shape=asked.sent_shape,
        advisory=asked.advisory,
        row=asked.row,
    )


def _apart(hint: object) -> tuple[object, tuple[object, ...]]:
    """A type without the marks of a member that may be absent, and what stands beside it."""
    notes: tuple[object, ...] = ()
    while True:
        if get_origin(hint) is Annotated:
            hint, *beside = get_args(hint)
            notes = (*notes, *beside)
        elif get_origin(hint) in {UnionType, Union}:
            kinds = [kind for kind in get_args(hint) if kind is not msgspec.UnsetType]
            hint = next((kind for kind in kinds if kind is not NoneType), NoneType)
        else:
            return hint, notes


def _shape(kind: object, notes: tuple[object, ...]) -> Shape:
    # Of nested notes the outermost stands last, and counts.
    given = next((note for note in reversed(notes) if isinstance(note, _SHAPES)), None)
    if given is not None:
        return given
    if kind in _PLAIN:
        return _PLAIN[kind]
    if get_origin(kind) is tuple:
        limits = next((note for note in reversed(notes) if isinstance(note, Many)), Many())
        item = _shape(*_apart(get_args(kind)[0]))
        return ListOf(item, limits.least, limits.most, limits.sent_least, limits.unique)
    if get_origin(kind) is dict:
        return MapOf(_shape(*_apart(get_args(kind)[1])))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return record_of(kind)
    raise TypeError(f"no shape follows from {kind!r}")
