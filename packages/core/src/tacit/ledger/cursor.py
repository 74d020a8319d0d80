"""Where a reader stands, and what it wants to see.

Rows: CCCS-103, CCCS-104, CCCS-105, CCCS-106, CCCS-107, CCCS-108. At most one cursor. `since_seq` and
`since_event_id` are exclusive, `since_ts` inclusive; readers hand cursors back as they got them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.moment import Moment, parse_rfc3339
from tacit.ledger.codes import invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LIMIT: Final = 1000
DEFAULT_LIMIT: Final = 100


@dataclass(frozen=True, slots=True)
class Selection:
    """One read of a ledger."""

    since_seq: int | None = None
    since_event_id: str | None = None
    since_ts: Moment | None = None
    kinds: tuple[str, ...] = ()
    limit: int = DEFAULT_LIMIT

    def wants(self, kind: str) -> bool:
        """Does the filter let this kind through?"""
        return not self.kinds or any(matches(pattern, kind) for pattern in self.kinds)


def matches(pattern: str, kind: str) -> bool:
    """An exact name, or everything below a prefix written `prefix.*`."""
    return kind.startswith(pattern[:-1]) if pattern.endswith(".*") else kind == pattern


def selection(
    *,
    since_seq: int | None = None,
    since_event_id: str | None = None,
    since_ts: str | None = None,
    kinds: Sequence[str] | None = None,
    limit: int | None = None,
) -> Selection:
    """A checked selection; refuses two cursors, an empty filter, a limit out of range."""
    given = [cursor for cursor in (since_seq, since_event_id, since_ts) if cursor is not None]
    if len(given) > 1:
        raise invalid("give one cursor: since_seq, since_event_id or since_ts", "CCCS-104")
    if since_seq is not None and not 0 <= since_seq < 2**40:
        raise invalid("since_seq is a position, 0 or more", "CCCS-105")
    moment = None
    if since_ts is not None and (moment := parse_rfc3339(since_ts)) is None:
        raise invalid("since_ts is an RFC 3339 time with its offset", "CCCS-104")
    if kinds is not None and (not kinds or not all(kinds)):
        raise invalid("kinds is a list of at least one name", "CCCS-107")
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        raise invalid(f"limit is 1 to {MAX_LIMIT}", "CCCS-108")
    return Selection(
        since_seq, since_event_id, moment, tuple(kinds or ()), limit if limit is not None else DEFAULT_LIMIT
    )
