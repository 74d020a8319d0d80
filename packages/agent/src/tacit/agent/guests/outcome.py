"""What a confirmed guest is told: a text and a calendar entry, and nothing is done for them (A2ACP-277)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.guests.answers import CONFIRM
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.guests.fold import Guest
    from tacit.agent.guests.question import GuestQuestion


def result(guest: Guest, question: GuestQuestion) -> Fields:
    """Text and `.ics` of what was agreed; `Refused` while the answer that counts is no yes."""
    counted = guest.counted
    if counted is None or counted.choice != CONFIRM:
        raise Refused("not_confirmed", "this guest has not said yes", row="A2ACP-277")
    proposal = question.proposal
    parts = (proposal.summary, proposal.when, proposal.place) if proposal is not None else (question.text,)
    agreed = ", ".join(part for part in parts if part)
    lines = [f"Hello {question.to},", "", f"it is settled: {agreed}."]
    if question.sender:
        lines += ["", question.sender]
    return {"text": "\n".join(lines), "ics": question.ics or None}
