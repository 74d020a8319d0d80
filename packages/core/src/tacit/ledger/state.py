"""A group's state: what a fold over its events gives (CCCS-008, CCCS-011, CCCS-012, CCCS-117).

Small on purpose: title, scopes, roster, and where the ledger ends. Everything that grows with the history
(messages, acknowledgements, cursors, tasks) is a look-up in the read model.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.base.moment import Moment
from tacit.ledger.principal import ACTOR, PERSON, USER, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.ledger.principal import PrincipalKind


@dataclass(frozen=True, slots=True)
class Actor:
    """A named agent of one group."""

    actor_id: str
    role: str | None = None
    title: str | None = None
    roles: tuple[str, ...] = ()
    joined: int = 0
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """A further human of one group."""

    principal: str
    title: str | None = None
    joined: int = 0


@dataclass(slots=True)
class Group:
    """One group between two events."""

    group_id: str
    number: int = 0
    title: str = ""
    created: str = ""
    last_seq: int = 0
    last_ts: Moment = Moment(0)
    chain: bytes = b""
    scopes: dict[str, str] = field(default_factory=dict[str, str])
    actors: dict[str, Actor] = field(default_factory=dict[str, Actor])
    people: dict[str, Person] = field(default_factory=dict[str, Person])

    def actor(self, actor_id: str) -> Actor | None:
        """The actor, if it is in the group now."""
        found = self.actors.get(actor_id)
        return found if found is not None and found.removed is None else None

    def present(self) -> Iterator[Actor]:
        """The actors that are in the group now."""
        return (actor for actor in self.actors.values() if actor.removed is None)

    def has_member(self, principal: str) -> bool:
        """May this principal take part at all?"""
        return self.member_kind(principal) is not None

    def member_kind(self, principal: str) -> PrincipalKind | None:
        """As what this principal takes part, if at all. Services are admitted by their credential."""
        kind = kind_of(principal)
        if kind is ACTOR:
            return kind if self.actor(principal) is not None else None
        if kind is PERSON:
            return kind if principal in self.people else None
        return kind

    def is_addressable(self, principal: str) -> bool:
        """Can messages be addressed to it? Actors and humans; services cannot (CCCS-059)."""
        return principal == USER or self.actor(principal) is not None or principal in self.people

    def joined_at(self, principal: str) -> int:
        """The position from which broadcasts count for this principal; later joiners owe nothing."""
        if principal in self.actors:
            return self.actors[principal].joined
        if principal in self.people:
            return self.people[principal].joined
        return 0


def scope_key(group_id: str, url: str) -> str:
    """The stable, opaque key of a scope: the same url in the same group always has the same one."""
    return "s_" + hashlib.blake2b(f"{group_id}\n{url}".encode(), digest_size=8).hexdigest()
