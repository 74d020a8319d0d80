"""Versions: `MAJOR.MINOR`, compared before anything else is read.

Rows: CLOWL-002, CLOWL-087, CLOWL-088, CLOWL-089, CLOWL-090. For 0.x versions are equal or foreign; from 1.0
on the major number decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.language.findings import Finding
from tacit.language.tables import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATTERN: Final = re.compile(r"[0-9]+\.[0-9]+", re.ASCII)
SUPPORTED: Final = (VERSION,)


def is_version(text: str) -> bool:
    """Whether `text` is digits, a dot, digits."""
    return _PATTERN.fullmatch(text) is not None


def compatible(own: str, other: str) -> bool:
    """Whether an agent that speaks `own` may process a message written in `other` (CLOWL-089)."""
    if not (is_version(own) and is_version(other)):
        return False
    major, minor = (int(part) for part in own.split("."))
    their_major, their_minor = (int(part) for part in other.split("."))
    return major == their_major and (major > 0 or minor == their_minor)


def version_fault(value: Mapping[str, Any]) -> Finding | None:
    """The fault of a message's version, if it has one; nothing else is looked at."""
    if "clowl" not in value:
        if "cl" in value:
            return Finding("$.cl", "E014", "a v0.1 message; this agent speaks 0.2", "CLOWL-090")
        return Finding("$.clowl", "E001", "is required", "CLOWL-001")
    version = value["clowl"]
    if not isinstance(version, str):
        return Finding("$.clowl", "E001", "must be a string", "CLOWL-002")
    if not is_version(version):
        return Finding("$.clowl", "E001", "must be MAJOR.MINOR, such as 0.2", "CLOWL-087")
    if not compatible(VERSION, version):
        return Finding("$.clowl", "E014", "another version; this agent speaks 0.2", "CLOWL-088")
    return None


class ForeignError(msgspec.Struct, frozen=True):
    """What can be read of an ERR in another version (CLOWL-065): enough to know what failed."""

    code: str
    msg: str
    pid: str | None


def foreign_error(value: object) -> ForeignError | None:
    """An ERR of whatever version, so that an E014 answer is never answered with E014."""
    try:
        wire = msgspec.convert(value, _ForeignWire)
    except msgspec.ValidationError:
        return None
    return ForeignError(wire.body.d.code, wire.body.d.msg, wire.pid)


class _ForeignData(msgspec.Struct, frozen=True):
    code: str
    msg: str = ""


class _ForeignBody(msgspec.Struct, frozen=True):
    d: _ForeignData


class _ForeignWire(msgspec.Struct, frozen=True, tag_field="p", tag="ERR"):
    body: _ForeignBody
    pid: str | None = None
