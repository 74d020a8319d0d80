"""Room offers: which agent is offered a question to the room, and what it gets (C2A-077).

Whoever is online, has not left the place and was not offered it yet can be. Those who are idle come first;
of those, whose name the question nearly calls, whose role it speaks of, who looks after the place, who spoke
there last. Somebody busy is offered it only where nobody is idle. A claim decides who answers, so an offer
obliges nobody. Knows nothing of when (`room_questions`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Decision, Rule
from tacit.attention.read.form import prose
from tacit.attention.read.near_names import nearly_called
from tacit.c2a.vocabulary import Directedness, Mode, Policy, Reason

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.roster import Roster
    from tacit.attention.state.fold import Attention

OFFERED: Final = Rule("room.offered", "C2A-077", "nobody is named, and it was offered the question")
FITS_BY_NAME: Final = Rule("room.fits.name", "C2A-077", "the question begins with a name like its own")
FITS_BY_ROLE: Final = Rule("room.fits.role", "C2A-077", "the question speaks of a role that it holds")
FITS_BY_PLACE: Final = Rule("room.fits.place", "C2A-077", "what is said there is its to look after")
FITS_BY_TALK: Final = Rule("room.fits.talk", "C2A-077", "it was the last of the agents to speak there")
FITS_BY_TIME: Final = Rule("room.fits.time", "C2A-077", "it is there and has the least else to do")
_WORD: Final = re.compile(r"\w{2,}")
STEM: Final = 4
"""The fewest letters of a word that may have another ending."""
ENDING: Final = 4
"""The most letters of an ending: "deploy", "deployment"."""


@dataclass(frozen=True, slots=True)
class Fitness:
    """What is known of agents for one question: who owns the place, spoke there last, has how much to do."""

    roster: Roster
    text: str
    owners: frozenset[str] = frozenset()
    last: str = ""
    load: Mapping[str, int] = field(default_factory=dict[str, int])

    def rank(self, agent: str) -> tuple[bool, bool, bool, bool, bool, int, str]:
        """The fittest has the least: nearly named, idle, of a role that the question speaks of, at home."""
        load = self.load.get(agent, 0)
        return (
            agent not in nearly_called(prose(self.text), self.roster),
            load > 0,
            not self._speaks_of(agent),
            agent not in self.owners,
            agent != self.last,
            load,
            agent,
        )

    def why(self, agent: str) -> Rule:
        """What spoke for the one that was chosen."""
        is_unlike, _, has_no_role, owns_not, is_not_last, *_ = self.rank(agent)
        reasons = (
            (is_unlike, FITS_BY_NAME),
            (has_no_role, FITS_BY_ROLE),
            (owns_not, FITS_BY_PLACE),
            (is_not_last, FITS_BY_TALK),
        )
        return next((rule for lacks, rule in reasons if not lacks), FITS_BY_TIME)

    def _speaks_of(self, agent: str) -> bool:
        roles = {part.casefold() for role in self.roster.agents[agent].roles for part in _WORD.findall(role)}
        return any(_alike(word.casefold(), role) for word in _WORD.findall(self.text) for role in roles)


def _alike(word: str, role: str) -> bool:
    """Are two words the same but for an ending, as "deploy" and "deploys" are?"""
    shorter, longer = sorted((word, role), key=len)
    return word == role or (
        len(shorter) >= STEM and longer.startswith(shorter) and len(longer) - len(shorter) <= ENDING
    )


def candidates(
    attention: Attention, roster: Roster, conversation: Conversation, offered: Collection[str] = ()
) -> list[str]:
    """The agents that can be offered a question in this place."""
    left = attention.absences.leavers(conversation)
    return [
        agent
        for agent, entry in roster.agents.items()
        if entry.online and agent in attention.sessions and agent not in left and agent not in offered
    ]


def fitness(attention: Attention, roster: Roster, conversation: Conversation, text: str) -> Fitness:
    """What is known of the agents for a question in this place."""
    spoke = (line.by for line in reversed(attention.floors[conversation.id]) if line.by in roster.agents)
    load = {agent: attention.obligations.open_of(agent) for agent in roster.agents}
    for piece in attention.work:
        owed = attention.obligations.get(piece.event_id, piece.session)
        if piece.session in load and not (owed is not None and owed.owed):
            load[piece.session] += 1
    owners = attention.ownership.owners(conversation, ())
    return Fitness(roster, text, owners, next(spoke, ""), load)


def offered(decision: Decision, modes: frozenset[Mode], fits_by: Rule) -> Decision:
    """What an agent gets that is offered a question: a knock; it answers if it claims it."""
    return replace(
        decision,
        directedness=Directedness.TO_MY_ROLE,
        policy=Policy.MAY_RESPOND,
        mode=Mode.NOTIFY if Mode.NOTIFY in modes else Mode.BUFFERED,
        reason=Reason.ROLE_MENTION,
        needs_claim=True,
        because=(
            *((part, OFFERED) for part in ("directedness", "policy", "mode", "reason", "priority")),
            ("chosen", fits_by),
        ),
    )
