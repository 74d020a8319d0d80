"""@names in what an agent writes: whom they mean, read as in a person's text, and declared with the send.

Rows: C2A-034, C2A-111, C2A-112, C2A-114. The host takes no names from an agent's words, only from what it
declares; so the harness reads them by the host's own rules and declares them. A name that reaches nobody is
told to whoever wrote it. Pure: who is here comes from a look at the members.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.read.form import prose
from tacit.attention.read.mentions import in_text
from tacit.attention.read.roster import Roster, RosterAgent, RosterPerson
from tacit.c2a.delivery_shape import objects, text_in, words_in
from tacit.c2a.tools import BROADCAST, body_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.c2a.messages import Delivered

_WRITTEN: Final = re.compile(r"(?<![\w@./+-])@([^\W\d_][\w-]{0,40})")
NOBODY: Final = "nobody here has this name"
OUTSIDE: Final = "does not read this conversation"
WHOLE_ROOM: Final = "an agent names one agent, a person or a role, not a whole room"


@dataclass(frozen=True, slots=True)
class NamedAddressees:
    """Whom a text names: those it reaches, as a send declares them, and those it does not, each with why."""

    mentions: tuple[str, ...] = ()
    unreached: tuple[tuple[str, str], ...] = ()

    def told(self) -> list[dict[str, str]]:
        """For the model that wrote it."""
        return [{"name": f"@{name}", "why": why} for name, why in self.unreached]


def company(members: object) -> Roster:
    """Who is here, from what `chat.members` shows."""
    rows = objects(members)
    agents = [
        RosterAgent(
            text_in(row, "id"), tuple(words_in(row.get("names"))), roles=frozenset(words_in(row.get("roles")))
        )
        for row in rows
        if row.get("kind") == "agent"
    ]
    people = [
        RosterPerson(text_in(row, "id"), tuple(words_in(row.get("names"))))
        for row in rows
        if row.get("kind") == "human"
    ]
    return Roster.of(agents, people)


def may_name(arguments: Mapping[str, Any]) -> bool:
    """Could this send name somebody in its words? One that obliges nobody names nobody."""
    return "@" in body_of(arguments.get("content")) and arguments.get("directedness") != "ambient"


def named_in(
    body: str, roster: Roster, *, me: str, about: Delivered, elsewhere: bool = False
) -> NamedAddressees:
    """Whom a text names, in the place of the event that it is about, or elsewhere.

    Whom it answers hears it anyway and is not obliged by his own name; nobody names himself.
    """
    said = prose(body)
    mentions: dict[str, None] = {}
    unreached: dict[str, str] = {}
    known: set[str] = set()
    for word in in_text(said, roster, vocatives=False):
        known.add(word.casefold())
        principal = roster.principal(word)
        if principal in {me, about.author.id}:
            continue
        if principal is not None and about.parties and not elsewhere and principal not in about.parties:
            unreached[word] = OUTSIDE
        elif principal is not None:
            mentions[f"agent:{principal}" if principal in roster.agents else f"human:{principal}"] = None
        elif word.casefold() in BROADCAST:
            unreached[word] = WHOLE_ROOM
        else:
            mentions[f"role:{word}"] = None
    for match in _WRITTEN.finditer(said):
        name = match.group(1)
        if not any(one.startswith(name.casefold()) for one in known):
            unreached.setdefault(name, NOBODY)
    return NamedAddressees(tuple(mentions), tuple(unreached.items()))


def declared(arguments: Mapping[str, Any], named: NamedAddressees) -> dict[str, Any]:
    """A send that declares whom its words name, beside whom it names already."""
    given: object = arguments.get("mentions")
    already = (
        [one for one in cast("list[object]", given) if isinstance(one, str)]
        if isinstance(given, list)
        else []
    )
    both = list(dict.fromkeys([*already, *named.mentions]))
    return {**arguments, "mentions": both} if both else dict(arguments)
