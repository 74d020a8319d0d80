"""Gap recovery: two sides compare which packet ids they have of a thread (A2ACP-213, A2ACP-214).

A summary names the last 200 ids of each direction. What the other side lacks is sent again under its own id.
A summary goes out at most once a minute for each thread and is answered once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.base.moment import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.base.moment import Moment

LAST: Final = 200
EVERY: Final = 60 * SECOND


def summary(state: str, sent: Sequence[str], received: Sequence[str], *, answer: bool) -> dict[str, Any]:
    """The body of a `thread_sync`."""
    return {
        "state": state,
        "sent_ids": list(sent[-LAST:]),
        "received_ids": list(received[-LAST:]),
        "answer": answer,
    }


def lacking(sent: Sequence[str], their_received: Sequence[str]) -> list[str]:
    """Which of our last packets the other side does not name, in the order they were sent."""
    theirs = set(their_received)
    return [packet_id for packet_id in sent[-LAST:] if packet_id not in theirs]


def due(last: Moment | None, now: Moment) -> bool:
    """Whether a summary may go out again."""
    return last is None or now - last >= EVERY
