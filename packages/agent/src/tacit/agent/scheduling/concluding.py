"""How a group's proposal comes to its end: confirmed by all, by enough, one after the other, or not at all.

A2ACP-142, A2ACP-145, A2ACP-151, A2ACP-152, A2ACP-153, A2ACP-163, A2ACP-173, A2ACP-184.

Theory of operation. Confirmations come by the legs and from the owner's own checkpoint, and are counted at
the hub, by the address of the leg: whoever writes for another writes for themselves. `settle` asks the table
(`group.confirmation`) after each of them. Met is one record, the hub's move to CONFIRMED; as a decision is
made whole and one after the other, it is written once however many confirm at the same time, and what follows
from it follows from it alone: the coordinator's own yes goes to every leg, by which a participant's thread is
confirmed as any other, and the hub's actions begin. A participant that has not said yes by then hears that it
goes ahead, and may still join while the proposal stands; a late no changes nothing for the others. The same
holds for the coordinator's own owner: without its yes the agents of those who confirmed act, ours does not.

The hub's actions are those of everybody who confirmed, under ids that all come to; a participant reports its
own, and only its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import to_builtins
from msgspec.structs import replace

from tacit.a2acp.packets import vocabulary
from tacit.a2acp.packets.bodies import Resolution
from tacit.a2acp.threads.states import NEGOTIABLE, Cause, State
from tacit.agent.consent import sending
from tacit.agent.groups import confirmation, grouping, vouching
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import LEFT_OUT
from tacit.agent.groups.members import group_of, hub_of, keys_of, legs_of, open_legs, regroup
from tacit.agent.guests.fold import GuestTables, voices
from tacit.agent.kernel import records
from tacit.agent.kernel.state import HUB, THEM, US
from tacit.agent.scheduling import (
    acting,
    asking,
    failures,
    planning,
    proposal_slots,
    proposing,
    recalling,
    responses,
)
from tacit.agent.scheduling.view import view_of
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.bodies import ResolutionResponse, ThreadStatus
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.groups.fold import Group
    from tacit.agent.kernel.state import Planned, Proposal, Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.agent.scheduling.failures import FailedAction
    from tacit.agent.scheduling.view import View

UNDER_WAY: Final = frozenset({State.CONFIRMED, State.EXECUTING})
UNDOING: Final = frozenset({State.FAILED, State.ROLLBACK})
ANSWERABLE: Final = UNDER_WAY | {State.PROPOSED}
"""Where a coordinator's owner may still say yes or no: others may have been enough without it."""


# What our own owner says.


def confirm(
    ws: Workspace, thread: Thread, question_id: str, choice: int, ticks: frozenset[str], *, slot_free: bool
) -> None:
    """The coordinator's owner says yes (A2ACP-145)."""
    standing = thread.proposal
    if standing is None or standing.question_id != question_id or thread.state not in ANSWERABLE:
        raise Refused("stale_question", "the proposal that this was about no longer stands", row="A2ACP-145")
    proposing.check_choice(ws, thread, choice, ticks)
    if thread.state in UNDER_WAY:
        _joins(ws, thread, standing, slot_free=slot_free)
        return
    if not slot_free:
        ws.notice(thread.thread_id, "slot_taken", standing.packet_id)
        off(ws, thread, proposing.TAKEN)
        return
    ws.change(
        thread, proposal=replace(standing, confirmed={**standing.confirmed, ws.me: proposal_slots.MAIN})
    )
    settle(ws, thread.thread_id)


def _joins(ws: Workspace, hub: Thread, standing: Proposal, *, slot_free: bool) -> None:
    """Enough others had confirmed before: the owner comes too, and what is ours to do is done now."""
    if not slot_free:
        without_us(ws, hub)
        return
    actions = (*_actions(ws, hub, standing, (ws.me,)), *standing.actions)
    confirmed = {**standing.confirmed, ws.me: proposal_slots.MAIN}
    ws.change(hub, proposal=replace(standing, confirmed=confirmed, actions=actions))


def without_us(ws: Workspace, hub: Thread) -> None:
    """It goes ahead without the owner: nothing is ours to do any more, and the others are told so."""
    standing = hub.proposal
    if standing is not None:
        ws.withdraw(hub.thread_id, "goes ahead", "checkpoint")
        own = [replace(one, status=acting.NOT_STARTED) for one in _actions(ws, hub, standing, (ws.me,))]
        ws.change(hub, proposal=replace(standing, question_id="", actions=(*own, *standing.actions)))
        acting.advance(ws, hub.thread_id)


def counter(ws: Workspace, thread: Thread, name: str, value: str) -> None:
    """The coordinator's owner wants something else: it is looked for among what the others told."""
    if thread.state in UNDER_WAY:
        without_us(ws, thread)
        return
    wish = {"kind": "wish", "wish": {"field": name, "suggestion": value}}
    thread = off(ws, thread, "" if name in recalling.PLACES else "countered")
    ws.change(thread, ruled_out=(*thread.ruled_out, ws.keep(ws.me, wish)))


def decline(
    ws: Workspace, thread: Thread, *, reason_class: str, message: str, ended: str = "user_declined"
) -> None:
    """The coordinator's owner says no: another time is looked for, or it ends for all."""
    del message
    if thread.state in UNDER_WAY:
        without_us(ws, thread)
    elif reason_class in proposing.INVITING:
        off(ws, thread, "declined")
    else:
        end(ws, thread.thread_id, Cause.DECLINED, ended)


def stop(ws: Workspace, thread_id: str, *, reason: str = "withdrawn") -> None:
    """The owner wants no more of something: of a group whole, or of any other thread."""
    thread = ws.thread(thread_id)
    if thread.role != HUB:
        asking.stop(ws, thread_id, reason=reason)
    elif thread.is_open and not end(ws, thread_id, Cause.CLOSED, reason):
        raise Refused("too_late", "this is being carried out and can no longer be stopped", row="A2ACP-163")


# What participants say.


def response(ws: Workspace, view: View, body: ResolutionResponse) -> None:
    """A participant's word on the proposal that stands with it; on any other it has no effect."""
    thread = view.thread
    standing = responses.on_standing(ws, thread, body)
    if standing is None:
        return
    if proposing.said_at(ws, body) >= standing.expires:
        _expired(ws, thread)
        return
    if body.status == vocabulary.CONFIRMED:
        _said_yes(ws, thread, standing)
        return
    again = body.status != vocabulary.DECLINED or body.reason_class in proposing.INVITING
    if body.change_request is not None:
        kept = ws.keep(thread.peer, {"kind": "wish", "wish": to_builtins(body.change_request)})
        proposal_slots.rule_out(ws, thread, body.status)
        thread = ws.thread(thread.thread_id)
        thread = ws.change(thread, ruled_out=(*thread.ruled_out, kept))
    _said_no(ws, thread, again=again)


def _said_yes(ws: Workspace, thread: Thread, standing: Proposal) -> None:
    thread = ws.change(thread, proposal=replace(standing, confirmed={thread.peer: proposal_slots.MAIN}))
    hub = hub_of(ws, thread)
    whole = hub.proposal
    if whole is None:
        return
    if hub.state is State.PROPOSED:
        confirmed = {**whole.confirmed, thread.peer: proposal_slots.MAIN}
        ws.change(hub, proposal=replace(whole, confirmed=confirmed))
        settle(ws, hub.thread_id)
    elif hub.state in UNDER_WAY:
        # Late, and welcome: it was told that it goes ahead, and has its own entry to make.
        confirmed = {**whole.confirmed, thread.peer: proposal_slots.MAIN}
        actions = (*whole.actions, *_actions(ws, hub, whole, (thread.peer,)))
        ws.change(hub, proposal=replace(whole, confirmed=confirmed, actions=actions))
        ws.move(thread.thread_id, Cause.CONFIRMED)
    elif hub.state is State.COMPLETED and ws.move(thread.thread_id, Cause.CONFIRMED):
        ws.close(thread.thread_id, Cause.NOTHING_TO_DO, "completed")


def _said_no(ws: Workspace, thread: Thread, *, again: bool) -> None:
    hub = hub_of(ws, thread)
    if hub.state is not State.PROPOSED:
        # It goes ahead, or is over: a late no is this one's alone.
        proposing.end(ws, thread.thread_id, Cause.DECLINED, "user_declined")
        return
    group = group_of(ws, thread)
    regroup(ws, group, declined={**group.declined, thread.peer: again})
    ws.notice(hub.thread_id, "declined", thread.peer)
    if group.mode == confirmation.QUORUM and not again:
        proposing.end(ws, thread.thread_id, Cause.DECLINED, "user_declined")
    settle(ws, hub.thread_id)


def _expired(ws: Workspace, thread: Thread) -> None:
    proposing.expire(ws, thread)
    hub = hub_of(ws, thread)
    if hub.state is State.PROPOSED:
        group = group_of(ws, thread)
        regroup(ws, group, declined={**group.declined, thread.peer: False})
        settle(ws, hub.thread_id)


def count_once(ws: Workspace, thread: Thread) -> None:
    """Of people under one key the first takes part; the owner is told of the others (A2ACP-142)."""
    hub = hub_of(ws, thread)
    group = group_of(ws, thread)
    if hub.state not in NEGOTIABLE | {State.PROPOSED}:
        return
    found = vouching.doubled(group.present, keys_of(ws, group.present))
    found = tuple(one for one in found if one != ws.me)
    for one in found:
        ws.say(records.Violated(hub.thread_id, one, "one_key_twice"))
        ws.notice(hub.thread_id, "one_key_twice", one)
    if found:
        grouping.leave(ws, hub, found, LEFT_OUT)
        settle(ws, hub.thread_id)


# Where it stands.


def settle(ws: Workspace, hub_id: str) -> None:
    """What follows from who has said what so far."""
    hub = ws.thread(hub_id)
    standing = hub.proposal
    if standing is None or hub.state is not State.PROPOSED:
        return
    group = group_of(ws, hub)
    found = _standing(ws, group, standing)
    if found.outcome == confirmation.MET:
        _met(ws, hub, group, standing)
    elif found.outcome == confirmation.UNREACHABLE:
        if any(group.declined.values()):
            off(ws, hub, "declined")
        else:
            end(ws, hub_id, Cause.DECLINED, "user_declined")
    elif group.mode == confirmation.SEQUENTIAL:
        # The step in between needs the calendar: it is the hub's turn.
        ws.change(hub, consider=f"next:{len(standing.confirmed)}")


def _standing(ws: Workspace, group: Group, standing: Proposal) -> confirmation.Standing:
    """Where it stands; toward a quorum guests count too, and nothing is done for them (A2ACP-277)."""
    way = grouping.way_of(group)
    if group.mode != confirmation.QUORUM:
        return confirmation.standing(way, group.present, standing.confirmed, group.declined)
    guests = voices(
        ws.book.part(GuestTables).guests, ws.book.part(GuestTables).asked_guests, standing.packet_id
    )
    return confirmation.standing(
        way,
        (*group.present, *guests.asked),
        {*standing.confirmed, *guests.yes},
        {*group.declined, *guests.no},
    )


def _met(ws: Workspace, hub: Thread, group: Group, standing: Proposal) -> None:
    """Enough have confirmed: one record, from which everything else follows (A2ACP-151)."""
    if not ws.move(hub.thread_id, Cause.CONFIRMED):
        return
    if ws.me in standing.confirmed:
        ws.withdraw(hub.thread_id, "confirmed", "checkpoint")
    coming = tuple(one for one in group.present if one in standing.confirmed)
    ws.say(group_records.Met(group.group_id, tuple(one for one in group.members if one not in coming)))
    ws.change(hub, proposal=replace(standing, actions=_actions(ws, hub, standing, coming)), consider="")
    for one in legs_of(ws, group):
        stands = one.proposal
        if one.state is not State.PROPOSED or stands is None:
            continue
        body: Fields = {"status": "confirmed", "in_reply_to": stands.packet_id}
        sending.send(ws, view_of(ws, one), "resolution_response", body)
        if one.peer in coming:
            ws.move(one.thread_id, Cause.CONFIRMED)


def _actions(ws: Workspace, hub: Thread, standing: Proposal, coming: tuple[str, ...]) -> tuple[Planned, ...]:
    """The actions of those who come, as far as their agents will say what became of them."""
    body = ws.body(hub, standing.packet_id, US, Resolution)
    if body is None:
        return ()
    telling = [one for one in coming if one == ws.me or ws.peer_of(one).can(acting.STATUS)]
    found = planning.actions_of(ws, hub, standing.packet_id, US, body, coming)
    wanted = {one.action_id for one in found if one.executor in telling}
    planned = planning.planned(ws, hub, standing.packet_id, US, body, coming)
    return tuple(one for one in planned if one.action_id in wanted)


def next_in_order(ws: Workspace, hub: Thread, busy: Busy | None) -> None:
    """The step between two confirmations: is the slot still free? Then the next is asked (A2ACP-152)."""
    standing = hub.proposal
    hub = ws.change(hub, consider="")
    slot = proposal_slots.slot_of(proposal_slots.chosen_details(ws, hub), ws)
    taken = busy.spans if busy is not None else ()
    if standing is None or slot is None:
        return
    if any(one.start < slot.end and slot.start < one.end for one in taken):
        ws.notice(hub.thread_id, "slot_taken", standing.packet_id)
        off(ws, hub, proposing.TAKEN)
        return
    grouping.ask(ws, hub.thread_id)


def off(ws: Workspace, hub: Thread, why: str) -> Thread:
    """What stood no longer does: another time is looked for, with what was learned (A2ACP-160)."""
    hub = ws.thread(hub.thread_id)
    standing = hub.proposal
    if why:
        hub = proposal_slots.rule_out(ws, hub, why)
    ws.withdraw(hub.thread_id, "countered", "checkpoint")
    if not ws.move(hub.thread_id, Cause.COUNTERED):
        return hub
    for one in open_legs(ws, hub):
        if one.state is State.PROPOSED and ws.move(one.thread_id, Cause.COUNTERED):
            ws.change(one.thread_id, proposal=None, unanswered_since=None)
    regroup(ws, group_of(ws, hub), declined={})
    return ws.change(hub, proposal=None, consider=standing.packet_id if standing is not None else "")


def end(ws: Workspace, hub_id: str, cause: Cause, reason: str) -> bool:
    """It is over, for everybody and in one way (A2ACP-163)."""
    if not ws.close(hub_id, cause, reason):
        return False
    hub = ws.thread(hub_id)
    for one in open_legs(ws, hub):
        expires = hub.state is State.EXPIRED and one.state is State.PROPOSED
        proposing.end(ws, one.thread_id, Cause.TIMED_OUT if expires else Cause.CLOSED, reason)
    return True


def expire(ws: Workspace, hub: Thread) -> None:
    """The window for confirming has passed, or nobody went on with it (A2ACP-154)."""
    stalled = hub.state is State.STALLED
    cause = Cause.STALLED_TOO_LONG if stalled else Cause.TIMED_OUT
    if end(ws, hub.thread_id, cause, "stalled" if stalled else "confirmation_timeout"):
        ws.notice(hub.thread_id, "expired")


# What participants report.


def told(ws: Workspace, thread: Thread, status: ThreadStatus) -> None:
    """A participant's word on its own actions and on its part in the group (A2ACP-163, A2ACP-166)."""
    hub = hub_of(ws, thread)
    state = status.state
    _results(ws, hub, thread.peer, status)
    if state == State.DECLINED.value:
        if thread.state is State.PROPOSED:
            _said_no(ws, thread, again=False)
        elif thread.state in NEGOTIABLE | {State.STALLED}:
            grouping.withdrawn(ws, thread)
    elif state == State.EXPIRED.value and thread.state is State.PROPOSED:
        _expired(ws, thread)
    elif state == State.EXPIRED.value and thread.state in NEGOTIABLE | {State.STALLED}:
        # It waited for our word for too long: nothing more comes of it there.
        grouping.withdrawn(ws, thread)
    elif state == State.FAILED.value:
        _failed(ws, ws.thread(hub.thread_id), thread, status)
    elif state in {State.COMPLETED.value, State.EXECUTING.value}:
        acting.advance(ws, hub.thread_id)


def _failed(ws: Workspace, hub: Thread, thread: Thread, status: ThreadStatus) -> None:
    """A participant's part failed: everybody's is undone, unless enough of a quorum are left (A2ACP-167)."""
    group = group_of(ws, hub)
    standing = hub.proposal
    if standing is None:
        return
    failed = _failed_of(ws, hub, standing, failures.reported(ws, thread, status), thread.peer)
    if hub.state in UNDER_WAY and thread.state is State.CONFIRMED:
        left = {name: choice for name, choice in standing.confirmed.items() if name != thread.peer}
        enough = _standing(ws, group, replace(standing, confirmed=left)).outcome == confirmation.MET
        if group.mode == confirmation.QUORUM and enough:
            acting.note_failure(ws, hub.thread_id, failed, failures.WITHOUT_ONE)
            ws.move(thread.thread_id, Cause.COUNTERED)
            grouping.leave(ws, hub, [thread.peer], LEFT_OUT)
            goes_on_without(ws, hub.thread_id, thread.peer)
        else:
            acting.fail(ws, hub.thread_id, failed, told=False)
    elif hub.state in UNDOING | {State.NEGOTIATING} and failures.is_about(ws, hub, status):
        # Somebody else's failed first, and all of it is being undone: this is a reason, too.
        acting.note_failure(ws, hub.thread_id, failed)


def _failed_of(
    ws: Workspace, hub: Thread, standing: Proposal, failed: FailedAction, member: str
) -> FailedAction:
    """A participant's failure as the others are told of it: an action of its own, in our words."""
    own = _ids(ws, hub, standing, member)
    planned = [action for action in standing.actions if action.action_id in own]
    named = [action for action in planned if action.action_id == failed.action_id]
    for action in (*named, *planned):
        return failures.FailedAction(action.action_id, action.action, member, failed.why)
    return failures.FailedAction(executor=member)


def goes_on_without(ws: Workspace, hub_id: str, member: str) -> None:
    """What is being carried out does not wait for somebody any more."""
    hub = ws.thread(hub_id)
    standing = hub.proposal
    if hub.state not in UNDER_WAY or standing is None:
        return
    own = _ids(ws, hub, standing, member)
    left = tuple(action for action in standing.actions if action.action_id not in own)
    confirmed = {name: choice for name, choice in standing.confirmed.items() if name != member}
    ws.change(hub, proposal=replace(standing, actions=left, confirmed=confirmed))
    acting.advance(ws, hub_id)


def _ids(ws: Workspace, hub: Thread, standing: Proposal, member: str) -> set[str]:
    body = ws.body(hub, standing.packet_id, US, Resolution)
    if body is None:
        return set()
    # Its yes may have come too late to count; what it did all the same is its own to report.
    actions = planning.actions_of(ws, hub, standing.packet_id, US, body, (*standing.confirmed, member))
    return {action.action_id for action in actions if action.executor == member}


def _results(ws: Workspace, hub: Thread, member: str, status: ThreadStatus) -> None:
    """What became of a participant's own actions; of another's it has nothing to say."""
    standing = hub.proposal
    # A report that names no action of what stands now is about an earlier proposal: the two have crossed.
    if standing is None or not failures.is_about(ws, hub, status):
        return
    own = _ids(ws, hub, standing, member)
    known = {one.action_id for one in standing.actions if one.executor == THEM}
    listed = status.action_results or ()
    mine = tuple(result for result in listed if result.action_id in own)
    if len(mine) != len(listed):
        ws.say(records.Violated(hub.thread_id, member, "results_of_others"))
    if own & known:
        acting.results(ws, hub, replace(status, action_results=mine))
