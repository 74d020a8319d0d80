"""A packet that arrived: whose it is, what it moves, what it tells us; what it asks is considered afterwards.

A2ACP-031, A2ACP-058, A2ACP-089, A2ACP-104, A2ACP-110, A2ACP-111, A2ACP-112, A2ACP-113, A2ACP-114,
A2ACP-115, A2ACP-116, A2ACP-117, A2ACP-139, A2ACP-158, A2ACP-159, A2ACP-165, A2ACP-216.

The post hands each packet over once or more often; the thread's own list of packets says whether it is here
already. What breaks a rule of the thread is recorded and has no other effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tacit.a2acp.consent.tiers import canonical, ready
from tacit.a2acp.packets import forms, schemas, vocabulary
from tacit.a2acp.threads.states import NEGOTIABLE, Cause, State
from tacit.agent.groups import confirmation, grouping, joining, membership, transferring
from tacit.agent.groups import fold as groups
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import GroupTables
from tacit.agent.kernel import records
from tacit.agent.kernel.state import (
    DECLINED,
    GIVEN,
    LEG,
    MEMBER,
    NOT_AVAILABLE,
    THEM,
    Thread,
)
from tacit.agent.memory import remembering
from tacit.agent.owner import hints
from tacit.agent.scheduling import acting, concluding, escalating, proposing, purpose
from tacit.agent.scheduling.view import needs_in, negotiates, view_of
from tacit.agent.spaces import receiving as space_receiving
from tacit.base.quoting import shown

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.workspace import Workspace

_CARRIERS: Final = ("context", "context_provided", "shared_context")


def receive(
    ws: Workspace, *, peer: str, packet_id: str, thread_id: str, packet_type: str, fields: Fields, ready: int
) -> None:
    """Take one packet."""
    if packet_type in space_receiving.TYPES:
        space_receiving.receive(ws, peer=peer, thread_id=thread_id, packet_type=packet_type, fields=fields)
        return
    kind = packet_type if packet_type in schemas.TYPES else "context"
    wire, thread_id = thread_id, groups.thread_of(ws.book.part(GroupTables).legs, thread_id, peer)
    thread = ws.book.threads.get(thread_id)
    if thread is not None and joining.begins_anew(ws, thread, peer, kind):
        thread, thread_id = None, joining.new_name(ws, wire, peer)
    if thread is not None and thread.peer != peer:
        joining.stranger(ws, thread, peer, packet_id, kind, ready)
        return
    if thread is not None and any(one.packet_id == packet_id for one in thread.packets):
        return
    if thread is None:
        members = joining.members_in(ws, peer, fields)
        if kind != "context" or members is None:
            ws.say(records.Violated(wire, peer, "unknown_thread" if members is not None else "bad_list"))
            return
        if wire in ws.book.part(GroupTables).groups and not membership.shrunk(
            ws.book.part(GroupTables).groups[wire].members, members
        ):
            ws.say(records.Violated(wire, peer, "bad_list"))
            return
        thread = _begin(ws, peer, thread_id, fields, members, wire)
    elif thread.is_open and not joining.may(ws, thread, kind, fields):
        return
    mac = ws.values.keyed_hash(packet_id.encode())
    # After a thread's end nothing is a turn any more.
    turn = negotiates(kind) and thread.is_open
    ws.say(records.Received(thread_id, peer, packet_id, kind, ready, mac, negotiates=turn))
    if thread.role == LEG and thread.is_open:
        concluding.count_once(ws, thread)
    thread = ws.thread(thread_id)
    if not thread.is_open:
        _after_the_end(ws, thread, kind, fields)
        return
    if thread.paused and kind != "processing_error":
        thread = ws.change(thread, paused=False)
    if turn:
        _moved_by(ws, thread)
    _TAKES[kind](ws, ws.thread(thread_id), packet_id, fields)


def _begin(
    ws: Workspace, peer: str, thread_id: str, fields: Fields, members: tuple[str, ...], wire: str
) -> Thread:
    """Begin a thread with a packet of somebody's; `members` are those of a group, the sender coordinates."""
    group = wire if members else ""
    intent = cast("Fields", fields.get("intent") or {})
    urgent = vocabulary.urgency(intent.get("urgency")) == "urgent"
    project = intent.get("category") == hints.PROJECT
    others = tuple(one for one in members if one not in {ws.me, peer})
    began = records.Began(
        thread_id,
        peer,
        ours=False,
        urgent=urgent,
        intent=ws.keep(peer, intent),
        project=project,
        group=group,
        role=MEMBER if members else "",
        members=(peer, *others) if members else (),
    )
    if members:
        ws.say(group_records.Grouped(group, peer, members))
    ws.say(began)
    return ws.thread(thread_id)


def _moved_by(ws: Workspace, thread: Thread) -> None:
    if thread.state is State.STALLED:
        ws.move(thread.thread_id, Cause.NEGOTIATED)
    elif thread.state is State.INITIATED and thread.ours:
        ws.move(thread.thread_id, Cause.ANSWERED)


def _after_the_end(ws: Workspace, thread: Thread, kind: str, fields: Fields) -> None:
    """Kept in the history, answered by nobody (A2ACP-165)."""
    if thread.role == LEG and thread.closed_reason == transferring.TRANSFERRED:
        if negotiates(kind) or kind == "resolution_response":
            transferring.redirect(ws, thread)
    elif thread.role == LEG and thread.closed_reason == acting.WITHOUT and negotiates(kind):
        grouping.came_late(ws, thread)
    elif thread.role == LEG and kind == "thread_status" and fields.get("state") == State.FAILED.value:
        # It joined what the others had brought to its end, and could not carry out its part.
        grouping.came_late(ws, thread)
    elif acting.crossed_its_end(ws, thread, kind, fields):
        acting.revive(ws, thread)
    elif kind == "context" and ws.peer_of(thread.peer).welcome:
        ws.notice(thread.thread_id, "after_the_end")
    elif kind == "thread_status" and thread.state is State.EXPIRED and fields.get("state") == "DECLINED":
        # A person's no beats a clock (A2ACP-163).
        ws.say(records.Moved(thread.thread_id, Cause.DECLINED, thread.state, State.DECLINED, "user_declined"))


# What each type does.


def _context(ws: Workspace, thread: Thread, packet_id: str, fields: Fields) -> None:
    _learn(ws, thread, fields)
    escalation: Any = fields.get("escalation")
    if isinstance(escalation, dict) and cast("Fields", escalation).get("recommend") == "surface_to_users":
        escalating.asked_by_them(ws, view_of(ws, ws.thread(thread.thread_id)), packet_id, fields)
        return
    standing = thread.proposal
    clash: object = cast("Fields", fields.get("context") or {}).get("conflict")
    failed = isinstance(clash, dict) and "failed_action" in clash
    if failed and standing is not None and standing.side == THEM and not needs_in(fields):
        # What they proposed could not be done there: they go on with it themselves (A2ACP-170).
        return
    _consider(ws, thread.thread_id, packet_id)


def _request(ws: Workspace, thread: Thread, packet_id: str, fields: Fields) -> None:
    _learn(ws, thread, fields)
    _consider(ws, thread.thread_id, packet_id)


def _consider(ws: Workspace, thread_id: str, packet_id: str) -> None:
    thread = ws.thread(thread_id)
    if thread.state is State.PROPOSED and not view_of(ws, thread).asked:
        return
    ws.change(thread, consider=packet_id)


def _learn(ws: Workspace, thread: Thread, fields: Fields) -> None:
    """What a packet answers of what we asked (A2ACP-109), and what of it is not as we remember."""
    remembering.heard(ws, thread, fields)
    wants = dict(thread.wants)
    clarified = False
    for name in _CARRIERS:
        carried: object = fields.get(name)
        for field in cast("Fields", carried) if isinstance(carried, dict) else {}:
            wants_name = canonical(ws.policy, field)
            if wants_name in wants:
                wants[wants_name] = GIVEN
            clarified = clarified or (f"{wants_name}:clarified" in wants and not thread.ours)
    listed: object = fields.get("context_unavailable")
    for one in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if isinstance(one, dict) and isinstance(name := cast("Fields", one).get("field"), str):
            status = cast("Fields", one).get("status")
            wants[canonical(ws.policy, name)] = NOT_AVAILABLE if status == NOT_AVAILABLE else DECLINED
    # What they want is read anew when they have said what was unclear in it.
    ws.change(thread, wants=wants, goal="" if clarified else thread.goal)


def _intent_update(ws: Workspace, thread: Thread, packet_id: str, fields: Fields) -> None:
    """The thread is about something else now (A2ACP-111, A2ACP-113)."""
    before = cast("Fields", ws.read(thread.intent) or {})
    updated = cast("Fields", fields.get("updated_intent") or {})
    previous = fields.get("previous_intent")
    if isinstance(previous, dict) and cast("Fields", previous).get("summary") != before.get("summary"):
        ws.notice(thread.thread_id, "another_previous_intent")
    new = {**before, "category": updated.get("category", ""), "summary": updated.get("summary", "")}
    change = vocabulary.scope_change(updated.get("scope_change"))
    ws.change(thread, intent=ws.keep(thread.peer, new), goal="")
    if change == "narrowed":
        _consider(ws, thread.thread_id, packet_id)
        return
    purpose.lapse(ws, thread.thread_id, packet_id)
    _reopen(ws, ws.thread(thread.thread_id), fields)
    ws.withdraw(thread.thread_id, "the intent changed", "consent", "scope", "escalation")
    thread = ws.change(thread.thread_id, consider=packet_id, awaiting_user=False)
    content = {
        "scope_change": change,
        "before": shown(before.get("summary")),
        "after": shown(new["summary"]),
        "reason": shown(fields.get("reason")),
        "from": thread.peer,
        "choices": ["confirm", "refuse"],
    }
    ws.ask(thread, "scope", content, subject=packet_id)


def _reopen(ws: Workspace, thread: Thread, fields: Fields) -> None:
    """A declined field may be asked for once more when the purpose changed and names it (A2ACP-110)."""
    named = {canonical(ws.policy, one.field) for one in needs_in(fields)}
    fresh = [
        one
        for one in sorted(named)
        if thread.asked.get(one) == DECLINED and f"{one}:reopened" not in thread.asked
    ]
    asked = {**thread.asked, **{f"{one}:reopened": GIVEN for one in fresh}}
    asked_for = {
        name
        for one in needs_in(fields)
        if canonical(ws.policy, one.field) in fresh
        for name in ready(ws.policy).chain(one.field)
    }
    refused = tuple(one for one in thread.refused if one not in asked_for)
    ws.change(thread, asked=asked, refused=refused, reopened=(*thread.reopened, *fresh))


def _fork(ws: Workspace, thread: Thread, packet_id: str, fields: Fields) -> None:
    """One thread becomes several (A2ACP-115, A2ACP-117)."""
    children = cast("list[Fields]", fields.get("new_threads") or [])
    ids = [str(one.get("thread_id")) for one in children]
    fits = (
        thread.state in NEGOTIABLE
        and 2 <= len(children) <= purpose.MOST_CHILDREN
        and thread.depth < purpose.DEEPEST
        and len(set(ids)) == len(ids)
        and all(forms.THREAD_ID.holds(one) and one not in ws.book.threads for one in ids)
    )
    if not fits:
        ws.say(records.Violated(thread.thread_id, thread.peer, "fork"))
        return
    purpose.fork(
        ws,
        thread,
        packet_id,
        THEM,
        [(one, child["intent"], "") for one, child in zip(ids, children, strict=True)],
    )


def _resolution(ws: Workspace, thread: Thread, packet_id: str, fields: Fields) -> None:
    if thread.role == MEMBER:
        if not joining.is_our_list(ws, thread, fields):
            return
        way = confirmation.read(
            fields.get("confirmation"), tuple(ws.book.part(GroupTables).groups[thread.group].members)
        )
        # Whoever proposes keeps the coordinator's role, though it offered it to us.
        ws.say(
            group_records.Regrouped(
                thread.group, mode=way.mode, quorum=way.quorum, order=way.order, offered_to=""
            )
        )
    proposing.received(ws, view_of(ws, thread), packet_id, fields)


def _response(ws: Workspace, thread: Thread, _packet_id: str, fields: Fields) -> None:
    answered = concluding.response if thread.role == LEG else proposing.response
    answered(ws, view_of(ws, thread), fields)


def _error(ws: Workspace, thread: Thread, _packet_id: str, _fields: Fields) -> None:
    """They could not write an answer: both sides stand still until somebody goes on (A2ACP-089)."""
    ws.change(thread, paused=True)
    ws.notice(thread.thread_id, "their_agent_failed")


def _status(ws: Workspace, thread: Thread, _packet_id: str, fields: Fields) -> None:
    told = concluding.told if thread.role == LEG else acting.told
    told(ws, thread, fields)


def _transfer(ws: Workspace, thread: Thread, packet_id: str, fields: Fields) -> None:
    transferring.told(ws, thread, packet_id, fields)
    group = ws.book.part(GroupTables).groups.get(thread.group)
    for one in [
        one for one in ws.book.part(GroupTables).early.values() if group and one.peer == group.coordinator
    ]:
        # It was quicker than the word that makes it the coordinator.
        ws.say(group_records.TakenUp(one.packet_id))
        said = ws.values.packet(one.peer, one.packet_id, THEM)
        if said is not None and group is not None:
            receive(
                ws,
                peer=one.peer,
                packet_id=one.packet_id,
                thread_id=group.group_id,
                packet_type=one.type,
                fields=said,
                ready=one.ready,
            )


def _transfer_answer(ws: Workspace, thread: Thread, _packet_id: str, fields: Fields) -> None:
    transferring.answered(ws, thread, fields)


def _nothing(_ws: Workspace, _thread: Thread, _packet_id: str, _fields: Fields) -> None:
    """A type that the post itself has dealt with."""


_TAKES: Final = {
    "context": _context,
    "context_request": _request,
    "context_response": _request,
    "intent_update": _intent_update,
    "thread_fork": _fork,
    "resolution": _resolution,
    "resolution_response": _response,
    "processing_error": _error,
    "thread_status": _status,
    "thread_sync": _nothing,
    "coordinator_transfer": _transfer,
    "coordinator_transfer_response": _transfer_answer,
}
