"""What guests add to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.guests.fold import PART
from tacit.agent.kernel.feature import Change, Feature

if TYPE_CHECKING:
    from tacit.agent.kernel.records import Record


def _change(record: Record) -> Change | None:
    guest_id = getattr(record, "guest_id", "")
    return {"change": "guest", "guest_id": guest_id} if guest_id else None


FEATURE: Final = Feature(part=PART, change=_change)
