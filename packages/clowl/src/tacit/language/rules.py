"""Every rule about the shape of one message, all findings at once.

Rows: CLOWL-001, CLOWL-002, CLOWL-003, CLOWL-004, CLOWL-005, CLOWL-006, CLOWL-007, CLOWL-008, CLOWL-009,
CLOWL-010, CLOWL-011, CLOWL-012, CLOWL-013, CLOWL-014, CLOWL-015, CLOWL-016, CLOWL-017, CLOWL-018, CLOWL-019,
CLOWL-020, CLOWL-021, CLOWL-022, CLOWL-023, CLOWL-024, CLOWL-025. The slow and complete way: it is asked when
the compiled decoder was not satisfied, to say why, and it decides what lenient reading forgives. Takes a
parsed JSON object, never raises, quotes no value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.language.findings import Finding, step
from tacit.language.tables import (
    BROADCAST,
    MAX_INLINE,
    MAX_NAME,
    MAX_TS,
    MEMBERS,
    PERFORMATIVES,
    REQUIRED,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_HASH: Final = re.compile("[0-9a-f]{64}")
_NULL_MEANS_ABSENT: Final = ("tid", "ctx", "auth", "det")
_MAY_BE_NULL: Final = frozenset({"tid", "pid"})
_NAMES: Final = (
    ("mid", "CLOWL-003"),
    ("from", "CLOWL-011"),
    ("cid", "CLOWL-014"),
    ("tid", "CLOWL-007"),
    ("pid", "CLOWL-009"),
)
_PLAIN_MEMBERS: Final = (
    ("auth", str, "must be a string", "CLOWL-017"),
    ("det", bool, "must be true or false", "CLOWL-019"),
)


class Findings:
    """Collects faults and warnings; in strict mode what lenient forgives is a fault."""

    __slots__ = ("faults", "strict", "warnings")

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.faults: list[Finding] = []
        self.warnings: list[Finding] = []

    def fault(self, path: str, reason: str, row: str, code: str = "E001", /) -> None:
        """Something that makes the message invalid."""
        self.faults.append(Finding(path, code, reason, row))

    def warn(self, path: str, reason: str, row: str, code: str = "", /) -> None:
        """Something worth saying that refuses nothing in either mode."""
        self.warnings.append(Finding(path, code, reason, row))

    def forgivable(self, path: str, reason: str, row: str, code: str = "E001", /) -> None:
        """Something that strict refuses and lenient accepts with a warning."""
        (self.faults if self.strict else self.warnings).append(Finding(path, code, reason, row))


def check(value: Mapping[str, Any], found: Findings) -> None:
    """Collect everything that is wrong with a message whose version is ours."""
    _check_members(value, found)
    for name, row in _NAMES:
        if name in value and not (value[name] is None and name in _MAY_BE_NULL):
            check_name(f"$.{name}", value[name], row, found)
    if value.get("from") == BROADCAST:
        found.fault("$.from", 'may not be "*"', "CLOWL-013")
    _check_ts(value, found)
    if "to" in value:
        _check_to(value["to"], found)
    if "p" in value and not (isinstance(value["p"], str) and value["p"] in PERFORMATIVES):
        found.fault("$.p", f"must be one of {', '.join(PERFORMATIVES)}", "CLOWL-010")
    if "body" in value:
        _check_body(value["body"], found)
    if value.get("ctx") is not None:
        _check_ctx(value["ctx"], found)
    for name, kind, reason, row in _PLAIN_MEMBERS:
        if value.get(name) is not None and not isinstance(value[name], kind):
            found.fault(f"$.{name}", reason, row)


def _check_members(value: Mapping[str, Any], found: Findings) -> None:
    for name in REQUIRED:
        if name not in value:
            found.fault(f"$.{name}", "is required", "CLOWL-001")
    for name in value:
        if name not in MEMBERS:
            found.forgivable(step("$", name), "is not a member of v0.2", "CLOWL-021")
    for name in _NULL_MEANS_ABSENT:
        if name in value and value[name] is None:
            found.forgivable(f"$.{name}", "is null; leave it out instead", "CLOWL-021")


def check_name(path: str, value: object, row: str, found: Findings, code: str = "E001") -> bool:
    """Ids, agents and tasks: 1 to 128 characters, none of them a control character (CLOWL-013)."""
    if not isinstance(value, str):
        found.fault(path, "must be a string", row, code)
    elif not 1 <= len(value) <= MAX_NAME:
        found.fault(path, f"must have 1 to {MAX_NAME} characters", "CLOWL-013", code)
    elif CONTROL.search(value):
        found.fault(path, "may not hold control characters", "CLOWL-013", code)
    else:
        return True
    return False


def _check_ts(value: Mapping[str, Any], found: Findings) -> None:
    if "ts" not in value:
        return
    ts = value["ts"]
    if not isinstance(ts, int) or isinstance(ts, bool):
        found.fault("$.ts", "must be an integer, seconds since 1970", "CLOWL-005")
    elif ts < 0:
        found.fault("$.ts", "may not be negative; the unit is seconds since 1970", "CLOWL-006")
    elif ts > MAX_TS:
        found.fault("$.ts", "is too large; the unit is seconds, not milliseconds", "CLOWL-006")


def _check_to(to: object, found: Findings) -> None:
    if isinstance(to, str):
        check_name("$.to", to, "CLOWL-012", found)
        return
    if not isinstance(to, list):
        found.fault("$.to", 'must be an agent, "*" or an array of agents', "CLOWL-012")
        return
    entries = cast("list[object]", to)
    if not entries:
        found.fault("$.to", "needs at least one agent", "CLOWL-013")
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        path = f"$.to[{index}]"
        if not check_name(path, entry, "CLOWL-012", found) or not isinstance(entry, str):
            continue
        if entry == BROADCAST:
            found.fault(path, '"*" may not stand in an array', "CLOWL-013")
        elif entry in seen:
            found.fault(path, "names an agent twice", "CLOWL-013")
        seen.add(entry)


def _check_body(body: object, found: Findings) -> None:
    if not isinstance(body, dict):
        found.fault("$.body", "must be an object", "CLOWL-001")
        return
    members = cast("dict[str, object]", body)
    for name in ("t", "d"):
        if name not in members:
            found.fault(f"$.body.{name}", "is required", "CLOWL-001")
    for name in members:
        if name not in {"t", "d"}:
            found.forgivable(step("$.body", name), "is not a member of body", "CLOWL-021")
    if "t" in members:
        check_name("$.body.t", members["t"], "CLOWL-015", found)
    if "d" in members and not isinstance(members["d"], dict):
        found.fault("$.body.d", "must be an object", "CLOWL-016")


def _check_ctx(ctx: object, found: Findings) -> None:
    if not isinstance(ctx, dict):
        found.fault("$.ctx", "must be an object with ref, inline and hash", "CLOWL-022")
        return
    members = cast("dict[str, object]", ctx)
    for name, value in members.items():
        if name not in {"ref", "inline", "hash"}:
            found.forgivable(step("$.ctx", name), "is not a member of ctx", "CLOWL-021")
        elif value is not None and not isinstance(value, str):
            found.fault(f"$.ctx.{name}", "must be a string or null", "CLOWL-022")
    inline = members.get("inline")
    if isinstance(inline, str) and len(inline) > MAX_INLINE:
        found.fault("$.ctx.inline", f"may have at most {MAX_INLINE} characters", "CLOWL-023")
    digest = members.get("hash")
    if isinstance(digest, str) and not _HASH.fullmatch(digest):
        if _HASH.fullmatch(digest.lower()) and digest.isascii():
            found.forgivable("$.ctx.hash", "must be in lower case", "CLOWL-025")
        else:
            found.fault("$.ctx.hash", "must be a SHA-256 of 64 hex digits", "CLOWL-025")
