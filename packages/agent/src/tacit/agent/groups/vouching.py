"""Signed lists: what a participant says of the people it was told of, so that the others can compare.

A2ACP-173, A2ACP-174. A star has no way from one participant to another but through the coordinator, which may
tell each of them another list. So each signs, with its identity key, the whole list that the coordinator told
it first; the coordinator hands the signatures on with its proposal; and each holds them against the list that
it was told itself. A signature of a known key that does not hold is of another list. A coordinator can leave
signatures out, or make up keys of people whom a participant does not know: those count as unsigned, and are
named to the owner. Two members under one key are one voice.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.strict_json import as_objects
from tacit.seal import primitives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tacit.base.strict_json import Json

_PURPOSE: Final = b"tacit group list 1"
_WRITTEN: Final = 154


@dataclass(frozen=True, slots=True)
class ToldList:
    """A list, as one coordinator told it in one group."""

    group_id: str
    coordinator: str
    members: tuple[str, ...]

    def statement(self, member: str) -> bytes:
        """What one member signs of it; the order of the names says nothing."""
        named = (self.group_id, self.coordinator, member, *sorted(self.members))
        return primitives.framed(_PURPOSE, *(one.encode() for one in named))


@dataclass(frozen=True, slots=True)
class Compared:
    """What the signatures of a proposal say of the list that we were told."""

    another: tuple[str, ...] = ()
    """Whose known key has signed another list."""
    unsigned: tuple[str, ...] = ()
    """Of whom nothing is known: no signature that holds, or one under a key that is not known to us."""
    doubled: tuple[str, ...] = ()
    """Who stands under a key that an earlier name of the list has."""


def signature(sign: Callable[[bytes], bytes], key: bytes, told: ToldList, member: str) -> str:
    """A member's key and signature as one word, in which no text of the owner's can be found by chance."""
    return base64.b32encode(key + sign(told.statement(member))).decode().rstrip("=").lower()


def read(word: object) -> tuple[bytes, bytes] | None:
    """The key and the signature of such a word; None for what is none."""
    if not isinstance(word, str) or len(word) != _WRITTEN:
        return None
    try:
        found = base64.b32decode(word.upper() + "=" * (-len(word) % 8))
    except (binascii.Error, ValueError):
        return None
    return found[: primitives.KEY_BYTES], found[primitives.KEY_BYTES :]


def handed_on(found: Json) -> dict[str, str]:
    """The signatures that a coordinator's proposal carries, by member."""
    pairs = [(entry.get("agent"), entry.get("signature")) for entry in as_objects(found)]
    return {agent: word for agent, word in pairs if isinstance(agent, str) and isinstance(word, str)}


def compared(
    told: ToldList, handed: Mapping[str, str], present: Iterable[str], known: Mapping[str, bytes], me: str
) -> Compared:
    """Hold the signatures against the list that we were told.

    `known` are the keys that we have of others, our own among them; the coordinator's word is its packet.
    """
    another: list[str] = []
    unsigned: list[str] = []
    keys = dict(known)
    for one in (one for one in present if one not in {me, told.coordinator}):
        said = read(handed.get(one))
        held = said is not None and primitives.verify(said[0], told.statement(one), said[1])
        if said is not None and known.get(one) == said[0] and not held:
            another.append(one)
        elif said is None or not held or known.get(one) != said[0]:
            unsigned.append(one)
        if said is not None and held:
            keys.setdefault(one, said[0])
    return Compared(tuple(another), tuple(unsigned), doubled(present, keys))


def doubled(members: Iterable[str], keys: Mapping[str, bytes]) -> tuple[str, ...]:
    """The members that stand under a key which an earlier one of the list has."""
    seen: set[bytes] = set()
    found: list[str] = []
    for one in members:
        key = keys.get(one)
        if not key:
            continue
        if key in seen:
            found.append(one)
        seen.add(key)
    return tuple(found)
