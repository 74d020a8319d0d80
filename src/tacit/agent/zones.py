"""Moments and wall clocks: what a clock on a wall in some zone shows, and the moment at which it shows it.

A day on a wall may have 23 or 25 hours, so whoever counts in days counts on the wall and converts before any
arithmetic. A time that a wall shows twice is the first of the two; one that it skips is read by the clock
from before the change (as RFC 5545 has it). Knows nothing of calendars or people.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from datetime import time as clock_time
from functools import cache
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, available_timezones

from tacit.base.errors import Refused
from tacit.base.moment import Moment
from tacit.base.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, tzinfo

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)
_names: Final = cache(available_timezones)


def zone_named(name: str) -> ZoneInfo | None:
    """The zone of an IANA name; None for anything else, so that no name is ever tried as a path."""
    return ZoneInfo(name) if name in _names() else None


def zone_of_owner(name: str) -> ZoneInfo:
    """The zone that somebody set for themselves, or `Refused`."""
    zone = zone_named(name)
    if zone is None:
        raise Refused("unknown_timezone", "no zone of the IANA list has this name")
    return zone


def wall(moment: Moment, zone: tzinfo) -> datetime:
    """What the clock shows at a moment, with its offset."""
    return (_EPOCH + timedelta(microseconds=moment)).astimezone(zone)


def moment_of(shown: datetime) -> Moment:
    """The moment at which a clock with an offset or a zone shows this."""
    return Moment((shown - _EPOCH) // _TICK)


def moment_at(day: date, time: clock_time, zone: tzinfo) -> Moment:
    """The moment at which the clock shows this time on this day."""
    return moment_of(datetime.combine(day, time, tzinfo=zone))


def days_of(spans: Iterable[Span], zone: tzinfo) -> tuple[date, ...]:
    """The days on the wall that the spans touch, in order."""
    found: set[date] = set()
    for start, end in spans:
        if end <= start:
            continue
        day = wall(start, zone).date()
        last = wall(Moment(end - 1), zone).date()
        while day <= last:
            found.add(day)
            day += timedelta(days=1)
    return tuple(sorted(found))


def moved(span: Span, days: int, zone: tzinfo) -> Span:
    """The same times on the wall so many days later."""
    start, end = wall(span.start, zone), wall(span.end, zone)
    later = timedelta(days=days)
    return Span(
        moment_at(start.date() + later, start.time(), zone), moment_at(end.date() + later, end.time(), zone)
    )
