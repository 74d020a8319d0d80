"""`decide`: what every agent gets for an event, and why.

Rows: C2A-001, C2A-003, C2A-045, C2A-046, C2A-047, C2A-048, C2A-049, C2A-050, C2A-051, C2A-052, C2A-053,
C2A-054, C2A-206.

Theory of operation
===================

What goes in, what comes out. `decide(event, roster, state, settings)` is a function of four values: the event
as the ledger has it, who is in the group, what was so in the conversation just before, and the group's
settings. It gives one `Decision` an agent: is it aimed at this agent (directedness), must, may or must it not
answer (policy), how much does its model see (mode), and the rule behind each of these. It keeps no state,
reads no clock (a deadline is a span; it starts with the record of the delivery) and asks no model. The same
four values give the same decisions in the writer, in a rebuild, in a preview before anything is sent, and in
a view years later.

How one event goes through:

    parse_message   the event, read once for all agents: author, conversation, target, intent, priority
    exceptional     the agents that the event or the state singles out
    situation_of    for each of them, and once for NOBODY: which situation of the matrix holds
    entry_of        the matrix entry, with priority, deadline and settings applied
    step_down       for a harness that did not agree to every mode: the next one that it can take

The three axes are decided apart and meet only in the matrix (C2A-045): a rule that wants to change what a
model sees touches no policy. Text enters at `parse_message` and nowhere else; whatever it claims to be (a
header, a policy, a system message), all that it can change is the intent and the names that it mentions
(C2A-202). Members of `data` that imitate a decision are not looked at; a sender's declared directedness can
lower what it asks and never raise it (C2A-115).

Why most agents have no decision of their own. In a group of a hundred agents nearly every message concerns
two of them. An agent that appears in no set of the event or the state cannot be told apart from any other
such agent, so what is decided for `NOBODY`, an id that nobody has, is decided for all of them:
`Decisions.common`. Only `exceptional` agents are looked at one by one. The rule that keeps this right:
whatever set `situation_of` asks about, `exceptional` adds. A set that is missing there gives its agents
everybody's decision, silently; the property tests compare with the decision of each agent taken alone.

What is written down. Nothing, here. `kept_of` says what an event's decisions leave behind: nothing when
reading the event again would tell it all, otherwise one `EventDecision` with the situation of those who stood
out. A situation is a word, so what is kept is small and `EventDecision.decision` makes the whole decision of
it again, by today's wording of the rule but in the situation of then. That is also why situations are never
renamed lightly: their names are in ledgers.

What can go wrong:

- The state is from after the event. Then an author takes part because it just wrote, and answers itself.
  `decide` cannot notice; `Attention.take` is the only way in that the engine uses.
- The roster is of another moment than the state. Agents that left are not in it, and get nothing: an agent is
  decided for only while it is there.
- `entry_of` is cached by its arguments. What varies by event must therefore be an argument; a decision names
  no agent and no event, so that equal cases are one object and `decision is not common` tells them apart
  cheaply.
- An obligation ends below a knock, as the harness can take no more. It would be owed by somebody who cannot
  see it: `step_down` marks it `escalate`, and it goes to another (C2A-026).
- An event fits no situation. It cannot: the last predicate of `situation` holds for everything, and every
  situation has its entry; a test counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Decision, Rule, step_down
from tacit.attention.decide.matrix import MATRIX, Situation
from tacit.attention.decide.situation import situation_of
from tacit.attention.read.context import QUIET, ConversationState
from tacit.attention.read.continuation import Continuation
from tacit.attention.read.message import parse_message
from tacit.attention.read.roster import NOBODY
from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.errors import Bug
from tacit.c2a.vocabulary import Intent, Mode, Policy, Priority

if TYPE_CHECKING:
    from tacit.attention.read.parsed_message import ParsedMessage
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
GRADED: Final = frozenset(
    {
        Situation.CONTINUED_QUESTION,
        Situation.CONTINUED,
        Situation.LIKELY_ASKED,
        Situation.LIKELY_CONTINUED,
    }
)
"""Situations that the cues of a dialogue gave."""
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
    found.update(one.who for one in parsed.follows)
    if state.answers is not None:
        found.add(state.answers)
    found.update(state.asked, state.adding)
    if parsed.only_agent is not None:
        found.add(parsed.only_agent)
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
        situation=situation,
    )


@dataclass(frozen=True, slots=True)
class EventDecision:
    """The situation of everyone towards one event."""

    common: Situation
    others: Mapping[str, Situation] = field(default_factory=dict[str, Situation])
    intent: Intent = Intent.PLAIN
    priority: Priority = Priority.NORMAL
    attention: bool = False
    lowered: tuple[str, ...] = ()
    follows: Mapping[str, Continuation] = field(default_factory=dict[str, Continuation])
    """For whom it went on with a dialogue: the cues that told so."""

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
    """The matrix entry behind a decision that was made here."""
    if decision.situation is None:
        raise Bug("a decision that was read from a record has no situation")
    return decision.situation


def kept_of(decisions: Decisions) -> EventDecision | None:
    """What has to be written down of an event's decisions; None when reading the event again tells it all."""
    parsed = decisions.parsed
    if parsed is None:
        return None
    others = {agent: situation_in(one) for agent, one in decisions.exceptions.items()}
    if not any(situation is not Situation.OWN for situation in others.values()):
        return None
    return _decided(decisions, others)


def derived(decisions: Decisions) -> EventDecision:
    """The same for an event of which nothing was kept, decided again."""
    return _decided(
        decisions, {agent: situation_in(one) for agent, one in sorted(decisions.exceptions.items())}
    )


def _decided(decisions: Decisions, others: dict[str, Situation]) -> EventDecision:
    parsed = decisions.parsed
    common = situation_in(decisions.common)
    if parsed is None:
        return EventDecision(common, others)
    lowered = tuple(
        sorted(
            agent for agent, one in decisions.exceptions.items() if ("directedness", DECLARED) in one.because
        )
    )
    follows = {one.who: one for one in parsed.follows if others.get(one.who) in GRADED}
    return EventDecision(common, others, parsed.intent, parsed.priority, parsed.attention, lowered, follows)
