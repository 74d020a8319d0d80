"""Windows of time as counterparts write them: read when they say one thing, asked about when they do not.

A2ACP-074, A2ACP-075, A2ACP-076.

Taken are our own objects, the draft's bare ranges, days in words and ISO 8601 intervals. A time without an
offset is read in the zone that the sender declared; without one it is unclear, as is a time that its zone
skips or has twice, a weekday that is not its date's, and a row of hyphens with two readings. Nothing that can
be written here is a fault: an entry becomes a span or a sentence that says what is missing. Knows nothing of
calendars.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from tacit.a2acp.packets import dates
from tacit.a2acp.packets.dates import zone
from tacit.a2acp.packets.formats import DAY, MINUTE, local, moment_of, read_duration, write_duration
from tacit.base.moment import Moment, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST: Final = 100
"""Entries that are read of one value."""
LONGEST: Final = 120
"""Characters of one entry."""

_NO_ZONE: Final = "the time has no offset, and no time zone was declared"
_NO_FORM: Final = "this is not a stretch of time that can be read for certain"
_CLOCK: Final = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d)(?::[0-5]\d(?:\.\d{1,6})?)?)?\s?(?P<half>[ap]\.?m\.?)?"
    r"\s?(?:(?P<utc>Z|UTC)|(?P<sign>[+\u2212-])(?P<ahead>0\d|1[0-4])(?::?(?P<past>[0-5]\d))?)?",
    re.ASCII | re.IGNORECASE,
)
_BETWEEN: Final = re.compile(
    r"\s{0,3}[/\u2013\u2014-]{1,2}\s{0,3}|\s{1,3}(?:to|until|till|and)\s{1,3}", re.ASCII | re.IGNORECASE
)
_INTRODUCED: Final = re.compile(
    r"[,:T\s]{0,3}(?:(?:at|from|between)\s{1,3})?(?P<rest>.*)", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ReadSpans:
    """What could be read of a value, and what has to be asked about it."""

    spans: tuple[Span, ...] = ()
    unclear: tuple[str, ...] = ()


class _Clock(NamedTuple):
    """A time of day in minutes, and its offset in minutes where it has one."""

    minutes: int
    offset: int | None


class _Stretch(NamedTuple):
    """From a time of day to another, or for so many minutes; `until` where the end has a date of its own."""

    start: _Clock
    end: _Clock | int
    until: date | None = None


class _WindowAuthor(NamedTuple):
    """What is known of whoever wrote the value."""

    zone: tzinfo | None
    proposed: date | str | None
    now: Moment


def read_windows(value: object, *, timezone: str | None, proposed_date: str | None, now: Moment) -> ReadSpans:
    """The stretches of time in a `time_windows`, in their order."""
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    spans: list[Span] = []
    unclear: list[str] = []
    for entry in entries[:MOST]:
        sender = _WindowAuthor(zone(_member(entry, "timezone") or timezone), None, now)
        here = _today(sender, None)
        found = _read(_text(entry), sender._replace(proposed=dates.read_date(proposed_date, since=here)))
        if isinstance(found, Span):
            spans.append(found)
        else:
            unclear.append(found)
    if len(entries) > MOST:
        unclear.append(f"only the first {MOST} windows were read")
    return ReadSpans(tuple(spans), tuple(dict.fromkeys(unclear)))


def read_slot(
    details: dict[str, Any], *, timezone: str | None, minutes: int | None, now: Moment
) -> ReadSpans:
    """The one stretch that a proposal's `details` name: `date`, `time`, and `duration` where it has no end.

    `minutes` is how long it lasts when the details do not say.
    """
    when = details.get("time")
    if isinstance(when, str) and len(when) <= LONGEST and _clock(when.strip()) is not None:
        lasts = read_duration(details.get("duration")) or minutes
        if lasts is None:
            return ReadSpans(unclear=(_said(when, "the time has no end, and no duration was named"),))
        when = f"{when.strip()}/{write_duration(lasts)}"
    slot = {"date": details.get("date"), "time": when, "timezone": details.get("timezone")}
    if not isinstance(when, str) or not isinstance(slot["date"], str):
        return ReadSpans(unclear=("the proposal has no date and time",))
    return read_windows(slot, timezone=timezone, proposed_date=None, now=now)


def _member(entry: object, name: str) -> str | None:
    value = cast("dict[str, object]", entry).get(name) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else None


def _text(entry: object) -> str:
    """An entry as one line; empty when it is none."""
    if isinstance(entry, str):
        return entry.strip()
    day = _member(entry, "date") or ""
    when = _member(entry, "time") or ""
    if not when:
        start = _member(entry, "start") or _member(entry, "from")
        end = _member(entry, "end") or _member(entry, "to") or _member(entry, "duration")
        when = f"{start}/{end}" if start and end else ""
    return f"{day} {when}".strip() if when else ""


def _read(text: str, sender: _WindowAuthor) -> Span | str:
    if not text or len(text) > LONGEST:
        return _said(text, _NO_FORM)
    found = _interval(text, sender)
    if found is None:
        found = _on_a_day(text, sender)
    return _said(text, found) if isinstance(found, str) else found


def _said(text: str, problem: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text[:60])
    return f'"{shown}": {problem}' if shown else problem


def _interval(text: str, sender: _WindowAuthor) -> Span | str | None:
    """`2026-03-27T18:00+00:00/2026-03-27T21:00+00:00`, each end with its date; None when it is none."""
    for left, right in _halves(text):
        start, end = _dated(left), _dated(right)
        if start is None or end is None:
            continue
        return _span(start[0], _Stretch(start[1], end[1], end[0]), sender)
    return None


def _dated(text: str) -> tuple[date, _Clock] | None:
    found = dates.leading(text)
    if found is None or found[0].year is None:
        return None
    day = dates.resolved(found[0], date(dates.FIRST_YEAR, 1, 1))
    clock = _clock(_introduced(found[1]))
    return (day, clock) if isinstance(day, date) and clock is not None else None


def _on_a_day(text: str, sender: _WindowAuthor) -> Span | str:
    """A day, or none where one is proposed, and a range of times."""
    found = dates.leading(text)
    mention, rest = found if found is not None else (None, text)
    stretch = _stretch(_introduced(rest))
    if isinstance(stretch, str):
        return stretch
    here = _today(sender, stretch.start.offset)
    if mention is None:
        if isinstance(sender.proposed, date):
            return _span(sender.proposed, stretch, sender)
        return sender.proposed or "the time has no date"
    if mention.dated:
        day = dates.resolved(mention, here)
        return day if isinstance(day, str) else _span(day, stretch, sender)
    return _on_a_weekday(mention.weekday or 0, stretch, here, sender)


def _on_a_weekday(weekday: int, stretch: _Stretch, here: date, sender: _WindowAuthor) -> Span | str:
    """The proposed day if it is such a one, else the next that is not over."""
    if isinstance(sender.proposed, date) and sender.proposed.weekday() == weekday:
        return _span(sender.proposed, stretch, sender)
    day = dates.coming(weekday, here)
    found = _span(day, stretch, sender)
    if isinstance(found, Span) and found.end <= sender.now:
        found = _span(day + timedelta(days=7), stretch, sender)
    return found


def _today(sender: _WindowAuthor, offset: int | None) -> date:
    fixed = timezone(timedelta(minutes=offset)) if offset is not None else None
    return local(sender.now, fixed or sender.zone or UTC).date()


def _introduced(text: str) -> str:
    found = _INTRODUCED.fullmatch(text)
    return found["rest"].strip() if found else text


def _halves(text: str) -> Iterator[tuple[str, str]]:
    for between in _BETWEEN.finditer(text):
        yield text[: between.start()].strip(), text[between.end() :].strip()


def _stretch(text: str) -> _Stretch | str:
    found: set[_Stretch] = set()
    for left, right in _halves(text):
        start, end = _clock(left), _clock(right)
        lasts = read_duration(right) if right[:1] in {"P", "p"} else None
        if start is not None and (end is not None or lasts is not None):
            found.add(_Stretch(start, end if end is not None else lasts or 0))
    if len(found) > 1:
        return "the hyphens can be read in two ways"
    return found.pop() if found else _NO_FORM


def _clock(text: str) -> _Clock | None:
    found = _CLOCK.fullmatch(text)
    if found is None or not (found["minute"] or found["half"]):
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    if hour * 60 + minute > 24 * 60:
        return None
    offset = 0 if found["utc"] else None
    if found["sign"]:
        offset = (int(found["ahead"]) * 60 + int(found["past"] or 0)) * (1 if found["sign"] == "+" else -1)
    return _Clock(hour * 60 + minute, offset)


def _span(day: date, stretch: _Stretch, sender: _WindowAuthor) -> Span | str:
    start, end = stretch.start, stretch.end
    first, last = start.offset, end.offset if isinstance(end, _Clock) else None
    # One offset that was written holds for the range.
    first, last = first if first is not None else last, last if last is not None else first
    begins = _moment(day, start.minutes, first, sender)
    if isinstance(begins, str):
        return begins
    if isinstance(end, int):
        return Span(begins, Moment(begins + end * MINUTE))
    until = stretch.until or day
    if stretch.until is None and first is None and end.minutes <= start.minutes:
        until += timedelta(days=1)
    ends = _moment(until, end.minutes, last, sender)
    if isinstance(ends, str):
        return ends
    if stretch.until is None and first is not None:
        # By the offsets, whatever the zone's clocks do in between: within a day after the start.
        ends = Moment(begins + ((ends - begins) % DAY or DAY))
    return Span(begins, ends) if ends > begins else "it ends before it begins"


def _moment(day: date, minutes: int, offset: int | None, sender: _WindowAuthor) -> Moment | str:
    there = datetime.combine(day, time()) + timedelta(minutes=minutes)
    if offset is not None:
        return moment_of(there.replace(tzinfo=timezone(timedelta(minutes=offset))))
    if sender.zone is None:
        return _NO_ZONE
    there = there.replace(tzinfo=sender.zone)
    if there.utcoffset() != there.replace(fold=1).utcoffset():
        return "the clocks change then: the time comes twice or not at all"
    return moment_of(there.astimezone(UTC))
