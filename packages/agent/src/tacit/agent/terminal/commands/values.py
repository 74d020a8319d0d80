"""How values, addresses and moments read at a terminal, in words of a line each.

Words of a counterpart drive no terminal.
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.quoting import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST: Final = 600
BASES: Final = {
    "user_approved": "you said yes",
    "user_preauthorised": "always allowed",
    "space": "you wrote it into a shared space",
}
"""What allowed a disclosure."""
SLOT: Final = re.compile(r"(\d\d:\d\d)(?:Z|[+-]\d\d:\d\d)/(\d\d:\d\d)(?:Z|[+-]\d\d:\d\d)")


def plain(value: object) -> str:
    """A value in one line that drives no terminal."""
    return shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), LONGEST)


def value_text(value: object) -> str:
    """A shared value as a person would write it."""
    match value:
        case {"date": str(day), "time": str(hours)} if len(_members(value)) == 2:
            return f"{day_text(day)} {hours_text(hours)}"
        case {"agent": str(name), "status": str(status)}:
            return f"{who(name)} ({plain(status).replace('_', ' ')})"
        case []:
            return "none"
        case {"blocked": []}:
            return "nothing is in the way"
        case {"blocked": list()}:
            return f"not {value_text(_members(value)['blocked'])}"[:LONGEST]
        case {"windows": list()}:
            windows = _items(_members(value)["windows"])
            return "; ".join(_window(_members(window)) for window in windows)[:LONGEST]
        case str():
            return hours_text(value)
        case _:
            items = _items(value)
            return ", ".join(map(value_text, items))[:LONGEST] if items else plain(value)


def _members(value: object) -> dict[str, object]:
    """A value's members; none where it has none."""
    return msgspec.convert(value, dict[str, object]) if isinstance(value, dict) else {}


def _items(value: object) -> list[object]:
    """A value's items; none where it is no list."""
    return msgspec.convert(value, list[object]) if isinstance(value, (list, tuple)) else []


def _window(one: Mapping[str, object]) -> str:
    """A window of a group: when, for how many, and without whom."""
    missing = [who(str(name)).partition("@")[0] for name in _items(one.get("missing"))]
    without = f", without {', '.join(missing)}" if missing else ""
    return f"{plain(one.get('window'))} for {plain(one.get('available_count'))}{without}"


def basis_text(basis: str | None) -> str:
    """What allowed a disclosure, in words."""
    return BASES.get(basis or "", str(basis))


def day_text(text: str) -> str:
    """`2026-11-20` as `Fri 20 Nov`; whatever else stays as it is."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return plain(text)
    return f"{day:%a} {day.day} {day:%b}"


def hours_text(text: str) -> str:
    """`18:00+00:00/21:00+00:00` as `18:00-21:00 +00:00`; whatever else stays as it is."""
    found = SLOT.fullmatch(text)
    if found is None:
        return plain(text)
    zone, other = text[5 : text.index("/")], text[text.index("/") + 6 :]
    return f"{found[1]}-{found[2]} {zone}" if zone == other else f"{found[1]} {zone} - {found[2]} {other}"


def who(address: str) -> str:
    """An address without what all addresses have."""
    return plain(address).removeprefix("agent:")


def when(at: str) -> str:
    """A moment in local time."""
    return f"{datetime.fromisoformat(at).astimezone():%d %b %H:%M}"
