"""Reading: bytes or parsed JSON in, a message or every fault out.

Rows: CLOWL-066, CLOWL-067, CLOWL-068, CLOWL-088. Strict is what we send, lenient what we accept. A valid
message takes the compiled way, which is a proof that the rules would find nothing. Decoding proves the
shapes. Colons prove that no member was lost, one unknown or the first of two with the same name: each member
that the text spells out has a colon of its own, so all are in the message when it accounts for every colon. A
few tests more prove what the compiled types cannot express. Everything else is read by `rules`, which decides
and explains; both ways agree on every input, and a property test holds them to it.
"""

from __future__ import annotations

import math
import re
from binascii import unhexlify
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import msgspec
from msgspec import UNSET

from tacit.base.strict_json import Json, Malformed, no_member_lost
from tacit.base.strict_json import parse as parse_json
from tacit.language import rules
from tacit.language.data_rules import DATA_RULES, USUAL, check_data, lacks_parent
from tacit.language.findings import Finding, Invalid, Reading
from tacit.language.lint import lint
from tacit.language.message import Body, Context, ExtendedMessage, Message, encode
from tacit.language.rules import CONTROL, Findings
from tacit.language.tables import BROADCAST, MAX_BYTES, MAX_DEPTH, MEMBERS
from tacit.language.version import version_fault

_Part = TypeVar("_Part", Body, Context)

_FENCE: Final = "```"
_OPENING: Final = re.compile(rf"{_FENCE}[A-Za-z0-9_-]*[ \t]*\n")
_BACKSLASH: Final = ord("\\")
_COLON: Final = ord(":")
_DELETE: Final = 0x7F
_LATIN: Final = 0xC2
"""The byte before those of U+0080 to U+00BF in UTF-8, and so before every control character over DEL."""
_MEMBERS: Final = 12
"""The members of a plain message and of its body: the eight required, `tid`, `pid`, `t` and `d`."""

_decoder: Final = msgspec.json.Decoder(Message)
_decode: Final = _decoder.decode
_encoder: Final = msgspec.json.Encoder()
_encode: Final = _encoder.encode


class _InDoubtError(ValueError):
    """The compiled way found something to ask the rules about."""


class _Doubt(Findings):
    """Stands in for the findings on the fast way: the first remark ends it. Shared, as it holds nothing."""

    __slots__ = ()

    def fault(self, *_: str) -> None:
        raise _InDoubtError

    def forgivable(self, *_: str) -> None:
        raise _InDoubtError

    def warn(self, *_: str) -> None:
        raise _InDoubtError


_DOUBT: Final = _Doubt(strict=True)


def parse(data: bytes | str, *, strict: bool = False) -> Message:  # noqa: C901, PLR0912 - one call costs as much
    """The message in `data`, or `Invalid` with every fault."""
    try:
        message = _decode(data)
        body = message.body
        told = body.d
        if TYPE_CHECKING:  # a `str` has no bytes to count: the error leaves it to the rules
            assert isinstance(data, bytes)
        # Each member that is known to be there has a colon of its own; are there others?
        known = _MEMBERS + len(told)
        if message.tid is UNSET:
            known -= 1
        if message.pid is UNSET:
            known -= 1
        if message.det is not UNSET:
            known += 1
        if message.auth is not UNSET:
            known += 1
        if message.ctx is not UNSET:
            known += _context_members(message.ctx)
        if _BACKSLASH in data:
            if data.count(b":") != known:
                _doubt_members(message, data, known)
            _doubt_names(message)
        else:
            if ":" in body.t:
                known += 1
            if _COLON in data.replace(b":", b";", known):  # half as long as counting them all
                _doubt_members(message, data, known)
            if _DELETE in data or _LATIN in data:
                _doubt_names(message)
        # What `_doubt` tests, written out: the call would cost as much as all of them.
        if len(data) > MAX_BYTES or message.from_ == BROADCAST:
            raise _InDoubtError
        if type(message.to) is tuple:
            _doubt_recipients(message.to)
        usual = USUAL[message.p]
        if usual is not None and not usual(told):
            DATA_RULES[message.p](told, _DOUBT)
        if not strict or message.pid or not lacks_parent(message.p, message.pid, told):
            return message
    except (TypeError, ValueError, AttributeError, LookupError, RecursionError):
        pass  # whatever it was, the rules will say it better
    return _read_slowly(data, strict=strict).required()


def read(data: bytes | str, *, strict: bool = False, now: int | None = None) -> Reading:
    """The message with all warnings, or every fault; raises nothing, whatever `data` is."""
    return _with_lint(_read_slowly(data, strict=strict), now)


def read_value(value: object, *, strict: bool = False, now: int | None = None) -> Reading:
    """The same for an object that is parsed already."""
    if not isinstance(value, dict):
        return _refused("$", "must be one JSON object", "CLOWL-001")
    if (reason := _not_json(cast("object", value), MAX_DEPTH)) is not None:
        return _refused("$", reason, "CLOWL-068")
    return _with_lint(_read_object(cast("dict[str, Any]", value), strict=strict), now)


def parse_lines(chunk: bytes, *, strict: bool = False) -> list[Message] | None:
    """All messages of a piece of a JSON Lines log; None unless every line is a valid one.

    The way to go through long logs: a piece that is written as we write takes one decode and one encode.
    """
    try:
        end = chunk.find(b"\n")
        # As the first line is written, so are most likely the others.
        if end == -1 or _encode(_decode(chunk[:end])) != chunk[:end]:
            return _parse_each(chunk, strict)
        messages = _decoder.decode_lines(chunk)
        if _encoder.encode_lines(messages) != chunk:
            return _parse_each(chunk, strict)
        names_in_doubt = _BACKSLASH in chunk or _DELETE in chunk or _LATIN in chunk
        if len(chunk) > MAX_BYTES and max(map(len, chunk.split(b"\n"))) > MAX_BYTES:
            return None
        for message in messages:
            if names_in_doubt:
                _doubt_names(message)
            _doubt(message, strict)
    except (TypeError, ValueError, LookupError, RecursionError, Invalid):
        return None
    return messages


def _parse_each(chunk: bytes, strict: bool) -> list[Message]:
    lines = chunk.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [parse(line, strict=strict) for line in lines]


def check(message: Message) -> Message:
    """The message if it may be sent: strict, as everything that leaves (CLOWL-066); else `Invalid`."""
    return parse(encode(message), strict=True)


def _context_members(context: Context) -> int:
    """How many members `ctx` and what it holds make; raise when its hash is in doubt."""
    members = 1
    if context.ref is not UNSET:
        members = 2
    if context.inline is not UNSET:
        members += 1
    if context.hash is not UNSET:
        _doubt_hash(context)
        members += 1
    return members


def _doubt_members(message: Message, data: bytes, known: int) -> None:
    """Raise unless the colons that `parse` could not account for stand in the data or in strings."""
    if _BACKSLASH not in data:
        body = message.body
        spare = data.count(b":") - known
        in_data = _encode(body.d).count(b":") - len(body.d)
        if spare == in_data or (":" in body.t and spare == in_data + body.t.count(":") - 1):
            return
    written = _encode(message)
    if written != data and not no_member_lost(data, written):
        raise _InDoubtError


def _doubt(message: Message, strict: bool) -> None:
    """Raise when a rule that the compiled types cannot express may be broken."""
    if message.from_ == BROADCAST:
        raise _InDoubtError
    if type(message.to) is tuple:
        _doubt_recipients(message.to)
    if message.ctx is not UNSET:
        _doubt_hash(message.ctx)
    usual = USUAL[message.p]
    if usual is not None and not usual(message.body.d):
        DATA_RULES[message.p](message.body.d, _DOUBT)
    if strict and not message.pid and lacks_parent(message.p, message.pid, message.body.d):
        raise _InDoubtError


def _doubt_hash(context: Context) -> None:
    if context.hash and unhexlify(context.hash).hex() != context.hash:
        raise _InDoubtError


def _doubt_recipients(to: tuple[str, ...]) -> None:
    if len(set(to)) != len(to) or BROADCAST in to:
        raise _InDoubtError


def _doubt_names(message: Message) -> None:
    names = f"{message.mid}{message.tid}{message.pid}{message.from_}{message.cid}{message.body.t}"
    if CONTROL.search(names) or CONTROL.search("".join(message.recipients)):
        raise _InDoubtError


def _read_slowly(data: object, *, strict: bool) -> Reading:
    if isinstance(data, bytearray):
        data = bytes(data)
    if not isinstance(data, bytes | str):
        return _refused("$", "must be bytes or text", "CLOWL-068")
    if len(data) > MAX_BYTES or (isinstance(data, str) and _size(data) > MAX_BYTES):
        return _refused("$", "is larger than 1 MiB", "CLOWL-068")
    try:
        value, fenced = value_in(data, strict=strict)
    except Malformed as fault:
        return _refused("$", str(fault), "CLOWL-068")
    warnings = (Finding("$", "", "stood inside a code fence", "CLOWL-066"),) if fenced else ()
    if not isinstance(value, dict):
        return _refused("$", "must be one JSON object", "CLOWL-001")
    reading = _read_object(value, strict=strict)
    return msgspec.structs.replace(reading, warnings=warnings + reading.warnings)


def value_in(data: bytes | str, *, strict: bool = False) -> tuple[Json, bool]:
    """The JSON value in `data` and whether it stood inside a code fence; or `Malformed`."""
    try:
        return parse_json(data, max_depth=MAX_DEPTH), False
    except Malformed:
        inner = None if strict else _inside_fence(data)
        if inner is None:
            raise
    return parse_json(inner, max_depth=MAX_DEPTH), True


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _inside_fence(data: bytes | str) -> str | None:
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = text.strip()
    opening = _OPENING.match(text)
    if opening is None or not text.endswith(_FENCE):
        return None
    inner = text[opening.end() : -len(_FENCE)]
    return None if _FENCE in inner else inner


def _read_object(value: dict[str, Any], *, strict: bool) -> Reading:
    fault = version_fault(value)
    if fault is not None and fault.code == "E014":
        return Reading(None, (fault,))
    found = Findings(strict=strict)
    if fault is not None and "clowl" in value:
        found.faults.append(fault)
    rules.check(value, found)
    check_data(value, found)
    if found.faults:
        return Reading(None, tuple(found.faults), tuple(found.warnings))
    return Reading(_message_of(value), (), tuple(found.warnings))


def _message_of(value: dict[str, Any]) -> Message:
    """The message behind a value that the rules passed; what v0.2 does not name goes into `extra`."""
    extra = {name: item for name, item in value.items() if _is_extra(name, item)}
    members = {name: item for name, item in value.items() if name not in extra}
    members["from_"] = members.pop("from")
    if isinstance(members["to"], list):
        members["to"] = tuple(cast("list[str]", members["to"]))
    members["body"], body_extra = _split(Body, members["body"])
    ctx_extra: dict[str, Any] = {}
    if "ctx" in members:
        members["ctx"], ctx_extra = _split(Context, members["ctx"])
    if not (extra or body_extra or ctx_extra):
        return Message(**members)
    return ExtendedMessage(**members, extra=extra, body_extra=body_extra, ctx_extra=ctx_extra)


def _split(kind: type[_Part], value: dict[str, Any]) -> tuple[_Part, dict[str, Any]]:
    known = {name: item for name, item in value.items() if name in kind.__struct_fields__}
    return kind(**known), {name: item for name, item in value.items() if name not in known}


def _is_extra(name: str, item: object) -> bool:
    return name not in MEMBERS or (item is None and name != "pid")


def _with_lint(reading: Reading, now: int | None) -> Reading:
    if reading.message is None:
        return reading
    return msgspec.structs.replace(reading, warnings=reading.warnings + lint(reading.message, now=now))


def _refused(path: str, reason: str, row: str) -> Reading:
    return Reading(None, (Finding(path, "E001", reason, row),))


def _not_json(value: object, levels: int) -> str | None:
    """Why `value` is not what strict JSON could have given; None when it is."""
    if isinstance(value, str):
        return None if _is_unicode(value) else "holds half a character"
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**64 else "holds an integer over 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else "holds NaN or Infinity"
    if not isinstance(value, dict | list):
        return "holds a value that JSON does not have"
    if levels == 0:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if isinstance(value, list):
        items = cast("list[object]", value)
    else:
        members = cast("dict[object, object]", value)
        if not all(isinstance(name, str) and _is_unicode(name) for name in members):
            return "holds a member name that is not a text"
        items = list(members.values())
    return next((reason for item in items if (reason := _not_json(item, levels - 1))), None)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


__all__ = ["Invalid", "check", "parse", "parse_lines", "read", "read_value"]
