"""Days and times put together, and made into spans: the judging half of the time grammar.

The rules are told in `dates`. A clause holds days and groups of times; the times within a group narrow each
other, groups are alternatives. Knows nothing of words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.agent.scheduling.dates import zones as zone_words
from tacit.agent.scheduling.dates.items import COUNTED, FRAME, WEEKDAY, ClockTime, Day, Except, Part, TimeItem
from tacit.agent.scheduling.dates.words import Hours
from tacit.base.moment import LAST, SECOND, Moment, Span, without

if TYPE_CHECKING:
    from datetime import date, tzinfo

DAY: Final = 24 * 60
AWAKE: Final = Hours(7 * 60, 22 * 60)
GRACE: Final = 120
"""So far beside the usual hours a bare figure is still read by them."""
ABOUT: Final = 30
LOOKED_AHEAD: Final = 35
"""Days behind the last time that was asked for: other weeks are tried before anybody is asked."""
_FARTHEST: Final = 400
_EXCLUDED: Final = {
    "morning": Hours(0, 12 * 60), "evening": Hours(17 * 60, DAY), "night": Hours(17 * 60, DAY),
}  # fmt: skip
"""A part of the day that is ruled out is all of it; one that is wanted is its usual hours."""
_COMMAS: Final = frozenset({",", ";"})

Group = tuple[ClockTime | Part, ...]


@dataclass(slots=True)
class Clause:
    """Days, and the times that hold on each of them."""

    days: list[Day] = field(default_factory=list[Day])
    groups: list[Group] = field(default_factory=list[Group])
    time_first: bool = False


class Circumstances(NamedTuple):
    """What clauses are read by."""

    now: Moment
    today: date
    minute: int
    """Of today, by the owner's clock."""
    zone: tzinfo
    """Whose clock the times are of."""
    owner: tzinfo
    usual: Hours | None
    minutes: int


class Window(NamedTuple):
    """Minutes of a day; a `point` is a time to begin at."""

    start: int
    end: int
    point: bool = False
    clock: bool = False
    """A clock time bounds it, so a zone that was named counts."""


class Outcome(NamedTuple):
    """What all clauses together say."""

    spans: tuple[Span, ...]
    exact: bool
    doubts: tuple[str, ...]


class Clauses:
    """Takes days and times in the order of the sentence."""

    def __init__(self) -> None:
        self.made: list[Clause] = []

    def take(self, item: Day | ClockTime | Part, joined: set[str]) -> None:
        """The next item; `joined` are the joints between it and the one before."""
        clause = self.made[-1] if self.made else Clause()
        if isinstance(item, Day):
            if clause.days and clause.groups and not clause.time_first and not _frames(clause, item, joined):
                clause = Clause()
            self._keep(clause)
            _add_day(clause, item, joined)
            return
        if clause.groups and clause.days and clause.time_first:
            if not joined:
                clause.groups[-1] = (*clause.groups[-1], item)
                return
            clause = Clause()
        self._keep(clause)
        if not clause.days and not clause.groups:
            clause.time_first = True
        _add_time(clause, item, joined)

    def _keep(self, clause: Clause) -> None:
        if not self.made or self.made[-1] is not clause:
            self.made.append(clause)


def _frames(clause: Clause, item: Day, joined: set[str]) -> bool:
    """`Wednesday evening next week`: the week belongs to the day before the time."""
    is_beside = not joined - _COMMAS
    return item.kind in {FRAME, COUNTED} and clause.days[-1].kind == WEEKDAY and is_beside


def _add_day(clause: Clause, item: Day, joined: set[str]) -> None:
    """Beside a week or a month a weekday is the one within it; otherwise days are alternatives."""
    if clause.days and not (joined - _COMMAS):
        last = clause.days[-1]
        for given, inner in ((last, item), (item, last)):
            frame = _week_of(given) if given.kind == COUNTED else given
            if frame.kind == FRAME and inner.kind == WEEKDAY:
                names = {each.weekday() for each in inner.dates}
                within = tuple(each for each in frame.dates if each.weekday() in names)
                if within:
                    clause.days[-1] = Day(within)
                    _pull_along(clause, frame)
                    return
    clause.days.append(item)


def _week_of(counted: Day) -> Day:
    monday = zone_words.later(counted.dates[0], -counted.dates[0].weekday())
    return Day(tuple(zone_words.later(monday, offset) for offset in range(7)), FRAME)


def _pull_along(clause: Clause, frame: Day) -> None:
    """`Wednesday or Thursday next week`: the days before it in the list are of that week too."""
    for place, day in enumerate(clause.days[:-1]):
        if day.kind == WEEKDAY:
            names = {each.weekday() for each in day.dates}
            within = tuple(each for each in frame.dates if each.weekday() in names)
            clause.days[place] = Day(within) if within else day


def _add_time(clause: Clause, item: ClockTime | Part, joined: set[str]) -> None:
    groups = clause.groups
    if not groups:
        groups.append((item,))
        return
    last = groups[-1][-1]
    both = _both_ends(last, item)
    if both is not None and not joined & {"or", "/"}:
        groups[-1] = (*groups[-1][:-1], both)
    elif not joined or (joined <= _COMMAS and isinstance(last, Part) != isinstance(item, Part)):
        groups[-1] = (*groups[-1], item)
    elif isinstance(item, ClockTime):
        groups.append((*(part for part in groups[-1] if isinstance(part, Part)), item))
    else:
        groups.append((item,))


def _both_ends(first: ClockTime | Part, second: ClockTime | Part) -> ClockTime | None:
    """`after 6` and `before 9` are one range."""
    if not isinstance(first, ClockTime) or not isinstance(second, ClockTime) or first.point or second.point:
        return None
    if first.last is None and second.first is None:
        return ClockTime(first.first, second.last)
    if first.first is None and second.last is None:
        return ClockTime(second.first, first.last)
    return None


# Resolving.


def resolve(made: list[Clause], frame: Circumstances) -> Outcome:
    """The spans of all clauses, and what cannot be read."""
    spans: list[Span] = []
    doubts: list[str] = []
    points = 0
    for clause in made:
        found, doubt, point = _spans(clause, frame)
        spans += found
        doubts += doubt
        points += point
    exact = bool(spans) and points == len(spans)
    if made and not spans and not doubts:
        doubts.append("That time has passed: when is meant?")
    return Outcome(tuple(sorted(set(spans))) if exact else merged(spans), exact, tuple(doubts))


def ruled_out(rulings: list[Except], frame: Circumstances, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """What was ruled out as stretches, from today until weeks behind the last time that was asked for."""
    until = max((span.end for span in spans), default=frame.now)
    last = min((zone_words.local(until, frame.owner).date() - frame.today).days, _FARTHEST) + LOOKED_AHEAD
    found: list[Span] = []
    for offset in range(last + 1):
        day = zone_words.later(frame.today, offset)
        for ruling in rulings:
            start, end = _EXCLUDED.get(ruling.part.name, ruling.part.hours) if ruling.part else (0, DAY)
            every_day = not ruling.dates and not ruling.weekdays
            if every_day or day in ruling.dates or day.weekday() in ruling.weekdays:
                begin = zone_words.moment(day, start, frame.owner)
                found.append(Span(begin, zone_words.moment(day, end, frame.owner, late=True)))
    return merged([span for span in found if span.start < span.end])


def left(
    spans: tuple[Span, ...], excluded: tuple[Span, ...], minutes: int, *, exact: bool
) -> tuple[Span, ...]:
    """What is left without the stretches that were ruled out; a time to begin at is whole or gone."""
    if exact:
        return tuple(
            span
            for span in spans
            if not any(out.start < span.end and span.start < out.end for out in excluded)
        )
    found: list[Span] = []
    for span in spans:
        rest = without((span,), excluded)
        found += [
            piece for piece in rest if piece == span or piece.end - piece.start >= minutes * 60 * SECOND
        ]
    return tuple(found)


def merged(spans: list[Span]) -> tuple[Span, ...]:
    """In order, with what overlaps or touches made one."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return tuple(found)


def _spans(clause: Clause, frame: Circumstances) -> tuple[list[Span], list[str], int]:
    days = _days(clause, frame)
    only_today = bool(days) and all(each == frame.today for each, _ in days)
    windows: list[Window] = []
    doubts: list[str] = []
    for group in clause.groups or [()]:
        window = _window(group, frame, only_today=only_today and not _again(days))
        if isinstance(window, str):
            doubts.append(window)
        else:
            windows.append(window)
    spans: list[Span] = []
    points = 0
    for day, repeats in days:
        for window in windows:
            if window.point and not zone_words.happens_once(day, window.start, frame.zone):
                doubts.append("The clocks are changed at that time of that day: which time is meant?")
                continue
            span = _on(day, window, frame) or (
                _on(zone_words.later(day, 7), window, frame) if repeats else None
            )
            if span is not None:
                spans.append(span)
                points += window.point
    return spans, doubts, points


def _again(days: list[tuple[date, bool]]) -> bool:
    return any(repeats for _, repeats in days)


def _days(clause: Clause, frame: Circumstances) -> list[tuple[date, bool]]:
    """The days of a clause, and whether the same weekday a week later would do as well."""
    if clause.days:
        found: dict[date, bool] = {}
        for place, day in enumerate(clause.days):
            for each in day.dates:
                repeats = day.kind == WEEKDAY and len(day.dates) == 1 and each == frame.today
                # "Tuesday, Wednesday or Thursday", said on a Thursday: the list goes on in order.
                if repeats and any(before.dates[0] > each for before in clause.days[:place]):
                    found.setdefault(zone_words.later(each, 7), False)
                else:
                    found[each] = found.get(each, True) and repeats
        return sorted(found.items())
    week = [zone_words.later(frame.today, offset) for offset in range(8)]
    if all(isinstance(item, Part) for group in clause.groups for item in group):
        return [(each, False) for each in week[:7]]
    # A time without a day is the next one: today's, or when that has passed tomorrow's.
    for each in week[:1]:
        windows = [_window(group, frame, only_today=True) for group in clause.groups]
        if any(not isinstance(found, str) and _on(each, found, frame) is not None for found in windows):
            return [(each, False)]
    return [(each, False) for each in week[1:2]]


def _on(day: date, window: Window, frame: Circumstances) -> Span | None:
    """The window on a day, as far as it is still ahead."""
    zone = frame.zone if window.clock else frame.owner
    start = zone_words.moment(day, window.start, zone)
    if window.point:
        end = Moment(min(start + frame.minutes * 60 * SECOND, LAST))
        return Span(start, end) if start >= frame.now and end > start else None
    end = zone_words.moment(day, window.end, zone, late=True)
    start = max(start, frame.now)
    return Span(start, end) if start < end else None


def _window(group: Group, frame: Circumstances, *, only_today: bool) -> Window | str:
    """What a group of times says, or the question that it leaves."""
    parts = [item for item in group if isinstance(item, Part)]
    hours = _common([part.hours for part in parts])
    clocks = [item for item in group if isinstance(item, ClockTime)]
    if not clocks:
        return _plain_window(hours, frame)
    reading = _Reading(frame, hours, parts[-1].name if parts else "", only_today)
    windows: list[Window] = []
    for item in clocks:
        window = reading.window(item)
        if isinstance(window, str):
            return window
        windows.append(window)
    points = [window for window in windows if window.point]
    if points:
        return points[-1]
    start, end = max(w.start for w in windows), min(w.end for w in windows)
    return Window(start, end, clock=True) if start < end else "Those times exclude each other: when is meant?"


def _common(several: list[Hours]) -> Hours | None:
    if not several:
        return None
    start, end = max(each.start for each in several), min(each.end for each in several)
    return Hours(start, end) if start < end else several[-1]


def _plain_window(hours: Hours | None, frame: Circumstances) -> Window:
    """No clock time: the part of the day, the usual hours, both, or the whole day."""
    usual = frame.usual
    if hours is None:
        return Window(*usual) if usual is not None else Window(0, DAY)
    if usual is not None and max(hours.start, usual.start) < min(hours.end, usual.end):
        return Window(max(hours.start, usual.start), min(hours.end, usual.end))
    return Window(*hours)


class _Reading:
    """How clock times are read beside a part of the day and the usual hours."""

    def __init__(self, frame: Circumstances, hours: Hours | None, part: str, only_today: bool) -> None:
        self._frame = frame
        self._hours = hours
        self._part = part
        self._only_today = only_today

    def window(self, item: ClockTime) -> Window | str:
        if item.first is not None and item.last is not None:
            return self._range(item.first, item.last)
        if item.first is None:
            return self._up_to(item.last)
        start = self._point(item.first)
        if isinstance(start, str):
            return start
        if item.about:
            return Window(max(start - ABOUT, 0), start + ABOUT + self._frame.minutes, clock=True)
        if item.point:
            return Window(start, start + self._frame.minutes, point=True, clock=True)
        bounds = [each.end for each in (self._hours, self._frame.usual) if each is not None]
        end = next((bound for bound in bounds if bound > start), DAY)
        return Window(start, end if end > start else start + GRACE, clock=True)

    def _up_to(self, last: TimeItem | None) -> Window | str:
        end = self._point(last) if last is not None else DAY
        if isinstance(end, str):
            return end
        bounds = [each.start for each in (self._hours, self._frame.usual, AWAKE) if each is not None]
        start = next((bound for bound in bounds if bound < end), 0)
        return Window(start, end or DAY, clock=True)

    def _point(self, time: TimeItem) -> int | str:
        found = self._chosen([(minute, minute) for minute in time.readings])
        return found if isinstance(found, str) else found[0]

    def _range(self, first: TimeItem, last: TimeItem) -> Window | str:
        several: list[tuple[int, int]] = []
        for start in first.readings:
            ends = [end + DAY * (end <= start) for end in last.readings]
            several.append((start, min(ends)))
        if last.sure and not first.sure:
            several = [min(several, key=lambda each: each[1] - each[0])]
        found = self._chosen(several)
        return found if isinstance(found, str) else Window(*found, clock=True)

    def _chosen(self, several: list[tuple[int, int]]) -> tuple[int, int] | str:
        """The one reading of a start and an end; how, is told in `dates`."""
        if len(several) == 1:
            return self._agreeing(several[0])
        noon = several[1]
        hours = self._hours
        if hours is not None:
            inside = [each for each in several if hours.start <= each[0] <= hours.end]
            if len(inside) == 1:
                return inside[0]
            if self._part == "night" and noon[0] < 13 * 60:
                return (noon[0] + DAY // 2, noon[1] + DAY // 2)
            return several[0] if self._part in {"morning", "breakfast"} else noon
        if self._only_today:
            several = [each for each in several if each[0] > self._frame.minute] or several
        usual = self._frame.usual
        checks = (
            [Hours(usual.start, usual.end), Hours(usual.start - GRACE, usual.end + GRACE + 1)]
            if usual
            else []
        )
        for check in checks:
            inside = [each for each in several if check.start <= each[0] < check.end]
            if len(inside) == 1:
                return inside[0]
            if inside:
                break
        else:
            several = [each for each in several if each[1] <= DAY] or several
            inside = [each for each in several if AWAKE.start <= each[0] < AWAKE.end]
            if len(inside) == 1 or len(several) == 1:
                return (inside or several)[0]
        hour = several[0][0] // 60 or 12
        return f"Is {hour} o'clock in the morning or {hour} in the evening meant?"

    def _agreeing(self, sure: tuple[int, int]) -> tuple[int, int] | str:
        """A sure time; one that its part of the day excludes is asked."""
        if self._hours is None:
            return sure
        morning = self._part in {"morning", "breakfast"}
        if (morning and sure[0] > 12 * 60) or (self._part in {"afternoon", "evening"} and sure[0] < 12 * 60):
            return "The time and the part of the day exclude each other: when is meant?"
        return sure
