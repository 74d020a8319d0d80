"""What calendars say of a stretch of time: when their owner is busy, and what could not be understood.

Nothing that was not understood is ever free time: it is among the spans, and a calendar that could not be
read at all fills the whole stretch. So whoever looks at the spans alone offers too little, never too much.
`CalendarUnreadable` is raised where nothing can be decided without the owner's time.
Knows nothing of where calendars come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.base.errors import Unavailable
from tacit.base.moment import merged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.base.moment import Span


@dataclass(frozen=True, slots=True)
class Busy:
    """When somebody is busy within a stretch that was asked about."""

    spans: tuple[Span, ...] = ()
    """In order, without overlaps, inside the stretch."""
    notices: tuple[str, ...] = ()
    """What the owner should know of the calendar's state; no word of any event."""
    complete: bool = True
    """False: a calendar could not be read, and the whole stretch counts as busy."""


class CalendarUnreadable(Unavailable):
    """A calendar cannot be read now, so nothing is known of its owner's time.

    `reasons` name each such calendar and say why: they are for the owner, and for no log.
    """

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def unknown(within: Span, notice: str) -> Busy:
    """The answer of a calendar that cannot be read: busy throughout."""
    return Busy((within,), (notice,), complete=False)


def together(answers: Iterable[Busy]) -> Busy:
    """One answer for several calendars of one owner; where some cannot be read, the notices are of those."""
    given = tuple(answers)
    unreadable = tuple(answer for answer in given if not answer.complete)
    return Busy(
        merged(span for answer in given for span in answer.spans),
        tuple(dict.fromkeys(notice for answer in unreadable or given for notice in answer.notices)),
        complete=not unreadable,
    )
