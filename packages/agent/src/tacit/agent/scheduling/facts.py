"""What another program of the owner's knows: when the owner has time, and values of fields (A2ACP-268).

Somebody whose calendar, mail and browser belong to another program hands over what it found, as one JSON
object, and the agent asks no connector of its own:

    {"calendar": {"from": T, "to": T, "busy": [{"start": T, "end": T}, …]},
     "fields": {"dietary": "vegetarian", …}}

`{"calendar": {"available": [{"start": T, "end": T}, …]}}` says the same the other way round. Facts are the
owner's values like those of the profile: what consent does not release stays here. Outside of what the
calendar covers the owner counts as busy, so that what nobody looked at is never offered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.agent.scheduling.calendars.busy import Busy
from tacit.base.errors import Refused
from tacit.base.moment import Moment, Span, common, merged, parse_rfc3339, without

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_ENTRIES: Final = 2000
MOST_FIELDS: Final = 50
LONGEST: Final = 256 * 1024
_ROW: Final = "A2ACP-268"

Facts = dict[str, Any]


def checked(value: object) -> Facts:
    """Facts as they are kept, or `Refused` with `bad_facts`, which names the place and repeats no value."""
    found = _object(value, "the facts", {"calendar", "fields"})
    _small(found)
    kept: Facts = {}
    if "calendar" in found:
        kept["calendar"] = _calendar(found["calendar"])
    if "fields" in found:
        kept["fields"] = fields_checked(found["fields"])
    if not kept:
        raise _bad("the facts hold neither `calendar` nor `fields`")
    return kept


def fields_checked(value: object) -> Facts:
    """Values by field, each with a name."""
    found = _object(value, "fields", None)
    _small(found)
    if len(found) > MOST_FIELDS:
        raise _bad(f"`fields` holds more than {MOST_FIELDS}")
    if not all(name.strip() and len(name) <= 100 for name in found):
        raise _bad("a field has no name, or one of more than 100 signs")
    return {name: one for name, one in found.items() if one is not None}


def _small(found: Facts) -> None:
    if len(json.dumps(found, default=str).encode()) > LONGEST:
        raise _bad(f"this is more than {LONGEST // 1024} KiB")


def busy_within(facts: Mapping[str, Any], span: Span) -> Busy | None:
    """When the owner is busy by these facts; None when they say nothing of time."""
    calendar = cast("Facts | None", facts.get("calendar"))
    if calendar is None:
        return None
    if "available" in calendar:
        free = _spans(calendar["available"])
    else:
        covered = Span(*calendar["covers"])
        free = without((covered,), _spans(calendar["busy"]))
    taken = without((span,), common(tuple(free), (span,)))
    return Busy(merged(taken))


def _spans(kept: object) -> tuple[Span, ...]:
    return tuple(Span(Moment(start), Moment(end)) for start, end in cast("list[list[int]]", kept))


def _calendar(value: object) -> Facts:
    found = _object(value, "`calendar`", {"from", "to", "busy", "available"})
    if "available" in found:
        if found.keys() != {"available"}:
            raise _bad("`calendar` says either `available`, or `from`, `to` and `busy`")
        return {"available": _entries(found["available"], "available")}
    if found.keys() != {"from", "to", "busy"}:
        raise _bad("`calendar` needs `from`, `to` and `busy`: what it covers, and what is taken of it")
    covers = _entry({"start": found["from"], "end": found["to"]}, "calendar.from, calendar.to")
    return {"covers": covers, "busy": _entries(found["busy"], "busy")}


def _entries(value: object, name: str) -> list[list[int]]:
    if not isinstance(value, list):
        raise _bad(f"calendar.{name} is a list")
    listed = cast("list[object]", value)
    if len(listed) > MOST_ENTRIES:
        raise _bad(f"calendar.{name} holds more than {MOST_ENTRIES}")
    return [_entry(one, f"calendar.{name}[{number}]") for number, one in enumerate(listed)]


def _entry(value: object, place: str) -> list[int]:
    found = _object(value, place, {"start", "end"})
    start, end = (_moment(found.get(name)) for name in ("start", "end"))
    if start is None or end is None:
        raise _bad(f"{place}: `start` and `end` are times with their offset, as 2026-03-27T19:00:00+00:00")
    if end <= start:
        raise _bad(f"{place} ends before it begins")
    return [int(start), int(end)]


def _moment(value: object) -> Moment | None:
    return parse_rfc3339(value) if isinstance(value, str) else None


def _object(value: object, place: str, known: set[str] | None) -> Facts:
    names = cast("dict[object, object]", value) if isinstance(value, dict) else (None,)
    if not all(isinstance(one, str) for one in names):
        raise _bad(f"{place} is an object")
    found = cast("Facts", value)
    if known is not None and not found.keys() <= known:
        raise _bad(f"{place} has a member that nobody knows; known are {', '.join(sorted(known))}")
    return found


def _bad(message: str) -> Refused:
    return Refused("bad_facts", message, row=_ROW)
