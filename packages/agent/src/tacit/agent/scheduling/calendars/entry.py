"""The calendar entry of a confirmed proposal (A2ACP-167): one text for one action, the same each time.

Its name in the world is the action's id, so that a second try finds it there. Times are written in UTC. What
people wrote stands in it as escaped text and as nothing else. Knows nothing of where the entry goes.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import moment_of, wall
from tacit.agent.scheduling.calendars.times import microseconds, read_duration
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment, Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.strict_json import Json

_ACTION_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_TIME: Final = re.compile(r"\d\d:\d\d(?:[+-]\d\d:\d\d|Z)\Z", re.ASCII)
_LONGEST_TEXT: Final = 500


def checked_name(action_id: str) -> str:
    """An action's id as a name in a calendar, or `Refused`: no name leads anywhere else."""
    if not _ACTION_ID.match(action_id):
        raise Refused("bad_action_id", "an action's id has letters, digits, - and _", row="A2ACP-167")
    return action_id


def span_of(details: Mapping[str, Json]) -> Span:
    """When a proposal takes place; `Refused` when its details do not say so for certain."""
    day, times, duration = details.get("date"), details.get("time"), details.get("duration")
    if not isinstance(day, str) or not isinstance(times, str):
        raise Refused("bad_details", "the details have no date or no time", row="A2ACP-074")
    first, slash, last = times.partition("/")
    start = _moment(day, first)
    if slash:
        end = _moment(day, last)
        if end <= start:
            end = Moment(end + 24 * 3600 * SECOND)
        return Span(start, end)
    length = read_duration(duration) if isinstance(duration, str) else None
    if length is None or length <= timedelta(0):
        raise Refused("bad_details", "the details have no end and no duration", row="A2ACP-074")
    return Span(start, Moment(start + microseconds(length)))


def _moment(day: str, shown: str) -> Moment:
    try:
        if _DATE.match(day) and _TIME.match(shown):
            return moment_of(datetime.combine(date.fromisoformat(day), time.fromisoformat(shown)))
    except (ValueError, OverflowError):
        pass
    raise Refused("bad_details", "a date or a time with its offset is not readable", row="A2ACP-074")


def entry(action_id: str, details: Mapping[str, Json], now: Moment) -> bytes:
    """The whole text of a calendar with this one event."""
    span = span_of(details)
    summary = _text(details.get("summary")) or _text(details.get("event_type")) or "Appointment"
    place = _text(details.get("place"))
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Tacit//Personal agent//EN",
        "BEGIN:VEVENT",
        f"UID:{checked_name(action_id)}",
        f"DTSTAMP:{_utc(now)}",
        f"DTSTART:{_utc(span.start)}",
        f"DTEND:{_utc(span.end)}",
        f"SUMMARY:{_escaped(summary)}",
        *((f"LOCATION:{_escaped(place)}",) if place else ()),
        "STATUS:CONFIRMED",
        "TRANSP:OPAQUE",
        "END:VEVENT",
        "END:VCALENDAR",
    )
    return b"".join(_folded(line) for line in lines)


def _utc(moment: Moment) -> str:
    return wall(moment, UTC).strftime("%Y%m%dT%H%M%SZ").rjust(16, "0")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")


def _folded(line: str) -> bytes:
    """A line in pieces of at most 75 bytes, none of which ends inside a character."""
    pieces, size = [""], 0
    for one in line:
        width = len(one.encode())
        if size + width > 75:
            pieces.append(" ")
            size = 1
        pieces[-1] += one
        size += width
    return "\r\n".join(pieces).encode() + b"\r\n"


def _text(value: object) -> str:
    """One line of at most so many printable characters."""
    if not isinstance(value, str):
        return ""
    printable = "".join(one if one.isprintable() else " " for one in value)
    return " ".join(printable.split())[:_LONGEST_TEXT]
