"""Standing: what a decision has become since it was taken (C2A-065, C2A-071, C2A-103, C2A-158, C2A-174).

A harness reports facts (a claim, an ending); the host recomputes. Nothing is pushed a second time: the
claimant gets the full event as the claim's result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Rule
from tacit.c2a.vocabulary import Directedness, Mode, Policy

if TYPE_CHECKING:
    from tacit.attention.decide.decision import Decision
    from tacit.attention.state.claims import Held

CLAIMED: Final = Rule("standing.claimed", "C2A-158", "the agent claimed it")
TAKEN: Final = Rule("standing.taken", "C2A-103", "another agent claimed it")
EXPIRED: Final = Rule("standing.expired", "C2A-174", "its time ran out")
REPLACED: Final = Rule("standing.superseded", "C2A-104", "it was edited, deleted or merged into a later one")


@dataclass(frozen=True, slots=True)
class Facts:
    """What has happened to an event since."""

    holder: Held | None = None
    expired: bool = False
    superseded: bool = False


def standing(decision: Decision, agent: str, facts: Facts) -> Decision:
    """The decision as it stands now for this agent."""
    if facts.superseded:
        return _with(decision, Policy.MUST_NOT_RESPOND, decision.mode, REPLACED)
    holder = facts.holder
    if holder is not None and holder.session == agent and decision.policy is Policy.MAY_RESPOND:
        mode = Mode.BUFFERED if decision.mode in {Mode.NOTIFY, Mode.TOOL_MAILBOX} else decision.mode
        return replace(_with(decision, Policy.MAY_RESPOND, mode, CLAIMED), needs_claim=False)
    named = decision.directedness is Directedness.TO_ME
    if holder is not None and holder.session != agent and not named and decision.policy is Policy.MAY_RESPOND:
        return replace(_with(decision, Policy.MUST_NOT_RESPOND, decision.mode, TAKEN), needs_claim=False)
    if facts.expired and decision.policy is Policy.MUST_RESPOND:
        return replace(_with(decision, Policy.MAY_RESPOND, decision.mode, EXPIRED), deadline_ms=None)
    return decision


def _with(decision: Decision, policy: Policy, mode: Mode, rule: Rule) -> Decision:
    because = (
        *decision.because,
        ("policy", rule),
        ("mode", rule if mode is not decision.mode else decision.rule("mode")),
    )
    return replace(decision, policy=policy, mode=mode, because=because)
