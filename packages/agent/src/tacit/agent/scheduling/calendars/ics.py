"""When the owner of an iCalendar text is busy: no free time is ever made up (A2ACP-077).

Theory of operation
===================

What goes in, what comes out. `read_busy(data, within, zone)` is a function of the text, the stretch that was
asked about and the owner's zone; it gives the busy spans inside the stretch, and notices for the owner. It is
right about free time or silent about it: whoever offers a slot relies on it.

How a text goes through:

    parse        lines into components; a text that does not parse makes the whole answer unknown
    by UID       one event with its exceptions (RECURRENCE-ID) is one series
    instances    the times of a series near the stretch, without those that were removed (EXDATE)
    placed       each instance as a span of moments: first the zone, then the arithmetic

What takes no time: what is cancelled, what is marked transparent, what the owner declined. An instance that
an exception replaces is gone from its old place, and the exception stands where it says; one with the range
THISANDFUTURE moves all that follow. Removed and replaced instances are recognised by their moment, as the
moment is what RFC 5545 gives them for a name; by nothing else, so that ten o'clock in New York is never taken
for ten o'clock in London.

What cannot be understood blocks what it may cover, with a notice:

- no readable start: its day, or the whole stretch where not even that is readable;
- no readable end: everything from the start on;
- an end before the start: from the one to a day after the other;
- a zone that nobody knows: all the hours that its times may mean (`calendars/times.py`);
- a repetition that is not understood, or too much to enumerate: everything from the first time to its last;
- an exception that cannot be matched: both its own place and the one that it may replace.

Where one event that is not understood covers the whole stretch, the answer is incomplete, as for a text that
does not parse: the owner hears of that instead of having no time.

An event's text is data and reaches nobody: notices are fixed sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import wall, zone_of_owner
from tacit.agent.scheduling.calendars.busy import Busy, unknown
from tacit.agent.scheduling.calendars.components import parse, what_is_wrong
from tacit.agent.scheduling.calendars.recurrence import Allowance, parse_rule, times
from tacit.agent.scheduling.calendars.times import (
    ANYWHERE,
    Time,
    Zones,
    microseconds,
    read_day,
    read_duration,
)
from tacit.base.moment import LAST, Moment, Span, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.agent.scheduling.calendars.components import Component, Property

MOST_INSTANCES: Final = 10_000
_DAYS_LOOKED_AT: Final = 1_000_000
_DAY: Final = timedelta(days=1)
_LONG: Final = timedelta(days=31)
_FIRST: Final = Moment(-LAST)
_UNTIL: Final = re.compile(r"(?:^|;)UNTIL=([^;]*)", re.IGNORECASE)

NO_START: Final = "an event has no readable start; all of the time counts as busy"
UNREADABLE_TIME: Final = "an event has a time that is not readable; its whole day counts as busy"
NO_END: Final = "an event has no readable end; the time from its start on counts as busy"
BACKWARD: Final = "an event ends before it starts; the time around both counts as busy"
LONG: Final = "an event lasts longer than a month; all of it counts as busy"
UNKNOWN_ZONE: Final = "an event has an unknown time zone; all the hours that it may mean count as busy"
OWN_ZONE: Final = "an event has a time zone of the calendar's own; the hours that it may mean count as busy"
UNKNOWN_RULE: Final = "an event repeats by a rule that is not understood; the time from its start on is busy"
TOO_MANY: Final = "an event repeats too often to be followed; the time from its start on counts as busy"
UNMATCHED: Final = "an exception to a repeated event is not understood; its usual time counts as busy too"

_ALL_IS_UNKNOWN: Final = frozenset({NO_START, NO_END, UNKNOWN_RULE, TOO_MANY})
"""Over the whole stretch these leave nothing that is known: that is told, instead of having no time."""


def read_busy(data: bytes, asked: Span, zone: str, *, owners: frozenset[str] = frozenset()) -> Busy:
    """When the owner is busy inside `asked`; `owners` are their addresses, to know what they declined."""
    return read_all((data,), asked, zone, owners=owners)


def read_all(
    texts: Iterable[bytes],
    asked: Span,
    zone: str,
    *,
    owners: frozenset[str] = frozenset(),
    what: str = "the file",
) -> Busy:
    """The same for a calendar in several texts; one that is none makes the whole answer unknown.

    `what` is how the owner is told of such a text.
    """
    owner = zone_of_owner(zone)
    reader = _Reader(asked, frozenset(one.lower().removeprefix("mailto:") for one in owners))
    for data in texts:
        calendars = parse(data)
        if calendars is None:
            return unknown(asked, f"{what} {what_is_wrong(data)}")
        for calendar in calendars:
            reader.take(calendar, Zones(owner, (part for part in calendar.parts if part.name == "VTIMEZONE")))
    notices = [one for one in reader.notices if reader.complete or one in _ALL_IS_UNKNOWN]
    return Busy(within(reader.spans, asked), tuple(notices), complete=reader.complete)


@dataclass(frozen=True, slots=True)
class _Length:
    """How long an event lasts; `end` where it was given as such, for the event's own place."""

    nominal: timedelta | None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class _Change:
    """An exception with the range THISANDFUTURE: from `since` on, everything is as it says."""

    since: Moment
    event: Component
    shift: timedelta
    length: _Length


class _Reader:
    """Collects the busy spans of one answer."""

    def __init__(self, asked: Span, owners: frozenset[str]) -> None:
        self.asked = asked
        self.spans: list[Span] = []
        self.notices: dict[str, None] = {}
        self.complete = True
        self._owners = owners
        self._allowance = Allowance(_DAYS_LOOKED_AT)
        self._instances = 0

    def take(self, calendar: Component, zones: Zones) -> None:
        """All events and all busy times of one calendar."""
        series: defaultdict[str, list[Component]] = defaultdict(list)
        for number, part in enumerate(calendar.parts):
            if part.name == "VEVENT":
                uid = part.first("UID")
                series[f"#{number}" if uid is None else f"={uid.value.strip()}"].append(part)
            elif part.name == "VFREEBUSY":
                self._free_busy(part, zones)
        for events in series.values():
            try:
                self._series(events, zones)
            except (OverflowError, ValueError):
                self._block(_FIRST, LAST, NO_START)

    def _block(self, start: Moment, end: Moment, *notices: str) -> None:
        if start < self.asked.end and end > self.asked.start and start < end:
            self.spans.append(Span(start, end))
            self.notices.update(dict.fromkeys(notice for notice in notices if notice))
            if (
                start <= self.asked.start
                and end >= self.asked.end
                and not _ALL_IS_UNKNOWN.isdisjoint(notices)
            ):
                self.complete = False

    def _takes_time(self, event: Component) -> bool:
        if event.text("STATUS") == "CANCELLED" or event.text("TRANSP") == "TRANSPARENT":
            return False
        return not any(
            one.parameters.get("PARTSTAT", "").upper() == "DECLINED"
            and one.value.strip().lower().removeprefix("mailto:") in self._owners
            for one in event.all("ATTENDEE")
        )

    def _free_busy(self, part: Component, zones: Zones) -> None:
        for one in part.all("FREEBUSY"):
            if one.parameters.get("FBTYPE", "").upper() == "FREE":
                continue
            for start, end in _periods(one, zones):
                if start is None or end is None:
                    self._block(_FIRST, LAST, NO_START)
                else:
                    self._block(start.zone.earliest(start.wall), end)

    def _series(self, events: list[Component], zones: Zones) -> None:
        masters = [one for one in events if one.first("RECURRENCE-ID") is None]
        exceptions = [one for one in events if one.first("RECURRENCE-ID") is not None]
        for one in exceptions:
            self._alone(one, zones)
        if len(masters) == 1:
            self._repeated(masters[0], exceptions, zones)
        else:  # of several with one name nobody knows which one an exception is for
            for one in masters:
                self._repeated(one, [], zones)

    def _alone(self, event: Component, zones: Zones) -> None:
        if not self._takes_time(event):
            return
        start = _time(event, "DTSTART", zones)
        if start is None:
            self._unplaced(event)
        else:
            self._place(start, _length(event, start, zones), zones, at_home=True)

    def _unplaced(self, event: Component) -> None:
        """Block an event without a readable start: its day, if that is readable, wherever it may be meant."""
        first = read_day(event.first("DTSTART"))
        if first is None:
            self._block(_FIRST, LAST, NO_START)
            return
        end = event.first("DTEND")
        last = first if end is None else read_day(end)
        length = event.first("DURATION")
        size = timedelta(0) if length is None else read_duration(length.value)
        begins = ANYWHERE.earliest(first)
        if last is None or size is None:
            self._block(begins, LAST, NO_END)
        else:
            self._block(begins, ANYWHERE.latest(max(first, last) + abs(size) + _DAY), UNREADABLE_TIME)

    def _repeated(self, master: Component, exceptions: list[Component], zones: Zones) -> None:
        if not any(master.first(name) for name in ("RRULE", "RDATE")) and not exceptions:
            self._alone(master, zones)
            return
        start = _time(master, "DTSTART", zones)
        if start is None:
            if self._takes_time(master):
                self._block(_FIRST, LAST, NO_START)
            return
        length = _length(master, start, zones)
        gone, changes = self._exceptions(master, exceptions, zones)
        reach = max(abs(one.nominal or _DAY) for one in (length, *(change.length for change in changes)))
        reach += max((abs(change.shift) for change in changes), default=timedelta(0))
        self._listed(master, gone, zones)
        for one in self._instances_of(master, start, length, reach, zones):
            if one.identity in gone:
                continue
            at = bisect_right(changes, one.zone.latest(one.wall), key=_since)
            change = changes[at - 1] if at else None
            if change is None:
                if self._takes_time(master):
                    self._place(one, length, zones, at_home=one.wall == start.wall)
            elif self._takes_time(change.event):
                self._place(replace(one, wall=one.wall + change.shift), change.length, zones, at_home=False)

    def _exceptions(
        self, master: Component, exceptions: list[Component], zones: Zones
    ) -> tuple[set[tuple[str, bool, int]], list[_Change]]:
        """The names of instances that are removed or stand elsewhere, and what changes from some time on."""
        gone: set[tuple[str, bool, int]] = set()
        changes: list[_Change] = []
        for one in master.all("EXDATE"):
            read = zones.read(one)
            if read is None:
                self._notice_near(master, zones)
            gone.update(time.identity for time in read or ())
        for event in exceptions:
            named = event.first("RECURRENCE-ID")
            since = _time(event, "RECURRENCE-ID", zones)
            if named is None or since is None:
                self._notice_near(master, zones)
                continue
            gone.add(since.identity)
            if named.parameters.get("RANGE", "").upper() == "THISANDFUTURE":
                start = _time(event, "DTSTART", zones) or since
                shift = start.wall - since.wall
                if start.zone != since.zone:
                    shift = timedelta(
                        microseconds=start.zone.earliest(start.wall) - since.zone.earliest(since.wall)
                    )
                length = _length(event, start, zones)
                changes.append(_Change(since.zone.earliest(since.wall), event, shift, length))
        changes.sort(key=_since)
        return gone, changes

    def _notice_near(self, master: Component, zones: Zones) -> None:
        start = _time(master, "DTSTART", zones)
        if start is not None and start.zone.earliest(start.wall) < self.asked.end:
            self.notices[UNMATCHED] = None

    def _listed(self, master: Component, gone: set[tuple[str, bool, int]], zones: Zones) -> None:
        """Instances with a length of their own: RDATE with periods."""
        if not self._takes_time(master):
            return
        for one in master.all("RDATE"):
            if "/" not in one.value:
                continue
            for start, end in _periods(one, zones):
                if start is None or end is None:
                    self._block(_FIRST, LAST, NO_START)
                elif start.identity not in gone:
                    self._block(start.zone.earliest(start.wall), end, _zone_notice(start, zones))

    def _instances_of(
        self, master: Component, start: Time, length: _Length, reach: timedelta, zones: Zones
    ) -> Iterator[Time]:
        """The times of a series near the stretch, each once; what cannot be listed is blocked."""
        low, high = _naive(self.asked.start, -reach), _naive(self.asked.end, reach)
        found = {start.wall: start}
        others: list[Time] = []
        for one in master.all("RDATE"):
            if "/" in one.value:
                continue
            read = zones.read(one)
            if read is None:
                self._block(_FIRST, LAST, NO_START)
            # The same moment on another wall stays a second instance: it can only block more.
            others += (listed for listed in read or () if low <= listed.wall <= high)
        for one in master.all("RRULE"):
            given = self._by_rule(one, start, low, high, zones)
            if given is None:
                if self._takes_time(master):
                    last = self._last_of(one, length, zones)
                    notice = UNKNOWN_RULE if one.broken or parse_rule(one.value) is None else TOO_MANY
                    self._block(start.zone.earliest(start.wall), last, notice)
            else:
                found.update((at, replace(start, wall=at)) for at in given)
        for instance in (*found.values(), *others):
            self._instances += 1
            if self._instances > MOST_INSTANCES:
                self._block(_FIRST, LAST, TOO_MANY)
                return
            yield instance

    def _by_rule(
        self, one: Property, start: Time, low: datetime, high: datetime, zones: Zones
    ) -> list[datetime] | None:
        rule = None if one.broken else parse_rule(one.value)
        if rule is None:
            return None
        if start.whole_day:
            rule = replace(rule, hours=(), minutes=(), seconds=())
        until: Time | None = None
        if rule.until:
            until = _until(rule.until, start, zones)
            if until is None:
                return None

        def is_over(at: datetime) -> bool:
            if until is None:
                return False
            if until.whole_day or start.whole_day:
                return at.date() > until.wall.date()
            return start.zone.earliest(at) > until.zone.latest(until.wall)

        return times(rule, start.wall, low, high, is_over=is_over, allowance=self._allowance)

    def _last_of(self, one: Property, length: _Length, zones: Zones) -> Moment:
        """The end of a repetition that cannot be listed: its UNTIL, if it has a readable one."""
        match = _UNTIL.search(one.value)
        read = None if match is None else zones.time(match[1].strip(), {})
        if read is None or length.nominal is None:
            return LAST
        return Moment(read.zone.latest(read.wall) + microseconds(abs(length.nominal) + 2 * _DAY))

    def _place(self, start: Time, length: _Length, zones: Zones, *, at_home: bool) -> None:
        """Block one instance; `at_home` is the event's own place, where its end is exactly what it says."""
        notice = _zone_notice(start, zones)
        begins, shown = start.zone.earliest(start.wall), start.zone.latest(start.wall)
        size = length.nominal
        if size is None:
            self._block(begins, LAST, NO_END, notice)
        elif size < timedelta(0):
            self._block(
                start.zone.earliest(start.wall + size), Moment(shown + microseconds(_DAY)), BACKWARD, notice
            )
        else:
            if at_home and length.end is not None:
                ends = length.end.zone.latest(length.end.wall)
            else:
                ends = start.zone.latest(start.wall + size)
                if not start.whole_day:  # over a change of clocks an hour that passes is none on the wall
                    ends = max(ends, Moment(shown + microseconds(size)))
            self._block(begins, ends, LONG if size > _LONG else "", notice)


def _since(change: _Change) -> Moment:
    return change.since


def _time(event: Component, name: str, zones: Zones) -> Time | None:
    one = event.first(name)
    read = None if one is None else zones.read(one)
    return read[0] if read is not None and len(read) == 1 else None


def _zone_notice(start: Time, zones: Zones) -> str:
    if start.zone.exact is not None:
        return ""
    return UNKNOWN_ZONE if zones.named(start.zone.name) is None else OWN_ZONE


def _naive(moment: Moment, by: timedelta) -> datetime:
    """A bound on any wall: the stretch's, moved, with two days for the zones."""
    shown = wall(moment, UTC).replace(tzinfo=None)
    try:
        return shown + by + (2 * _DAY if by >= timedelta(0) else -2 * _DAY)
    except OverflowError:
        return datetime.max if by >= timedelta(0) else datetime.min  # noqa: DTZ901 - a wall without its zone


def _until(value: str, start: Time, zones: Zones) -> Time | None:
    """A rule's last time; one without a zone is on the wall of the event's start."""
    read = zones.time(value, {})
    if read is None or read.whole_day:
        return read
    if not value.upper().endswith("Z"):
        return Time(read.wall, start.zone)
    if start.whole_day:  # a day by the clock of Greenwich or by the owner's: the later one
        local = wall(read.zone.latest(read.wall), zones.owner.exact or UTC).replace(tzinfo=None)
        return Time(max(read.wall, local), read.zone)
    return read


def _length(event: Component, start: Time, zones: Zones) -> _Length:
    if event.first("DTEND") is not None:
        end = _time(event, "DTEND", zones)
        if end is None:
            return _Length(None)
        if end.zone == start.zone and end.whole_day == start.whole_day:
            size = end.wall - start.wall
        else:
            size = timedelta(microseconds=end.zone.latest(end.wall) - start.zone.earliest(start.wall))
        if start.whole_day and not size:  # many write one day so
            return _Length(_DAY)
        return _Length(size, end)
    given = event.first("DURATION")
    if given is not None:
        return _Length(None if given.broken else read_duration(given.value))
    return _Length(_DAY if start.whole_day else timedelta(0))


def _periods(one: Property, zones: Zones) -> Iterator[tuple[Time | None, Moment | None]]:
    """The periods of a property, each with its latest end; None for what is not readable."""
    for value in one.value.split(","):
        first, _, last = value.strip().partition("/")
        start = zones.time(first, one.parameters)
        if start is None:
            yield None, None
            continue
        size = read_duration(last)
        if size is not None:
            yield start, Moment(start.zone.latest(start.wall) + microseconds(size))
            continue
        end = zones.time(last, one.parameters)
        yield start, None if end is None else end.zone.latest(end.wall)
