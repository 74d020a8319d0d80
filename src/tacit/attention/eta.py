"""Times that people and agents write (C2A-122): only what parses as a time or a duration is used."""

from __future__ import annotations

import re
from typing import Final

from tacit.base.moment import SECOND, Moment, parse_rfc3339

_UNITS: Final = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hr": 3600,
    "hour": 3600,
}
_DAYS: Final = {"d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800}
_ALL: Final = {**_UNITS, **_DAYS}
_PART: Final = r"(\d{1,6}(?:\.\d{1,3})?)\s*([a-z]+?)s?"
_SPAN: Final = re.compile(rf"(?:in\s+)?{_PART}(?:\s*(?:and\s+)?{_PART})?\Z")


def eta_of(text: str, now: Moment) -> Moment | None:
    """The moment meant by `2026-06-02T19:10:00Z`, `in 20 minutes`, `2h 30m`.

    None for anything else or the past.
    """
    found = parse_rfc3339(text.strip())
    if found is not None:
        return found if found > now else None
    match = _SPAN.match(text.strip().lower())
    if match is None:
        return None
    seconds = 0.0
    for amount, unit in ((match[1], match[2]), (match[3], match[4])):
        if amount is None:
            continue
        if unit not in _ALL:
            return None
        seconds += float(amount) * _ALL[unit]
    return Moment(now + int(seconds * SECOND)) if seconds else None
