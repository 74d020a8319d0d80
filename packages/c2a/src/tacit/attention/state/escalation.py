"""Escalation: who gets an obligation that was missed or declined.

Rows: C2A-026, C2A-123, C2A-156, C2A-175, C2A-176, C2A-177. Exactly one: a lead, else an owner, else a
responder by least load, else the human. Never a session that had it, never all. The number of sessions that
hold the obligation does not rise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Decision, Rule
from tacit.attention.state.claims import assignee
from tacit.c2a.vocabulary import Directedness, Mode, Policy, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.attention.read.roster import Roster

MISSED: Final = Rule("escalation.missed", "C2A-176", "whoever was asked first did not answer in time")
DECLINED: Final = Rule("escalation.declined", "C2A-123", "whoever was asked first declined")


@dataclass(frozen=True, slots=True)
class Route:
    """Where an obligation goes next: to one agent, or to the human."""

    to: str
    human: bool = False


def route(
    roster: Roster,
    held: frozenset[str],
    *,
    author: str = "",
    owners: frozenset[str] = frozenset(),
    eligible: frozenset[str] | None = None,
    load: Mapping[str, int] | None = None,
) -> Route:
    """The one that takes over; `held` had the obligation already, `eligible` may read the conversation.

    Whoever asked does not answer itself.
    """

    def free(agent: str) -> bool:
        entry = roster.agents.get(agent)
        readable = eligible is None or agent in eligible
        asked = agent in held or agent == author
        return entry is not None and entry.online and readable and not asked

    for group in (roster.leads, sorted(owners)):
        for agent in group:
            if free(agent):
                return Route(agent)
    # A chosen responder takes over once; then a person decides, lest the obligation wanders through the room.
    if len(held) == 1 and (picked := assignee(filter(free, roster.agents), frozenset(), load or {})):
        return Route(picked)
    return Route(roster.owner, human=True)


def escalated(original: Decision, *, declined: bool = False) -> Decision:
    """What the new holder gets."""
    rule = DECLINED if declined else MISSED
    return replace(
        original,
        directedness=Directedness.TO_ME,
        policy=Policy.MUST_RESPOND,
        mode=Mode.IMMEDIATE if original.mode is Mode.IMMEDIATE else Mode.BUFFERED,
        reason=Reason.ESCALATION,
        needs_claim=False,
        thread_window=True,
        escalate=False,
        because=tuple(
            (part, rule) for part in ("directedness", "policy", "mode", "reason", "priority", "deadline")
        ),
    )


def softened(decision: Decision, modes: frozenset[Mode]) -> Decision:
    """The decision in the fullest mode that the new holder's harness takes; a knock when it takes no more."""
    for mode in (Mode.IMMEDIATE, Mode.BUFFERED):
        if mode in modes:
            return replace(decision, mode=mode)
    return replace(decision, mode=Mode.NOTIFY)


def human_notice(
    event_id: str, *, why: str, agent: str = "", code: str = "", says: str = ""
) -> dict[str, object]:
    """The `system.notify` that tells the human; it refers to the event and quotes nothing.

    Rows: C2A-176, C2A-199. It names the `agent` whose it was, and for a failure the driver's own words.
    """
    notice: dict[str, object] = {
        "kind": f"attention.{why}",
        "priority": "high",
        "title": _TITLES[why].replace("An agent", agent) if agent else _TITLES[why],
        "related_event_id": event_id,
        "requires_ack": True,
    }
    message = (
        _MESSAGES[why].format(agent=agent, what=failure(code, says)) if agent and why in _MESSAGES else ""
    )
    if message:
        notice |= {"message": message, "context": {"agent": agent, **({"code": code} if code else {})}}
    return notice


def failure(code: str, says: str) -> str:
    """What happened, in the driver's words."""
    words = says.strip().rstrip(".")
    return f"{words} ({code})" if words and code else words or code or "it did not say why"


WHAT_NOW: Final = "Ask again, give it to another agent, or open the agent's log."
_MESSAGES: Final = {
    "unanswered": "{agent} was asked and has been silent since; nobody else is there to take it.",
    "declined": "{agent} was asked; nobody else is there to take it.",
    "failed": "{what}. " + WHAT_NOW,
}
MOOT_WHEN_ANSWERED: Final = frozenset({"attention.unanswered", "attention.declined", "attention.failed"})
"""Notices that an answer makes superfluous."""


_TITLES: Final = {
    "unanswered": "A message that needed an answer has had none.",
    "declined": "An agent declined a message that needs an answer.",
    "loop": "Two agents went in circles; their exchange was stopped and needs your decision.",
    "failed": "An agent could not work on a message that needs an answer.",
    "approval": "An agent asks for your approval.",
}
