"""JSON that an agent sent, read without trusting its shape: what is amiss reads as empty.

Pure. Agents are other people's programs and change from release to release; a member that moved must not
end a turn.
"""

from __future__ import annotations

from typing import Any, Final, cast

MOST: Final = 2**53
"""No agent counts or costs more; a number beyond it is a fault of its own."""
Message = dict[str, Any]


def part(message: object, *names: str) -> Message:
    """The object at the end of this path."""
    for name in names:
        message = cast("Message", message).get(name) if isinstance(message, dict) else None
    return cast("Message", message) if isinstance(message, dict) else {}


def parts(message: object, name: str) -> list[Message]:
    """The objects in this list."""
    found = part(message).get(name)
    if not isinstance(found, list):
        return []
    return [cast("Message", item) for item in cast("list[object]", found) if isinstance(item, dict)]


def text(message: object, name: str) -> str:
    """The text of this member."""
    found = part(message).get(name)
    return found if isinstance(found, str) else ""


def count(message: object, name: str) -> int:
    """The number of this member, as far as it can be counted."""
    return counted(part(message).get(name))


def counted(found: object) -> int:
    """A whole number from 0 to what every reader can hold."""
    return min(max(found, 0), MOST) if isinstance(found, int) and not isinstance(found, bool) else 0


def amount(message: object, name: str) -> float | None:
    """The cost or the time of this member; None where it says none that can be counted."""
    found = part(message).get(name)
    if not isinstance(found, int | float) or isinstance(found, bool) or not 0 <= found <= MOST:
        return None
    return float(found)
