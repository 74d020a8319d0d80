"""When: an English sentence read into stretches of time, or into questions (A2ACP-075, A2ACP-076, A2ACP-090).

Theory of operation
===================

The sentence is cut into tokens once and walked once from left to right. At each place the small grammars
(`days`, `clock`, `zones`, `flexibility`) are asked in a fixed order whether something of theirs begins there;
each looks a bounded number of tokens ahead, so the whole is linear. What they find are items, still unjudged:
"at 8" is an eight, not yet eight in the evening.

Items become clauses: days, and times for them. "Friday or Saturday at 8" is one clause with two days,
"Friday at 8 or Saturday at 9" is two. Times that follow each other without `or` narrow each other ("tomorrow
evening at 8"), times joined by `or` are alternatives.

Then each clause is resolved. A bare figure has two readings, before noon and after. It is read by the first
of
these that leaves one: the part of the day said beside it; what is still ahead, when only today was named; the
usual hours of what is arranged, with two hours' grace; the hours people are awake. If two readings are left
it
is asked. So dinner at 8 is at 20:00, a call at 3 at 15:00, and nobody can say when "Friday at 7" is.

What is ruled out ("not Thursday") is taken out of all that is left; where nothing else is named, out of the
next days.

What is unclear yields no spans at all, only questions: whoever acts on `spans` never acts on a guess. Nothing
in the result lies in the past; a weekday that is today counts while its hours are still ahead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import zone_of_owner
from tacit.a2acp.packets.tokens import Sentence
from tacit.agent.scheduling.dates import clauses, clock, days, exclusions, flexibility
from tacit.agent.scheduling.dates import zones as zone_words
from tacit.agent.scheduling.dates.items import (
    FRAME,
    Ahead,
    ClockTime,
    Day,
    Doubt,
    Except,
    Flex,
    Found,
    Item,
    Length,
    Part,
    Past,
    Piece,
    ZoneItem,
)
from tacit.agent.scheduling.dates.words import MEALS, Hours
from tacit.base.moment import LAST, SECOND, Moment, Span

if TYPE_CHECKING:
    from datetime import date, tzinfo

_JOINTS: Final = frozenset({"or", "and", ",", "/", "either", "&", "but", "also", "then", "t", ";"})
NEXT_DAYS: Final = 8
"""So many days are looked at where days were ruled out and none was named: today and a week."""
_REACH: Final = 4
"""So many tokens a word such as `must be` may stand before what it is said of."""


@dataclass(frozen=True, slots=True)
class When:
    """What a sentence says of time."""

    spans: tuple[Span, ...] = ()
    """In order, none in the past; empty when nothing was said or something is unclear."""
    exact: bool = False
    """Each span is one time to begin at; otherwise they are windows to choose from, which do not overlap."""
    part_of_day: str = ""
    minutes: int = 0
    """How long it takes, where that was said."""
    flexible: dict[str, str] = field(default_factory=dict[str, str])
    unclear: tuple[str, ...] = ()
    """Questions to whoever said it."""
    excluded: tuple[Span, ...] = ()
    """What was ruled out, in the weeks in which a time may be looked for."""
    pieces: tuple[Piece, ...] = ()
    """What was read, each with its words; what is past is not among it."""
    joints: frozenset[int] = frozenset()
    """The tokens between pieces that only join them."""
    together: bool = False
    """Two days are joined by `and`, which may ask for both or for one of them."""

    def rest(self, sentence: Sentence) -> Sentence:
        """The sentence without its words about time."""
        spent = self.joints | {place for _, start, end in self.pieces for place in range(start, end)}
        left = [token for place, token in enumerate(sentence.tokens) if place not in spent]
        return Sentence(sentence.text, left)


@dataclass(slots=True)
class _Read:
    """The items of a sentence with the places of their words."""

    found: list[Piece]
    flexible: dict[str, str]


def read_when(
    text: str,
    now: Moment,
    zone: str,
    *,
    usual: Hours | None = None,
    minutes: int = 60,
    ambiguous_zone: bool = False,
) -> When:
    """What `text` says of time, for somebody whose clocks show the time of `zone`.

    `usual` are the hours of what is arranged, by which days without a time and bare figures are read; without
    them a meal that is named says them. `minutes` is how long it takes where the sentence does not say.
    With `ambiguous_zone` a clock time that names no zone is asked.
    """
    owner = zone_of_owner(zone)
    here = zone_words.local(now, owner)
    sentence = Sentence(text)
    read = _read(sentence, here.date())
    hours = usual or _meal(sentence, read)
    items = [item for item, _, _ in read.found]
    lengths = {item.minutes for item in items if isinstance(item, Length)}
    length = max(lengths, default=0)
    doubts = [item.question for item in items if isinstance(item, Doubt)]
    doubts += ["Several lengths are named: how long is it to take?"] * (len(lengths) > 1)
    clock_zone = _zone(items, here.date(), owner, doubts)
    if ambiguous_zone and clock_zone is None and any(isinstance(item, ClockTime) for item in items):
        doubts.append("In which timezone is that time meant?")
    frame = clauses.Circumstances(
        now=now, today=here.date(), minute=here.hour * 60 + here.minute, zone=clock_zone or owner,
        owner=owner,
        usual=hours, minutes=length or minutes,
    )  # fmt: skip
    made = _clauses(sentence, read)
    rulings = [item for item in items if isinstance(item, Except)]
    ahead = _ahead(items, now, length or minutes)
    if ahead is not None and made:
        doubts.append("A time from now and another time are named: which one is meant?")
    if rulings and not made and ahead is None:
        made = [clauses.Clause([Day(days.following(here.date(), NEXT_DAYS), FRAME)])]
        read.flexible.setdefault("date", flexibility.FLEXIBLE)
    outcome = clauses.resolve(made, frame)
    spans, exact = ahead or (outcome.spans, outcome.exact)
    doubts += outcome.doubts
    excluded = clauses.ruled_out(rulings, frame, spans)
    spans = clauses.left(spans, excluded, length or minutes, exact=exact) if excluded else spans
    if excluded and not spans and not doubts:
        doubts.append("Those times exclude each other: when is meant?")
    return When(
        spans=() if doubts else spans,
        exact=exact and bool(spans) and not doubts,
        part_of_day=next((item.name for item in items if isinstance(item, Part)), ""),
        minutes=length,
        flexible=read.flexible,
        unclear=tuple(dict.fromkeys(doubts)),
        excluded=excluded,
        pieces=tuple(piece for piece in read.found if not isinstance(piece.item, Past)),
        joints=_joints(sentence, read),
        together=_together(sentence, read),
    )


def contradictions(text: str, now: Moment, zone: str) -> tuple[str, ...]:
    """Only what excludes itself: a weekday with a date that is none, a date that does not exist.

    For words that come with exact values beside them, on either side (A2ACP-075, scenario 9).
    """
    read = _read(Sentence(text), zone_words.local(now, zone_of_owner(zone)).date())
    found = [item.question for item, _, _ in read.found if isinstance(item, Doubt) and item.contradiction]
    return tuple(dict.fromkeys(found))


# Reading.


def _read(sentence: Sentence, today: date) -> _Read:
    read = _Read([], {})
    at, waiting = 0, _Waiting()
    while at < len(sentence):
        found = _at(sentence, at, today, read)
        if found is None:
            at += 1
            waiting.passed(read, at)
            continue
        for item in found.items:
            if isinstance(item, Flex):
                waiting.meet(item, read, at, found.end, sentence)
            else:
                waiting.apply(item, read)
            read.found.append(Piece(item, at, found.end))
        at = found.end
    waiting.passed(read, at + _REACH + 1)
    return read


def _at(sentence: Sentence, at: int, today: date, read: _Read) -> Found | None:
    last, _, end = read.found[-1] if read.found else (None, 0, -1)
    beside_day = end == at and isinstance(last, (Day, Part))
    behind_clock = end == at and isinstance(last, ClockTime)
    return (
        clock.length(sentence, at)
        or exclusions.exclusion(sentence, at, today)
        or flexibility.flex(sentence, at)
        or days.day(sentence, at, today)
        or clock.part(sentence, at, today)
        or zone_words.zone(sentence, at, behind_clock=behind_clock)
        or clock.clock(sentence, at, beside_day=beside_day, behind_clock=behind_clock)
    )


class _Waiting:
    """A word such as `must be` that waits for what it is said of, or falls back on what stood before it."""

    def __init__(self) -> None:
        self._value = ""
        self._until = -1
        self._before = ""

    def meet(self, item: Flex, read: _Read, at: int, end: int, sentence: Sentence) -> None:
        for dimension in item.dimensions:
            read.flexible[dimension] = item.value
        if item.dimensions:
            return
        self.passed(read, self._until + 1)
        self._value, self._until, self._before = item.value, end + _REACH, ""
        if read.found:
            last, _, stop = read.found[-1]
            if stop == at or (stop == at - 1 and sentence.word(stop) in {",", "is", "-"}):
                self._before = _dimension(last)

    def apply(self, item: Item, read: _Read) -> None:
        dimension = _dimension(item)
        if isinstance(item, ClockTime) and item.about:
            read.flexible.setdefault("time", flexibility.SOMEWHAT)
        if self._value and dimension:
            read.flexible[dimension] = self._value
            self._before = ""

    def passed(self, read: _Read, at: int) -> None:
        if self._value and at > self._until:
            if self._before:
                read.flexible[self._before] = self._value
            self._value, self._before = "", ""


def _dimension(item: Item) -> str:
    if isinstance(item, Day):
        return "date"
    return "time" if isinstance(item, (ClockTime, Part)) else ""


def _meal(sentence: Sentence, read: _Read) -> Hours | None:
    """The hours of a meal that is arranged; the one of `after lunch` is not."""
    spent = {place for _, start, end in read.found for place in range(start, end)}
    meals = [MEALS.get(token.text) for place, token in enumerate(sentence.tokens) if place not in spent]
    return next((hours for hours in meals if hours is not None), None)


def _zone(items: list[Item], today: date, owner: tzinfo, doubts: list[str]) -> tzinfo | None:
    """The one zone that was named; two of them are asked about."""
    named = list(dict.fromkeys(item for item in items if isinstance(item, ZoneItem)))
    if not named:
        return None
    dates = [day for item in items if isinstance(item, Day) for day in item.dates]
    zones = [zone_words.resolved(zone, dates[0] if dates else today, owner) for zone in named]
    doubts.extend(zone.question for zone in zones if isinstance(zone, Doubt))
    if len(named) > 1:
        doubts.append("Several timezones are named: which one is meant?")
    return next((zone for zone in zones if not isinstance(zone, Doubt)), owner)


def _ahead(items: list[Item], now: Moment, minutes: int) -> tuple[tuple[Span, ...], bool] | None:
    """`in 20 minutes` counts from now on any clock."""
    ahead = next((item for item in items if isinstance(item, Ahead)), None)
    if ahead is None:
        return None
    at = Moment(min(now + ahead.minutes * 60 * SECOND, LAST))
    if ahead.within:
        return ((Span(now, at),), False) if now < at else None
    end = Moment(min(at + minutes * 60 * SECOND, LAST))
    return ((Span(at, end),), True) if at < end else None


def _clauses(sentence: Sentence, read: _Read) -> list[clauses.Clause]:
    made = clauses.Clauses()
    end = 0
    for item, start, stop in read.found:
        if isinstance(item, (Day, ClockTime, Part)):
            between = {sentence.word(place) for place in range(end, start)}
            led = sentence.word(start) if sentence.word(start) in {"or", "and"} else ""
            joined = (between | {led}) & {"or", "and", "/", "&", ",", ";", "but"} if end else set[str]()
            made.take(item, joined)
            end = stop
    return made.made


def _together(sentence: Sentence, read: _Read) -> bool:
    """Whether two days are joined by `and`: both, or one of them."""
    pairs = zip(read.found, read.found[1:], strict=False)
    return any(
        isinstance(one.item, Day)
        and isinstance(other.item, Day)
        and other.start == one.end + 1
        and sentence.word(one.end) in {"and", "&"}
        for one, other in pairs
    )


def _joints(sentence: Sentence, read: _Read) -> frozenset[int]:
    """The words between two pieces where those are nothing but joints."""
    found: set[int] = set()
    last, end = None, -1
    for item, start, stop in read.found:
        if isinstance(item, Past):
            continue
        between = range(end, start)
        # Between two times that are wanted `but` turns one of them round, and nobody knows which.
        turned = "but" in map(sentence.word, between) and not any(
            isinstance(each, Except) for each in (last, item)
        )
        if end >= 0 and not turned and all(sentence.word(place) in _JOINTS for place in between):
            found.update(between)
        last, end = item, stop
    return frozenset(found)
