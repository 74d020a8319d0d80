"""Dates and times of a calendar's text, each with the zone that it is meant in (RFC 5545).

A zone is known by its IANA name, by Windows' name for it, or by an IANA name behind a vendor's prefix. Of a
zone that the calendar defines itself only the offsets are taken, and of one that nobody knows all offsets
that there are: a time in such a zone is a stretch, and what it begins or ends is taken as wide as that. So no
rule in a zone's definition is ever run, and no hour is free because a name was not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import moment_of, zone_named
from tacit.agent.scheduling.calendars.windows_zones import WINDOWS_ZONES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from tacit.agent.scheduling.calendars.components import Component, Property
    from tacit.base.moment import Moment

_DATE: Final = re.compile(r"(\d{4})(\d\d)(\d\d)\Z", re.ASCII)
_TIME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(Z?)\Z", re.ASCII | re.IGNORECASE)
_DURATION: Final = re.compile(
    r"([+-]?)P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?\Z",
    re.ASCII | re.IGNORECASE,
)
_DAY: Final = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?!\d)", re.ASCII)
_OFFSET: Final = re.compile(r"([+-])(\d\d)(\d\d)(\d\d)?\Z", re.ASCII)
_WEST: Final = timedelta(hours=-12)
_EAST: Final = timedelta(hours=14)


@dataclass(frozen=True, slots=True)
class Zone:
    """Where a clock hangs: exactly, or only between which offsets."""

    exact: tzinfo | None
    low: timedelta = timedelta(0)
    high: timedelta = timedelta(0)
    name: str = ""
    """Of an inexact one, so that its times can be told to be the same."""

    def earliest(self, wall: datetime) -> Moment:
        """The first moment at which its clock may show this."""
        if self.exact is None:
            return moment_of((wall - self.high).replace(tzinfo=UTC))
        return moment_of(wall.replace(tzinfo=self.exact))

    def latest(self, wall: datetime) -> Moment:
        """The last moment at which its clock may show this."""
        if self.exact is None:
            return moment_of((wall - self.low).replace(tzinfo=UTC))
        return moment_of(wall.replace(tzinfo=self.exact))


ANYWHERE: Final = Zone(None, _WEST, _EAST)
"""The clock of a time of which only the day is known."""


@dataclass(frozen=True, slots=True)
class Time:
    """A date or a time as it stands, in its zone."""

    wall: datetime
    zone: Zone
    whole_day: bool = False

    @property
    def identity(self) -> tuple[str, bool, int]:
        """Equal for two of one moment; of an inexact zone, only within that zone."""
        if self.whole_day:
            return "", True, self.wall.toordinal()
        return self.zone.name, False, self.zone.earliest(self.wall)


class Zones:
    """The zones that one calendar's times may be in."""

    def __init__(self, owner: tzinfo, definitions: Iterable[Component]) -> None:
        self.owner = Zone(owner)
        self._defined: dict[str, Zone] = {}
        for one in definitions:
            name = one.first("TZID")
            if name is not None:
                self._defined.setdefault(name.value, _defined(name.value, one))

    def named(self, name: str) -> Zone | None:
        """The zone of a TZID, exact or as the calendar defines it; None when nobody knows it."""
        return _exact(name) or self._defined.get(name)

    def read(self, one: Property) -> list[Time] | None:
        """The times of a property, whose value may be a list; None when one of them is none."""
        found = [self.time(value.strip(), one.parameters) for value in one.value.split(",")]
        if one.broken or any(time is None for time in found):
            return None
        return [time for time in found if time is not None]

    def time(self, value: str, parameters: dict[str, str]) -> Time | None:
        """One value: a date is a day of the owner's, a time without a zone is on the owner's wall."""
        try:
            if match := _DATE.match(value):
                day = date(int(match[1]), int(match[2]), int(match[3]))
                return _checked(Time(datetime.combine(day, time()), self.owner, whole_day=True))
            match = _TIME.match(value)
            if match is None:
                return None
            numbers = [int(part) for part in match.groups()[:6]]
            numbers[5] = min(numbers[5], 59)  # a leap second
            shown = datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001 - a wall without its zone
            if match[7]:
                return _checked(Time(shown, Zone(UTC)))
            name = parameters.get("TZID", "")
            zone = self.named(name) or Zone(None, _WEST, _EAST, name) if name else self.owner
            return _checked(Time(shown, zone))
        except (ValueError, OverflowError):
            return None


def _checked(one: Time) -> Time:
    """The time itself, once it is certain that it can be counted with: not near the years 1 and 9999."""
    for far in (timedelta(days=-400), timedelta(days=400)):
        one.zone.earliest(one.wall + far)
        one.zone.latest(one.wall + far)
    return one


def _exact(name: str) -> Zone | None:
    cleaned = name.strip().strip("/")
    candidates = [cleaned, WINDOWS_ZONES.get(cleaned, "")]
    if name.startswith("/"):
        parts = cleaned.split("/")
        candidates += ["/".join(parts[at:]) for at in range(1, min(len(parts), 6))]
    found = (zone_named(one) for one in candidates if one)
    exact = next((one for one in found if one is not None), None)
    return None if exact is None else Zone(exact)


def _defined(name: str, component: Component) -> Zone:
    """A zone as a calendar defines it: by the place it names, otherwise somewhere between its offsets."""
    place = component.first("X-LIC-LOCATION")
    exact = None if place is None else _exact(place.value)
    if exact is not None:
        return exact
    offsets = [
        offset
        for part in component.parts
        for one in (*part.all("TZOFFSETTO"), *part.all("TZOFFSETFROM"))
        if (offset := _offset(one.value)) is not None
    ]
    if not offsets:
        return Zone(None, _WEST, _EAST, name)
    return Zone(None, min(offsets), max(offsets), name)


def _offset(value: str) -> timedelta | None:
    match = _OFFSET.match(value.strip())
    if match is None:
        return None
    size = timedelta(hours=int(match[2]), minutes=int(match[3]), seconds=int(match[4] or 0))
    return -size if match[1] == "-" else size


def read_day(one: Property | None) -> datetime | None:
    """The day that a date or a time begins with, even where the rest is not readable; None without one."""
    match = None if one is None or one.broken else _DAY.match(one.value.strip())
    if match is None:
        return None
    try:
        return datetime.combine(date(int(match[1]), int(match[2]), int(match[3])), time())
    except ValueError:
        return None


def read_duration(value: str) -> timedelta | None:
    """The length in a DURATION's value."""
    match = _DURATION.match(value.strip())
    if match is None or not any(match.groups()[1:]):
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    size = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -size if match[1] == "-" else size


def microseconds(length: timedelta) -> int:
    """A length in a moment's unit."""
    return length // timedelta(microseconds=1)
