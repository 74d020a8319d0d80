"""Scrolling back: the lines before a question that somebody who comes in would read first (C2A-223).

Of the lines before it those of the same talk: from the newest back until a long pause, a measure of lines or
of bytes, or what the session has been shown already. Deleted lines and those inside threads are left out.
Pure: the lines come with the question, or from a look at the conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND, parse_rfc3339
from tacit.c2a.json_members import object_in, objects
from tacit.c2a.messages import read_window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.c2a.messages import Delivered, Earlier

LINES: Final = 24
LOOKED_AT: Final = LINES + 8
"""How many lines are asked for: some lie in threads, or were taken back."""
BYTES: Final = 6_000
PAUSE: Final = 30 * 60 * SECOND
"""A silence after which another talk begins."""
ANYWAY: Final = 4
"""Lines that are shown whatever the pause: without any of them a question hangs in the air."""
OLDEST: Final = 24 * 3600 * SECOND


def wants_context(event: Delivered) -> bool:
    """Is it said in the open flow of a channel?

    What is in a thread comes with its thread; and a private conversation has a session of its own, which has
    read all of it.
    """
    flat = event.thread is None and not event.window and not event.audience
    return flat and event.content is not None and event.signal is None


def scrolled_back(
    event: Delivered, lines: Sequence[Earlier], session: str, *, shown_up_to: int | None = None
) -> tuple[Earlier, ...]:
    """The lines to show before an event, oldest first.

    `shown_up_to` is how far the session's model has read this conversation; its own words since it knows.
    """
    chosen: list[Earlier] = []
    room, later, paused = BYTES, event.created_at, False
    for given in reversed(lines):
        at = parse_rfc3339(given.created_at)
        if at is None or given.sequence >= event.sequence > 0:
            continue
        if shown_up_to is not None and (given.sequence <= shown_up_to or given.author.id == session):
            continue
        line = given.cut()
        room -= len(line.text.encode())
        paused = paused or later - at > PAUSE
        most = ANYWAY if paused else LINES
        if room < 0 or len(chosen) >= most or event.created_at - at > OLDEST:
            break
        chosen.append(line)
        later = at
    return tuple(reversed(chosen))


def open_lines(rows: object) -> tuple[Earlier, ...]:
    """The lines of a look at the conversation that stand in no thread and were not taken back."""
    return read_window(
        [
            row
            for row in objects(rows)
            if row and "threadId" not in object_in(row, "conversation") and not row.get("deleted")
        ]
    )
