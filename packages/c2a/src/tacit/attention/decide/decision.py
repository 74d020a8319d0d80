"""A decision: what one agent gets for one event, and the rule that gave each part (C2A-001, C2A-206).

It names no agent, so that all agents in the same position share one object. Knows nothing of how a decision
is reached.

Injection modes: what each shows, and the way down when a harness cannot take one.

Rows: C2A-021, C2A-026, C2A-036, C2A-079, C2A-081, C2A-083, C2A-088, C2A-091, C2A-092, C2A-094, C2A-095. The
host picks; a harness may lower exposure and never raise it. An obligation that would end below a knock is not
delivered at all but escalated. Knows nothing of connections.

Rates: how much may reach a session's model and how much it may send, in any minute (C2A-205).

A sliding minute over past moments. Excess inbound falls to the mailbox; an obligation waits in a queue
instead.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import EXPOSURE, Directedness, Mode, Policy, Priority, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.attention.decide.matrix import Situation


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the house: a stable name, the row it comes from, and what it says to a person."""

    name: str
    row: str
    says: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What one agent gets for one event, and the rule that gave each part."""

    directedness: Directedness
    policy: Policy
    mode: Mode
    reason: Reason
    priority: Priority = Priority.NORMAL
    deadline_ms: int | None = None
    needs_claim: bool = False
    thread_window: bool = False
    escalate: bool = False
    because: tuple[tuple[str, Rule], ...] = ()
    situation: Situation | None = None
    """The entry of the matrix behind it; None where it was read from a record."""

    @property
    def obliges(self) -> bool:
        """Does somebody owe an answer?"""
        return self.policy is Policy.MUST_RESPOND

    def rule(self, part: str) -> Rule:
        """The rule that gave a part (`directedness`, `policy`, `mode`, `reason`, `priority`, `deadline`)."""
        found = None
        for name, rule in self.because:
            if name == part:
                found = rule
        if found is None:
            raise KeyError(part)
        return found


STEPS: Final[dict[Mode, Mode]] = {
    Mode.IMMEDIATE: Mode.BUFFERED,
    Mode.BUFFERED: Mode.NOTIFY,
    Mode.NOTIFY: Mode.TOOL_MAILBOX,
    Mode.DIGEST: Mode.TOOL_MAILBOX,
}
STEPPED: Final = Rule("mode.step_down", "C2A-026", "the agent's harness cannot take it otherwise")
TOO_LOW: Final = Rule(
    "mode.too_low", "C2A-026", "the agent's harness could not even be knocked at, so it goes on to another"
)
PUSHED: Final = frozenset({Mode.IMMEDIATE, Mode.BUFFERED, Mode.NOTIFY})
"""In these the harness hears of the event when it happens."""
SHOWS: Final[dict[Mode, str]] = {
    Mode.IMMEDIATE: "the full text, at the next boundary of the running turn, without a compose window",
    Mode.BUFFERED: "the full text, once the author has stopped typing",
    Mode.NOTIFY: "a knock: who, where and a topic; the text only when it is pulled",
    Mode.TOOL_MAILBOX: "nothing; the message can be read with a tool",
    Mode.DIGEST: "a line of the next digest",
    Mode.SILENT: "nothing; the message is kept",
}


def step_down(decision: Decision, modes: frozenset[Mode]) -> Decision:
    """The decision in a mode that the harness negotiated; escalated when an obligation would go unseen."""
    mode = decision.mode
    while mode not in modes and mode in STEPS:
        mode = STEPS[mode]
    if mode is decision.mode:
        return decision
    if decision.policy is Policy.MUST_RESPOND and EXPOSURE.index(mode) < EXPOSURE.index(Mode.NOTIFY):
        return replace(
            decision, mode=Mode.TOOL_MAILBOX, escalate=True, because=(*decision.because, ("mode", TOO_LOW))
        )
    return replace(decision, mode=mode, because=(*decision.because, ("mode", STEPPED)))


def is_listed(mode: Mode) -> bool:
    """Does `chat.list_events` show it? Silent events are only in thread windows (C2A-094, C2A-095)."""
    return mode is not Mode.SILENT


def content_shown(mode: Mode) -> bool:
    """Does the delivery carry the text? A knock never does (C2A-036)."""
    return mode in {Mode.IMMEDIATE, Mode.BUFFERED}


MINUTE: Final = 60 * SECOND
FULL: Final = Rule("rate.injected", "C2A-205", "the agent has had as many events as a minute allows")


class Flow(StrEnum):
    """What becomes of a delivery under the limit."""

    NOW = "now"
    QUEUED = "queued"
    LOWERED = "lowered"


def retry_after_ms(past: Sequence[Moment], limit: int, now: Moment) -> int | None:
    """How long until one more fits into the minute; None when it fits now. `past` is in rising order."""
    start = bisect_right(past, now - MINUTE)
    if len(past) - start < limit:
        return None
    if limit <= 0:
        return MINUTE // 1000
    oldest = past[len(past) - limit]
    return max(1, -(-(oldest + MINUTE - now) // 1000))


def inbound(
    decision: Decision, past: Sequence[Moment], now: Moment, settings: Settings = DEFAULTS
) -> tuple[Decision, Flow]:
    """The decision under the inbound limit: unchanged, waiting, or lowered to the mailbox."""
    if decision.mode not in PUSHED or retry_after_ms(past, settings.injected_per_minute, now) is None:
        return decision, Flow.NOW
    if decision.obliges:
        return decision, Flow.QUEUED
    lowered = replace(decision, mode=Mode.TOOL_MAILBOX, because=(*decision.because, ("mode", FULL)))
    return lowered, Flow.LOWERED
