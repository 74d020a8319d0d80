"""Where the open lines before an event stand in its delivery (C2A-037, C2A-223).

An event that is to be seen with its thread and stands in none has the lines before it as its window; one that
is shown without its thread has them beside. They are of use only while they are fresh: what is kept or sent
again goes without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.c2a.json_members import object_in, text_in

if TYPE_CHECKING:
    from collections.abc import Mapping

LINES_BEFORE: Final = "linesBefore"
WINDOW: Final = "threadWindow"
THREAD_WINDOW: Final = "thread_window"


def is_flat(params: Mapping[str, Any]) -> bool:
    """Is it to be seen with its thread, and stands in none?"""
    seen_with = text_in(object_in(params, "injection"), "context")
    return seen_with == THREAD_WINDOW and not text_in(object_in(params, "conversation"), "threadId")


def lines_member(params: Mapping[str, Any]) -> str:
    """The member that holds the open lines before it."""
    return WINDOW if is_flat(params) else LINES_BEFORE


def without_lines(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params without the open lines before it."""
    gone = {LINES_BEFORE, lines_member(params)}
    return {name: value for name, value in params.items() if name not in gone}
