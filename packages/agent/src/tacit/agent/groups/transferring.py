"""The coordinator's role goes to another: offered, accepted or not, announced, and begun anew.

A2ACP-055, A2ACP-183, A2ACP-184.

Theory of operation. The coordinator offers its role to a participant, whose agent answers by itself. Ten
minutes without an answer are a no, and an answer after that changes nothing. With a yes the old coordinator
tells everybody whose word counts now, and hands over its sums as far as its owner has released them: windows,
counts, who answered; nobody's raw values, which were told to it and to nobody else. Its own threads of the
group end with that. The new one begins a hub and legs of its own and asks again, so that each participant
decides anew what to tell it.

The role is given by whoever has it, and by nobody else. What comes of the new coordinator before the word of
the old one is kept until that comes (`joining.stranger`). Whoever writes to the old one afterwards gets the
new one's name.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from tacit.a2acp.packets.bodies import CoordinatorTransfer, CoordinatorTransferResponse
from tacit.a2acp.packets.schemas import written
from tacit.a2acp.threads.states import NEGOTIABLE, Cause
from tacit.agent.brain import occasions
from tacit.agent.consent import sending
from tacit.agent.groups import confirmation, grouping
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import GroupTables
from tacit.agent.groups.members import group_of, hub_of, leg_of, legs_of, open_legs, regroup
from tacit.agent.kernel import records
from tacit.agent.kernel.state import LEG, MEMBER
from tacit.agent.scheduling import asking
from tacit.agent.scheduling.goal import MEETING
from tacit.agent.scheduling.view import view_of
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.base.strict_json import as_object
from tacit.wire import version

if TYPE_CHECKING:
    from tacit.agent.groups.fold import Group
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.base.strict_json import Json, JsonObject

PATIENCE: Final = 600 * SECOND
TRANSFER: Final[str] = CoordinatorTransfer.TYPE
RESPONSE: Final[str] = CoordinatorTransferResponse.TYPE
TRANSFERRED: Final = "transferred"


# At the coordinator.


def _leg_offered(ws: Workspace, group: Group, to: str) -> Thread:
    """The leg in which the role can be offered to somebody now; `Refused` where it cannot (A2ACP-183)."""
    if group.coordinator != ws.me:
        raise Refused("not_the_coordinator", "only the coordinator hands its role on", row="A2ACP-055")
    if to == ws.me or to not in group.present:
        raise Refused("not_a_participant", "the role goes to another who takes part", row="A2ACP-183")
    if group.offered_to:
        raise Refused("already_offered", "the role is offered to somebody already", row="A2ACP-184")
    leg = leg_of(ws, group, to)
    if leg is None or not leg.is_open or hub_of(ws, leg).state not in NEGOTIABLE:
        raise Refused("too_late", "a proposal stands, or it is over", row="A2ACP-183")
    if asking.opens(leg):
        raise Refused("too_early", "they have not heard of it yet", row="A2ACP-183")
    if not ws.peer_of(to).can(version.MULTI_PARTY):
        raise Refused("not_supported", "the other agent knows no groups", row="A2ACP-278")
    return leg


def takers(ws: Workspace, group: Group) -> list[str]:
    """To whom the role could be offered now: what a face shows, and what is not refused then (A2ACP-183)."""
    found: list[str] = []
    for one in group.present:
        with contextlib.suppress(Refused):
            _leg_offered(ws, group, one)
            found.append(one)
    return found


def offer(ws: Workspace, group: Group, to: str, reason: str = "") -> None:
    """Offer the role to a participant (A2ACP-183)."""
    leg = _leg_offered(ws, group, to)
    body = written(_transfer(ws, group, to, reason or "Somebody else is to coordinate this"))
    if not sending.send(ws, view_of(ws, leg), TRANSFER, body):
        raise Refused("not_sent", "nothing of this may leave", row="A2ACP-072")
    regroup(ws, group, offered_to=to, offered_until=Moment(ws.now + PATIENCE))


def _transfer(ws: Workspace, group: Group, to: str, reason: str) -> CoordinatorTransfer:
    return CoordinatorTransfer(
        from_coordinator=ws.me,
        to_coordinator=to,
        reason=reason,
        # Always asked, whatever a packet says (A2ACP-184).
        requires_acceptance=True,
        confirmation=confirmation.written(grouping.way_of(group)),
    )


def lapsed(ws: Workspace, group_id: str) -> None:
    """Nobody answered within ten minutes: that is a no (A2ACP-184)."""
    group = ws.book.part(GroupTables).groups[group_id]
    if group.offered_to and group.offered_until is not None and group.offered_until <= ws.now:
        _stays(ws, group)


def _stays(ws: Workspace, group: Group) -> None:
    regroup(ws, group, offered_to="", offered_until=None)
    ws.notice(ws.book.part(GroupTables).legs[group.group_id, ws.me], "transfer_declined")


def answered(ws: Workspace, thread: Thread, body: CoordinatorTransferResponse) -> None:
    """The answer to our offer; from anybody else, or too late, it is none."""
    group = group_of(ws, thread) if thread.role == LEG else None
    asked = any(one.packet_id == body.in_reply_to and one.type == TRANSFER for one in thread.packets)
    until = group.offered_until if group is not None else None
    if group is None or not asked or group.offered_to != thread.peer or until is None or until <= ws.now:
        ws.say(records.NotMoved(thread.thread_id, RESPONSE, thread.state))
        return
    hub = hub_of(ws, thread)
    # What was proposed meanwhile stands with us: whoever hears it knows that the role stays (A2ACP-183).
    if not body.accepted or hub.state not in NEGOTIABLE:
        _stays(ws, group)
        return
    _hand_over(ws, hub, group, thread.peer)


def _hand_over(ws: Workspace, hub: Thread, group: Group, to: str) -> None:
    """Tell everybody, give the new one the sums, and end our part (A2ACP-184)."""
    body = _transfer(ws, group, to, "The coordinator's role was accepted")
    answered: list[Json] = [{"agent": member, "status": status} for member, status in group.members.items()]
    plain = replace(body, aggregated_context={"participants": answered})
    whole = plain
    if group.overlap:
        overlap: JsonObject = {"windows": as_object(ws.read(group.overlap)).get("windows", [])}
        whole = replace(body, aggregated_context={"participants": answered, "availability_overlap": overlap})
    for one in legs_of(ws, group):
        if one.is_open and one.peer == to:
            # What was released for the group was released for each of it; other windows stay here, and the
            # role goes all the same.
            leg = ws.change(one, approved={**one.approved, **hub.approved})
            sending.send(ws, view_of(ws, leg), TRANSFER, written(whole), plain=written(plain))
        elif one.is_open:
            sending.send(ws, view_of(ws, one), TRANSFER, written(body))
    for one in (hub, *open_legs(ws, hub)):
        _end(ws, one)
    regroup(ws, group, coordinator=to, offered_to="", offered_until=None)
    ws.notice(hub.thread_id, TRANSFERRED)


def _end(ws: Workspace, thread: Thread) -> None:
    if not ws.close(thread.thread_id, Cause.FORKED, TRANSFERRED):
        ws.close(thread.thread_id, Cause.CLOSED, TRANSFERRED)


def redirect(ws: Workspace, thread: Thread) -> None:
    """Somebody has not heard of it yet, or again: who coordinates now (A2ACP-184)."""
    group = group_of(ws, thread)
    body = written(_transfer(ws, group, group.coordinator, "Another agent coordinates this now"))
    sending.send(ws, view_of(ws, thread), TRANSFER, body)


# At a participant.


def told(ws: Workspace, thread: Thread, packet_id: str, body: CoordinatorTransfer) -> None:
    """The coordinator offers us its role, or says who has it now."""
    to = body.to_coordinator
    group = ws.book.part(GroupTables).groups.get(thread.group)
    if thread.role != MEMBER or group is None or to not in group.members or to == thread.peer:
        ws.say(records.Violated(thread.thread_id, thread.peer, "bad_transfer"))
        return
    if to != ws.me:
        regroup(ws, group, coordinator=to)
        ws.notice(thread.thread_id, TRANSFERRED)
        _end(ws, thread)
    elif group.offered_to == ws.me:
        _take_over(ws, thread, group, body)
    else:
        _answer(ws, thread, group, packet_id)


def _answer(ws: Workspace, thread: Thread, group: Group, packet_id: str) -> None:
    """Accept, where this agent could do it; no owner is asked (A2ACP-183)."""
    goal = view_of(ws, thread).goal
    able = thread.state in NEGOTIABLE and goal is not None and goal.kind == MEETING and bool(goal.spans)
    body = CoordinatorTransferResponse(in_reply_to=packet_id, accepted=able)
    if sending.send(ws, view_of(ws, thread), RESPONSE, written(body)) and able:
        regroup(ws, group, offered_to=ws.me)


def _take_over(ws: Workspace, thread: Thread, group: Group, body: CoordinatorTransfer) -> None:
    """The role is ours: ask everybody again, for what they would tell us (A2ACP-184)."""
    goal = view_of(ws, thread).known_goal
    event = occasions.event_of(goal.event_type) or occasions.MEETING
    goal = msgspec.structs.replace(
        goal, category=grouping.CATEGORY, wants=occasions.wants(event), offers=(), flexibility={}
    )
    members = tuple(group.members)
    way = confirmation.read(body.confirmation, members)
    _end(ws, thread)
    ws.say(
        group_records.Grouped(group.group_id, ws.me, members, way.mode, way.quorum, way.order, group.parent)
    )
    others = tuple(one for one in members if one != ws.me)
    grouping.hub(ws, f"{group.group_id}/{ws.me}", group.group_id, goal, others, urgent=thread.urgent)
    for one in others:
        grouping.leg(ws, group.group_id, one, goal, urgent=thread.urgent)
    ws.notice(thread.thread_id, "coordinates_now")
