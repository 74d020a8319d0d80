"""Routing: from recipient tokens to recipients, fixed at append time.

Rows: CCCS-031, CCCS-032, CCCS-033, CCCS-034, CCCS-035, CCCS-036, CCCS-037, CCCS-038, CCCS-039, CCCS-040,
CCCS-110. A recipient set is either everyone (all actors of the group, however many join later: those came
after) or a list of names. The sender is never its own recipient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from tacit.ledger.codes import invalid, missing
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.ledger.shapes import ChatMessage
    from tacit.ledger.state import Group
    from tacit.ledger.stored_event import StoredEvent

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
