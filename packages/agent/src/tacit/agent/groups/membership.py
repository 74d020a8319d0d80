"""Who takes part: which lists are lists, how two of them are compared, which names pass for each other.

A2ACP-173, A2ACP-174. A list names everybody, the coordinator too, each once, at least three. People compare
lists by a short digest, which is the same for the same people in any order. Two addresses that a person
would take for one (`bob`, `b0b`) are not let into one group.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, cast

from tacit.base.errors import Refused
from tacit.base.strict_json import as_list
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tacit.base.strict_json import Json

FEWEST: Final = 3
MOST: Final = 50
_DIGEST_SIGNS: Final = 12
_LOOKS: Final = (("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"), ("rn", "m"), ("vv", "w"), ("cl", "d"))


def digest(members: Iterable[str]) -> str:
    """The people of a list in twelve signs."""
    named = "\n".join(("tacit group 1", *sorted(members)))
    return hashlib.sha256(named.encode()).hexdigest()[:_DIGEST_SIGNS]


def look(member: str) -> str:
    """An address as a hasty reader sees it."""
    found = member.removeprefix("agent:").translate(str.maketrans("", "", "._-"))
    for seen, taken_for in _LOOKS:
        found = found.replace(seen, taken_for)
    return found


def chosen(me: str, others: Sequence[str]) -> tuple[str, ...]:
    """The list of a new group, ourselves first; `Refused` for one that is none."""
    members = (me, *others)
    fault = _fault(members)
    if fault:
        raise Refused("bad_group", fault, row="A2ACP-174")
    return members


def told(listed: Json, *, me: str, sender: str, fewest: int = FEWEST) -> tuple[str, ...] | None:
    """The list that a coordinator's packet names; None when it is none that we could be part of.

    A group begins with three; others may leave it until two are left.
    """
    entries = as_list(listed)
    members = tuple(one for one in entries if isinstance(one, str))
    if len(members) != len(entries) or not {me, sender} <= set(members) or _fault(members, fewest):
        return None
    return members


def is_list(listed: object) -> bool:
    """Whether a packet names more than two, well or badly: then it is of a group."""
    return isinstance(listed, list) and len(cast("list[object]", listed)) >= FEWEST


def shrunk(before: Iterable[str], after: Iterable[str]) -> bool:
    """Whether a later list names nobody new: whoever wants in gets a new group."""
    return set(after) <= set(before)


def _fault(members: Sequence[str], fewest: int = FEWEST) -> str:
    if not fewest <= len(members) <= MOST:
        return f"a group has {FEWEST} to {MOST} people"
    if len(set(members)) != len(members):
        return "somebody is named twice"
    for one in members:
        try:
            address.parse(one)
        except Refused:
            return "an address is none"
    if len({look(one) for one in members}) != len(members):
        return "two addresses look like one"
    return ""
