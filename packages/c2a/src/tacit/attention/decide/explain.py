"""Explanations: a decision as sentences for a person (C2A-206, C2A-226).

Answers "why did nobody answer?" from the decision alone; the event's text is not needed and never quoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import SHOWS
from tacit.attention.decide.matrix import Situation
from tacit.c2a.vocabulary import Mode, Policy

if TYPE_CHECKING:
    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.continuation import Continuation

_MINUTES: Final = 120
"""From here on a time is said in minutes."""
POLICIES: Final[dict[Policy, str]] = {
    Policy.MUST_RESPOND: "must answer",
    Policy.MAY_RESPOND: "may answer",
    Policy.ACK_ONLY: "may only confirm receipt",
    Policy.MUST_NOT_RESPOND: "must not answer",
}


def sentence(agent: str, decision: Decision, cues: str = "") -> str:
    """Why this agent gets this event as it does; `cues` are those of a dialogue, in words."""
    if decision.situation is Situation.OPEN_REQUEST and decision.mode is Mode.TOOL_MAILBOX:
        return f"Nobody is named. {agent} can take this question; it has not been notified yet."
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
    return f"{text} What told so: {cues}." if cues else text


def cues_in_words(agent: str, author: str, found: Continuation) -> str:
    """What told that a line without a name is for this agent."""
    said: list[str] = []
    if found.ago_s is not None:
        said.append(f"{agent} and {author} were talking {_ago(found.ago_s)} ago")
    if found.theirs:
        said.append(f"{agent} spoke last of the two")
    if found.nearly:
        said.append(f"it opens with a name like {agent}'s")
    if found.named:
        said.append(f"{agent}'s name stands in it")
    if not said:
        said.append(f"{agent} was among the last to speak")
    return f"{', '.join(said)} ({found.confidence:.0%} sure)"


def _ago(seconds: int) -> str:
    if not seconds:
        return "a moment"
    return f"{seconds} s" if seconds < _MINUTES else f"{seconds // 60} minutes"


def _span(milliseconds: int) -> str:
    seconds = milliseconds // 1000
    if seconds % 60 == 0 and seconds:
        minutes = seconds // 60
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return f"{seconds} seconds"
