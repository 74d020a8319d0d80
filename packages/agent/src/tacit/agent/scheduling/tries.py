"""What is tried before people are asked: the following week, other times of day, another format (A2ACP-099).

Each try looks in time that was not asked for, so it varies a dimension: date, time or format. Where a side
marked that dimension `not_flexible`, the try is made all the same, but what it finds is for people to choose
from and never becomes a resolution (A2ACP-042); a dimension that is not named may be varied (A2ACP-036).

The other side's time is known only where it told it: inside what was asked for, and in its windows. So a
try has two kinds of finds: `options`, free on both sides, and `suggestions`, free on ours while the other
side has told nothing of then. Suggestions are only ever alternatives for people.

Whatever lies outside the asked time comes from `ours_free`: whoever gives it has read the calendars for nine
days beyond what either side named.
Knows nothing of words or packets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import time, timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.a2acp.packets.dates import days_of, moment_at, moved, zone_of_owner
from tacit.agent.scheduling.goal import DURATION
from tacit.agent.scheduling.options import Option, options
from tacit.base.moment import Span, merged, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date
    from zoneinfo import ZoneInfo

    from tacit.agent.scheduling.goal import Goal
    from tacit.base.moment import Moment

    Free = Callable[[tuple[Span, ...]], tuple[Span, ...]]

NOT_FLEXIBLE: Final = "not_flexible"
FOLLOWING_WEEK: Final = "following_week"
OTHER_TIMES: Final = "other_times"
OTHER_FORMAT: Final = "other_format"

OWN_TIME: Final = "own_time"
NO_OVERLAP: Final = "no_overlap"
NOT_TOLD: Final = "not_told"
FIXED: Final = "fixed"
NO_OTHER: Final = "no_other"
WHY_FAILED: Final = {
    "": "it gave an option",
    OWN_TIME: "our side has no time then",
    NO_OVERLAP: "both have time then, but none together",
    NOT_TOLD: "the other side has told nothing of then",
    FIXED: "one side cannot change this",
    NO_OTHER: "there is no other one",
}
OUR_DAY: Final = "our_day"
THEIR_DAY: Final = "their_day"
"""Why a suggestion: a day that suited us, or them, a week later; otherwise the name of its try."""

_WAKING: Final = (time(8), time(22))
_LUNCH: Final = (time(12), time(14, 30))
_EVENING: Final = (time(18), time(21, 30))
_MORNING: Final = (time(9), time(12))
_WORKING: Final = (time(9), time(18))
_FORMATS: Final[dict[str, tuple[str, tuple[time, time], int]]] = {
    "breakfast": ("lunch", _LUNCH, 0),
    "brunch": ("lunch", _LUNCH, 0),
    "cinema": ("lunch", _LUNCH, 90),
    "coffee": ("call", _WORKING, 30),
    "dinner": ("lunch", _LUNCH, 0),
    "drinks": ("coffee", _MORNING, 60),
    "game night": ("lunch", _LUNCH, 90),
    "lunch": ("dinner", _EVENING, 0),
    "meeting": ("call", _WORKING, 30),
}
"""What else it could be, when such a thing takes place, and how long it takes (0: as long)."""
_DAYS_AFTER: Final = 2
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class Try:
    """One thing that was tried, and what came of it."""

    name: str
    event_type: str
    spans: tuple[Span, ...]
    """Where it looked."""
    varies: tuple[str, ...]
    options: tuple[Option, ...] = ()
    suggestions: tuple[Option, ...] = ()
    why_failed: str = ""
    """A key of WHY_FAILED; FIXED when there may be finds that only people can take."""

    @property
    def may_resolve(self) -> bool:
        """Whether an option of it may be proposed without asking people first (A2ACP-042)."""
        return bool(self.options) and not self.why_failed


def tries(
    goal: Goal,
    ours_free: Free,
    their_windows: tuple[Span, ...],
    their_flexibility: Mapping[str, str],
    *,
    zone: str,
    now: Moment,
    excluded: tuple[Span, ...] = (),
    holds: tuple[Span, ...] = (),
) -> tuple[Try, ...]:
    """All three, in the order in which their finds are offered."""
    fixed = frozenset(
        dimension
        for flexibility in (goal.flexibility, their_flexibility)
        for dimension, value in flexibility.items()
        if value == NOT_FLEXIBLE
    )
    theirs = merged(their_windows)
    looker = _Looker(
        ours_free=ours_free,
        theirs=theirs,
        told=merged((*goal.spans, *theirs)),
        fixed=fixed,
        zone=zone,
        now=now,
        excluded=excluded,
        holds=holds,
    )
    known = zone_of_owner(zone)
    return (
        _following_week(goal, known, looker),
        _another_format(goal, known, looker),
        _other_times(goal, known, looker),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looker:
    """Looks for one goal in other places."""

    ours_free: Free
    theirs: tuple[Span, ...]
    told: tuple[Span, ...]
    fixed: frozenset[str]
    zone: str
    now: Moment
    excluded: tuple[Span, ...]
    holds: tuple[Span, ...]

    def look(
        self,
        name: str,
        goal: Goal,
        where: tuple[Span, ...],
        varies: tuple[str, ...],
        places: Iterable[tuple[str, Span]] = (),
    ) -> Try:
        """One try: options in `where`; suggestions in `places`, each with its reason, otherwise there too."""
        agreed = self.best(goal, where, self.ours_free(where), self.theirs)
        suggested = self._suggested(goal, tuple(places) or tuple((name, one) for one in where))
        if not where:
            failed = NO_OTHER
        elif self.fixed & set(varies):
            failed = FIXED
        elif agreed:
            failed = ""
        elif suggested:
            failed = NOT_TOLD
        else:
            ours = self.best(goal, where, self.ours_free(where), None)
            failed = NO_OVERLAP if ours else OWN_TIME
        return Try(name, goal.event_type, where, varies, agreed, suggested, failed)

    def best(
        self, goal: Goal, where: tuple[Span, ...], ours: tuple[Span, ...], theirs: tuple[Span, ...] | None
    ) -> tuple[Option, ...]:
        """The options of a goal in another place."""
        if not where:
            return ()
        return options(
            msgspec.structs.replace(goal, spans=where),
            ours,
            theirs,
            zone=self.zone,
            now=self.now,
            excluded=self.excluded,
            holds=self.holds,
        ).best

    def _suggested(self, goal: Goal, places: tuple[tuple[str, Span], ...]) -> tuple[Option, ...]:
        """The best of each place of which nothing was told, in the order of the places, none twice."""
        found: list[Option] = []
        for why, place in places:
            taken = (*self.told, *(one.span for one in found))
            best = self.best(goal, (place,), without(self.ours_free((place,)), taken), None)
            found += (replace(one, why=why) for one in best[:1])
        return tuple(found)


def _following_week(goal: Goal, zone: ZoneInfo, looker: _Looker) -> Try:
    """The same a week later on the wall; suggested are first the days that suited one of the sides."""
    later = tuple(moved(one, _WEEK, zone) for one in merged(goal.spans))
    where = without(later, goal.spans)
    ours = [(OUR_DAY, moved(one, _WEEK, zone)) for one in looker.ours_free(merged(goal.spans))]
    theirs = [(THEIR_DAY, moved(one, _WEEK, zone)) for one in looker.theirs]
    places = [one for pair in zip_longest(ours, theirs) for one in pair if one is not None]
    rest = [(FOLLOWING_WEEK, one) for one in where]
    return looker.look(FOLLOWING_WEEK, goal, where, ("date",), (*places, *rest))


def _other_times(goal: Goal, zone: ZoneInfo, looker: _Looker) -> Try:
    """The same days from morning to night, without what was asked for."""
    waking = (_hours(day, _WAKING, zone) for day in days_of(goal.spans, zone))
    return looker.look(OTHER_TIMES, goal, without(waking, goal.spans), ("time",))


def _another_format(goal: Goal, zone: ZoneInfo, looker: _Looker) -> Try:
    """A lunch for a dinner, a call for a meeting: on the days in question, or shortly after."""
    known = _FORMATS.get(goal.event_type.strip().lower().replace("_", " "))
    if known is None:
        return Try(OTHER_FORMAT, "", (), ("format",), why_failed=NO_OTHER)
    other, hours, minutes = known
    minutes = goal.minutes if DURATION in goal.details else minutes or goal.minutes
    changed = msgspec.structs.replace(goal, event_type=other, minutes=minutes)
    days = set(days_of(goal.spans, zone))
    same_days = tuple(_hours(day, hours, zone) for day in sorted(days))
    first = looker.look(OTHER_FORMAT, changed, same_days, ("format", "time"))
    if first.may_resolve:
        return first
    days.update(days_of(looker.theirs, zone))
    if days:
        last = max(days)
        days.update(last + timedelta(days=more) for more in range(1, _DAYS_AFTER + 1))
    around = tuple(_hours(day, hours, zone) for day in sorted(days))
    return looker.look(OTHER_FORMAT, changed, around, ("format", "time", "date"))


def _hours(day: date, hours: tuple[time, time], zone: ZoneInfo) -> Span:
    first, last = hours
    return Span(moment_at(day, first, zone), moment_at(day, last, zone))
