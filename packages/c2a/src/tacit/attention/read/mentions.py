"""Mentions: whom an event names, one by one or by a role.

Rows: C2A-034, C2A-047, C2A-053, C2A-114, C2A-208, C2A-209. Three sources: the ledger's `to`,
`data.mentions`, and names that people call in their prose (`calls`). What an agent writes in its text names
nobody. A name that resolves to nobody is dropped. Knows nothing of policy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.read.calls import CalledName, CallStrength, calls
from tacit.attention.read.roster import FOREMAN, PEERS
from tacit.ledger.kinds import BROADCAST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.attention.read.roster import Roster


@dataclass(frozen=True, slots=True)
class Target:
    """Whom an event is aimed at."""

    agents: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    everyone: bool = False
    is_aimed: bool = field(init=False, compare=False, repr=False)
    """Is it aimed at anyone at all? Every step on the way asks, so it is said once."""

    def __post_init__(self) -> None:
        is_aimed = self.everyone or bool(self.agents or self.people or self.roles)
        object.__setattr__(self, "is_aimed", is_aimed)


NO_TARGET: Final = Target()


def in_text(prose: str, roster: Roster, *, vocatives: bool = True) -> list[str]:
    """The names, roles and broadcasts that a person's prose mentions, in lower case, in order."""
    return named(calls(prose, roster), roster, vocatives=vocatives)


def named(called: Iterable[CalledName], roster: Roster, *, vocatives: bool) -> list[str]:
    """The same of calls that were found already; without `vocatives` those with a sign alone count."""
    return [
        _word(one.name, roster)
        for one in called
        if one.strength is CallStrength.SIGNED or (vocatives and one.strength is CallStrength.BARE)
    ]


def _word(written: str, roster: Roster) -> str:
    """An id keeps its case, since two ids may differ by it; anything else is compared in lower case."""
    return written if written in roster.agents else written.casefold()


def without_names(prose: str, called: Iterable[CalledName]) -> str:
    """The prose without the names that it calls: "Lead, thanks" and "thanks, lead" are both just thanks."""
    pieces: list[str] = []
    at = 0
    for call in sorted(called):
        pieces.append(prose[at : call.start])
        at = max(at, call.end)
    return " ".join([*pieces, prose[at:]])


def declared(mentions: object) -> list[str]:
    """The names in `data.mentions`: ids, `agent:<id>`, or objects with an `id`; anything else is ignored."""
    if not isinstance(mentions, list):
        return []
    found: list[str] = []
    for item in cast("list[Any]", mentions):
        name: object = cast("dict[str, object]", item).get("id") if isinstance(item, dict) else item
        if isinstance(name, str):
            found.append(name.removeprefix("agent:").removeprefix("human:").removeprefix("@"))
    return found


def is_known(word: str, roster: Roster) -> bool:
    """Does a word name somebody, a role, or all?"""
    folded = word.casefold()
    known = folded in BROADCAST or folded in roster.roles or folded in {FOREMAN, PEERS}
    return known or roster.principal(word) is not None


def target_of(to: Iterable[str], words: Iterable[str], roster: Roster, author: str) -> Target:
    """The target behind recipient tokens and mentioned words.

    A role or broadcast that comes down to exactly one session names it (C2A-208). Nobody names itself.
    """
    agents: set[str] = set()
    people: set[str] = set()
    roles: set[str] = set()
    everyone = False
    for written in [*(token.removeprefix("@") for token in to), *words]:
        principal, word = roster.principal(written), written.casefold()
        if principal is not None:
            (agents if principal in roster.agents else people).add(principal)
        elif word in BROADCAST:
            everyone = True
        elif word in roster.roles or word in {FOREMAN, PEERS}:
            roles.add(word)
    members = frozenset[str]().union(*(roster.roles.get(role, frozenset()) for role in roles)) - {author}
    if everyone and len(roster.agents) <= 2:
        members = frozenset(roster.agents) - {author}
        everyone = len(members) > 1
    if len(members) == 1 and not everyone:
        agents |= members
    agents.discard(author)
    people.discard(author)
    if not (agents or people or roles or everyone):
        return NO_TARGET
    return Target(frozenset(agents), frozenset(people), frozenset(roles), members, everyone)
