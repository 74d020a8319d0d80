"""What spaces add to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.kernel.feature import Change, Feature
from tacit.agent.spaces.fold import PART
from tacit.agent.spaces.sending import VAULT

if TYPE_CHECKING:
    from tacit.agent.kernel.records import Record


def _change(record: Record) -> Change | None:
    space_id = getattr(record, "space_id", "")
    return {"change": "space", "space_id": space_id} if space_id else None


FEATURE: Final = Feature(part=PART, change=_change, lasting=VAULT)
