"""The canonical forms of values: how dates, times, money, places and durations are written.

A2ACP-073, A2ACP-074, A2ACP-075.

Everything we produce has one of these forms. A range is two times with their offsets, joined by `/`, beside
the date on which it begins; an end at or before the start is on the next day. `tacit.a2acp.packets.windows`
reads them, and looser forms. Knows nothing of what the values are for.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment, Span

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

FORMAT_HINTS: Final = {
    "dates": "ISO 8601 (YYYY-MM-DD)",
    "times": "24h format with timezone (HH:MM\u00b1HH:MM)",
    "currency": "ISO 4217 code + amount (GBP 30)",
    "coordinates": "decimal degrees (lat, lng)",
    "durations": "ISO 8601 duration (PT1H30M)",
}
"""What the first packet of each side tells about its values (A2ACP-073)."""
HINTS_FIELD: Final = "_format_hints"

MINUTE: Final = 60 * SECOND
DAY: Final = 24 * 60 * MINUTE
MOST_MINUTES: Final = 366 * 24 * 60
"""A longer duration than a year is none."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ISO_DURATION: Final = re.compile(
    r"P(?=[\dT])(?:(?P<weeks>\d{1,3})W|(?:(?P<days>\d{1,4})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,7})M)?(?:(?P<seconds>\d{1,9})S)?)?)",
    re.ASCII,
)
DURATION_PATTERN: Final = (
    r"P(?=[0-9T])(?=.*[1-9])(?:[0-9]{1,3}W|(?:[0-9]{1,4}D)?"
    r"(?:T(?=[0-9])(?:[0-9]{1,5}H)?(?:[0-9]{1,7}M)?(?:[0-9]{1,9}S)?)?)"
)
_WORDED_DURATION: Final = re.compile(
    r"(?:(?P<hours>\d{1,4}(?:\.\d{1,2})?)\s?(?:h|hrs?|hours?))?\s?(?:(?P<minutes>\d{1,6})\s?(?:m|mins?|minutes?))?",
    re.ASCII | re.IGNORECASE,
)


def hinted(body: dict[str, Any], *, first: bool) -> dict[str, Any]:
    """A body as a side's first packet of a thread has it, with the hints; as later ones have it, without."""
    bare = {name: value for name, value in body.items() if name != HINTS_FIELD}
    return {**bare, HINTS_FIELD: dict(FORMAT_HINTS)} if first else bare


def local(moment: Moment, zone: tzinfo) -> datetime:
    """A moment on the clocks of a zone."""
    return (_EPOCH + timedelta(microseconds=moment)).astimezone(zone)


def moment_of(there: datetime) -> Moment:
    """The moment of a time that has an offset."""
    return Moment((there - _EPOCH) // timedelta(microseconds=1))


def write_date(moment: Moment, zone: tzinfo) -> str:
    """`2026-03-27`: the date in the zone."""
    return local(moment, zone).date().isoformat()


def write_time(moment: Moment, zone: tzinfo) -> str:
    """`18:00+01:00`: the whole minute and the offset then in force."""
    there = local(moment, zone)
    offset = there.utcoffset() or timedelta()
    if offset % timedelta(minutes=1):
        # An offset with seconds, as before the railways, has no form.
        return write_time(moment, UTC)
    return there.strftime("%H:%M%z")[:5] + _offset(offset)


def _offset(offset: timedelta) -> str:
    minutes = offset // timedelta(minutes=1)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def write_window(span: Span, zone: tzinfo) -> dict[str, str]:
    """`{"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}`, inward to whole minutes.

    `Refused` for less than a minute and for more than a day, which has no such form.
    """
    start = Moment(-(-span.start // MINUTE) * MINUTE)
    end = Moment(span.end // MINUTE * MINUTE)
    if not 0 < end - start <= DAY:
        raise Refused("bad_window", "a window lasts a minute to a day", row="A2ACP-074")
    there = local(start, zone)
    seconds = (there.utcoffset() or timedelta()) % timedelta(minutes=1)
    day = local(start, UTC).date() if seconds else there.date()
    return {"date": day.isoformat(), "time": f"{write_time(start, zone)}/{write_time(end, zone)}"}


def write_windows(spans: Iterable[Span], zone: tzinfo) -> list[dict[str, str]]:
    """A window for each stretch, one for each day of a long one; stretches under a minute are left out."""
    return [write_window(part, zone) for span in spans for part in _days(span, zone)]


def _days(span: Span, zone: tzinfo) -> list[Span]:
    parts: list[Span] = []
    start = Moment(-(-span.start // MINUTE) * MINUTE)
    end = Moment(span.end // MINUTE * MINUTE)
    while end - start > DAY:
        midnight = datetime.combine(local(start, zone).date() + timedelta(days=1), time(), zone)
        cut = moment_of(midnight.astimezone(UTC))
        cut = Moment(min(max(cut, start + MINUTE), start + DAY))
        parts.append(Span(start, cut))
        start = cut
    return [*parts, Span(start, end)] if end > start else parts


def write_duration(minutes: int) -> str:
    """`PT1H30M`."""
    if not 0 < minutes <= MOST_MINUTES:
        raise Refused("bad_duration", "a duration lasts a minute to a year", row="A2ACP-074")
    hours, rest = divmod(minutes, 60)
    return "PT" + (f"{hours}H" if hours else "") + (f"{rest}M" if rest else "")


def read_duration(value: object) -> int | None:
    """The minutes of a duration, begun ones whole: ISO 8601, or words like "90 minutes", "1h 30m"."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    text = value.strip()
    found = _ISO_DURATION.fullmatch(text) or _WORDED_DURATION.fullmatch(text)
    if found is None:
        return None
    parts = {name: float(number) for name, number in found.groupdict().items() if number}
    total = (
        parts.get("weeks", 0) * 7 * 1440
        + parts.get("days", 0) * 1440
        + parts.get("hours", 0) * 60
        + parts.get("minutes", 0)
        + parts.get("seconds", 0) / 60
    )
    minutes = math.ceil(total)
    return minutes if 0 < minutes <= MOST_MINUTES else None
