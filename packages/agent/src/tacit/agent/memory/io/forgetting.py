"""A contact is let go of, with all that was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.a2acp.post.io import purging
from tacit.agent.groups import parting
from tacit.agent.kernel import records
from tacit.agent.memory.io import erasing
from tacit.agent.spaces.io import operations as spaces
from tacit.wire import address

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.workspace import Workspace


async def forget(agent: AgentCore, peer: str) -> Fields:
    """Let go of everything a contact ever said, and of what was said to it (A2ACP-195, A2ACP-196)."""
    who = str(address.parse_typed(peer))

    def close_all(ws: Workspace) -> None:
        parting.part(ws, who)
        spaces.forget(ws, who)
        ws.say(records.Forgotten(who))

    # The contents first: killed in between, it is written down that they have to go, and done again.
    agent.vault.forget(who)
    await agent.decide(close_all)
    erasing.cut(agent)
    with agent.post.store.transaction():
        purging.finished(agent.post.store, who)
    return {"forgotten": who}
