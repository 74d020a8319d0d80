"""Time as a value: microseconds since the Unix epoch, written as RFC 3339 UTC (CCCS-017).

No function here asks what time it is.

Stretches of time as pairs of moments, and the arithmetic on them: everything in UTC, ends excluded.

What two or more people have in common is found by one sweep over all their ends, sorted once: while as many
spans are open as there are calendars, everybody is free. Knows nothing of calendars, zones or people.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, NewType

if TYPE_CHECKING:
    from collections.abc import Iterable


Moment = NewType("Moment", int)
"""Microseconds since 1970-01-01T00:00:00Z."""
ConfirmedTime = NewType("ConfirmedTime", Moment)
"""A moment that has come for certain, whatever the machine's clock says: what is erased, dropped or ended for
good goes by it. `base.io.time_service` alone makes one."""

SECOND: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST: Final = Moment(253_402_300_799_999_999)
"""The end of the year 9999: a later moment cannot be written."""
_FIRST: Final = Moment(-62_135_596_800_000_000)
_SHAPE: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z", re.ASCII)


def earlier(confirmed: ConfirmedTime, span: int) -> ConfirmedTime:
    """What lies so many microseconds before a confirmed time has come, too."""
    return ConfirmedTime(Moment(confirmed - span))


def rfc3339(moment: Moment) -> str:
    """`2026-01-13T10:00:00.000000Z`: always six decimals, so that text order is time order."""
    return (_EPOCH + timedelta(microseconds=moment)).isoformat(timespec="microseconds")[:-6] + "Z"


def parse_rfc3339(text: str) -> Moment | None:
    """The moment behind an RFC 3339 time with an offset; None when it is not one, or not one in UTC."""
    if not _SHAPE.match(text):
        return None
    try:
        value = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    moment = Moment((value - _EPOCH) // timedelta(microseconds=1))
    return moment if _FIRST <= moment <= LAST else None


MINUTE: Final = 60 * SECOND
DAY: Final = 24 * 60 * MINUTE


class Span(NamedTuple):
    """From `start` up to, and not with, `end`."""

    start: Moment
    end: Moment


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same time in order, without overlaps; what touches becomes one, what lasts no time goes."""
    found: list[Span] = []
    first: Moment | None = None
    last = Moment(0)
    for start, end in sorted(spans):
        if end <= start:
            continue
        if first is None:
            first, last = start, end
        elif start > last:
            found.append(Span(first, last))
            first, last = start, end
        elif end > last:
            last = end
    if first is not None:
        found.append(Span(first, last))
    return tuple(found)


def common(*calendars: Iterable[Span]) -> tuple[Span, ...]:
    """The time that lies in every one of them; none when there is no calendar."""
    points: list[int] = []
    for calendar in calendars:
        # Twice the moment, and one more for a start: at the same moment ends come first.
        for start, end in merged(calendar):
            points += (2 * start + 1, 2 * end)
    points.sort()
    everybody = len(calendars)
    found: list[Span] = []
    depth = 0
    opened = 0
    for point in points:
        if point & 1:
            depth += 1
            if depth == everybody:
                opened = point >> 1
        else:
            if depth == everybody:
                found.append(Span(Moment(opened), Moment(point >> 1)))
            depth -= 1
    return tuple(found)


def without(free: Iterable[Span], busy: Iterable[Span]) -> tuple[Span, ...]:
    """What of `free` is not in `busy`."""
    taken = merged(busy)
    found: list[Span] = []
    at = 0
    for start, end in merged(free):
        since = start
        while at < len(taken) and taken[at].end <= since:
            at += 1
        ahead = at
        while ahead < len(taken) and taken[ahead].start < end:
            if taken[ahead].start > since:
                found.append(Span(since, taken[ahead].start))
            since = max(since, taken[ahead].end)
            ahead += 1
        if since < end:
            found.append(Span(since, end))
    return tuple(found)


def within(spans: Iterable[Span], bounds: Span) -> tuple[Span, ...]:
    """What of `spans` lies inside `bounds`."""
    start, end = bounds
    return merged(Span(max(one.start, start), min(one.end, end)) for one in spans)


def long_enough(spans: Iterable[Span], minutes: int) -> tuple[Span, ...]:
    """The stretches, merged, that last at least so long."""
    return tuple(one for one in merged(spans) if one.end - one.start >= minutes * MINUTE)
