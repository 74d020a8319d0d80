"""Dates in words: "Friday 27 March 2026" and its like, and whether the weekday is that date's (A2ACP-075).

English names, whole or short, day before month or after, with or without a year. A weekday that is not its
date's is a fault on both sides: what we write is written anew, what we read is asked about, as nobody can say
which of the two was meant. Numbers like 28/03 are not read: two countries read two dates. Knows no clock: the
day from which a date without its year is counted is an argument.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from tacit.base.moment import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.base.moment import Moment

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 9998

_WEEKDAY: Final = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)"
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s{1,3}(?P<year%s>(?:19|20|21)\d\d)(?![\d:.]))?"
_DATE: Final = (
    r"(?:(?P<iso>\d{4}-\d\d-\d\d)(?!\d)"
    rf"|(?P<day1>{_DAY})\s{{1,3}}(?:of\s{{1,3}})?(?P<month1>{_MONTH})\b\.?{_YEAR % 1}"
    rf"|(?P<month2>{_MONTH})\b\.?\s{{1,3}}(?:the\s{{1,3}})?(?P<day2>{_DAY})(?![\d:]){_YEAR % 2})"
)
_FLAGS: Final = re.ASCII | re.IGNORECASE
_LEADING: Final = re.compile(rf"\s*(?:(?P<weekday>{_WEEKDAY})\b\.?,?\s*(?:the\s{{1,3}})?)?{_DATE}?", _FLAGS)
_BEFORE: Final = re.compile(
    rf"\b(?P<weekday>{_WEEKDAY})\b[\s,.(\u2013-]{{1,4}}(?:the\s{{1,3}})?{_DATE}", _FLAGS
)
_AFTER: Final = re.compile(
    rf"\b{_DATE}(?:\s{{0,3}}\(\s{{0,3}}|,?\s{{1,3}}an?\s{{1,3}})(?P<weekday>{_WEEKDAY})\b", _FLAGS
)


class Mention(NamedTuple):
    """A day as somebody wrote it; the year where it was written, the weekday likewise."""

    weekday: int | None
    year: int | None
    month: int | None
    day: int | None

    @property
    def dated(self) -> bool:
        """Whether it names a date, and not a weekday alone."""
        return self.month is not None


def today(now: Moment) -> date:
    """The date of a moment in UTC."""
    return datetime.fromisoformat(rfc3339(now)).astimezone(UTC).date()


def leading(text: str) -> tuple[Mention, str] | None:
    """The day at the head of a text, and the rest of it; None where it begins with no day."""
    found = _LEADING.match(text)
    if found is None:
        return None
    mention = _mention(found)
    if mention.weekday is None and not mention.dated:
        return None
    return mention, text[found.end() :]


def resolved(mention: Mention, since: date) -> date | str:
    """The date of a mention that names one, counted from `since` where it has no year; or what is wrong."""
    years = (mention.year,) if mention.year is not None else range(since.year, min(since.year + 9, LAST_YEAR))
    for year in years:
        found = _date(year, mention)
        if found is not None and (mention.year is not None or found >= since):
            return _weekday_fault(mention, found) or found
    return _no_such_day(mention)


def read_date(value: object, *, since: date | None = None) -> date | str | None:
    """The date that a value is, whole; what is wrong with it; None when it is no date at all.

    Without `since` a date needs its year.
    """
    found = leading(value) if isinstance(value, str) and len(value) <= 60 else None
    if found is None or found[1].strip() or not found[0].dated:
        return None
    if found[0].year is None and since is None:
        return None
    return resolved(found[0], since or date(FIRST_YEAR, 1, 1))


def weekday_faults_in(value: object, year_of: Moment) -> tuple[str, ...]:
    """Each date in the strings of a value whose weekday is not its own, in words.

    Without a year the date nearest to `year_of` is meant.
    """
    near = today(year_of)
    return tuple(dict.fromkeys(fault for text in _texts(value) for fault in _faults(text, near)))


def _texts(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting.extend(reversed([*cast("dict[str, object]", one).values()]))
        elif isinstance(one, list):
            waiting.extend(reversed(cast("list[object]", one)))


def _faults(text: str, near: date) -> Iterator[str]:
    for pattern in (_BEFORE, _AFTER):
        for found in pattern.finditer(text):
            # "Friday 28 may be late" speaks of no month.
            if "may" in (found["month1"], found["month2"]) and not (found["year1"] or found["year2"]):
                continue
            fault = _fault_near(_mention(found), near)
            if fault:
                yield fault


def _fault_near(mention: Mention, near: date) -> str:
    years = (mention.year,) if mention.year is not None else (near.year - 1, near.year, near.year + 1)
    dates = [found for year in years if (found := _date(year, mention)) is not None]
    if not dates:
        return _no_such_day(mention)
    return _weekday_fault(mention, min(dates, key=lambda found: abs(found - near)))


def _mention(found: re.Match[str]) -> Mention:
    weekday = found["weekday"]
    number = _index(WEEKDAYS, weekday) if weekday else None
    if found["iso"]:
        year, month, day = (int(part) for part in found["iso"].split("-"))
        return Mention(number, year, month, day)
    named, written = found["month1"] or found["month2"], found["day1"] or found["day2"]
    if not named:
        return Mention(number, None, None, None)
    spelt = found["year1"] or found["year2"]
    return Mention(
        number, int(spelt) if spelt else None, _index(MONTHS, named) + 1, int(written.rstrip("stndrhSTNDRH"))
    )


def _index(names: tuple[str, ...], written: str) -> int:
    head = written[:3].capitalize()
    return next(number for number, name in enumerate(names) if name.startswith(head))


def _date(year: int, mention: Mention) -> date | None:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        return date(year, mention.month or 0, mention.day or 0)
    except ValueError:
        return None


def _weekday_fault(mention: Mention, found: date) -> str:
    if mention.weekday is None or mention.weekday == found.weekday():
        return ""
    return f"{spelt(found)} is a {WEEKDAYS[found.weekday()]}, not a {WEEKDAYS[mention.weekday]}"


def _no_such_day(mention: Mention) -> str:
    month = mention.month or 0
    named = MONTHS[month - 1] if 1 <= month <= 12 else "that month"
    return f"there is no {mention.day} {named}" + (f" {mention.year}" if mention.year else "")


def spelt(day: date) -> str:
    """`28 March 2026`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def coming(weekday: int, since: date) -> date:
    """The first such day, `since` included."""
    return since + timedelta(days=(weekday - since.weekday()) % 7)
