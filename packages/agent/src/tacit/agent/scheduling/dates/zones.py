"""Whose clock is meant: zones by name, abbreviation, offset or place, and wall-clock times as moments.

Scenario 10: a time that people in two zones would read differently is asked, not guessed (A2ACP-075,
A2ACP-076). `zoneinfo` knows the rules of each zone; nothing here knows what time it is.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import wall, zone_named
from tacit.agent.scheduling.dates.items import Doubt, Found, ZoneItem
from tacit.agent.scheduling.dates.words import ABBREVIATIONS, REGIONS, SEVERAL_MEANINGS, ZONES
from tacit.base.moment import LAST, Moment

if TYPE_CHECKING:
    from tacit.a2acp.packets.tokens import Sentence

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MY_TIME: Final = ZoneItem(said="my time")
_OFTEN_WORDS: Final = frozenset({"est", "met", "west", "pt", "et", "mt", "z", "ist", "ect"})
_MOST_OFFSET: Final = 15 * 60


def local(now: Moment, zone: tzinfo) -> datetime:
    """What the clocks of a zone show."""
    bounded = min(max(now, _FIRST), _LAST)
    return wall(Moment(bounded), zone)


_FIRST: Final = Moment(-62_135_510_400_000_000)
_LAST: Final = Moment(LAST - 86_400_000_000)


def later(day: date, days: int) -> date:
    """So many days on; there is none after the last of the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def moment(day: date, minute: int, zone: tzinfo, *, late: bool = False) -> Moment:
    """The moment when clocks show a minute of a day, which may lie beyond midnight.

    A minute that the clocks show twice is the first of the two, with `late` the second: a stretch never
    becomes shorter than its words.
    """
    try:
        shown = datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - its zone comes next
        at = shown.replace(tzinfo=zone, fold=int(late)) - _EPOCH
    except OverflowError:
        return LAST
    return min(Moment(at // timedelta(microseconds=1)), LAST)


def happens_once(day: date, minute: int, zone: tzinfo) -> bool:
    """Whether clocks show this minute of this day exactly once, as they do unless they are changed then."""
    try:
        shown = datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001
        return shown.replace(tzinfo=zone).utcoffset() == shown.replace(tzinfo=zone, fold=1).utcoffset()
    except OverflowError:
        return True


def resolved(zone: ZoneItem, day: date, owner: tzinfo) -> tzinfo | Doubt:
    """The zone that words mean on a day."""
    if zone == MY_TIME:
        return owner
    if zone.name:
        return zone_named(zone.name) or owner
    if zone.place and (place := zone_named(zone.place)) is not None:
        there = datetime(day.year, day.month, day.day, 12, tzinfo=place).utcoffset()
        if there != timedelta(minutes=zone.offset):
            return Doubt(f"On that day the clocks there do not show {zone.said}: which time is meant?")
    return timezone(timedelta(minutes=zone.offset))


def zone(sentence: Sentence, at: int, *, behind_clock: bool) -> Found | None:
    """A zone named at this place; `behind_clock` says that a clock time stands right before."""
    place = at + (sentence.word(at) in {"in", "("})
    found = _offset(sentence, place, behind_clock=behind_clock) or _named(
        sentence, place, behind_clock=behind_clock
    )
    if found is None:
        return None
    return Found(found.items, found.end + (sentence.word(at) == "(" and sentence.word(found.end) == ")"))


def _offset(sentence: Sentence, at: int, *, behind_clock: bool) -> Found | None:
    """`+02:00` right behind a clock time, `UTC+2`, `GMT-5`."""
    written = sentence.tokens[at].written if at < len(sentence) else ""
    named = written in {"UTC", "GMT", "utc", "gmt"}
    sign = sentence.word(at + named)
    dated = sentence.kind(at - 1) == "clock" and sentence.says(at - 2, "t") and sentence.kind(at - 3) == "iso"
    if sign not in {"+", "-"} or not (named or behind_clock) or (sign == "-" and not (named or dated)):
        return None
    token = sentence.tokens[at + named + 1] if at + named + 1 < len(sentence) else None
    if token is None or token.kind not in {"clock", "number"}:
        return None
    hours, minutes = (*token.numbers, 0)[:2]
    if token.kind == "number" and len(token.text) == 4:
        hours, minutes = divmod(token.numbers[0], 100)
    offset = hours * 60 + minutes
    if minutes > 59 or offset > _MOST_OFFSET:
        return None
    return Found((ZoneItem(offset=-offset if sign == "-" else offset),), at + named + 2)


def _named(sentence: Sentence, at: int, *, behind_clock: bool) -> Found | None:
    if sentence.kind(at) == "zone":
        name = sentence.tokens[at].written
        return Found((ZoneItem(name=name),), at + 1) if zone_named(name) is not None else None
    if sentence.kind(at) != "word":
        return None
    written, word = sentence.tokens[at].written, sentence.word(at)
    capital = written.isupper() or (behind_clock and word not in _OFTEN_WORDS)
    name = written.upper()
    if capital and name in ABBREVIATIONS and (name != "Z" or behind_clock):
        offset, place = ABBREVIATIONS[name]
        return Found(
            (ZoneItem(offset=offset, place=place, said=name),), at + 1 + (sentence.word(at + 1) == "time")
        )
    if capital and behind_clock and name in REGIONS:
        return Found((ZoneItem(name=REGIONS[name]),), at + 1)
    if capital and behind_clock and name in SEVERAL_MEANINGS:
        return Found((Doubt(f"{name} is the name of several zones: which one is meant?"),), at + 1)
    return _of_a_place(sentence, at, behind_clock=behind_clock)


def _of_a_place(sentence: Sentence, at: int, *, behind_clock: bool) -> Found | None:
    for words in (3, 2, 1):
        if sentence.word(at + words) == "time":
            name = " ".join(sentence.word(at + offset) for offset in range(words))
            if name in ZONES:
                return Found((ZoneItem(name=ZONES[name]),), at + words + 1)
    word = sentence.word(at)
    if sentence.word(at + 1) != "time" or not behind_clock:
        return None
    if word in {"my", "our"}:
        return Found((MY_TIME,), at + 2)
    if word in {"your", "their", "his", "her"} or word.endswith("'s"):
        return Found((Doubt("In which timezone is that time meant?"),), at + 2)
    return None
