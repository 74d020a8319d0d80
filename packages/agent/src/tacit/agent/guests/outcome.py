"""What a confirmed guest is told: a text and a calendar entry, and nothing is done for them (A2ACP-277)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tacit.agent.guests.answers import CONFIRM
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.guests.fold import Guest


def result(guest: Guest, question: Fields) -> Fields:
    """Text and `.ics` of what was agreed; `Refused` while the answer that counts is no yes."""
    counted = guest.counted
    if counted is None or counted.choice != CONFIRM:
        raise Refused("not_confirmed", "this guest has not said yes", row="A2ACP-277")
    proposal = cast("Fields | None", question.get("proposal"))
    parts = [proposal["summary"], proposal["when"], proposal["place"]] if proposal else [question.get("text")]
    agreed = ", ".join(str(one) for one in parts if one)
    lines = [f"Hello {question.get('to')},", "", f"it is settled: {agreed}."]
    if question.get("from"):
        lines += ["", str(question["from"])]
    return {"text": "\n".join(lines), "ics": question.get("ics") or None}
