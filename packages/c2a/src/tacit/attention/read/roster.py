"""The roster: the agents and people that an event can concern, and what binds each one (C2A-005, C2A-048).

An agent entry is one session with the names it goes by, the roles it holds, what its harness negotiated. Only
routing and permission live here: no persona, no job description. Built once for each change of the group; the
indexes make a decision cheap however many agents there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from tacit.attention.read.spelling import SLIPS, beginnings, off_by_one, plain
from tacit.c2a.vocabulary import Mode
from tacit.ledger.kinds import BROADCAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALL_MODES: Final = frozenset(Mode)
FOREMAN: Final = "foreman"
PEERS: Final = "peers"
_SELECTORS: Final[dict[str | None, str]] = {"foreman": FOREMAN, "peer": PEERS}
SOLID: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    r"\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
"""Scripts that put no space between words: a name ends where they begin."""
_LETTER: Final = rf"[^\W_{SOLID}]"
NOBODY: Final = ""
"""An id that no agent has; what is decided for it is decided for everyone who is not exceptional."""


@dataclass(frozen=True, slots=True)
class RosterAgent:
    """One agent session as attention sees it."""

    agent_id: str
    names: tuple[str, ...] = ()
    role: str | None = None
    roles: frozenset[str] = frozenset()
    modes: frozenset[Mode] = ALL_MODES
    online: bool = True


@dataclass(frozen=True, slots=True)
class RosterPerson:
    """One human."""

    principal: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Roster:
    """All agents and people of one group."""

    agents: Mapping[str, RosterAgent] = field(default_factory=dict[str, RosterAgent])
    people: Mapping[str, RosterPerson] = field(default_factory=dict[str, RosterPerson])
    owner: str = "user"

    @classmethod
    def of(cls, agents: Iterable[RosterAgent], people: Iterable[RosterPerson] = ()) -> Roster:
        """A roster from its entries."""
        return cls(
            {agent.agent_id: agent for agent in agents}, {person.principal: person for person in people}
        )

    @cached_property
    def roles(self) -> dict[str, frozenset[str]]:
        """Who holds each role; `foreman` and `peers` are roles too (C2A-208)."""
        found: dict[str, set[str]] = {}
        for agent in self.agents.values():
            for role in agent.roles:
                found.setdefault(role.casefold(), set()).add(agent.agent_id)
            if agent.role in _SELECTORS:
                found.setdefault(_SELECTORS[agent.role], set()).add(agent.agent_id)
        return {role: frozenset(members) for role, members in found.items()}

    @cached_property
    def names(self) -> dict[str, str]:
        """The principal behind each name, by its lower-case form; an id wins over somebody else's title."""
        found: dict[str, str] = {}
        entries = [(one.agent_id, one.names) for one in self.agents.values()]
        entries += [(one.principal, one.names) for one in self.people.values()]
        for principal, names in entries:
            for name in names:
                found.setdefault(name.strip().casefold(), principal)
        found.setdefault(self.owner.casefold(), self.owner)
        for principal, _ in entries:
            found[principal.casefold()] = principal
            if principal.startswith("usr:"):
                found.setdefault(principal[4:].casefold(), principal)
        found.pop("", None)
        return found

    @cached_property
    def spelt(self) -> frozenset[str]:
        """Every id, name and role as it was given; `@Test` is not how an agent is called that is `test`."""
        given = {
            one for agent in self.agents.values() for one in (agent.agent_id, *agent.names, *agent.roles)
        }
        for person in self.people.values():
            given |= {person.principal, person.principal.removeprefix("usr:"), *person.names}
        return frozenset({*given, *BROADCAST, self.owner, FOREMAN, PEERS})

    @cached_property
    def _plain(self) -> list[tuple[str, str]]:
        """Every name in its plain form, with whom it is of; `usr:ann` goes by `ann`."""
        return [(plain(name), principal) for name, principal in self.names.items() if ":" not in name]

    @cached_property
    def beginnings(self) -> dict[str, set[str]]:
        """Whose names begin so."""
        found: dict[str, set[str]] = {}
        for name, principal in self._plain:
            for one in beginnings(name):
                found.setdefault(one, set()).add(principal)
        return found

    @cached_property
    def slips(self) -> dict[str, set[str]]:
        """Whose names are written so, but for one letter."""
        found: dict[str, set[str]] = {}
        for name, principal in self._plain:
            for one in off_by_one(name) if len(name) >= SLIPS else ():
                found.setdefault(one, set()).add(principal)
        return found

    def principal(self, word: str) -> str | None:
        """Who is meant: an id as it is written, else a name in any case."""
        if word in self.agents or word in self.people:
            return word
        return self.names.get(word.casefold())

    @cached_property
    def mention(self) -> re.Pattern[str]:
        """`@name` with the longest name first, standing on its own (C2A-034)."""
        words = sorted({*self.names, *self.roles, *BROADCAST}, key=lambda name: (-len(name), name))
        return re.compile(
            rf"(?:(?<!{_LETTER})(?<![@./+-])|(?<=[/+]))@({'|'.join(map(re.escape, words))})"
            rf"(?!_*{_LETTER})(?![-.@/]\w)(?!['\u2019]s\b)(?! (?:annotation|decorator)s?\b)",
            re.IGNORECASE,
        )

    @cached_property
    def pair(self) -> tuple[str, str] | None:
        """The one person and the one agent of a group that has no other member; None for any other group."""
        if len(self.agents) != 1 or self.people.keys() - {self.owner}:
            return None
        return self.owner, next(iter(self.agents))

    def has_other_people(self, principal: str) -> bool:
        """Is there a person in the group beside this one? Whoever speaks through a service is one of many."""
        return bool({self.owner, *self.people} - {principal}) or principal.startswith("svc:")

    @cached_property
    def limited(self) -> frozenset[str]:
        """Agents whose harness did not negotiate every mode (C2A-026)."""
        return frozenset(one.agent_id for one in self.agents.values() if one.modes != ALL_MODES)

    @cached_property
    def leads(self) -> tuple[str, ...]:
        """The foremen, in the order of their ids."""
        return tuple(sorted(one.agent_id for one in self.agents.values() if one.role == FOREMAN))
