"""A machine's two clocks, both in a test's hand: one that is set, and one that only says what has passed."""

from __future__ import annotations

from tacit.base.moment import SECOND, Moment

DAY = 24 * 3600 * SECOND
START = Moment(1_800_000_000 * SECOND)
LEAPS = {
    "an hour": 3600 * SECOND,
    "three days": 3 * DAY,
    "two months": 61 * DAY,
    "three months": 91 * DAY,
    "a year": 365 * DAY,
    "a year back": -365 * DAY,
}


class TwoClocks:
    """Both stand until they are moved."""

    def __init__(self, wall: Moment = START) -> None:
        self.wall = wall
        self.steady = 0

    def now(self) -> Moment:
        return self.wall

    def both(self) -> tuple[Moment, int]:
        return self.wall, self.steady

    def leap(self, by: int) -> None:
        """Somebody sets the wall."""
        self.wall = Moment(self.wall + by)

    def watch(self, span: int) -> None:
        """Time passes, and a running process sees it."""
        self.leap(span)
        self.steady += span
