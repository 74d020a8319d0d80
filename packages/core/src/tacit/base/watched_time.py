"""What time it is, when the machine's clock may be wrong: pure rules over what three sources say.

The wall clock can be set to any time. What was watched to pass cannot: it is the time that was last believed,
and what has passed since. A witness is somebody else's clock, as that of a relay at a login. Four questions
are answered from them.

**Is the clock in doubt?** When it says something more than a day off from what was watched, it leapt. It is
believed again once

- it comes back to what was watched,
- a witness says the same as it,
- it was watched for a day, while no witness said otherwise, or
- the owner says that it is right; from then on a witness that contradicts it as before is not heard.

A program that was not running watched nothing: after more than a day it waits for one of these, too.

**By which time may something be erased, or ended for good?** Nothing irreversible happens on a clock that is
contradicted. So two of the three have to say that the time has come: `confirmed_by`.

**Which time is it here?** The wall's. While it is in doubt: what is possible. Time does not go back, so
neither a clock nor a witness that lies before what was watched is possible: `best`.

**Which time do others read on what is sent?** That of the witness, where the clock is more than a day off
from it: they take nothing that is dated in their future, nor what is too old to know whether it came before.

Pure: all readings are arguments. Where this is kept and who is told: `base.io.time_service`.

Time that neither leaps nor goes back, reckoned from two clocks that may be wrong.

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

from tacit.base.moment import SECOND, ConfirmedTime, Moment

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


DAY: Final = 24 * 3600 * SECOND
BELIEVED: Final = DAY
"""How much further than it was watched a clock may go without being doubted."""
ENOUGH: Final = DAY
"""How long a clock that leapt is watched before it is believed, if nobody contradicts it."""
_WANDERS: Final = 100
"""A clock that is merely a bad one moves by less than one part in so many."""
_OFF_PACE: Final = 60 * SECOND
"""By how much it may be corrected between two looks and still go as time passes."""


class Watched(NamedTuple):
    """What a look at the clock left."""

    believed: Moment
    wall: Moment
    watched: int = 0
    """For how long the wall was watched since it leapt, or since the first look."""
    contradicted: int = 0
    """By how much the wall was ahead of a witness; no watching settles that. 0: they agree, or none spoke."""
    overruled: int | None = None
    """By how much the wall was ahead of the witness that its owner does not believe."""
    is_known: bool = True
    """Whether the believed time rests on anything but the first word of the wall."""
    drifted: int = 0
    """By how much the wall has moved from what was watched, little by little, since it was last trusted."""
    leapt_in_sight: bool = False
    """Whether the wall leapt while time was watched: then only what was watched can be right."""

    @property
    def leapt(self) -> int:
        """By how much the wall is off from what is believed, in microseconds; 0 while it is believed."""
        return self.wall - self.believed


def first_look(wall: Moment) -> Watched:
    """The wall alone speaks: nothing was seen before."""
    return Watched(wall, wall, is_known=False)


def trusted(before: Watched, wall: Moment) -> Watched:
    """The wall is right, whoever says so."""
    return Watched(wall, wall, overruled=before.overruled)


def looked(before: Watched, wall: Moment, passed: int | None) -> Watched:
    """The next look, `passed` microseconds of watched time after the one before; None: nobody watched."""
    in_sight, passed = passed is not None, max(0, passed or 0)
    reached, off_pace = Moment(before.believed + passed), wall - (before.wall + passed)
    if before.leapt:
        if abs(wall - reached) <= BELIEVED:
            return trusted(before, wall)
        if abs(off_pace) > BELIEVED:
            return _leapt(before, reached, wall, in_sight=in_sight)
        # A clock that does not go as time passes proves nothing by being watched.
        keeps_pace = abs(off_pace) <= _OFF_PACE + passed // _WANDERS
        watched = before.watched + passed if keeps_pace else 0
        if watched >= ENOUGH and not before.contradicted:
            return trusted(before, wall)
        return before._replace(believed=reached, wall=wall, watched=watched)
    drifted = before.drifted + off_pace if in_sight else 0
    if abs(off_pace) > BELIEVED:
        return _leapt(before, reached, wall, in_sight=in_sight)
    watched = before.watched + passed
    if abs(drifted) > BELIEVED + watched // _WANDERS:
        return _leapt(before, Moment(reached - before.drifted), wall, in_sight=in_sight)
    return before._replace(
        believed=wall,
        wall=wall,
        watched=watched,
        drifted=drifted,
        is_known=before.is_known or watched >= ENOUGH,
    )


def _leapt(before: Watched, reached: Moment, wall: Moment, *, in_sight: bool) -> Watched:
    moved = wall - before.wall - (reached - before.believed)
    contradicted = before.contradicted + moved if before.contradicted else 0
    return before._replace(
        believed=reached,
        wall=wall,
        watched=0,
        drifted=0,
        contradicted=contradicted if abs(contradicted) > BELIEVED else 0,
        leapt_in_sight=in_sight,
    )


def witnessed(before: Watched, witness: Moment) -> Watched:
    """The same after a witness said what time it is: it settles the doubt, or begins it."""
    off = before.wall - witness
    if abs(off) <= BELIEVED:
        # By as much as they differ it has drifted already.
        return trusted(before, before.wall)._replace(drifted=off)
    if heard(before, witness) is None:
        return before
    # Against the wall's first word, nothing that was watched speaks for the wall.
    believed = before.believed if before.is_known else witness
    return before._replace(believed=believed, watched=0, contradicted=off)


def overruled(before: Watched) -> Watched:
    """The owner says that the wall is right, also against the witness that contradicts it."""
    return trusted(before, before.wall)._replace(overruled=before.contradicted or before.overruled)


def heard(seen: Watched, witness: Moment) -> Moment | None:
    """What a witness says, unless the owner does not believe it."""
    off = seen.wall - witness
    disbelieved = seen.overruled is not None and abs(off - seen.overruled) <= BELIEVED < abs(off)
    return None if disbelieved else witness


def confirmed_by(seen: Watched, witness: Moment | None) -> ConfirmedTime:
    """The time that two of the three say has come; without a witness, that both others do.

    Without anything that was watched all three have to say so.
    """
    if witness is None or not seen.is_known:
        return ConfirmedTime(min(seen.believed, seen.wall, witness if witness is not None else seen.wall))
    return ConfirmedTime(sorted((seen.believed, seen.wall, witness))[1])


def best(seen: Watched, witness: Moment | None) -> Moment:
    """The time here: the wall's, unless what was watched or a witness speaks against it."""
    if not seen.leapt:
        return seen.wall
    if witness is None:
        return seen.believed if seen.leapt_in_sight or seen.wall < seen.believed else seen.wall
    if not seen.is_known:
        return witness
    possible = [at for at in (seen.wall, witness) if at >= seen.believed - BELIEVED]
    return min(possible, default=seen.believed)


def shared(seen: Watched, witness: Moment | None) -> Moment:
    """The time that others read on what is sent."""
    return witness if seen.contradicted and witness is not None else best(seen, witness)


def in_words(span: int) -> str:
    """How long a span is, roughly: `91 days`."""
    days = round(abs(span) / DAY)
    return "1 day" if days == 1 else f"{days} days"


def doubt(seen: Watched) -> str:
    """What the owner is told of a clock that is in doubt, in one sentence; empty for one that is believed."""
    off = seen.leapt or seen.contradicted
    if not off:
        return ""
    says = f"this machine's clock is {in_words(off)} {'ahead of' if off > 0 else 'behind'}"
    if not seen.leapt:
        return f"{says} what its relay or its servers say, so what is sent bears their time"
    return (
        f"{says} the time that was last known here, so nothing is erased or ended by it until the clock is"
        " right or proves to be"
    )
