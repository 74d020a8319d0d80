"""What memory adds to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.kernel.feature import Feature, handler
from tacit.agent.memory.acquaintance import PART
from tacit.agent.memory.io import forgetting, operations
from tacit.agent.memory.records import Remembered, Unlearned
from tacit.agent.memory.relationship import PREFIX
from tacit.base import agent_requests as asked

if TYPE_CHECKING:
    from tacit.agent.kernel.io.changes import Change
    from tacit.agent.kernel.records import Record


def _change(record: Record) -> Change | None:
    if isinstance(record, (Remembered, Unlearned)):
        return {"change": "memory", "agent": record.peer}
    return None


NOTICES: Final = {
    "memory_changed": "has brought something else than was remembered; see `tacit agent memory`",
}

OPERATIONS: Final = {
    "memory": handler(asked.AgentMemory, lambda agent, request: operations.memory(agent, request.who)),
    "memory_edit": handler(
        asked.AgentMemoryEdit,
        lambda agent, request: operations.edit(agent, request.who, request.key, request.value),
    ),
    "memory_forget": handler(
        asked.AgentMemoryForget, lambda agent, request: operations.forget(agent, request.who, request.key)
    ),
    "known": handler(asked.AgentKnown, lambda agent, request: operations.known(agent, request.who)),
    "forget": handler(asked.AgentPeer, lambda agent, request: forgetting.forget(agent, request.peer)),
}

FEATURE: Final = Feature(part=PART, change=_change, lasting=PREFIX, notices=NOTICES, operations=OPERATIONS)
