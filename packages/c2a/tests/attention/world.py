"""A small room to decide in: three agents, two people, and events made on the spot."""

from __future__ import annotations

from typing import Any

from tacit.attention import ConversationState, Decision, Decisions, Roster, RosterAgent, RosterPerson, decide
from tacit.attention.read.conversation import Conversation
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state import records
from tacit.attention.state.fold import Attention
from tacit.base.moment import Moment, parse_rfc3339, rfc3339
from tacit.c2a.vocabulary import ConversationKind
from tacit.ledger.envelope import Event

START = parse_rfc3339("2026-06-02T19:10:00Z") or Moment(0)
ROSTER = Roster.of(
    [
        RosterAgent("lead", names=("Lead Agent",), role="foreman"),
        RosterAgent("worker", role="peer", roles=frozenset({"backend"})),
        RosterAgent("tester", role="peer", roles=frozenset({"backend", "qa"})),
    ],
    [RosterPerson("usr:ann", ("Ann",))],
)
THREAD = Conversation("main", ConversationKind.THREAD, "root")


def event(
    text: str = "",
    *,
    by: str = "user",
    kind: str = "chat.message",
    event_id: str = "e1",
    at_s: float = 0,
    seq: int = 1,
    **data: Any,
) -> Event:
    """An event of the ledger."""
    if kind in {"chat.message", "x.c2a.edit"}:
        data = {"text": text, **data}
    return Event(
        v=1, id=event_id, ts=rfc3339(Moment(START + int(at_s * 1_000_000))), seq=seq, kind=kind, group_id="g",
        scope_key="", by=by, data=data,
    )  # fmt: skip


def thread(**state: Any) -> ConversationState:
    """The state of a thread; sets may be given as plain sets."""
    made = {name: frozenset(value) if isinstance(value, set) else value for name, value in state.items()}
    return ConversationState(conversation=THREAD, **made)


def state(**parts: Any) -> ConversationState:
    """The state of a conversation that follows from the event."""
    return ConversationState(
        **{name: frozenset(value) if isinstance(value, set) else value for name, value in parts.items()}
    )


def lead_gets(
    what: Event,
    where: ConversationState | None = None,
    settings: Settings = DEFAULTS,
    roster: Roster = ROSTER,
) -> Decision:
    """What the lead gets."""
    return decide(what, roster, where or ConversationState(), settings)["lead"]


def three(decision: Decision) -> tuple[str, str, str]:
    """Directedness, policy and mode."""
    return decision.directedness.value, decision.policy.value, decision.mode.value


class Room:
    """A folding room: events go in one by one, each is decided against the state before it."""

    def __init__(self, roster: Roster = ROSTER, settings: Settings = DEFAULTS) -> None:
        self.roster = roster
        self.settings = settings
        self.attention = Attention(settings)
        self.count = 0
        self.stopped: list[str] = []
        self.log: list[Event] = []

    def put(self, what: Event) -> Decisions:
        """Decide and fold an event."""
        decisions = decide(
            what, self.roster, self.attention.state_for(what, records.moment_of(what)), self.settings
        )
        if self.attention.apply(what, records.moment_of(what), decisions.parsed):
            self.stopped.append(what.id)
        self.log.append(what)
        return decisions

    def say(self, text: str, *, by: str = "user", **data: Any) -> Decisions:
        """Somebody says something."""
        self.count += 1
        return self.put(
            event(text, by=by, event_id=f"m{self.count}", at_s=self.count, seq=self.count, **data)
        )

    def record(self, kind: str, *, at_s: float | None = None, **data: Any) -> Decisions:
        """The hub writes a record."""
        self.count += 1
        when = self.count if at_s is None else at_s
        made = event(by="system", kind=kind, event_id=f"m{self.count}", at_s=when, seq=self.count)
        made.data.update(data)
        return self.put(made)
