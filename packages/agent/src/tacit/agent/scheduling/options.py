"""Which times suit both sides, best first, and what excluded the others (A2ACP-069, A2ACP-092).

An option lies in the time that was asked for, in our free time and in what the other side told of theirs; it
is long enough, not over, not held for another thread and not refused before. It begins on a quarter of an
hour. Nearer to the hour at which people usually do such a thing is better, then an earlier day, then more
room around it; the same input gives the same order.

One option is a clear best. There are alternatives when others are nearly as good and really different: on
another day or two hours apart, at most an hour and a half further from the usual hour, three at most. When
the other side declined to tell its time, any different option is an alternative: the proposal is broader.

Exclusions name our own stretches and never the other side's. Knows nothing of words or packets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import wall, zone_of_owner
from tacit.base.moment import LAST, MINUTE, Moment, Span, common, long_enough, merged, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from zoneinfo import ZoneInfo

    from tacit.agent.scheduling.goal import Goal

MOST_ALTERNATIVES: Final = 3
_QUARTER: Final = 15 * MINUTE
_APART: Final = 2 * 60 * MINUTE
_NEARLY_AS_GOOD: Final = 90
_MOST_SLOTS: Final = 20_000
_DAYTIME: Final = (9 * 60, 19 * 60)
_USUAL: Final = {
    "breakfast": (8 * 60 + 30, 8 * 60 + 30),
    "brunch": (11 * 60, 11 * 60),
    "call": (10 * 60, 10 * 60),
    "cinema": (20 * 60, 20 * 60),
    "coffee": (10 * 60 + 30, 10 * 60 + 30),
    "dinner": (19 * 60, 19 * 60),
    "drinks": (18 * 60 + 30, 18 * 60 + 30),
    "game night": (19 * 60 + 30, 19 * 60 + 30),
    "lunch": (12 * 60 + 30, 12 * 60 + 30),
    "meeting": (10 * 60, 10 * 60),
}
"""Between which minutes of the day such a thing usually begins."""

OWN_CALENDAR: Final = "own_calendar"
COUNTERPART: Final = "counterpart"
PAST: Final = "past"
HELD: Final = "held"
REFUSED: Final = "refused"
TOO_SHORT: Final = "too_short"
WHY: Final = {
    OWN_CALENDAR: "your calendar is taken",
    COUNTERPART: "the other side told no free time in it",
    PAST: "it is over",
    HELD: "it is held for another conversation",
    REFUSED: "it was refused or failed before",
    TOO_SHORT: "what is left of it is too short",
}


@dataclass(frozen=True, slots=True)
class Option:
    """A time that suits both sides."""

    span: Span
    score: int
    """1440 less the minutes from the usual hour; equal scores are in order of day and room."""
    why: str


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A stretch of our own that gives no option, and the reason: a key of WHY."""

    what: Span
    why: str


@dataclass(frozen=True, slots=True)
class Options:
    """The best first, then its alternatives; nothing when nothing suits."""

    best: tuple[Option, ...] = ()
    excluded: tuple[Exclusion, ...] = ()


def usual_minutes(event_type: str) -> tuple[int, int]:
    """Between which minutes of the day such a thing usually begins; by day where nothing is known."""
    return _USUAL.get(event_type.strip().lower().replace("_", " "), _DAYTIME)


def options(
    goal: Goal,
    ours: Iterable[Span],
    theirs: Iterable[Span] | None,
    *,
    zone: str,
    now: Moment,
    excluded: Iterable[Span] = (),
    holds: Iterable[Span] = (),
) -> Options:
    """What suits; `theirs` is None when the other side declined to tell."""
    asked = merged(goal.spans)
    ours = merged(ours)
    if asked:
        ours = common(ours, asked)
    refused, held, over = tuple(excluded), tuple(holds), (Span(Moment(-LAST), now),)
    overlap = ours if theirs is None else common(ours, theirs)
    usable = long_enough(without(overlap, (*refused, *held, *over)), goal.minutes)
    found = _different(sorted(_slots(usable, goal, zone_of_owner(zone)), key=_rank), broad=theirs is None)
    notes = [Exclusion(one, OWN_CALENDAR) for one in without(asked, ours)]
    for why, spans in ((PAST, over), (HELD, held), (REFUSED, refused)):
        notes += [Exclusion(one, why) for one in common(ours, spans)]
    for one in without(ours, (*refused, *held, *over)):
        if not common((one,), overlap):
            notes.append(Exclusion(one, COUNTERPART))
        elif not common((one,), usable):
            notes.append(Exclusion(one, TOO_SHORT))
    return Options(found, tuple(sorted(notes, key=lambda note: (note.what, note.why))))


@dataclass(frozen=True, slots=True)
class _Slot:
    span: Span
    distance: int
    day: int
    slack: int


def _rank(slot: _Slot) -> tuple[int, int, int, Moment]:
    return slot.distance, slot.day, -slot.slack, slot.span.start


def _slots(windows: Iterable[Span], goal: Goal, zone: ZoneInfo) -> Iterator[_Slot]:
    """Every beginning on a quarter of an hour, so many at most: the earliest."""
    early, late = usual_minutes(goal.event_type)
    length = max(goal.minutes, 1) * MINUTE
    left = _MOST_SLOTS
    for window in windows:
        start = -(-window.start // _QUARTER) * _QUARTER
        while start + length <= window.end and left:
            shown = wall(Moment(start), zone)
            minute = shown.hour * 60 + shown.minute
            distance = max(early - minute, minute - late, 0)
            slack = min(start - window.start, window.end - start - length)
            yield _Slot(
                Span(Moment(start), Moment(start + length)), distance, shown.date().toordinal(), slack
            )
            start += _QUARTER
            left -= 1


def _different(ranked: list[_Slot], *, broad: bool) -> tuple[Option, ...]:
    chosen: list[_Slot] = []
    for slot in ranked:
        if chosen and not broad and slot.distance > chosen[0].distance + _NEARLY_AS_GOOD:
            break
        if all(slot.day != one.day or abs(slot.span.start - one.span.start) >= _APART for one in chosen):
            chosen.append(slot)
        if len(chosen) > MOST_ALTERNATIVES:
            break
    return tuple(Option(slot.span, 1440 - slot.distance, _why(slot)) for slot in chosen)


def _why(slot: _Slot) -> str:
    if slot.distance == 0:
        return "free on both sides at a usual hour"
    hours, minutes = divmod(slot.distance, 60)
    return f"free on both sides, {hours} h {minutes:02} min from the usual hour"
