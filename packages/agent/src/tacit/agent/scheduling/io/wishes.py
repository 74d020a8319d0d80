"""What a sentence of the owner's asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.brain import port
from tacit.agent.brain.replies import UNREAD
from tacit.agent.brain.scenes import scene_of
from tacit.agent.contacts.io import people
from tacit.agent.groups.members import members_of
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.brain.io.thinking import Thinking
    from tacit.agent.scheduling.goal import Goal


async def goal(
    agent: Thinking,
    text: str,
    peer: str = "",
    thread_id: str = "",
    begins: str = "",
    facts: Fields | None = None,
    others: Sequence[str] = (),
) -> Goal:
    """What a sentence asks for: of somebody or of `others` in a new thread, or in one that there is."""
    ws = agent.workspace()
    thread = ws.thread(thread_id) if thread_id else None
    about = thread.peer if thread is not None else peer
    to = (
        [member for member in members_of(ws, thread) if member != agent.me]
        if thread is not None
        else others or [peer]
    )
    scene = scene_of(ws, about, thread, begins=begins, facts=facts) if ws.minded else None
    task = port.Task(
        port.READ_REQUEST,
        ws.now,
        agent.settings.zone(),
        text=text,
        scene=scene,
        addressees=people.addressed(agent, to),
    )
    thought = await agent.think(task)
    if thought.goal is None or (thought.ask_owner and not thought.goal.unclear):
        raise Refused("unclear_request", UNREAD, row="A2ACP-084")
    return thought.goal
