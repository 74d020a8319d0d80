"""Time that neither leaps nor goes back, reckoned from two clocks that may be wrong.

The machine's wall clock knows the time and may be set to any other; its steady one knows only how much has
passed. The reckoned time begins with the wall's and goes on by what the steady clock says. Where the wall
says otherwise it draws nearer by at most a tenth of what has passed. So a span of ours, a deadline, a lease,
a window, lasts nine to eleven tenths of its length whatever anybody does to the wall, and what is stamped
keeps its order.

A wall that was set is a jump, which people are told of. After a restart only the wall is left to go by: then
the time begins anew with it, but never before what was stamped already (`not_before`).

Pure: both clocks' readings are arguments.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tacit.base.moment import SECOND, Moment

DRAWS_NEAR: Final = 10
"""One part in so many of what has passed."""
LEAST_JUMP: Final = 10 * SECOND
WANDERS: Final = 1_000
"""A wall clock that is merely kept right moves by less than one part in so many."""


class Reckoning(NamedTuple):
    """The reckoned time, and what both clocks said when it was."""

    at: Moment
    wall: Moment
    steady: int

    @property
    def ahead(self) -> int:
        """By how much the reckoned time is ahead of the wall's, in microseconds."""
        return self.at - self.wall


def begun(wall: Moment, steady: int) -> Reckoning:
    """The first reading."""
    return Reckoning(wall, wall, steady)


def reckoned(before: Reckoning, wall: Moment, steady: int) -> Reckoning:
    """The next reading. A steady clock that went back, which none does, counts as one that stood."""
    passed = max(0, steady - before.steady)
    most = passed // DRAWS_NEAR
    off = wall - (before.at + passed)
    nearer = max(-most, min(most, off))
    return Reckoning(Moment(before.at + passed + nearer), wall, max(steady, before.steady))


def jump(before: Reckoning, wall: Moment, steady: int) -> int:
    """By how much the wall was set between two readings, in microseconds; 0 when it was not."""
    passed = max(0, steady - before.steady)
    moved = wall - before.wall - passed
    return moved if abs(moved) >= max(LEAST_JUMP, passed // WANDERS) else 0


def read(before: Reckoning, wall: Moment, steady: int) -> tuple[Reckoning, int]:
    """The next reading, and by how much the wall was set before it."""
    return reckoned(before, wall, steady), jump(before, wall, steady)


def not_before(before: Reckoning, moment: Moment) -> Reckoning:
    """The same, brought forward to what was stamped already."""
    return before._replace(at=Moment(max(before.at, moment)))
