"""A packet that arrived: whose it is, what it moves, what it tells us; what it asks is considered afterwards.

A2ACP-031, A2ACP-058, A2ACP-089, A2ACP-104, A2ACP-110, A2ACP-111, A2ACP-112, A2ACP-113, A2ACP-114,
A2ACP-115, A2ACP-116, A2ACP-117, A2ACP-139, A2ACP-158, A2ACP-159, A2ACP-165, A2ACP-216.

The post hands each packet over once or more often; the thread's own list of packets says whether it is here
already. What breaks a rule of the thread is recorded and has no other effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.consent.tiers import canonical, ready
from tacit.a2acp.packets import bodies, schemas, shapes, vocabulary
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
from tacit.base.strict_json import as_object, as_objects

if TYPE_CHECKING:
    from tacit.agent.kernel.workspace import Workspace
    from tacit.base.strict_json import JsonObject

_CARRIERS: Final = ("context", "context_provided", "shared_context")


def receive(
    ws: Workspace,
    *,
    peer: str,
    packet_id: str,
    thread_id: str,
    packet_type: str,
    fields: JsonObject,
    ready: int,
) -> None:
    """Take one packet, of fields that are `normalised`."""
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
    body = schemas.valued(kind, fields)
    if not thread.is_open:
        _after_the_end(ws, thread, kind, body)
        return
    if thread.paused and kind != "processing_error":
        thread = ws.change(thread, paused=False)
    if turn:
        _moved_by(ws, thread)
    _take(ws, ws.thread(thread_id), packet_id, body, fields)


def _begin(
    ws: Workspace, peer: str, thread_id: str, fields: JsonObject, members: tuple[str, ...], wire: str
) -> Thread:
    """Begin a thread with a packet of somebody's; `members` are those of a group, the sender coordinates."""
    group = wire if members else ""
    intent = as_object(fields.get("intent"))
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


def _after_the_end(ws: Workspace, thread: Thread, kind: str, body: bodies.PacketBody) -> None:
    """Kept in the history, answered by nobody (A2ACP-165)."""
    status = body.state if isinstance(body, bodies.ThreadStatus) else ""
    if thread.role == LEG and thread.closed_reason == transferring.TRANSFERRED:
        if negotiates(kind) or isinstance(body, bodies.ResolutionResponse):
            transferring.redirect(ws, thread)
    elif thread.role == LEG and thread.closed_reason == acting.WITHOUT and negotiates(kind):
        grouping.came_late(ws, thread)
    elif thread.role == LEG and status == State.FAILED.value:
        # It joined what the others had brought to its end, and could not carry out its part.
        grouping.came_late(ws, thread)
    elif acting.crossed_its_end(ws, thread, body):
        acting.revive(ws, thread)
    elif isinstance(body, bodies.ContextPacket) and ws.peer_of(thread.peer).welcome:
        ws.notice(thread.thread_id, "after_the_end")
    elif thread.state is State.EXPIRED and status == State.DECLINED.value:
        # A person's no beats a clock (A2ACP-163).
        ws.say(records.Moved(thread.thread_id, Cause.DECLINED, thread.state, State.DECLINED, "user_declined"))


# What each type does.


def _take(ws: Workspace, thread: Thread, packet_id: str, body: bodies.PacketBody, fields: JsonObject) -> None:
    """What a packet does that counts; `fields` are its JSON, in which anything may be told or asked."""
    match body:
        case bodies.ContextPacket():
            _context(ws, thread, packet_id, body, fields)
        case bodies.ContextRequest() | bodies.ContextResponse():
            _learn(ws, thread, fields)
            _consider(ws, thread.thread_id, packet_id)
        case bodies.IntentUpdate():
            _intent_update(ws, thread, packet_id, body, fields)
        case bodies.ThreadFork():
            _fork(ws, thread, packet_id, body, fields)
        case bodies.Resolution():
            _resolution(ws, thread, packet_id, body, fields)
        case bodies.ResolutionResponse():
            answered = concluding.response if thread.role == LEG else proposing.response
            answered(ws, view_of(ws, thread), body)
        case bodies.ProcessingError():
            # They could not write an answer: both sides stand still until somebody goes on (A2ACP-089).
            ws.change(thread, paused=True)
            ws.notice(thread.thread_id, "their_agent_failed")
        case bodies.ThreadStatus():
            report = concluding.told if thread.role == LEG else acting.told
            report(ws, thread, body)
        case bodies.CoordinatorTransfer():
            _transfer(ws, thread, packet_id, body)
        case bodies.CoordinatorTransferResponse():
            transferring.answered(ws, thread, body)
        case _:
            # A type that the post itself has dealt with.
            pass


def _context(
    ws: Workspace, thread: Thread, packet_id: str, body: bodies.ContextPacket, fields: JsonObject
) -> None:
    _learn(ws, thread, fields)
    if body.escalation is not None and body.escalation.recommend == vocabulary.SURFACE_TO_USERS:
        escalating.asked_by_them(ws, view_of(ws, ws.thread(thread.thread_id)), packet_id, body)
        return
    standing = thread.proposal
    failed = "failed_action" in as_object((body.context or {}).get("conflict"))
    if failed and standing is not None and standing.side == THEM and not needs_in(fields):
        # What they proposed could not be done there: they go on with it themselves (A2ACP-170).
        return
    _consider(ws, thread.thread_id, packet_id)


def _consider(ws: Workspace, thread_id: str, packet_id: str) -> None:
    thread = ws.thread(thread_id)
    if thread.state is State.PROPOSED and not view_of(ws, thread).asked:
        return
    ws.change(thread, consider=packet_id)


def _learn(ws: Workspace, thread: Thread, fields: JsonObject) -> None:
    """What a packet answers of what we asked (A2ACP-109), and what of it is not as we remember."""
    remembering.heard(ws, thread, fields)
    wants = dict(thread.wants)
    clarified = False
    for carrier in _CARRIERS:
        for field in as_object(fields.get(carrier)):
            name = canonical(ws.policy, field)
            if name in wants:
                wants[name] = GIVEN
            clarified = clarified or (f"{name}:clarified" in wants and not thread.ours)
    for entry in as_objects(fields.get("context_unavailable")):
        if isinstance(field := entry.get("field"), str):
            status = entry.get("status")
            wants[canonical(ws.policy, field)] = NOT_AVAILABLE if status == NOT_AVAILABLE else DECLINED
    # What they want is read anew when they have said what was unclear in it.
    ws.change(thread, wants=wants, goal="" if clarified else thread.goal)


def _intent_update(
    ws: Workspace, thread: Thread, packet_id: str, body: bodies.IntentUpdate, fields: JsonObject
) -> None:
    """The thread is about something else now (A2ACP-111, A2ACP-113)."""
    before = as_object(ws.read(thread.intent))
    updated = body.updated_intent
    if body.previous_intent.summary != before.get("summary"):
        ws.notice(thread.thread_id, "another_previous_intent")
    new = {**before, "category": updated.category, "summary": updated.summary}
    ws.change(thread, intent=ws.keep(thread.peer, new), goal="")
    if updated.scope_change == "narrowed":
        _consider(ws, thread.thread_id, packet_id)
        return
    purpose.lapse(ws, thread.thread_id, packet_id)
    _reopen(ws, ws.thread(thread.thread_id), fields)
    ws.withdraw(thread.thread_id, "the intent changed", "consent", "scope", "escalation")
    thread = ws.change(thread.thread_id, consider=packet_id, awaiting_user=False)
    content: JsonObject = {
        "scope_change": updated.scope_change,
        "before": shown(before.get("summary")),
        "after": shown(updated.summary),
        "reason": shown(body.reason),
        "from": thread.peer,
        "choices": ["confirm", "refuse"],
    }
    ws.ask(thread, "scope", content, subject=packet_id)


def _reopen(ws: Workspace, thread: Thread, fields: JsonObject) -> None:
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


def _fork(ws: Workspace, thread: Thread, packet_id: str, body: bodies.ThreadFork, fields: JsonObject) -> None:
    """One thread becomes several (A2ACP-115, A2ACP-117)."""
    ids = [child.thread_id for child in body.new_threads]
    fits = (
        thread.state in NEGOTIABLE
        and 2 <= len(ids) <= purpose.MOST_CHILDREN
        and thread.depth < purpose.DEEPEST
        and len(set(ids)) == len(ids)
        and all(shapes.THREAD_ID.holds(name) and name not in ws.book.threads for name in ids)
    )
    if not fits:
        ws.say(records.Violated(thread.thread_id, thread.peer, "fork"))
        return
    # What an intent says beyond what we know is kept with it.
    intents = [as_object(child.get("intent")) for child in as_objects(fields.get("new_threads"))]
    children = [(name, intent, "") for name, intent in zip(ids, intents, strict=True)]
    purpose.fork(ws, thread, packet_id, THEM, children)


def _resolution(
    ws: Workspace, thread: Thread, packet_id: str, body: bodies.Resolution, fields: JsonObject
) -> None:
    if thread.role == MEMBER:
        if not joining.is_our_list(ws, thread, fields):
            return
        way = confirmation.read(
            body.confirmation, tuple(ws.book.part(GroupTables).groups[thread.group].members)
        )
        # Whoever proposes keeps the coordinator's role, though it offered it to us.
        ws.say(
            group_records.Regrouped(
                thread.group, mode=way.mode, quorum=way.quorum, order=way.order, offered_to=""
            )
        )
    proposing.received(ws, view_of(ws, thread), packet_id, body)


def _transfer(ws: Workspace, thread: Thread, packet_id: str, body: bodies.CoordinatorTransfer) -> None:
    transferring.told(ws, thread, packet_id, body)
    group = ws.book.part(GroupTables).groups.get(thread.group)
    for early in [
        each for each in ws.book.part(GroupTables).early.values() if group and each.peer == group.coordinator
    ]:
        # It was quicker than the word that makes it the coordinator.
        ws.say(group_records.TakenUp(early.packet_id))
        said = ws.values.packet(early.peer, early.packet_id, THEM)
        if said is not None and group is not None:
            receive(
                ws,
                peer=early.peer,
                packet_id=early.packet_id,
                thread_id=group.group_id,
                packet_type=early.type,
                fields=said,
                ready=early.ready,
            )
