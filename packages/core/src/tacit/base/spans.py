"""Stretches of time as pairs of moments, and the arithmetic on them: everything in UTC, ends excluded.

What two or more people have in common is found by one sweep over all their ends, sorted once: while as many
spans are open as there are calendars, everybody is free. Knows nothing of calendars, zones or people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from collections.abc import Iterable

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
