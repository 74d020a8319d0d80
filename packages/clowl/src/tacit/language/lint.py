"""Warnings about a valid message: worth a look, never a reason to refuse.

Rows: CLOWL-004, CLOWL-006, CLOWL-020, CLOWL-025, CLOWL-085. `now` is an argument; without it clocks are not
compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.base import ids
from tacit.language.findings import Finding
from tacit.language.tables import CLOCK_TOLERANCE, DET_MEANS_SOMETHING

if TYPE_CHECKING:
    from tacit.language.message import Message

_FLAT: Final = 2
_LONG: Final = 500


def lint(message: Message, *, now: int | None = None) -> tuple[Finding, ...]:
    """Everything worth a warning; `now` in seconds."""
    found: list[Finding] = []
    if not is_uuid7(message.mid):
        found.append(Finding("$.mid", "", "is not a UUIDv7, so it does not sort by time", "CLOWL-004"))
    if now is not None and message.ts > now + CLOCK_TOLERANCE:
        reason = f"is more than {CLOCK_TOLERANCE} seconds ahead of the local clock"
        found.append(Finding("$.ts", "", reason, "CLOWL-006"))
    if message.is_reproducible and message.p not in DET_MEANS_SOMETHING:
        found.append(Finding("$.det", "", "means something on DONE, INF and PROG only", "CLOWL-020"))
    context = message.context
    if context is not None and context.digest is not None and context.reference is None:
        found.append(Finding("$.ctx.hash", "", "has no ref to belong to", "CLOWL-025"))
    if _depth(message.body.d) > _FLAT:
        found.append(Finding("$.body.d", "", "is nested deeper than 2; keep it flat", "CLOWL-085"))
    if _has_long_text(message.body.d):
        reason = f"holds a text over {_LONG} characters; refer to it by ctx instead"
        found.append(Finding("$.body.d", "", reason, "CLOWL-085"))
    return tuple(found)


def is_uuid7(identifier: str) -> bool:
    """Whether the id is a UUIDv7 in its usual form."""
    raw = ids.raw(identifier)
    return raw is not None and raw[6] >> 4 == 7 and raw[8] >> 6 == 0b10


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)  # pyright: ignore[reportUnknownArgumentType]
    return 0


def _has_long_text(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > _LONG
    if isinstance(value, dict):
        return any(map(_has_long_text, value.values()))  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(value, list) and any(map(_has_long_text, value))  # pyright: ignore[reportUnknownArgumentType]
