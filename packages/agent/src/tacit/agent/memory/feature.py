"""What memory adds to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.kernel.feature import Change, Feature
from tacit.agent.memory.acquaintance import PART
from tacit.agent.memory.records import Remembered, Unlearned
from tacit.agent.memory.relationship import PREFIX

if TYPE_CHECKING:
    from tacit.agent.kernel.records import Record


def _change(record: Record) -> Change | None:
    if isinstance(record, (Remembered, Unlearned)):
        return {"change": "memory", "agent": record.peer}
    return None


FEATURE: Final = Feature(part=PART, change=_change, lasting=PREFIX)
