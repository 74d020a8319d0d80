"""C2A: who must answer an event, who may, and who keeps quiet; and how much of it each one sees.

Everything here is a function of values: `decide(event, roster, state)` gives each agent's decision with the
rule behind every part of it; claims, dispositions, memberships and exchanges are folds over `x.c2a.*`
events. Nothing outside `io` opens a file; nothing here tells the time or asks a model.
"""

from tacit.attention.decide.decide import Decisions, decide
from tacit.attention.decide.decision import Decision
from tacit.attention.decide.explain import sentence
from tacit.attention.read.context import ConversationState
from tacit.attention.read.roster import Roster, RosterAgent, RosterPerson
from tacit.c2a.vocabulary import Directedness, Intent, Mode, Policy, Priority, Reason

__all__ = [
    "ConversationState",
    "Decision",
    "Decisions",
    "Directedness",
    "Intent",
    "Mode",
    "Policy",
    "Priority",
    "Reason",
    "Roster",
    "RosterAgent",
    "RosterPerson",
    "decide",
    "sentence",
]
