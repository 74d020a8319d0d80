"""Which actions follow from a resolution, as this side sees them.

A2ACP-166, A2ACP-172, A2ACP-174.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.bodies import Resolution
from tacit.agent.groups.members import members_of
from tacit.agent.kernel.state import THEM, US, Planned
from tacit.agent.scheduling.actions import plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace

MOST_ACTIONS: Final = 20


def actions_of(
    ws: Workspace, thread: Thread, packet_id: str, side: str, body: Resolution, participants: Iterable[str]
) -> tuple[plan.Action, ...]:
    """Every action of a resolution, under ids that all who got it come to: in a group by its fan-out."""
    return plan.plan(
        (body.actions_on_confirm or ())[:MOST_ACTIONS],
        thread_id=thread.wire,
        packet_id=body.fanout_id if thread.role and body.fanout_id is not None else packet_id,
        proposer=ws.me if side == US else thread.peer,
        participants=participants,
    )


def ids_of(ws: Workspace, thread: Thread) -> frozenset[str]:
    """The ids of all actions of the proposal that stands, whoever carries them out."""
    standing = thread.proposal
    if standing is None:
        return frozenset()
    body = ws.body(thread, standing.packet_id, standing.side, Resolution)
    members = members_of(ws, thread)
    actions = actions_of(ws, thread, standing.packet_id, standing.side, body, members) if body else ()
    return frozenset(action.action_id for action in (*actions, *standing.actions))


def planned(
    ws: Workspace, thread: Thread, packet_id: str, side: str, body: Resolution, participants: Iterable[str]
) -> tuple[Planned, ...]:
    """The actions of a resolution as this side sees them: ours in the order in which they are done."""
    found = actions_of(ws, thread, packet_id, side, body, participants)
    ours = plan.mine(found, ws.me)
    theirs = [one for one in found if one.executor != ws.me]
    own = [Planned(one.action_id, one.action, US, _undoable(ws, one), one.label) for one in ours]
    return (
        *sorted(own, key=lambda one: not one.reversible),
        *(Planned(one.action_id, one.action, THEM, one.reversible, one.label) for one in theirs),
    )


def _undoable(ws: Workspace, one: plan.Action) -> bool:
    """Whether an action of ours can be undone: by the packet, and by what does it here (A2ACP-172)."""
    handler = ws.handlers.get(one.action)
    return one.reversible and (handler is None or bool(handler.get("reversible", True)))
