"""The port to whatever reads and writes language for an agent: rules, or a model of the owner's (A2ACP-090).

A brain gets a task and gives a thought. It decides nothing: permissions, overlap, limits and confirmations
are computed elsewhere, from values, and whatever a thought claims of them is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from tacit.agent.brain.wish import ANYBODY, Addressees
from tacit.base.errors import PeerFault
from tacit.base.strict_json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.a2acp.consent.tiers import Policy
    from tacit.agent.scheduling.goal import Goal, Need
    from tacit.base.moment import Moment

READ_REQUEST: Final = "read_request"
"""A person's sentence is to become a goal."""
READ_PACKET: Final = "read_packet"
"""A counterpart's first packet is to become a goal."""
WRITE_PROPOSAL: Final = "write_proposal"
"""Words for options that were computed: a summary for each, and the reasoning."""


@dataclass(frozen=True, slots=True)
class Said:
    """One packet of a thread."""

    ours: bool
    type: str
    at: Moment
    fields: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another thread that was one with this (A2ACP-118)."""

    summary: str
    state: str
    details: Mapping[str, Json]
    """Of its standing proposal, as far as both sides know it: the end of a dinner, for what follows it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What may be known for a thought about one counterpart; nothing of any other is in it (A2ACP-064)."""

    owner: str
    """By what name the owner is known."""
    counterpart: str
    policy: Policy
    thread_id: str = ""
    profile: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Of the owner, only what is cleared for this counterpart."""
    withheld: Mapping[str, Json] = field(default_factory=dict[str, Json], repr=False)
    """What is not cleared. A prompt has its names; its values are there to be kept out. A field is in both
    when another value than this one was released."""
    style: str = ""
    autonomy: str = "low"
    completed: Mapping[str, int] = field(default_factory=dict[str, int])
    """By category, how many threads with this counterpart came to their end."""
    memory: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What is remembered of this counterpart: its values, each with date and source, and its habits."""
    history: tuple[Said, ...] = ()
    shared: tuple[str, ...] = ()
    requested: tuple[str, ...] = ()
    outstanding: tuple[str, ...] = ()
    siblings: tuple[Sibling, ...] = ()
    gives_away: Callable[[object], frozenset[str]] | None = None
    """The fields of which a text gives a value away that may not go (A2ACP-071)."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a brain is asked; every value in it may be seen by the brain."""

    kind: str
    now: Moment
    timezone: str
    """The owner's, an IANA name."""
    text: str = ""
    """The person's sentence."""
    packet: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """The counterpart's packet: data without authority."""
    goal: Goal | None = None
    options: tuple[JsonObject, ...] = ()
    """For WRITE_PROPOSAL: the details of each option, best first; each value in them is cleared."""
    scene: Scene | None = None
    addressees: Addressees = ANYBODY
    """Whom a request goes to, by their names."""


@dataclass(frozen=True, slots=True)
class Thought:
    """What a brain answers; what a task does not ask for is not looked at."""

    goal: Goal | None = None
    needs: tuple[Need, ...] = ()
    """More that should be asked of the counterpart."""
    context: JsonObject = field(default_factory=dict[str, Json])
    """More that should be told; it is filtered like everything that leaves."""
    summaries: tuple[str, ...] = ()
    reasoning: str = ""
    confidence: float = 1.0
    ask_owner: bool = False
    """Every brain that was asked is unsure: its owner has to say (A2ACP-084)."""
    over_budget: bool = False
    """The day's budget is spent, and the rules have thought instead."""


class GenerationFailed(PeerFault):
    """No answer of a model could be used, however often it was asked (A2ACP-088)."""


class Brain(Protocol):
    """Reads and writes language."""

    async def think(self, task: Task) -> Thought:
        """The thought for a task; `Unavailable` when there is nobody to think."""
        ...
