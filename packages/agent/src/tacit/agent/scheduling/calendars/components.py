"""iCalendar text as a tree of components (RFC 5545, section 3.1): lines, parameters, nesting.

Only what stands in the text: no value is read here. A text that does not close what it opens is no calendar,
as what is missing may be an event. A line that is none is passed over where nothing depends on it, and kept
as broken where it begins like a property. Knows nothing of times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

LARGEST: Final = 8 * 2**20
"""Bytes of one calendar; a larger one is not read."""
_DEEPEST: Final = 16
_LOOKED_AT: Final = 4096
_TAKES_TIME: Final = frozenset({"VEVENT", "VFREEBUSY", "VCALENDAR"})
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_BREAK: Final = re.compile(r"\r\n|\n|\r")
_NAME: Final = re.compile(r"[A-Za-z0-9-]+", re.ASCII)
_PARAMETER: Final = re.compile(r';([A-Za-z0-9-]+)=("[^"]*"|[^";:,]*)((?:,(?:"[^"]*"|[^";:,]*))*)', re.ASCII)


@dataclass(frozen=True, slots=True)
class Property:
    """One line: its parameters in capitals, its value as it stands."""

    name: str
    parameters: dict[str, str]
    value: str
    broken: bool = False


@dataclass(slots=True)
class Component:
    """What stands between BEGIN and END."""

    name: str
    properties: list[Property] = field(default_factory=list[Property])
    parts: list[Component] = field(default_factory=list["Component"])

    def all(self, name: str) -> list[Property]:
        """Its properties of a name, in order."""
        return [one for one in self.properties if one.name == name]

    def first(self, name: str) -> Property | None:
        """Its first property of a name."""
        return next((one for one in self.properties if one.name == name), None)

    def text(self, name: str) -> str:
        """The value of a one-word property, in capitals; empty without it."""
        one = self.first(name)
        return "" if one is None else one.value.strip().upper()


def parse(data: bytes) -> list[Component] | None:
    """The calendars in a text, or None when it is none."""
    if len(data) > LARGEST:
        return None
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    top = Component("")
    stack = [top]
    for line in _BREAK.split(_FOLD.sub("", text)):
        if not line.strip():
            continue
        read = _property(line)
        if read is None:
            continue
        if read.name == "BEGIN":
            part = Component(read.value.strip().upper())
            stack[-1].parts.append(part)
            stack.append(part)
            if len(stack) > _DEEPEST:
                return None
        elif read.name == "END":
            if stack.pop().name != read.value.strip().upper() or not stack:
                return None
        else:
            stack[-1].properties.append(read)
    if len(stack) != 1 or not top.parts or _is_misplaced(top):
        return None
    return top.parts


def _is_misplaced(top: Component) -> bool:
    """Whether something stands outside a calendar, or an event elsewhere than right in one.

    Nobody would read it, and its time would count as free.
    """
    if any(part.name != "VCALENDAR" for part in top.parts):
        return True
    below = [inner for calendar in top.parts for part in calendar.parts for inner in part.parts]
    while below:
        part = below.pop()
        if part.name in _TAKES_TIME:
            return True
        below += part.parts
    return False


def what_is_wrong(data: bytes) -> str:
    """Why a text that does not parse is no calendar, and what its owner can do."""
    start = data[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return "is empty"
    if len(data) > LARGEST:
        return f"is larger than {LARGEST // 2**20} MiB"
    if start.startswith(b"PK\x03\x04"):
        return "is a ZIP archive: unpack it and use the .ics file in it"
    if start.startswith(b"<"):
        return "is a web page, not a calendar: export the calendar as an .ics file"
    if b"BEGIN:VCALENDAR" not in data.upper():
        return "is not a calendar: export the calendar as an .ics file"
    return "is damaged or cut off: export the calendar again"


def _property(line: str) -> Property | None:
    name = _NAME.match(line)
    if name is None:
        return None
    key = name[0].upper()
    at = name.end()
    parameters: dict[str, str] = {}
    while (match := _PARAMETER.match(line, at)) is not None:
        parameters[match[1].upper()] = match[2].strip('"')
        at = match.end()
    if line[at : at + 1] != ":":
        return Property(key, {}, "", broken=True)
    return Property(key, parameters, line[at + 1 :])
