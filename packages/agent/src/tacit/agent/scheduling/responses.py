"""Which proposal a counterpart's response is about: the one that stands, or none (A2ACP-141, A2ACP-145).

The same between two and in a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.a2acp.packets import vocabulary
from tacit.a2acp.threads.states import State
from tacit.agent.kernel import records

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Proposal, Thread
    from tacit.agent.kernel.workspace import Workspace


def on_standing(ws: Workspace, thread: Thread, fields: Fields) -> tuple[Proposal, str] | None:
    """What stands and what is said to it; None, and a record of why, for a response to anything else."""
    standing = thread.proposal
    about = fields.get("in_reply_to")
    status = vocabulary.resolution_status(fields.get("status"))
    if thread.state is State.PROPOSED and standing is not None and about == standing.packet_id:
        return standing, status
    if any(one.packet_id == about and one.type == "resolution" for one in thread.packets):
        # It crossed with what took that proposal's place: nobody's fault, and of no effect.
        ws.say(records.NotMoved(thread.thread_id, status, thread.state))
    else:
        ws.say(records.Violated(thread.thread_id, thread.peer, "response_to_nothing"))
    return None
