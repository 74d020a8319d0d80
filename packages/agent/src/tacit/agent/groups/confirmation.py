"""When a group's proposal is confirmed: by all, by a quorum, or by one after the other.

A2ACP-142, A2ACP-151, A2ACP-152, A2ACP-153.

One table of what follows from who has said what. `MET` is the moment at which actions may run; whoever asks
writes it down once. A decline ends it where everybody is needed, and in a quorum only once too few are left.
Knows nothing of threads, time or packets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import bodies
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

ALL: Final = "all"
QUORUM: Final = "quorum"
SEQUENTIAL: Final = "sequential"
MODES: Final = (ALL, QUORUM, SEQUENTIAL)

OPEN: Final = "open"
MET: Final = "met"
UNREACHABLE: Final = "unreachable"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """How a group confirms."""

    mode: str = ALL
    quorum: int = 0
    order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a proposal stands, and who is asked now."""

    outcome: str
    asked: tuple[str, ...]


def chosen(members: Sequence[str], *, quorum: object = None, in_order: bool = False) -> Confirmation:
    """The way in which an owner wants it confirmed; `Refused` for one that cannot be."""
    if quorum is not None and in_order:
        raise Refused("bad_confirmation", "either a quorum or an order", row="A2ACP-153")
    if in_order:
        return Confirmation(SEQUENTIAL, order=tuple(members))
    if quorum is None:
        return Confirmation()
    if not isinstance(quorum, int) or isinstance(quorum, bool) or not 1 <= quorum <= len(members):
        raise Refused("bad_confirmation", f"a quorum is a number from 1 to {len(members)}", row="A2ACP-153")
    return Confirmation(QUORUM, quorum=quorum)


def written(way: Confirmation) -> bodies.PacketConfirmation:
    """The `confirmation` of a resolution."""
    return bodies.PacketConfirmation(
        mode=way.mode,
        quorum=way.quorum if way.mode == QUORUM else None,
        order=way.order if way.mode == SEQUENTIAL else None,
    )


def read(said: bodies.PacketConfirmation | None, members: Sequence[str]) -> Confirmation:
    """The `confirmation` of a packet; what cannot be is `all` (A2ACP-153)."""
    if said is None:
        return Confirmation()
    quorum, order = said.quorum, said.order
    if said.mode == QUORUM and quorum is not None and 1 <= quorum <= len(members):
        return Confirmation(QUORUM, quorum=quorum)
    if said.mode == SEQUENTIAL and order and len(order) == len(members) and set(order) == set(members):
        return Confirmation(SEQUENTIAL, order=order)
    return Confirmation()


def standing(
    way: Confirmation, members: Sequence[str], confirmed: Collection[str], declined: Collection[str]
) -> Standing:
    """What follows from who has said what; only members count, each once."""
    yes = [one for one in members if one in confirmed and one not in declined]
    no = [one for one in members if one in declined]
    left = [one for one in members if one not in yes and one not in no]
    if way.mode == QUORUM:
        # Whoever has left meanwhile lowers what can be reached, not what is needed.
        if len(yes) >= way.quorum:
            return Standing(MET, tuple(left))
        return Standing(OPEN if len(yes) + len(left) >= way.quorum else UNREACHABLE, tuple(left))
    if no:
        return Standing(UNREACHABLE, ())
    if not left:
        return Standing(MET, ())
    if way.mode == SEQUENTIAL:
        following = [one for one in way.order if one in left]
        return Standing(OPEN, tuple(following[:1]) or tuple(left[:1]))
    return Standing(OPEN, tuple(left))
