"""How values, addresses and moments read at a terminal, in words of a line each.

Words of a counterpart drive no terminal.
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.quoting import shown

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields

LONGEST: Final = 600
BASES: Final = {
    "user_approved": "you said yes",
    "user_preauthorised": "always allowed",
    "space": "you wrote it into a shared space",
}
"""What allowed a disclosure, in words."""
SLOT: Final = re.compile(r"(\d\d:\d\d)(?:Z|[+-]\d\d:\d\d)/(\d\d:\d\d)(?:Z|[+-]\d\d:\d\d)")


def plain(value: object) -> str:
    """A value in one line that drives no terminal."""
    return shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), LONGEST)


def value_text(value: Any) -> str:
    """A shared value as a person would write it."""
    match value:
        case {"date": str(day), "time": str(hours), **rest} if not rest:
            return f"{day_text(day)} {hours_text(hours)}"
        case {"agent": str(name), "status": str(status)}:
            return f"{who(name)} ({plain(status).replace('_', ' ')})"
        case []:
            return "none"
        case {"blocked": []}:
            return "nothing is in the way"
        case {"blocked": list()}:
            return f"not {value_text(cast('Fields', value)['blocked'])}"[:LONGEST]
        case {"windows": list()}:
            listed = cast("list[Fields]", cast("Fields", value)["windows"])
            return "; ".join(_window(one) for one in listed)[:LONGEST]
        case list():
            return ", ".join(value_text(one) for one in cast("list[Any]", value))[:LONGEST]
        case str():
            return hours_text(value)
        case _:
            return plain(value)


def _window(one: Fields) -> str:
    """A window of a group: when, for how many, and without whom."""
    missing = [who(name).partition("@")[0] for name in one.get("missing") or ()]
    without = f", without {', '.join(missing)}" if missing else ""
    return f"{plain(one.get('window'))} for {plain(one.get('available_count'))}{without}"


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
