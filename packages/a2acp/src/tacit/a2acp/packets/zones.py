"""Time zones by their names, and clocks on walls: the moment at which a clock in some zone shows a time.

A name is looked up in the zone data alone. `localtime` and its like, which mean another thing on each
machine, are names of nothing. What a counterpart declares (A2ACP-075), and what an owner is to declare, is
read more strictly: abbreviations, of which several zones share one, are none either.

A day on a wall may have 23 or 25 hours, so whoever counts in days counts on the wall and converts before any
arithmetic. A time that a wall shows twice is the first of the two; one that it skips is read by the clock
from before the change (as RFC 5545 has it). Knows nothing of calendars or people.
"""

from __future__ import annotations

import re
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

_DECLARED: Final = re.compile(r"[A-Z][A-Za-z]{1,13}(?:/[A-Z][A-Za-z0-9_+-]{1,29}){1,2}", re.ASCII)
_UTC: Final = frozenset({"UTC", "GMT", "Z"})
_OF_THIS_MACHINE: Final = frozenset({"localtime", "posixrules", "Factory"})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)


@cache
def _names() -> frozenset[str]:
    return frozenset(available_timezones() - _OF_THIS_MACHINE)


def zone(name: object) -> tzinfo | None:
    """The zone that is declared by this name; None when none is."""
    if not isinstance(name, str):
        return None
    if name in _UTC:
        return UTC
    return zone_named(name) if _DECLARED.fullmatch(name) is not None else None


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
