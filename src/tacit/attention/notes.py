"""Notes: what the fold writes down beside the records, so that nothing has to be decided twice.

Rows: C2A-065, 140, 164 to 168, 205, 206, 222. `Decided` keeps which situation each agent was in, for events
that singled somebody out; an ambient event leaves no note and is derived on read. An `Offer` is a question
to several that nobody has taken yet. `Sending` and `Answer` are what the gate on outbound chat remembers.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the shelves read these types
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.decide import Decisions, entry_of
from tacit.attention.matrix import Situation
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.values import Decision, Directedness, Intent, Mode, Policy, Priority, Reason, Rule
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from tacit.attention.dispositions import Duty

KEPT_SENDS: Final = 40
KEPT_CONFIDENCES: Final = 20
DELIVERED: Final = Rule("delivery.recorded", "C2A-206", "so it was decided when it was delivered")


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
    heard = decisions.heard
    if heard is None:
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
    heard = decisions.heard
    common = situation_in(decisions.common)
    if heard is None:
        return Decided(common, others)
    lowered = tuple(
        sorted(
            agent
            for agent, one in decisions.exceptions.items()
            if one.rule("directedness").name == "directedness.declared"
        )
    )
    return Decided(common, others, heard.intent, heard.priority, heard.attention, lowered)


def as_delivered(decision: Decision, duty: Duty | None) -> Decision:
    """The decision as the newest delivery left it: an escalation or a lowering may have changed it."""
    if duty is None or (duty.policy, duty.reason) == (decision.policy, decision.reason):
        return decision
    because = tuple(
        (part, Rule(duty.because[part], "C2A-206", DELIVERED.says) if part in duty.because else DELIVERED)
        for part in ("directedness", "policy", "mode", "reason", "priority", "deadline")
    )
    return replace(
        decision,
        directedness=duty.directedness,
        policy=duty.policy,
        mode=duty.mode,
        reason=duty.reason,
        deadline_ms=duty.deadline_ms,
        needs_claim=duty.needs_claim,
        because=because,
    )


def decision_in(duty: Duty) -> Decision:
    """The decision that a delivery carried, for the wire."""
    return Decision(
        Directedness(duty.directedness),
        Policy(duty.policy),
        Mode(duty.mode),
        Reason(duty.reason),
        Priority(duty.priority),
        duty.deadline_ms,
        duty.needs_claim,
        duty.thread_window,
        because=tuple((part, DELIVERED) for part in ("directedness", "policy", "mode", "reason", "priority")),
    )


@dataclass(frozen=True, slots=True)
class Offer:
    """A question to several agents: who may take it, since when it stands open, who holds it."""

    event_id: str
    members: tuple[str, ...]
    at: Moment
    held: bool = False
    assigned: bool = False


@dataclass(frozen=True, slots=True)
class Sending:
    """One message of a session: when, where, which."""

    at: Moment
    place: str
    event_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One message of a session that answers an event, and the turn that wrote it."""

    event_id: str
    turn: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Aside:
    """An ephemeral message: which record stands for it, what its text hashes to, where it went."""

    event_id: str
    sha256: str
    where: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the next digest of a session will tell, and when the last one went out."""

    event_ids: tuple[str, ...] = ()
    since: Moment = Moment(0)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a session's model has cost so far, in all and on one day (UTC)."""

    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    prompt_bytes: int = 0
    day: str = ""
    day_turns: int = 0
    day_tokens: int = 0
    day_cost: float = 0.0
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Attended:
    """What was agreed with the harness that speaks for a session."""

    session: str
    version: str
    modes: frozenset[Mode]
    client: str = ""
    interrupt: bool = False
    transport: str = "websocket"
