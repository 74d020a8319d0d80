"""A group's state: what a fold over its events gives (CCCS-008, CCCS-011, CCCS-012, CCCS-117).

Small on purpose: title, scopes, roster, and where the ledger ends. Everything that grows with the history
(messages, acknowledgements, cursors, tasks) is a look-up in the read model.

Routing: from recipient tokens to recipients, fixed at append time.

Rows: CCCS-031, CCCS-032, CCCS-033, CCCS-034, CCCS-035, CCCS-036, CCCS-037, CCCS-038, CCCS-039, CCCS-040,
CCCS-110. A recipient set is either everyone (all actors of the group, however many join later: those came
after) or a list of names. The sender is never its own recipient.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.moment import Moment
from tacit.ledger.codes import invalid, missing
from tacit.ledger.principal import ACTOR, PERSON, USER, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.kinds import ChatMessage
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


SELECTORS: Final = ("@all", "@peers", "@foreman", "@user")


class Audience(msgspec.Struct, frozen=True, gc=False):
    """Whom an event is addressed to, and whether anybody else may read it."""

    everyone: bool = False
    named: tuple[str, ...] = ()
    private: bool = False


EVERYONE: Final = Audience(everyone=True)


def resolve(tokens: Sequence[str], group: Group, sender: str) -> Audience:
    """The recipients of a message; an unknown id or selector refuses the whole message."""
    if not tokens:
        return Audience(everyone=True)
    everyone = False
    named: dict[str, None] = {}
    for token in tokens:
        if token == "@all":  # noqa: S105 - a recipient token
            everyone = True
        else:
            named.update(dict.fromkeys(_members(token, group)))
    named.pop(sender, None)
    return Audience(everyone=everyone, named=tuple(named))


def _members(token: str, group: Group) -> list[str]:
    if token == "@peers":  # noqa: S105 - a recipient token
        return [actor.actor_id for actor in group.present() if actor.role == "peer"]
    if token == "@foreman":  # noqa: S105 - a recipient token
        return [actor.actor_id for actor in group.present() if actor.role == "foreman"]
    if token in {"@user", USER}:
        return [USER]
    if token.startswith("@"):
        raise invalid(f"unknown selector; known are {', '.join(SELECTORS)}", "CCCS-033")
    if not group.is_addressable(token):
        raise missing("actor", "a recipient is not in this group", "CCCS-032")
    return [token]


def is_concrete(token: str) -> bool:
    """A token that names one recipient rather than a set."""
    return token == "@user" or not token.startswith("@")  # noqa: S105 - a recipient token


def audience_of(message: ChatMessage, group: Group, sender: str, replied: StoredEvent | None) -> Audience:
    """Recipients and privacy of a message (C2A-209, CCCS-110).

    A dm is declared by `conversation.kind`, or follows: one concrete recipient and no reply, or a reply to a
    private message. Such a reply goes to the other parties, or to whom it names, be they parties or not; in
    the open it is only when it says so, by a selector for everyone or by the conversation that it declares.
    """
    if not message.to and replied is None and message.conversation is None:
        return EVERYONE
    tokens = list(dict.fromkeys(USER if token == "@user" else token for token in message.to))  # noqa: S105
    declared = message.conversation.kind if message.conversation else None
    inside = replied is not None and replied.private
    if replied is not None and inside and not tokens and declared in {None, "dm", "thread"}:
        others = (party for party in replied.parties() if party != sender and group.has_member(party))
        return Audience(named=tuple(sorted(others)), private=True)
    audience = resolve(tokens, group, sender)
    if declared == "dm":
        if audience.everyone or not tokens or not all(is_concrete(token) for token in tokens):
            raise invalid("a dm names its recipients one by one in `to`", "CCCS-110")
        return Audience(named=audience.named, private=True)
    if declared is not None and not (inside and declared == "thread"):
        return audience
    alone = replied is None and len(tokens) == 1 and is_concrete(tokens[0])
    private = not audience.everyone and (alone or inside)
    return Audience(everyone=audience.everyone, named=audience.named, private=private)
