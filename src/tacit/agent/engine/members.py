"""The threads of a group and who is behind them, as every part of the engine asks for them.

A2ACP-173, A2ACP-174.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.consent import onward
from tacit.agent.group import membership
from tacit.agent.packets import packet
from tacit.agent.threads.group_records import Regrouped
from tacit.agent.threads.state import HUB, LEG, MEMBER

if TYPE_CHECKING:
    from typing import Any

    from tacit.agent.consent.tiers import Policy
    from tacit.agent.engine.workspace import Workspace
    from tacit.agent.packets.packet import Fields
    from tacit.agent.threads.groups import Group
    from tacit.agent.threads.state import Thread


def members_of(ws: Workspace, thread: Thread) -> frozenset[str]:
    """Whom a thread is with, ourselves among them: no news to any of them."""
    group = ws.book.groups.get(thread.group) if thread.group else None
    return frozenset({ws.me, thread.peer, *(group.members if group is not None else ())})


def policy_in(ws: Workspace, thread: Thread) -> Policy:
    """The permissions that hold in a thread: in a group for everybody who would learn it (A2ACP-181)."""
    if thread.role != MEMBER or not ws.policy.onward_fields:
        return ws.policy
    others = members_of(ws, thread) - {ws.me, thread.peer}
    return onward.strictest(ws.policy, thread.peer, others)


def group_of(ws: Workspace, thread: Thread) -> Group:
    """The group that a thread belongs to."""
    return ws.book.groups[thread.group]


def hub_of(ws: Workspace, thread: Thread) -> Thread:
    """The coordinator's own thread of a group."""
    return ws.thread(ws.book.legs[thread.group, ws.me])


def leg_of(ws: Workspace, group: Group, member: str) -> Thread | None:
    """The thread with one participant of a group that we coordinate; None when there is none."""
    name = ws.book.legs.get((group.group_id, member))
    found = ws.book.threads.get(name) if name is not None else None
    return found if found is not None and found.role == LEG else None


def legs_of(ws: Workspace, group: Group, *, everybody: bool = False) -> list[Thread]:
    """The threads with those who take part, in the order of the list; or with whoever was ever in it."""
    names = group.members if everybody else group.present
    found = [leg_of(ws, group, one) for one in names if one != ws.me]
    return [one for one in found if one is not None]


def open_legs(ws: Workspace, hub: Thread) -> list[Thread]:
    """Those of them in which something may still happen."""
    return [one for one in legs_of(ws, group_of(ws, hub), everybody=True) if one.is_open]


def regroup(ws: Workspace, group: Group, **changes: Any) -> Group:
    """Change what is known of a group; says nothing when nothing changes."""
    new = {name: value for name, value in changes.items() if getattr(group, name) != value}
    if new:
        ws.say(Regrouped(group.group_id, **new))
    return ws.book.groups[group.group_id]


def fanout_id(ws: Workspace) -> str:
    """An id for one word to several, each of whom gets a packet of their own."""
    return packet.identifier("fan_", ws.draw(17))


def headed(ws: Workspace, thread: Thread, fields: Fields, fanout: str) -> Fields:
    """A packet of a group with what it says of the group: the list, or the list's digest (A2ACP-174)."""
    if thread.role == LEG:
        named = list(group_of(ws, thread).present)
        if thread.peer not in named:
            # Whoever is told that the others go on is told as one of them.
            named.append(thread.peer)
        return {**fields, "fanout_id": fanout or fanout_id(ws), "participants": named}
    if thread.role == MEMBER:
        return {**fields, "participants_digest": membership.digest(group_of(ws, thread).members)}
    return fields


def is_hub(thread: Thread) -> bool:
    """Whether a thread is the coordinator's own of its group."""
    return thread.role == HUB
