"""Words for what was computed: proposals and excuses.

A2ACP-090, A2ACP-147, A2ACP-149.

A summary says what the details say and nothing else; its weekday is computed from its date. The reasoning
names no value. An excuse is made of nothing at all: it cannot give away a reason, as it never gets one, and
it claims no fact.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import spoken, zone_named, zone_of_owner
from tacit.agent.scheduling.dates import zones as zone_words
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from tacit.base.moment import Span
    from tacit.base.strict_json import Json

_TIME: Final = re.compile(r"([0-2][0-9]:[0-5][0-9])(Z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_LONGEST: Final = 80
_PLACES: Final = ("place", "venue", "location", "address")

AGAIN: Final = "Sorry, this one does not suit me after all. Could we look for another time?"
LEAVE: Final = "Thank you for asking. I will have to leave it this time."


def title(event_type: str) -> str:
    """`Game night` of `game_night`."""
    words = _line(event_type.replace("_", " "))
    return words[:1].upper() + words[1:] if words else "Meeting"


def _line(text: object) -> str:
    """One line of printable characters, not too long."""
    if not isinstance(text, str):
        return ""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())[:_LONGEST].strip()


def last_day(spans: Sequence[Span], zone: str) -> date:
    """The last day that spans touch, by the clocks of a zone."""
    return zone_words.local(Moment(max(span.end for span in spans) - 1), zone_of_owner(zone)).date()


def days_of(spans: Sequence[Span], zone: str) -> str:
    """` on Friday 27 March 2026`, or the first and the last day; nothing without spans."""
    if not spans:
        return ""
    first = zone_words.local(min(span.start for span in spans), zone_of_owner(zone)).date()
    last = last_day(spans, zone)
    return f" on {spoken(first)}" if first == last else f" between {spoken(first)} and {spoken(last)}"


def summary(details: Mapping[str, Json]) -> str:
    """A proposal's details in words: `Dinner on Friday 27 March 2026, 19:00 to 20:30 (Europe/London)`.

    Times are shown on the clocks of the details' `timezone`, otherwise with their offset. What cannot be read
    is left out rather than guessed.
    """
    said = title(str(details.get("event_type") or details.get("kind") or ""))
    when = _when(details)
    place = next((_line(details[name]) for name in _PLACES if _line(details.get(name))), "")
    return f"{said}{when}{f', {place}' if place else ''}"


def _when(details: Mapping[str, Json]) -> str:
    day = _date(details.get("date") or details.get("handover_date"))
    if day is None:
        return ""
    named = details.get("timezone")
    zone = zone_named(named) if isinstance(named, str) else None
    ends = [_TIME.fullmatch(part) for part in str(details.get("time") or "").split("/")]
    if not 1 <= len(ends) <= 2 or None in ends:
        return f" on {spoken(day)}"
    shown = [_shown(day, end.group(1), end.group(2), zone) for end in ends if end is not None]
    if any(each is None for each in shown):
        return f" on {spoken(day)}"
    start = shown[0] or datetime.combine(day, time(), UTC)
    clocks = "–".join(each.strftime("%H:%M") for each in shown if each is not None)  # noqa: RUF001 - from, to
    offset = start.strftime("%z")
    where = named if zone is not None else f"UTC{offset[:3]}:{offset[3:5]}"
    return f" on {spoken(start.date())}, {clocks} ({where})"


def _date(value: object) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        return None


def _shown(day: date, clock: str, offset: str, zone: tzinfo | None) -> datetime | None:
    try:
        there = datetime.fromisoformat(f"{day.isoformat()}T{clock}{'+00:00' if offset == 'Z' else offset}")
        return there.astimezone(zone) if zone is not None else there
    except (ValueError, OverflowError):
        return None


def reasoning(options: Sequence[Mapping[str, Json]]) -> str:
    """Why this is proposed, without a single value."""
    if not any("time" in option for option in options):
        return "This fits what both sides have said."
    if len(options) > 1:
        return "The first option suits both sides best; the others would suit both sides as well."
    return "This is the time that suits both sides best."


def excuse(*, again: bool) -> str:
    """A polite no that says nothing of why."""
    return AGAIN if again else LEAVE
