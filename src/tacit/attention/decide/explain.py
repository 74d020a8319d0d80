"""Explanations: a decision as sentences for a person (C2A-206, C2A-226).

Answers "why did nobody answer?" from the decision alone; the event's text is not needed and never quoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.attention.decide.modes import SHOWS
from tacit.c2a.vocabulary import Policy

if TYPE_CHECKING:
    from tacit.attention.decide.decision import Decision

POLICIES: Final[dict[Policy, str]] = {
    Policy.MUST_RESPOND: "must answer",
    Policy.MAY_RESPOND: "may answer",
    Policy.ACK_ONLY: "may only confirm receipt",
    Policy.MUST_NOT_RESPOND: "must not answer",
}


def sentence(agent: str, decision: Decision) -> str:
    """Why this agent gets this event as it does."""
    verb = POLICIES[decision.policy]
    if decision.needs_claim and decision.policy is Policy.MAY_RESPOND:
        verb += " once it has claimed the message"
    if decision.deadline_ms is not None:
        verb += f" within {_span(decision.deadline_ms)}"
    because = decision.rule("policy")
    text = f"{agent} {verb}: {because.says} ({because.row}). It sees {SHOWS[decision.mode]}."
    mode = decision.rule("mode")
    if mode is not because:
        text += f" That is because {mode.says} ({mode.row})."
    return text


def _span(milliseconds: int) -> str:
    seconds = milliseconds // 1000
    if seconds % 60 == 0 and seconds:
        minutes = seconds // 60
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return f"{seconds} seconds"
