"""What the time grammar finds in a sentence, piece by piece, before the pieces are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.agent.scheduling.dates.words import Hours  # noqa: TC001 - a named tuple keeps its types

if TYPE_CHECKING:
    from datetime import date

DATE: Final = "date"
"""Named by its date."""
WEEKDAY: Final = "weekday"
"""The next one of that name: today counts while it is still ahead."""
FRAME: Final = "frame"
"""A week, a month, so many days: weekdays named beside it lie within it."""
COUNTED: Final = "counted"
"""So many weeks from today: a weekday named beside it lies in that week."""


class Day(NamedTuple):
    """Days that were named, in order."""

    dates: tuple[date, ...]
    kind: str = DATE


class TimeItem(NamedTuple):
    """A time on the clock; one that is not `sure` is a figure of twelve hours, before noon or after."""

    hour: int
    minute: int
    sure: bool

    @property
    def readings(self) -> tuple[int, ...]:
        """Minutes after midnight that it may mean."""
        if self.sure:
            return (self.hour * 60 + self.minute,)
        return (self.hour % 12 * 60 + self.minute, (self.hour % 12 + 12) * 60 + self.minute)


class ClockTime(NamedTuple):
    """A time to begin at, or from one to another; an end that was left open is None."""

    first: TimeItem | None
    last: TimeItem | None = None
    point: bool = False
    about: bool = False


class Part(NamedTuple):
    """A part of the day."""

    name: str
    hours: Hours


class Length(NamedTuple):
    """How long it takes."""

    minutes: int


class Ahead(NamedTuple):
    """So many minutes from now: a moment, or with `within` everything up to it."""

    minutes: int
    within: bool = False


class ZoneItem(NamedTuple):
    """Whose clock is meant: an IANA name, or minutes east of Greenwich, which `place` may contradict."""

    name: str = ""
    offset: int = 0
    place: str = ""
    said: str = ""


class Doubt(NamedTuple):
    """What cannot be read one way only, as a question."""

    question: str
    contradiction: bool = False
    """The words exclude each other, such as a weekday and a date."""


class Flex(NamedTuple):
    """How much room there is; without a dimension it goes with the words beside it."""

    value: str
    dimensions: tuple[str, ...] = ()


class Except(NamedTuple):
    """Times that are ruled out: on these dates, on these weekdays, or on all; all day, or in a part of it."""

    dates: tuple[date, ...] = ()
    weekdays: tuple[int, ...] = ()
    part: Part | None = None


class Past(NamedTuple):
    """Words about what was: not a time to arrange, and they stay in the rest."""


Item = Day | ClockTime | Part | Length | Ahead | ZoneItem | Doubt | Flex | Except | Past


class Found(NamedTuple):
    """Items, and the place behind their words."""

    items: tuple[Item, ...]
    end: int


class Piece(NamedTuple):
    """One item of a sentence with its words: from token `start` up to token `end`."""

    item: Item
    start: int
    end: int
