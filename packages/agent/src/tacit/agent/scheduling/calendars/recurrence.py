"""Repetition rules of RFC 5545, days and slower: which times on a wall a rule gives inside a stretch.

Only the stretch that was asked about is enumerated, and only so many days are looked at: an endless rule and
one that never holds (30 February) end as soon as any other. What is not understood here (rules by the hour or
faster, weeks of the year, days of the year, other calendars) is None, and whoever asked blocks what such a
rule may cover. `dateutil` (tests/agent/scheduling/calendars/test_recurrence.py) gives the same times but
looks for 30 February until the year 9999.

Works on wall clocks without a zone. Knows nothing of moments, events or exceptions.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import MAXYEAR, date, datetime, time, timedelta
from itertools import product
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DAYS_LOOKED_AT: Final = 100_000
_WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_BYDAY: Final = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)\Z", re.ASCII)
_NUMBERS: Final = re.compile(r"[+-]?\d{1,3}(,[+-]?\d{1,3})*\Z", re.ASCII)
_COUNT: Final = re.compile(r"\d{1,9}\Z", re.ASCII)
_FREQUENCIES: Final = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_KNOWN: Final = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (-31, 31),
    "BYSETPOS": (-366, 366),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
    "BYSECOND": (0, 59),
}
_MOST_TIMES_A_DAY: Final = 96


@dataclass(frozen=True, slots=True)
class Repetition:
    """One RRULE that is understood."""

    frequency: str
    interval: int = 1
    count: int | None = None
    until: str = ""
    months: frozenset[int] = frozenset()
    monthdays: frozenset[int] = frozenset()
    weekdays: tuple[tuple[int, int], ...] = ()
    """(which of them, or 0 for every one; weekday from Monday 0)"""
    positions: frozenset[int] = frozenset()
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    seconds: tuple[int, ...] = ()
    week_start: int = 0


def parse_rule(text: str) -> Repetition | None:
    """The rule in an RRULE's value; None when it is not one that is understood here."""
    parts: dict[str, str] = {}
    for part in text.strip().rstrip(";").upper().split(";"):
        name, equals, value = part.partition("=")
        if not equals or name in parts:
            return None
        parts[name] = value
    frequency = parts.pop("FREQ", "")
    interval, count = parts.pop("INTERVAL", "1"), parts.pop("COUNT", "")
    until, week_start = parts.pop("UNTIL", ""), parts.pop("WKST", "MO")
    weekdays = _weekdays(parts.pop("BYDAY", ""))
    numbers = {name: _numbers(name, value) for name, value in parts.items()}
    if frequency not in _FREQUENCIES or week_start not in _WEEKDAYS or weekdays is None:
        return None
    if not _COUNT.match(interval) or int(interval) == 0 or (count and not _COUNT.match(count)):
        return None
    if any(not found for found in numbers.values()):
        return None
    if frequency in {"DAILY", "WEEKLY"} and any(which for which, _ in weekdays):
        return None
    if frequency == "WEEKLY" and "BYMONTHDAY" in numbers:
        return None
    return Repetition(
        frequency,
        interval=int(interval),
        count=int(count) if count else None,
        until=until,
        months=frozenset(numbers.get("BYMONTH", ())),
        monthdays=frozenset(numbers.get("BYMONTHDAY", ())),
        weekdays=weekdays,
        positions=frozenset(numbers.get("BYSETPOS", ())),
        hours=numbers.get("BYHOUR", ()),
        minutes=numbers.get("BYMINUTE", ()),
        seconds=numbers.get("BYSECOND", ()),
        week_start=_WEEKDAYS.index(week_start),
    )


def _numbers(name: str, value: str) -> tuple[int, ...]:
    """The numbers of a part, in order; none when the part is not known, or one is out of bounds."""
    if name not in _KNOWN or not _NUMBERS.match(value):
        return ()
    low, high = _KNOWN[name]
    found = tuple(sorted({int(one) for one in value.split(",")}))
    if found[0] < low or found[-1] > high or (low < 0 and 0 in found):
        return ()
    return found


def _weekdays(value: str) -> tuple[tuple[int, int], ...] | None:
    found: list[tuple[int, int]] = []
    for one in value.split(",") if value else ():
        match = _BYDAY.match(one)
        if match is None or (match[1] and int(match[1]) == 0):
            return None
        found.append((int(match[1] or 0), _WEEKDAYS.index(match[2])))
    return tuple(found)


class Allowance:
    """How many days may still be looked at for one answer, all rules together."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


def times(
    rule: Repetition,
    start: datetime,
    low: datetime,
    high: datetime,
    *,
    is_over: Callable[[datetime], bool],
    allowance: Allowance,
) -> list[datetime] | None:
    """The rule's times from `low` to `high`, both included; None when finding them costs too much.

    `is_over` tells of a time whether it lies after the rule's UNTIL.
    """
    at_times = _times_of_day(rule, start.time())
    if len(at_times) > _MOST_TIMES_A_DAY:
        return None
    filled = _with_defaults(rule, start.date())
    looked_at = min(DAYS_LOOKED_AT, allowance.left)
    found: list[datetime] = []
    given = 0
    for days in _periods(filled, start.date(), low.date()):
        looked_at -= len(days) + 1
        if looked_at < 0:
            return None
        allowance.left -= len(days) + 1
        if days and days[0] > high.date():
            break
        chosen = [day for day in days if _holds(filled, day)]
        for one in _positioned(filled, chosen, at_times):
            if one < start:
                continue
            given += 1
            if one > high or is_over(one) or (rule.count is not None and given > rule.count):
                return found
            if one >= low:
                found.append(one)
    return found


def _times_of_day(rule: Repetition, start: time) -> list[time]:
    return [
        time(hour, minute, second)
        for hour, minute, second in product(
            rule.hours or (start.hour,), rule.minutes or (start.minute,), rule.seconds or (start.second,)
        )
    ]


def _with_defaults(rule: Repetition, start: date) -> Repetition:
    """What a rule leaves open it takes from its first day."""
    if rule.monthdays or rule.weekdays:
        return rule
    if rule.frequency == "WEEKLY":
        return replace(rule, weekdays=((0, start.weekday()),))
    if rule.frequency == "MONTHLY":
        return replace(rule, monthdays=frozenset({start.day}))
    if rule.frequency == "YEARLY":
        return replace(rule, months=rule.months or frozenset({start.month}), monthdays=frozenset({start.day}))
    return rule


def _periods(rule: Repetition, start: date, low: date) -> Iterator[list[date]]:
    """The days of each period, from the first one, or without a count from the last one before `low`."""
    if rule.frequency in {"DAILY", "WEEKLY"}:
        yield from _by_days(rule, start, low)
    else:
        yield from _by_months(rule, start, low)


def _by_days(rule: Repetition, start: date, low: date) -> Iterator[list[date]]:
    length = 1 if rule.frequency == "DAILY" else 7
    first = start.toordinal()
    if length == 7:
        first -= (start.weekday() - rule.week_start) % 7
    step = length * rule.interval
    if rule.count is None:
        first += max(0, (low.toordinal() - first) // step - 1) * step
    while first <= date.max.toordinal():
        yield [
            date.fromordinal(day)
            for day in range(max(1, first), min(first + length, date.max.toordinal() + 1))
        ]
        first += step


def _by_months(rule: Repetition, start: date, low: date) -> Iterator[list[date]]:
    yearly = rule.frequency == "YEARLY"
    step = rule.interval * (12 if yearly else 1)
    at = start.year * 12 + (0 if yearly else start.month - 1)
    if rule.count is None:
        at += max(0, (low.year * 12 + low.month - 1 - at) // step - 1) * step
    while at // 12 <= MAXYEAR:
        year, month = divmod(at, 12)
        months = (sorted(rule.months) or range(1, 13)) if yearly else (month + 1,)
        yield [date(year, month, day) for month in months for day in range(1, monthrange(year, month)[1] + 1)]
        at += step


def _holds(rule: Repetition, day: date) -> bool:
    if rule.months and day.month not in rule.months:
        return False
    length = monthrange(day.year, day.month)[1]
    if rule.monthdays and not {day.day, day.day - length - 1} & rule.monthdays:
        return False
    return not rule.weekdays or any(
        _is_weekday(rule, day, which, which_day) for which, which_day in rule.weekdays
    )


def _is_weekday(rule: Repetition, day: date, which: int, weekday: int) -> bool:
    if day.weekday() != weekday:
        return False
    if which == 0:
        return True
    if rule.frequency == "YEARLY" and not rule.months:
        first, last = date(day.year, 1, 1), date(day.year, 12, 31)
    else:
        first = day.replace(day=1)
        last = day.replace(day=monthrange(day.year, day.month)[1])
    nth = (day - first) // timedelta(days=7) + 1 if which > 0 else -((last - day) // timedelta(days=7) + 1)
    return nth == which


def _positioned(rule: Repetition, days: list[date], at_times: list[time]) -> list[datetime]:
    every = [datetime.combine(day, at) for day in days for at in at_times]
    if not rule.positions:
        return every
    size = len(every)
    chosen = {
        place
        for position in rule.positions
        if 0 <= (place := position - 1 if position > 0 else size + position) < size
    }
    return [every[place] for place in sorted(chosen)]
