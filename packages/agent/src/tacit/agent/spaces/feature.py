"""What spaces add to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.kernel.feature import Feature, Handler, handler
from tacit.agent.spaces.fold import PART
from tacit.agent.spaces.io import links, operations
from tacit.agent.spaces.sending import VAULT
from tacit.base import agent_requests as asked

if TYPE_CHECKING:
    from tacit.agent.kernel.io.changes import Change
    from tacit.agent.kernel.records import Record

NOTICES: Final = {
    "space_joined": "has a new member",
    "space_left": "has lost a member",
    "space_declined": "was not joined by whom you invited",
    "space_removed": "is no longer shared with you",
    "space_level": "lets you write otherwise than before",
    "space_changed": "has a change that matters to you",
    "space_lost": "has a field that somebody else wrote at the same time: theirs stands, yours is listed",
}


def _change(record: Record) -> Change | None:
    space_id = getattr(record, "space_id", "")
    return {"change": "space", "space_id": space_id} if space_id else None


OPERATIONS: Final = {
    "space": Handler(asked.AgentSpace, operations.carried_out),
    "space_open": handler(
        asked.AgentSpaceOpen,
        lambda agent, request: links.opened(agent, request.space_id, request.field),
    ),
    "space_tool": handler(
        asked.AgentDefined,
        lambda agent, request: links.add_tool(agent, request.name, request.definition),
    ),
}

FEATURE: Final = Feature(
    part=PART,
    change=_change,
    lasting=VAULT,
    notices=NOTICES,
    questions=dict.fromkeys(operations.KINDS, operations.answer),
    turn=operations.turn,
    operations=OPERATIONS,
)
