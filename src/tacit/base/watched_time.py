"""Whether the machine's clock may be believed before something is erased by it, or ended for good.

A clock that was set to another time erases whatever it says is old, and nothing brings that back. So what
erases does not go by the wall clock alone but by a believed time, which goes on with the wall only as far as
somebody watched time pass, and a day beyond. When the wall has gone further since the last look, forwards or
back, it leapt: the believed time then goes on by what is watched to pass, until

- the wall comes back to it,
- a witness, as a relay's clock, says what the wall says,
- this program has run for a day with that clock, while no witness said otherwise, or
- the owner says that the clock is right.

`safe` is what to erase by: the earlier of the two, so that a leap either way erases nothing. A program that
was not running watched nothing: after more than a day it waits for one of these, too.

Pure: both clocks' readings are arguments. Where this is kept and who is told: `base.io.clock_watch`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tacit.base.moment import SECOND, Moment

DAY: Final = 24 * 3600 * SECOND
BELIEVED: Final = DAY
"""How much further than it was watched a clock may go without being doubted."""
ENOUGH: Final = DAY
"""How long a clock that leapt is watched before it is believed."""


class Watched(NamedTuple):
    """What a look at the clock left: the believed time, the wall's, and for how long that was watched."""

    believed: Moment
    wall: Moment
    watched: int = 0

    @property
    def leapt(self) -> int:
        """By how much the wall is off from what is believed, in microseconds; 0 while it is believed."""
        return self.wall - self.believed

    @property
    def safe(self) -> Moment:
        """What to erase by."""
        return min(self.believed, self.wall)


def trusted(wall: Moment) -> Watched:
    """The wall is right."""
    return Watched(wall, wall)


def looked(before: Watched, wall: Moment, passed: int) -> Watched:
    """The next look, `passed` microseconds of watched time after the one before."""
    passed = max(0, passed)
    reached = Moment(before.believed + passed)
    if abs(wall - reached) <= BELIEVED:
        return trusted(wall)
    leaps_again = not before.leapt or abs(wall - (before.wall + passed)) > BELIEVED
    watched = 0 if leaps_again else before.watched + passed
    return trusted(wall) if watched >= ENOUGH else Watched(reached, wall, watched)


def witnessed(before: Watched, witness: Moment) -> Watched:
    """The same after a witness said what time it is: it settles the doubt, or begins it."""
    if abs(before.wall - witness) <= BELIEVED:
        return trusted(before.wall)
    return Watched(min(before.believed, witness), before.wall)


def in_words(span: int) -> str:
    """How long a span is, roughly: `91 days`."""
    days = round(abs(span) / DAY)
    return "1 day" if days == 1 else f"{days} days"


def doubt(leapt: int) -> str:
    """What the owner is told of a clock that leapt, in one sentence."""
    way = "ahead of" if leapt > 0 else "behind"
    return (
        f"this machine's clock is {in_words(leapt)} {way} the time that was last known here, so nothing is"
        " erased or ended by it until the clock is right or proves to be"
    )
