"""Where the open lines before an event stand in its delivery (C2A-037, C2A-223).

An event that is to be seen with its thread and stands in none has the lines before it as its window; one that
is shown without its thread has them beside. They are of use only while they are fresh: what is kept or sent
again goes without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.c2a.json_members import shaped

if TYPE_CHECKING:
    from collections.abc import Mapping

LINES_BEFORE: Final = "linesBefore"
WINDOW: Final = "threadWindow"
THREAD_WINDOW: Final = "thread_window"


_PLACE: Final = {"injection": {"context": str}, "conversation": {"threadId": str}}


def lines_member(*, in_thread: bool, thread: str | None) -> str:
    """The member that holds the open lines before an event: one seen with its thread may stand in none."""
    return WINDOW if in_thread and not thread else LINES_BEFORE


def without_lines(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params without the open lines before it."""
    place = shaped(params, _PLACE)
    in_thread = place["injection"]["context"] == THREAD_WINDOW
    gone = {LINES_BEFORE, lines_member(in_thread=in_thread, thread=place["conversation"]["threadId"])}
    return {name: value for name, value in params.items() if name not in gone}
