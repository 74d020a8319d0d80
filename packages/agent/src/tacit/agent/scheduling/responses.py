"""Which proposal a counterpart's response is about: the one that stands, or none (A2ACP-141, A2ACP-145).

The same between two and in a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.a2acp.threads.states import State
from tacit.agent.kernel import records

if TYPE_CHECKING:
    from tacit.a2acp.packets.bodies import ResolutionResponse
    from tacit.agent.kernel.state import Proposal, Thread
    from tacit.agent.kernel.workspace import Workspace


def on_standing(ws: Workspace, thread: Thread, body: ResolutionResponse) -> Proposal | None:
    """What stands and is answered; None, and a record of why, for a response to anything else."""
    standing = thread.proposal
    about = body.in_reply_to
    if thread.state is State.PROPOSED and standing is not None and about == standing.packet_id:
        return standing
    if any(entry.packet_id == about and entry.type == "resolution" for entry in thread.packets):
        # It crossed with what took that proposal's place: nobody's fault, and of no effect.
        ws.say(records.NotMoved(thread.thread_id, body.status, thread.state))
    else:
        ws.say(records.Violated(thread.thread_id, thread.peer, "response_to_nothing"))
    return None
