"""The threads of a group and who is behind them, as every part of the engine asks for them.

A2ACP-173, A2ACP-174. What each has signed of the list (`group.vouching`) stands in its packets alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.consent import onward
from tacit.a2acp.packets import packet
from tacit.agent.groups import membership, vouching
from tacit.agent.groups.fold import GroupTables
from tacit.agent.groups.records import Regrouped
from tacit.agent.kernel.state import HUB, LEG, MEMBER, THEM, US

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from tacit.a2acp.consent.tiers import Policy
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.groups.fold import Group
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace

SIGNATURE: Final = "participants_signature"
"""In a participant's packets: what it has signed of the list that it was told."""
SIGNATURES: Final = "participants_signatures"
"""In a coordinator's proposal: those of all."""


def members_of(ws: Workspace, thread: Thread) -> frozenset[str]:
    """Whom a thread is with, ourselves among them: no news to any of them."""
    group = ws.book.part(GroupTables).groups.get(thread.group) if thread.group else None
    return frozenset({ws.me, thread.peer, *(group.members if group is not None else ())})


def policy_in(ws: Workspace, thread: Thread) -> Policy:
    """The permissions that hold in a thread: in a group for everybody who would learn it (A2ACP-181)."""
    if thread.role != MEMBER or not ws.policy.onward_fields:
        return ws.policy
    others = members_of(ws, thread) - {ws.me, thread.peer}
    return onward.strictest(ws.policy, thread.peer, others)


def group_of(ws: Workspace, thread: Thread) -> Group:
    """The group that a thread belongs to."""
    return ws.book.part(GroupTables).groups[thread.group]


def hub_of(ws: Workspace, thread: Thread) -> Thread:
    """The coordinator's own thread of a group."""
    return ws.thread(ws.book.part(GroupTables).legs[thread.group, ws.me])


def leg_of(ws: Workspace, group: Group, member: str) -> Thread | None:
    """The thread with one participant of a group that we coordinate; None when there is none."""
    name = ws.book.part(GroupTables).legs.get((group.group_id, member))
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
    return ws.book.part(GroupTables).groups[group.group_id]


def told_in(group: Group) -> vouching.ToldList:
    """The list of a group, as its coordinator told it first."""
    return vouching.ToldList(group.group_id, group.coordinator, group.listed or tuple(group.members))


def keys_of(ws: Workspace, people: Iterable[str]) -> dict[str, bytes]:
    """The keys of some people, ourselves among them, as far as they are known here."""
    found = {one: ws.peer_of(one).key for one in people if one != ws.me}
    return {ws.me: ws.signer().signing_public, **{one: key for one, key in found.items() if key}}


def signatures_of(ws: Workspace, group: Group) -> list[Fields]:
    """What the participants have signed of their lists, each by its last packet, to be handed on to all."""
    found: list[Fields] = []
    for one in legs_of(ws, group):
        said = (ws.packet(one, each.packet_id, THEM) for each in reversed(one.packets) if each.side == THEM)
        word = next((each[SIGNATURE] for each in said if SIGNATURE in each), None)
        if word is not None:
            found.append({"agent": one.peer, "signature": word})
    return found


def compared(ws: Workspace, thread: Thread, fields: Fields) -> vouching.Compared:
    """What the signatures in a coordinator's proposal say of the list that we were told."""
    group = group_of(ws, thread)
    handed = vouching.handed_on(fields.get(SIGNATURES))
    return vouching.compared(told_in(group), handed, group.present, keys_of(ws, group.members), ws.me)


def list_shown(ws: Workspace, thread: Thread) -> Fields:
    """What a checkpoint in a group says of its people; nothing where there is no group."""
    group = ws.book.part(GroupTables).groups.get(thread.group) if thread.group else None
    if group is None:
        return {}
    shown: Fields = {
        "participants": list(group.present),
        "participants_digest": membership.digest(told_in(group).members),
    }
    if thread.role == MEMBER and thread.proposal is not None:
        said = ws.packet(thread, thread.proposal.packet_id, THEM)
        shown["participants_unsigned"] = list(compared(ws, thread, said).unsigned)
    return shown


def fanout_id(ws: Workspace) -> str:
    """An id for one word to several, each of whom gets a packet of their own."""
    return packet.identifier("fan_", ws.draw(17))


def headed(ws: Workspace, thread: Thread, fields: Fields, fanout: str) -> Fields:
    """A packet of a group with what it says of the group: the list, or the list's digest (A2ACP-174)."""
    if thread.role == LEG:
        group = group_of(ws, thread)
        # The first word names everybody who was in it at the beginning: one list, which all can compare.
        first = not any(one.side == US for one in thread.packets)
        named = list(group.members if first else group.present)
        if thread.peer not in named:
            # Whoever is told that the others go on is told as one of them.
            named.append(thread.peer)
        return {**fields, "fanout_id": fanout or fanout_id(ws), "participants": named}
    if thread.role == MEMBER:
        told = told_in(group_of(ws, thread))
        signer = ws.signer()
        word = vouching.signature(signer.sign, signer.signing_public, told, ws.me)
        return {**fields, "participants_digest": membership.digest(told.members), SIGNATURE: word}
    return fields


def is_hub(thread: Thread) -> bool:
    """Whether a thread is the coordinator's own of its group."""
    return thread.role == HUB
