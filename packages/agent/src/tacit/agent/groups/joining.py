"""A group, at a participant: whose word counts in it, and what its list may say.

A2ACP-173, A2ACP-174, A2ACP-178, A2ACP-184.

Only the coordinator proposes, and only its list is the list: it may shrink, when the others go on without
somebody, and never grow. A packet of another member is none of this group's, unless the coordinator says that
it coordinates now: then what came before that word has its turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.consent import sending
from tacit.agent.groups import membership
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import GroupTables
from tacit.agent.groups.members import compared, group_of, regroup
from tacit.agent.kernel import records
from tacit.agent.kernel.state import LEG, MEMBER
from tacit.agent.scheduling import escalating
from tacit.agent.scheduling.view import view_of

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace

NOT_A_PARTICIPANTS: Final = frozenset({"resolution", "thread_fork", "intent_update", "coordinator_transfer"})
"""What only a coordinator says (A2ACP-173)."""
MOST_EARLY: Final = 5


def members_in(ws: Workspace, peer: str, fields: Fields) -> tuple[str, ...] | None:
    """The group that a first packet begins; empty for two, None for a list that is none."""
    listed = fields.get("participants")
    if not membership.is_list(listed):
        return ()
    return membership.told(listed, me=ws.me, sender=peer)


def may(ws: Workspace, thread: Thread, kind: str, fields: Fields) -> bool:
    """Whether a packet may have its effect in a thread of a group; what may not is on record."""
    if thread.role == LEG:
        return _of_a_participant(ws, thread, kind, fields)
    return thread.role != MEMBER or _of_the_coordinator(ws, thread, fields)


def _of_a_participant(ws: Workspace, thread: Thread, kind: str, fields: Fields) -> bool:
    if kind in NOT_A_PARTICIPANTS:
        ws.say(records.Violated(thread.thread_id, thread.peer, "not_the_coordinator"))
        return False
    digest = fields.get("participants_digest")
    group = group_of(ws, thread)
    # An earlier program names those who are left.
    if digest is not None and digest not in map(membership.digest, (group.members, group.present)):
        # Somebody has told it of other people: it answers a group that is not this one.
        ws.say(records.Violated(thread.thread_id, thread.peer, "another_list"))
        ws.notice(thread.thread_id, "another_list", thread.peer)
        return False
    return True


def _of_the_coordinator(ws: Workspace, thread: Thread, fields: Fields) -> bool:
    group = group_of(ws, thread)
    listed = fields.get("participants")
    if listed is None:
        return True
    named = membership.told(listed, me=ws.me, sender=thread.peer, fewest=2)
    if not named or not membership.shrunk(group.members, named):
        ws.say(records.Violated(thread.thread_id, thread.peer, "another_list"))
        ws.notice(thread.thread_id, "another_list", thread.peer)
        return False
    if set(named) != set(group.members):
        regroup(ws, group, members={one: status for one, status in group.members.items() if one in named})
        ws.notice(thread.thread_id, "people_left")
    return True


def is_our_list(ws: Workspace, thread: Thread, fields: Fields) -> bool:
    """Whether what the others signed lets a proposal stand; what does not is on record, and told.

    Whoever is known here and has signed nothing may have been told something else: that is told, and no more.
    """
    found = compared(ws, thread, fields)
    wrong = "another_list" if found.another else "one_key_twice" if found.doubled else ""
    if wrong:
        ws.say(records.Violated(thread.thread_id, thread.peer, wrong))
        ws.notice(thread.thread_id, wrong, (*found.another, *found.doubled)[0])
    elif any(ws.peer_of(one).key for one in found.unsigned):
        ws.notice(thread.thread_id, "unsigned_list", thread.peer)
    return not wrong


def begins_anew(ws: Workspace, thread: Thread, peer: str, kind: str) -> bool:
    """Whether a packet is the first of somebody who coordinates now, where another did before."""
    group = ws.book.part(GroupTables).groups.get(thread.group) if thread.group else None
    if group is None or group.coordinator != peer or kind != "context":
        return False
    return thread.peer != peer or (thread.role == LEG and not thread.is_open)


def new_name(ws: Workspace, wire: str, peer: str) -> str:
    """A name for a thread of a group that has others with the same id on the wire."""
    name = f"{wire}/{peer}"
    while name in ws.book.threads:
        name += "+"
    return name


def stranger(ws: Workspace, thread: Thread, peer: str, packet_id: str, kind: str, ready: int) -> None:
    """A packet of somebody whose thread this is not."""
    group = ws.book.part(GroupTables).groups.get(thread.group) if thread.role == MEMBER else None
    waiting = [one for one in ws.book.part(GroupTables).early.values() if one.peer == peer]
    if group is not None and peer in group.members and kind == "context" and len(waiting) < MOST_EARLY:
        ws.say(group_records.CameEarly(group.group_id, peer, packet_id, kind, ready))
        return
    ws.say(records.Violated(thread.thread_id, peer, "outsider"))


def cannot_bend(ws: Workspace, thread: Thread) -> None:
    """Our owner has no other time: the coordinator hears that it need not wait."""
    view = view_of(ws, thread)
    body: Fields = {"intent": escalating.intent(view, "No other time is possible"), "context": {}}
    sending.send(ws, view, "context", body)
