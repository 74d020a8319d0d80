"""What guests add to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.guests.fold import PART
from tacit.agent.guests.io import operations
from tacit.agent.kernel.feature import Feature

if TYPE_CHECKING:
    from tacit.agent.kernel.io.changes import Change
    from tacit.agent.kernel.records import Record


def _change(record: Record) -> Change | None:
    guest_id = getattr(record, "guest_id", "")
    return {"change": "guest", "guest_id": guest_id} if guest_id else None


NOTICES: Final = {
    "guest_answered": "has an answer of somebody who was asked by a link",
    "guest_unreadable": "has an answer by a link that could not be read; it counts for nothing",
}

FEATURE: Final = Feature(part=PART, change=_change, notices=NOTICES, turn=operations.turn)
