"""Shapes of JSON values as data: one description, by which values are checked, cleaned and published.

A2ACP-036, A2ACP-139, A2ACP-148, A2ACP-227, A2ACP-242.

What we send must fit a shape to the letter and has nothing beside it. What we receive is judged leniently:
members that nobody knows are fine, an optional one that is null is as good as absent, a word may be any text,
and an advisory member that does not fit is left out rather than the packet dropped. A fault names members of
our own table, never a value or a name that came in. Knows no packet type.

The written forms that packets ask for: ids, addresses, times, durations (A2ACP-026, A2ACP-027, A2ACP-028).

Each has the pattern that is published for other programs beside the function that we ask ourselves. Where
the two differ, the function is the narrower: a pattern cannot count the days of February.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from tacit.a2acp.packets.formats import DURATION_PATTERN, read_duration
from tacit.base.errors import PeerFault, Refused
from tacit.wire import address
from tacit.wire.envelope import timestamp_of
from tacit.wire.version import is_protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


Fields = dict[str, Any]

MISSING: Final = object()


class MalformedPacket(PeerFault):
    """A packet that must be dropped; the text names the field, never its value."""


class Fault(NamedTuple):
    """What is wrong, and the row that says so."""

    text: str
    row: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """A way of writing: how it is told, and the pattern by which other programs tell it."""

    name: str
    pattern: str
    holds: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value."""


@dataclass(frozen=True, slots=True)
class Erased:
    """Null in what we send; whatever came instead is not kept."""


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    least: int = 0
    most: int = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Text:
    """A text; a `sent_form` is asked of us alone, a `form` of everybody."""

    blank: bool = True
    form: Form | None = None
    sent_form: Form | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """One of a few words; received, any text, of which `read` makes one unless the word is `exact`."""

    words: tuple[str, ...]
    read: Callable[[object], str] | None = None
    filled: bool = False
    """Whether a member that is absent gets what `read` makes of nothing."""
    exact: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; `most` binds us alone."""

    item: Shape
    least: int = 0
    most: int | None = None
    sent_least: int = 0
    unique: bool = False
    """Whether what we send repeats nothing."""


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with any names and values of one shape; `Anything` checks nothing but that it is one."""

    item: Shape


@dataclass(frozen=True, slots=True)
class RecordMember:
    """A named part of a record."""

    name: str
    shape: Shape
    needed: bool = True
    """By everybody."""
    sent: bool = False
    """By us, where others may leave it out."""
    sent_shape: Shape | None = None
    """The shape of what we send, where others may write what they like."""
    advisory: bool = False
    """Whether it is left out when it came and does not fit."""
    row: str = ""


@dataclass(frozen=True, slots=True)
class OneOf:
    """At least one of these members is there."""

    names: tuple[str, ...]
    row: str = ""


@dataclass(frozen=True, slots=True)
class NeededWith:
    """With that word in a member, others are there; `sent`: asked of us alone."""

    name: str
    word: str
    needs: tuple[str, ...]
    sent: bool = False
    row: str = ""


@dataclass(frozen=True, slots=True)
class RecordShape:
    """An object with members of its own; `open`: others may stand beside them in what we send."""

    members: tuple[RecordMember, ...]
    rules: tuple[OneOf | NeededWith, ...] = ()
    open: bool = False


Shape = Anything | Erased | Flag | Whole | Text | Word | ListOf | MapOf | RecordShape


def fault(shape: Shape, value: object, *, sent: bool, name: str = "the packet") -> Fault | None:
    """What is wrong with a value, first things first; None when it fits."""
    match shape:
        case Anything():
            return None
        case Erased():
            return Fault(f"{name} is null") if sent and value is not None else None
        case Flag():
            return None if isinstance(value, bool) else Fault(f"{name} is true or false")
        case Whole():
            fits = isinstance(value, int) and not isinstance(value, bool)
            fits = fits and shape.least <= cast("int", value) <= shape.most
            return None if fits else Fault(f"{name} is a whole number from {shape.least}")
        case Text():
            return _text_fault(shape, value, sent=sent, name=name)
        case Word():
            if not isinstance(value, str):
                return Fault(f"{name} is a word", "A2ACP-036")
            if (sent or shape.exact) and value not in shape.words:
                return Fault(f"{name} is one of {', '.join(shape.words)}", "A2ACP-036")
            return None
        case ListOf():
            return _list_fault(shape, value, sent=sent, name=name)
        case MapOf():
            if not isinstance(value, dict):
                return Fault(f"{name} is an object")
            inside = cast("Fields", value).values() if not isinstance(shape.item, Anything) else ()
            return _first(shape.item, inside, sent=sent, name=f"a value of {name}")
        case RecordShape():
            return _record_fault(shape, value, sent=sent, name=name)


def _text_fault(shape: Text, value: object, *, sent: bool, name: str) -> Fault | None:
    if not isinstance(value, str):
        return Fault(f"{name} is missing or is no text")
    if not shape.blank and not value.strip():
        return Fault(f"{name} is empty")
    form = shape.form or (shape.sent_form if sent else None)
    if form is not None and not form.holds(value):
        return Fault(f"{name} is no {form.name}")
    return None


def _list_fault(shape: ListOf, value: object, *, sent: bool, name: str) -> Fault | None:
    if not isinstance(value, list):
        return Fault(f"{name} is a list")
    items = cast("list[object]", value)
    least = max(shape.least, shape.sent_least if sent else 0)
    if len(items) < least:
        return Fault(f"{name} has at least {least}")
    if sent and shape.most is not None and len(items) > shape.most:
        return Fault(f"{name} has at most {shape.most}")
    if sent and shape.unique and any(item in items[:place] for place, item in enumerate(items)):
        return Fault(f"{name} repeats itself")
    return _first(shape.item, items, sent=sent, name=f"an entry of {name}")


def _first(shape: Shape, values: object, *, sent: bool, name: str) -> Fault | None:
    found = (fault(shape, one, sent=sent, name=name) for one in cast("list[object]", values))
    return next((one for one in found if one is not None), None)


def _record_fault(shape: RecordShape, value: object, *, sent: bool, name: str) -> Fault | None:
    if not isinstance(value, dict):
        return Fault(f"{name} is an object")
    fields = cast("Fields", value)
    for member in shape.members:
        problem = _member_fault(member, fields, sent=sent)
        if problem is not None:
            return Fault(problem.text, problem.row or member.row)
    if sent and not shape.open and not fields.keys() <= {member.name for member in shape.members}:
        return Fault(f"{name} carries a member that it does not have")
    for rule in shape.rules:
        if not _follows(rule, fields, sent=sent):
            return Fault(f"{name} lacks {' or '.join(_asked(rule))}", rule.row)
    return None


def _member_fault(member: RecordMember, fields: Fields, *, sent: bool) -> Fault | None:
    value: object = fields.get(member.name, MISSING)
    if value is MISSING or (value is None and not sent and not member.needed):
        missing = member.needed or (sent and member.sent)
        return Fault(f"{member.name} is missing") if missing else None
    if member.advisory and not sent:
        return None
    return fault(shape_of(member, sent=sent), value, sent=sent, name=member.name)


def shape_of(member: RecordMember, *, sent: bool) -> Shape:
    """What a member must be, sent or received."""
    return member.sent_shape if sent and member.sent_shape is not None else member.shape


def _asked(rule: OneOf | NeededWith) -> tuple[str, ...]:
    return rule.names if isinstance(rule, OneOf) else rule.needs


def _follows(rule: OneOf | NeededWith, fields: Mapping[str, object], *, sent: bool) -> bool:
    match rule:
        case OneOf():
            return any(fields.get(name) is not None for name in rule.names)
        case NeededWith():
            asked = fields.get(rule.name) == rule.word and (sent or not rule.sent)
            return not asked or all(fields.get(name) is not None for name in rule.needs)


def cleaned(shape: Shape, value: object) -> object:
    """A received value that fits, its words read, without what must not be kept; the rest as it came."""
    match shape:
        case Erased():
            return None
        case Word():
            return shape.read(value) if shape.read is not None else value
        case ListOf() if isinstance(value, list):
            return [cleaned(shape.item, one) for one in cast("list[object]", value)]
        case RecordShape() if isinstance(value, dict):
            return _cleaned_record(shape, cast("Fields", value))
        case _:
            return value


def _cleaned_record(shape: RecordShape, fields: Fields) -> Fields:
    found = dict(fields)
    for member in shape.members:
        value: object = fields.get(member.name)
        fits = value is not None and fault(member.shape, value, sent=False) is None
        if fits:
            found[member.name] = cleaned(member.shape, value)
        elif isinstance(member.shape, Erased) and member.name in fields:
            found[member.name] = None
        else:
            found.pop(member.name, None)
            if isinstance(member.shape, Word) and member.shape.filled and member.shape.read is not None:
                found[member.name] = member.shape.read(None)
    return found


_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"


def _by_pattern(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _form(name: str, pattern: str, holds: Callable[[str], bool] | None = None) -> Form:
    return Form(name, pattern, holds or _by_pattern(pattern))


def _is_address(text: str) -> bool:
    try:
        address.parse(text)
    except Refused:
        return False
    return True


def _is_duration(text: str) -> bool:
    return _ISO_DURATION(text) and read_duration(text) is not None


_ISO_DURATION: Final = _by_pattern(DURATION_PATTERN)

PROTOCOL: Final = _form(
    "version of the form a2acp/<major>.<minor>",
    r"a2acp/(?:0|[1-9][0-9]{0,3})\.(?:0|[1-9][0-9]{0,3})",
    is_protocol,
)
PACKET_ID: Final = _form("packet id", "pkt_[A-Za-z0-9_-]{4,64}")
FANOUT_ID: Final = _form("fan-out id", "fan_[A-Za-z0-9_-]{4,64}")
THREAD_ID: Final = _form("thread id", "thr_[A-Za-z0-9_-]{4,64}")
SPACE_ID: Final = _form("space id", "spc_[A-Za-z0-9_-]{4,64}")
TIMESTAMP: Final = _form(
    "ISO 8601 time in UTC with a trailing Z",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z",
    lambda text: timestamp_of(text) is not None,
)
ADDRESS: Final = _form(
    "agent address",
    r"agent:[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?@"
    rf"(?=[^:]{{1,253}}(?::|$)){_LABEL}(?:\.{_LABEL})*(?::[1-9][0-9]{{0,4}})?",
    _is_address,
)
DURATION: Final = _form("ISO 8601 duration", DURATION_PATTERN, _is_duration)
CODE_WORD: Final = _form("lower-case word", "[a-z][a-z0-9_]{0,63}")
EXECUTOR: Final = _form(
    "executor: each, proposer or an address",
    rf"(?:each|proposer|{ADDRESS.pattern})",
    lambda text: text in {"each", "proposer"} or _is_address(text),
)
