"""Groups as their owner asks for them and sees them: the same dictionaries for terminal, page and Python.

A2ACP-173, A2ACP-175, A2ACP-180, A2ACP-183.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.a2acp.packets import packet
from tacit.agent.groups import grouping, membership, transferring
from tacit.agent.groups.fold import GroupTables
from tacit.agent.groups.members import leg_of, list_shown, told_in
from tacit.agent.owner.io import notices
from tacit.agent.scheduling.io import wishes
from tacit.base.errors import Refused
from tacit.base.strict_json import as_object
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.brain.io.thinking import Thinking
    from tacit.agent.groups.fold import Group
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace


async def ask(
    agent: Thinking,
    text: str,
    to: Sequence[str],
    *,
    urgent: bool = False,
    quorum: object = None,
    in_order: bool = False,
    after: str = "",
) -> Fields:
    """Arrange something with several; `after` is a group that this one follows, with other people."""
    others = [str(address.parse_typed(one)) for one in to]
    ws = agent.workspace()
    membership.chosen(ws.me, others)
    group_id = packet.identifier("thr_", ws.draw(17))
    goal = await wishes.goal(agent, text, begins=group_id, others=others)
    since = agent.journal.end()
    await agent.decide(
        lambda ws: grouping.begin(
            ws,
            goal,
            others,
            quorum=quorum,
            in_order=in_order,
            urgent=urgent,
            thread_id=group_id,
            parent=after,
        )
    )
    await agent.refresh()
    state = agent.journal.book.threads[group_id].state.value
    return {"thread_id": group_id, "state": state} | notices.since(agent, since, group_id)


async def group(agent: AgentCore, group_id: str) -> Fields:
    """A group: who coordinates, who takes part, and at the coordinator what the answers come to."""
    await agent.refresh()
    ws = agent.workspace()
    found = _group(ws, group_id)
    shown = as_object(ws.read(found.overlap))
    peer = ws.me if found.coordinator == ws.me else found.coordinator
    own = ws.book.threads.get(ws.book.part(GroupTables).legs.get((group_id, peer), group_id))
    return {
        "thread_id": group_id,
        "state": own.state.value if own is not None else None,
        "coordinator": found.coordinator,
        "coordinates": found.coordinator == ws.me,
        "participants": [_participant(ws, found, one) for one in found.members],
        "digest": membership.digest(told_in(found).members),
        "unsigned": list_shown(ws, own).get("participants_unsigned") if own is not None else None,
        "confirmation": {
            "mode": found.mode,
            "quorum": found.quorum or None,
            "order": list(found.order) or None,
        },
        "windows": shown.get("windows", []),
        "trade_off": shown.get("trade_off"),
        "binding": shown.get("binding"),
        "asked_to_bend": list(found.asked),
        "offered_to": found.offered_to or None,
        "may_coordinate": transferring.takers(ws, found),
        "follows": found.parent or None,
    }


def line(agent: AgentCore, thread: Thread) -> Fields:
    """What the line of a thread, or a question in it, says of its group; nothing for a thread of two."""
    found = agent.journal.book.part(GroupTables).groups.get(thread.group) if thread.group else None
    if found is None:
        return {}
    others = [one for one in found.present if one != agent.me]
    return {"group": {"thread_id": found.group_id, "part": thread.role, "others": others}}


def _participant(ws: Workspace, found: Group, member: str) -> Fields:
    """One participant; what it has said to the proposal is known to the coordinator alone."""
    told: Fields = {"agent": member, "status": found.members[member]}
    hub = ws.book.threads.get(ws.book.part(GroupTables).legs.get((found.group_id, ws.me), ""))
    leg = leg_of(ws, found, member)
    if leg is not None:
        told["thread_id"] = leg.thread_id
    if hub is None or hub.proposal is None:
        return told
    told["confirmed"] = member in hub.proposal.confirmed
    if member in found.declined:
        told["declined"] = True
    if leg is not None:
        told["state"] = leg.state.value
    return told


def _group(ws: Workspace, group_id: str) -> Group:
    found = ws.book.part(GroupTables).groups.get(group_id)
    if found is None:
        raise Refused("unknown_thread", "this agent has no such group", row="A2ACP-173")
    return found


async def transfer(agent: AgentCore, group_id: str, to: str, reason: str = "") -> Fields:
    """Offer the coordinator's role to a participant; it changes when that one accepts (A2ACP-183)."""
    who = str(address.parse_typed(to))
    await agent.decide(lambda ws: transferring.offer(ws, _group(ws, group_id), who, reason))
    await agent.refresh()
    return await group(agent, group_id)
