"""Dates in words: "Friday 27 March 2026" and its like, and whether the weekday is that date's (A2ACP-075).

The one table of weekdays and months in English, and the one reader of a date: names whole or short, day
before month or after, with or without a year. What people write to their agent and what agents write to
each other are read alike. A weekday that is not its date's is a fault on both sides: what we write is
written anew, what we read is asked about, as nobody can say which of the two was meant. Numbers like 28/03
are not read here: two countries read two dates. Knows no clock: the day from which a date without its year
is counted is an argument.

Time zones by their names, and clocks on walls: the moment at which a clock in some zone shows a time.

A name is looked up in the zone data alone. `localtime` and its like, which mean another thing on each
machine, are names of nothing. What a counterpart declares (A2ACP-075), and what an owner is to declare, is
read more strictly: abbreviations, of which several zones share one, are none either.

A day on a wall may have 23 or 25 hours, so whoever counts in days counts on the wall and converts before any
arithmetic. A time that a wall shows twice is the first of the two; one that it skips is read by the clock
from before the change (as RFC 5545 has it). Knows nothing of calendars or people.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast
from zoneinfo import ZoneInfo, available_timezones

from tacit.a2acp.packets.tokens import Sentence, tokens_of
from tacit.base.errors import Refused
from tacit.base.moment import Moment, Span, rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo


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


WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
WEEKDAY_OF: Final = {"tues": 1, "weds": 2, "thur": 3, "thurs": 3} | {
    spelling: number for number, name in enumerate(WEEKDAYS) for spelling in (name.lower(), name[:3].lower())
}
"""Every spelling of a weekday, counted from Monday 0."""
MONTH_OF: Final = {"sept": 9} | {
    spelling: number for number, name in enumerate(MONTHS, 1) for spelling in (name.lower(), name[:3].lower())
}
"""Every spelling of a month, counted from January 1."""
ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14,
    "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20,
    "thirtieth": 30,
}  # fmt: skip
TO: Final = frozenset({"to", "until", "till", "through", "thru", "-", "–", "—"})  # noqa: RUF001 - as people write
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 9998
_LAST_WRITTEN: Final = 2199
"""A later figure behind a date is a time of day rather than a year."""

_OTHER_WORDS_TOO: Final = frozenset({"sat", "sun", "wed", "mon"})
_BEFORE_SHORT_NAMES: Final = frozenset(
    {"on", "this", "next", "or", "and", "to", "by", "until", "before", "after", "from", "-", "–", "coming"}  # noqa: RUF001
)
_JOINTS: Final = frozenset({",", ".", "(", "-", "–", "the"})  # noqa: RUF001
_NAMED: Final = re.compile("|".join(name[:3] for name in WEEKDAYS), re.IGNORECASE)


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


def date_at(sentence: Sentence, at: int) -> tuple[Mention, int] | None:
    """The date that stands at a place, `2026-03-28`, `the 28th of March 2026` or `March 28`, and its end."""
    at += sentence.word(at) == "the"
    if sentence.kind(at) == "iso":
        year, month, number = sentence.tokens[at].numbers
        return Mention(None, year, month, number), at + 1
    month = MONTH_OF.get(sentence.word(at))
    if month is not None:
        place = at + 1 + (sentence.word(at + 1) == ".")
        place += sentence.word(place) == "the"
        number = day_number(sentence, place)
    else:
        number = day_number(sentence, at)
        place = at + 1 + (sentence.word(at + 1) == "of")
        month = MONTH_OF.get(sentence.word(place))
    if not number or month is None:
        return None
    year, end = year_at(sentence, place + 1)
    return Mention(None, year, month, number), end


def day_number(sentence: Sentence, at: int) -> int:
    """The number of a day in its month, in figures or as an ordinal; 0 where there is none."""
    if sentence.kind(at) in {"number", "ordinal"}:
        number = sentence.tokens[at].numbers[0]
        return number if number <= 31 else 0
    return ORDINALS.get(sentence.word(at), 0)


def year_at(sentence: Sentence, at: int) -> tuple[int | None, int]:
    """A year behind a date, after a point or a comma if need be, and its end; without one, `at`."""
    place = at + (sentence.word(at) == ".")
    place += sentence.word(place) == ","
    if sentence.kind(place) == "number" and FIRST_YEAR <= sentence.tokens[place].numbers[0] <= _LAST_WRITTEN:
        return sentence.tokens[place].numbers[0], place + 1
    return None, at


def weekday_at(sentence: Sentence, at: int) -> int | None:
    """The weekday that stands there, where the word is one and nothing else.

    A short name that is a word of its own, such as `sat`, is a weekday with a capital, after a word such as
    `on`, or before a date.
    """
    word = sentence.word(at).removesuffix("'s")
    number = WEEKDAY_OF.get(word[:-1] if word.endswith("days") else word)
    if number is None or word not in _OTHER_WORDS_TOO:
        return number
    capital = sentence.tokens[at].written[0].isupper()
    led = capital or sentence.word(at - 1) in _BEFORE_SHORT_NAMES
    return number if led or date_at(sentence, at + 1) is not None else None


def weekday_behind(sentence: Sentence, at: int) -> tuple[int | None, int]:
    """The weekday of a date that ends here, said after it as in `(Friday)` or `, a Friday`, and its end.

    Where the weekday begins another date, or one of several days, it is not this date's.
    """
    bracket = sentence.word(at) == "("
    place = at + (bracket or sentence.word(at) == ",")
    led = bracket or sentence.word(place) in {"a", "an"}
    place += led and not bracket
    number = WEEKDAY_OF.get(sentence.word(place)) if led else weekday_at(sentence, place)
    after = sentence.word(place + 1)
    if number is None or after in {"or", "and", ",", "/"} | TO or date_at(sentence, place + 1) is not None:
        return None, at
    return number, place + 1 + (bracket and after == ")")


def today(now: Moment) -> date:
    """The date of a moment in UTC."""
    return datetime.fromisoformat(rfc3339(now)).astimezone(UTC).date()


def leading(text: str) -> tuple[Mention, str] | None:
    """The day at the head of a text, and the rest of it; None where it begins with no day."""
    sentence = Sentence(text)
    weekday = WEEKDAY_OF.get(sentence.word(0))
    end = 0
    if weekday is not None:
        end = 1 + (sentence.word(1) == ".")
        end += sentence.word(end) == ","
    mention, end = date_at(sentence, end) or (Mention(None, None, None, None), end)
    if weekday is None and not mention.dated:
        return None
    return mention._replace(weekday=weekday), text[sentence.tokens[end - 1].end :]


def resolved(mention: Mention, since: date) -> date | str:
    """The date of a mention that names one, or what is wrong with it.

    Without its year it is the first such date from `since` on; eight years may lie between two leap days.
    """
    for year in (mention.year,) if mention.year is not None else range(since.year, since.year + 9):
        named = _date(year, mention)
        if named is not None and (mention.year is not None or named >= since):
            return weekday_fault(mention.weekday, named) or named
    return _no_such_day(mention)


def read_date(value: object, *, since: date | None = None) -> date | str | None:
    """The date that a value is, whole; what is wrong with it; None when it is no date at all.

    Without `since` a date needs its year.
    """
    read = leading(value) if isinstance(value, str) and len(value) <= 60 else None
    if read is None or read[1].strip() or not read[0].dated:
        return None
    if read[0].year is None and since is None:
        return None
    return resolved(read[0], since or date(FIRST_YEAR, 1, 1))


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
    if _NAMED.search(text) is None:
        return
    sentence = Sentence(text, [*tokens_of(text)])
    at = 0
    while at < len(sentence):
        before = WEEKDAY_OF.get(sentence.word(at))
        start = at + (before is not None)
        while before is not None and sentence.word(start) in _JOINTS and start < at + 4:
            start += 1
        read = date_at(sentence, start)
        if read is None:
            at += 1
            continue
        mention, end = read
        after, at = weekday_behind(sentence, end)
        # "Friday 28 may be late" speaks of no month.
        if mention.year is None and any(token.written == "may" for token in sentence.tokens[start:end]):
            continue
        for weekday in {before, after} - {None}:
            yield from _fault_near(mention._replace(weekday=weekday), near)


def _fault_near(mention: Mention, near: date) -> Iterator[str]:
    years = (mention.year,) if mention.year is not None else (near.year - 1, near.year, near.year + 1)
    dates = [named for year in years if (named := _date(year, mention)) is not None]
    if not dates:
        yield _no_such_day(mention)
    elif fault := weekday_fault(mention.weekday, min(dates, key=lambda named: abs(named - near))):
        yield fault


def _date(year: int, mention: Mention) -> date | None:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        return date(year, mention.month or 0, mention.day or 0)
    except ValueError:
        return None


def weekday_fault(weekday: int | None, named: date) -> str:
    """What is wrong where another weekday was said than the date has; nothing where it is right or unsaid."""
    if weekday is None or weekday == named.weekday():
        return ""
    return f"{spelt(named)} is a {WEEKDAYS[named.weekday()]}, not a {WEEKDAYS[weekday]}"


def _no_such_day(mention: Mention) -> str:
    month = mention.month or 0
    named = MONTHS[month - 1] if 1 <= month <= 12 else "that month"
    return f"there is no {mention.day} {named}" + (f" {mention.year}" if mention.year else "")


def spelt(day: date) -> str:
    """`28 March 2026`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def spoken(day: date) -> str:
    """`Friday 27 March 2026`: the weekday is computed, so it is the right one."""
    return f"{WEEKDAYS[day.weekday()]} {spelt(day)}"


def coming(weekday: int, since: date) -> date:
    """The first such day, `since` included."""
    return since + timedelta(days=(weekday - since.weekday()) % 7)
