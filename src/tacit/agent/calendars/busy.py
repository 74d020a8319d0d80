"""What calendars say of a stretch of time: when their owner is busy, and what could not be understood.

Nothing that was not understood is ever free time: it is among the spans, and a calendar that could not be
read at all fills the whole stretch. So whoever looks at the spans alone offers too little, never too much.
Knows nothing of where calendars come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.agent.spans import merged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.agent.spans import Span


@dataclass(frozen=True, slots=True)
class Busy:
    """When somebody is busy within a stretch that was asked about."""

    spans: tuple[Span, ...] = ()
    """In order, without overlaps, inside the stretch."""
    notices: tuple[str, ...] = ()
    """What the owner should know of the calendar's state; no word of any event."""
    complete: bool = True
    """False: a calendar could not be read, and the whole stretch counts as busy."""


def unknown(within: Span, notice: str) -> Busy:
    """The answer of a calendar that cannot be read: busy throughout."""
    return Busy((within,), (notice,), complete=False)


def together(answers: Iterable[Busy]) -> Busy:
    """One answer for several calendars of one owner."""
    given = tuple(answers)
    return Busy(
        merged(span for one in given for span in one.spans),
        tuple(dict.fromkeys(notice for one in given for notice in one.notices)),
        complete=all(one.complete for one in given),
    )
