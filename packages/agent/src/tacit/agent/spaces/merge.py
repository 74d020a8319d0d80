"""The merge: which version of a field stands, on every replica the same.

A2ACP-198, A2ACP-199, A2ACP-200, A2ACP-202.

Theory of operation. A replica holds, of each field, the newest version of each author that wrote it. A
version is `(v, at, by)`: a count, the moment it was written, its author's address. Taking a change is
taking the greater of two versions of one author, so any order, any repeat and any loss that is made up
for later end in the same replica (commutative, associative, idempotent: a join). Which version stands is
computed from all of them: the greatest of those whose authors may write the field. Nothing that a replica
happened to see first has a part in it. A deletion is a version like others, without a value: a tombstone,
so that what arrives late does not bring the field back. Items of a list are fields of their own,
`list/id`; no version holds a list of its own, in which entries could be lost.

Whose a field is follows from the writes too. Each says since when its author has written the field, and the
field is whose that is earliest. So of two members who may write only their own fields and who create the
same one while apart, one becomes its owner, the same on every replica; the other's version is kept, does not
stand, and its author is told. That is nobody's fault and no violation.

Who wrote a version is never read from a packet: `by` is the sender whose signature the post has checked. So
a change travels from its author and from nobody else, and there is nothing to forge. One exception gives an
author its own words back: a replica restored from a backup lacks what its former self wrote. Each version
carries a `mark`, the author's keyed hash of it, under a key that only the author has: what comes back with
the right mark is the author's own.

What is bounded, and why. The count: a field can have been written once a second since its space was
created, with some minutes for clocks that differ. A higher count is refused, so that a huge one does not
stand for ever: whoever writes next is one higher and wins. All replicas judge by the space's age and not by
what they happen to hold, so that they judge alike. The moment: not beyond those minutes ahead of us; it
decides only between equal counts, so that a wrong clock wins a tie and nothing more. A lower version than
the one that stands is no news, whoever sends it: nothing rolls back.

What can go wrong. A member that lies about since when it has written a field takes the field over, on every
replica alike; whoever had it is told, and the creator can take the liar out. A member that tells each of the
others something different under one version is not found out here. Levels count as they are now: who is given
a lower one loses what it wrote into fields of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tacit.agent.spaces.levels import may_write
from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tacit.agent.spaces.state import Cell

SKEW: Final = 600 * SECOND
"""By how much the clocks of members may differ."""

STALE: Final = "stale"
"""Not newer than what stands."""
TOO_HIGH: Final = "too_high"
TOO_LATE: Final = "too_late"
LEVEL: Final = "level"
FULL: Final = "full"


class Version(NamedTuple):
    """What decides between two writes of one field: the greater stands."""

    v: int
    at: Moment
    by: str


class Change(NamedTuple):
    """One write of one field, as it travels; its author is whoever sends it."""

    field: str
    value: Any
    deleted: bool
    v: int
    at: Moment
    mark: str
    since: Moment | None = None
    """When its author first wrote the field; None from a peer that does not say so."""


def version(cell: Cell) -> Version:
    """The version that a cell holds."""
    return Version(cell.v, cell.at, cell.by)


def highest_count(created: Moment, now: Moment) -> int:
    """The highest count that a field can have reached in a space of this age."""
    return max(1, (now - created + SKEW) // SECOND)


def owner(cells: Iterable[Cell]) -> str | None:
    """Whose a field is: the author that has written it for longest; None where nobody has."""
    return min(((cell.begun, cell.by) for cell in cells), default=(None, None))[1]


def standing(cells: Collection[Cell], level_of: Callable[[str], str]) -> Cell | None:
    """The version of a field that stands, of one cell for each author: a function of nothing but these."""
    field_owner = owner(cells)
    counting = [cell for cell in cells if may_write(level_of(cell.by), owner=field_owner, author=cell.by)]
    return max(counting, key=version, default=None)


def fault(
    held: Cell | None,
    new: Version,
    *,
    level: str,
    created: Moment,
    now: Moment,
    room: bool,
) -> str | None:
    """Why a replica does not take a version; None when it does.

    `held` is what it holds of the same author, whose `level` is as the creator gave it; `room` says whether
    the space may have one field more.
    """
    if new.v > highest_count(created, now):
        return TOO_HIGH
    if new.at > now + SKEW:
        return TOO_LATE
    if held is not None and new <= version(held):
        return STALE
    if not may_write(level, owner=None, author=new.by):
        return LEVEL
    if held is None and not room:
        return FULL
    return None
