"""`decide`: what every agent gets for an event, and why (C2A-001, C2A-003, C2A-045 to C2A-054, C2A-206).

The decision of all unexceptional agents is derived once and shared; only agents that the event or the state
singles out get an entry of their own, so an ambient event costs the same for one agent and for a hundred.
Pure: the time is the event's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Decision, Rule
from tacit.attention.decide.matrix import MATRIX, Situation
from tacit.attention.decide.modes import step_down
from tacit.attention.decide.situation import situation_of
from tacit.attention.read.context import QUIET, ConversationState
from tacit.attention.read.message import ParsedMessage, parse_message
from tacit.attention.read.roster import NOBODY
from tacit.attention.settings import DEFAULTS, Settings
from tacit.c2a.vocabulary import Intent, Mode, Policy, Priority

if TYPE_CHECKING:
    from tacit.attention.read.roster import Roster
    from tacit.ledger.envelope import Event


PRESSING: Final = Rule("priority.urgent", "C2A-081", "it is urgent, so it does not wait for a pause")
RISES: Final = Rule("priority.high", "C2A-069", "it has high priority, so it does not wait for a pause")
ATTENTION: Final = Rule("priority.attention", "C2A-212", "the sender asked for attention")
SAID: Final = Rule("priority.said", "C2A-039", "the sender said how pressing it is")
USUAL: Final = Rule("priority.normal", "C2A-039", "nobody said it was pressing")
DEADLINE: Final = Rule("deadline.default", "C2A-173", "an obligation runs for the group's usual time")
SHOWN: Final = Rule("setting.show_gratitude", "C2A-067", "the group wants thanks to be shown")
DECLARED: Final = Rule("directedness.declared", "C2A-115", "the sender aimed it lower than its address")
_NOTHING_TO_STEP: Final = frozenset({Mode.TOOL_MAILBOX, Mode.SILENT})
_RULES: Final = {
    situation: Rule(f"matrix.{situation.value}", entry.row, entry.says) for situation, entry in MATRIX.items()
}


class Decisions(Mapping[str, Decision]):
    """The decision of every agent in the roster, without one object for each."""

    __slots__ = ("_agents", "common", "exceptions", "parsed")

    def __init__(
        self,
        agents: Mapping[str, object],
        common: Decision,
        exceptions: dict[str, Decision],
        parsed: ParsedMessage | None,
    ) -> None:
        self._agents = agents
        self.common = common
        self.exceptions = exceptions
        self.parsed = parsed

    def __getitem__(self, agent: str) -> Decision:
        own = self.exceptions.get(agent)
        if own is not None:
            return own
        if agent in self._agents:
            return self.common
        raise KeyError(agent)

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)


def decide(
    event: Event, roster: Roster, state: ConversationState = QUIET, settings: Settings = DEFAULTS
) -> Decisions:
    """What each agent of the roster gets for this event."""
    parsed = parse_message(event, roster, state, settings)
    if parsed is None:
        return Decisions(
            roster.agents, entry_of(Situation.NOT_CHAT, Priority.NORMAL, settings.deadline_ms), {}, None
        )
    common = _for(NOBODY, parsed, state, roster, settings)
    exceptions: dict[str, Decision] = {}
    agents = roster.agents
    for agent in exceptional(parsed, state, roster, common):
        if agent in agents:
            decision = _for(agent, parsed, state, roster, settings)
            if agent in roster.limited:
                decision = step_down(decision, agents[agent].modes)
            if decision is not common:
                exceptions[agent] = decision
    return Decisions(agents, common, exceptions, parsed)


def exceptional(
    parsed: ParsedMessage, state: ConversationState, roster: Roster, common: Decision
) -> set[str]:
    """The agents whose decision may differ from everyone else's."""
    found = {parsed.by}
    found.update(parsed.target.agents, parsed.target.members)
    found.update(
        state.participants, state.owners, state.left, state.subscribers, state.stopped, state.responded
    )
    if state.replied_to is not None:
        found.add(state.replied_to)
    if parsed.private is not None:
        found.update(parsed.private)
    if common.mode not in _NOTHING_TO_STEP:
        found.update(roster.limited)
    return found


def _for(
    agent: str, parsed: ParsedMessage, state: ConversationState, roster: Roster, settings: Settings
) -> Decision:
    situation = situation_of(agent, parsed, state, roster)
    lowered = parsed.declared is not None and _lowers(agent, parsed)
    shown = situation is Situation.GRATITUDE and settings.show_gratitude
    return entry_of(situation, parsed.priority, settings.deadline_ms, parsed.attention, shown, lowered)


def _lowers(agent: str, parsed: ParsedMessage) -> bool:
    return agent in parsed.target.agents and parsed.declared != "to_me"


@lru_cache(maxsize=1024)
def entry_of(
    situation: Situation,
    priority: Priority,
    deadline_ms: int,
    attention: bool = False,
    shown: bool = False,
    lowered: bool = False,
) -> Decision:
    """The matrix entry with priority, deadline and settings applied; equal cases share one object."""
    entry, rule = MATRIX[situation], _RULES[situation]
    mode, mode_rule = entry.mode, rule
    if shown:
        mode, mode_rule = Mode.NOTIFY, SHOWN
    if entry.policy is Policy.MUST_RESPOND and mode is Mode.BUFFERED:
        if priority is Priority.URGENT:
            mode, mode_rule = Mode.IMMEDIATE, PRESSING
        elif priority is Priority.HIGH and entry.rises:
            mode, mode_rule = Mode.IMMEDIATE, RISES
    said = SAID if priority is not Priority.NORMAL else USUAL
    because: list[tuple[str, Rule]] = [
        ("directedness", DECLARED if lowered else rule),
        ("policy", rule),
        ("mode", mode_rule),
        ("reason", rule),
        ("priority", ATTENTION if attention else said),
    ]
    obliges = entry.policy is Policy.MUST_RESPOND
    if obliges:
        because.append(("deadline", DEADLINE))
    return Decision(
        entry.directedness,
        entry.policy,
        mode,
        entry.reason,
        priority,
        deadline_ms if obliges else None,
        entry.needs_claim,
        entry.thread_window,
        because=tuple(because),
    )


@dataclass(frozen=True, slots=True)
class Decided:
    """The situation of everyone towards one event."""

    common: Situation
    others: Mapping[str, Situation] = field(default_factory=dict[str, Situation])
    intent: Intent = Intent.PLAIN
    priority: Priority = Priority.NORMAL
    attention: bool = False
    lowered: tuple[str, ...] = ()

    def situation(self, agent: str) -> Situation:
        """How this agent stood to the event."""
        return self.others.get(agent, self.common)

    def decision(self, agent: str, settings: Settings = DEFAULTS) -> Decision:
        """What this agent got, before what its harness could take."""
        situation = self.situation(agent)
        shown = situation is Situation.GRATITUDE and settings.show_gratitude
        return entry_of(
            situation, self.priority, settings.deadline_ms, self.attention, shown, agent in self.lowered
        )


def situation_in(decision: Decision) -> Situation:
    """The matrix entry behind a decision."""
    return Situation(decision.rule("policy").name.removeprefix("matrix."))


def noted(decisions: Decisions) -> Decided | None:
    """What has to be written down of an event's decisions; None when reading the event again tells it all."""
    parsed = decisions.parsed
    if parsed is None:
        return None
    others = {agent: situation_in(one) for agent, one in decisions.exceptions.items()}
    if not any(situation is not Situation.OWN for situation in others.values()):
        return None
    return _decided(decisions, others)


def derived(decisions: Decisions) -> Decided:
    """The same for an event that left no note, decided again."""
    return _decided(
        decisions, {agent: situation_in(one) for agent, one in sorted(decisions.exceptions.items())}
    )


def _decided(decisions: Decisions, others: dict[str, Situation]) -> Decided:
    parsed = decisions.parsed
    common = situation_in(decisions.common)
    if parsed is None:
        return Decided(common, others)
    lowered = tuple(
        sorted(
            agent
            for agent, one in decisions.exceptions.items()
            if one.rule("directedness").name == "directedness.declared"
        )
    )
    return Decided(common, others, parsed.intent, parsed.priority, parsed.attention, lowered)
