"""What is done once all have confirmed, and what is undone when something fails.

A2ACP-161, A2ACP-162, A2ACP-166, A2ACP-167, A2ACP-168, A2ACP-169, A2ACP-170, A2ACP-171.

Each of our actions is begun by a record before anything happens in the world, and ended by a record of
what became of it; in between it is carried out under its own id, as often as it takes, so that it happens
once. Both sides tell each other their results by `thread_status`; the executor's word counts. The first
failure ends it: what was done is undone, newest first, and the thread goes back to negotiating with the
failure known.

A thread that is complete is over, and nothing of it is undone any more. So nobody completes a thread while
somebody else may still fail: of two, each waits for the other's results; a participant of a group waits for
its coordinator to say that all is done, and the coordinator keeps its own results until it has everybody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from tacit.a2acp.packets import vocabulary
from tacit.a2acp.packets.bodies import ActionResult, Resolution, ResolutionResponse, ThreadStatus
from tacit.a2acp.packets.schemas import written
from tacit.a2acp.threads.states import Cause, State
from tacit.agent.consent import sending
from tacit.agent.groups.members import open_legs
from tacit.agent.kernel import records
from tacit.agent.kernel.state import HUB, MEMBER, THEM, US
from tacit.agent.scheduling import failures, proposal_slots, proposing, recalling
from tacit.agent.scheduling.actions import plan, port
from tacit.agent.scheduling.view import view_of
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.bodies import PacketBody
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Planned, Proposal, Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.failures import FailedAction
    from tacit.base.strict_json import JsonObject

STARTED: Final = "started"
DONE: Final = "done"
FAILED: Final = failures.FAILED
UNDOING: Final = "undoing"
UNDONE: Final = "undone"
STUCK: Final = "stuck"
NOT_STARTED: Final = "not_started"
"""Whoever was to do it has called the thread complete without it: a coordinator whose owner stays away."""
ENDED: Final = frozenset({DONE, FAILED, UNDONE, NOT_STARTED})
"""What the others are told; of what is under way there is no result yet."""
MOST_UNDO_TRIES: Final = 3
MOST_UNSURE_TRIES: Final = 20
"""With the agent's pause in between, ten minutes."""
STATUS: Final = "thread_status"
WITHOUT: Final = "went_on_without"
CLOSED_REASONS: Final = frozenset(
    {
        "withdrawn",
        "user_declined",
        "stalled",
        "confirmation_timeout",
        "completed",
        "forked",
        WITHOUT,
        "transferred",
    }
)


def next_deed(ws: Workspace, thread: Thread) -> tuple[port.Deed, bool] | None:
    """What has to be carried out now, and whether it is an undoing; None when there is nothing."""
    standing = thread.proposal
    if standing is None:
        return None
    for one in reversed(standing.actions):
        if one.status == UNDOING:
            return _deed(ws, thread, standing, one), True
    # What was begun before something failed is not done any more.
    for one in standing.actions if thread.state is State.EXECUTING else ():
        if one.status == STARTED:
            return _deed(ws, thread, standing, one), False
    return None


def _deed(ws: Workspace, thread: Thread, standing: Proposal, one: Planned) -> port.Deed:
    details = proposal_slots.chosen_details(ws, thread, proposing.choice_of(standing))
    return port.Deed(one.action_id, one.action, {**details, "with": _company(ws, thread, standing)})


def _company(ws: Workspace, thread: Thread, standing: Proposal) -> str:
    """With whom it is: the counterpart, or those of a group who come."""
    if thread.role != HUB:
        return thread.peer
    return ", ".join(one for one in standing.confirmed if one != ws.me)


def advance(ws: Workspace, thread_id: str, *, slot_free: bool = True) -> None:
    """Go on with a confirmed thread: begin the next action, or end the thread when there is none."""
    thread = ws.thread(thread_id)
    standing = thread.proposal
    if standing is None or thread.state not in {State.CONFIRMED, State.EXECUTING}:
        return
    if thread.state is State.CONFIRMED and not standing.actions and not _waits_for_owner(ws, thread):
        _complete(ws, thread, Cause.NOTHING_TO_DO)
        return
    if thread.state is State.CONFIRMED:
        ws.move(thread_id, Cause.STARTED)
        if not slot_free:
            ws.notice(thread_id, "slot_taken", standing.packet_id)
            first = next((one for one in standing.actions if one.executor == US), None)
            if first is not None:
                reason = "You are no longer free at that time."
                result = port.Result(port.FAILED, reason, code=port.TAKEN)
                ended(ws, thread_id, first.action_id, result)
                return
    if any(one.status == STARTED for one in standing.actions):
        return
    due = proposing.due_planned(standing)
    if due:
        ws.say(records.Acted(thread_id, due[0].action_id, STARTED))
        return
    _finished(ws, thread_id)


def _finished(ws: Workspace, thread_id: str) -> None:
    """All of ours is done; the thread is complete when theirs is too, as far as we will ever hear."""
    thread = ws.thread(thread_id)
    standing = thread.standing
    if _waits_for_owner(ws, thread):
        return
    settled = {DONE, NOT_STARTED}
    waits = any(each.executor == THEM and each.status not in settled for each in standing.actions)
    waits = waits or (thread.role == MEMBER and not _is_complete_for_all(ws, thread, standing))
    if not waits or not ws.peer_of(thread.peer).can(STATUS):
        _complete(ws, thread, Cause.SUCCEEDED)
    elif not _told_all(ws, thread, standing):
        tell(ws, thread, State.EXECUTING)


def _is_complete_for_all(ws: Workspace, thread: Thread, standing: Proposal) -> bool:
    """Whether the coordinator of a group has said that everybody's part is done."""
    is_complete = False
    for packet in thread.packets:
        if packet.packet_id == standing.packet_id:
            is_complete = False
        elif (packet.side, packet.type) == (THEM, STATUS):
            status = ws.body(thread, packet.packet_id, THEM, ThreadStatus)
            is_complete = is_complete or (status is not None and status.state == State.COMPLETED.value)
    return is_complete


def _waits_for_owner(ws: Workspace, thread: Thread) -> bool:
    """Whether a group goes ahead and its coordinator's owner may still say yes."""
    return thread.role == HUB and bool(ws.open_questions(thread.thread_id, "checkpoint"))


def _told_all(ws: Workspace, thread: Thread, standing: Proposal) -> bool:
    """Whether those who confirmed with us know that it is being carried out."""
    if thread.role != HUB:
        return _has_told(thread, standing)
    legs = [leg for leg in open_legs(ws, thread) if leg.state is State.CONFIRMED]
    legs = [leg for leg in legs if ws.peer_of(leg.peer).can(STATUS)]
    return all(leg.proposal is not None and _has_told(leg, leg.proposal) for leg in legs)


def _has_told(thread: Thread, standing: Proposal) -> bool:
    """Whether our results of this proposal are on their way: they are told once, whatever is asked."""
    since = 0
    for place, one in enumerate(thread.packets):
        # What was said before the other's yes, that time had run out, is no result.
        if one.packet_id == standing.packet_id or (one.side, one.type) == (THEM, "resolution_response"):
            since = place
    return any(one.type == STATUS and one.side == US for one in thread.packets[since:])


def _complete(ws: Workspace, thread: Thread, cause: Cause) -> None:
    if ws.close(thread.thread_id, cause, "completed"):
        ws.notice(thread.thread_id, "completed")
        tell(ws, ws.thread(thread.thread_id), State.COMPLETED)
        for one in open_legs(ws, thread) if thread.role == HUB else ():
            if one.state is State.CONFIRMED:
                ws.close(one.thread_id, Cause.NOTHING_TO_DO, "completed")


def tell(ws: Workspace, thread: Thread, state: State, failed: FailedAction | None = None) -> None:
    """Our results, to the other side (A2ACP-057, A2ACP-166); with what `failed`, whosever it was."""
    standing = thread.proposal
    results = [
        ActionResult(action_id=one.action_id, action=one.action, status=one.status)
        for one in (standing.actions if standing else ())
        if one.executor == US
        and one.status in ENDED
        and (failed is None or one.action_id != failed.action_id)
    ]
    if failed is not None and failed.action_id:
        results.append(failures.entry(failed))
    is_told = bool(results) and (thread.role != HUB or state is not State.EXECUTING)
    body = ThreadStatus(
        state=state.value,
        closed_reason=thread.closed_reason or None,
        action_results=tuple(results) if is_told else None,
    )
    sending.send(ws, view_of(ws, thread), STATUS, written(body))


def ended(ws: Workspace, thread_id: str, action_id: str, result: port.Result) -> None:
    """An action of ours came to its end."""
    thread = ws.thread(thread_id)
    one = _planned(thread, action_id)
    if one.status not in {STARTED, ""} or thread.state is not State.EXECUTING:
        return
    if result.status == port.DONE:
        ws.say(records.Acted(thread_id, action_id, DONE))
        return
    ws.say(records.Acted(thread_id, action_id, FAILED))
    fail(ws, thread_id, failures.own(ws, one, result), told=False)


def note_failure(
    ws: Workspace, thread_id: str, failed: FailedAction, code: str = failures.CALLED_OFF
) -> None:
    """Remember that what stands could not be carried out, and tell our owner why."""
    thread = ws.thread(thread_id)
    standing = thread.standing
    choice = proposing.choice_of(standing)
    more: JsonObject = {"action": failed.action, "reason": failed.sentence}
    thread = proposal_slots.rule_out(ws, thread, recalling.FAILED, choice, failed=more)
    ws.notice(thread_id, code, thread.ruled_out[-1])


def fail(ws: Workspace, thread_id: str, failed: FailedAction, *, told: bool) -> None:
    """Something failed, here or there: undo what can be undone (A2ACP-162, A2ACP-167)."""
    thread = ws.thread(thread_id)
    if thread.state is State.CONFIRMED:
        # Others were quicker than we: nothing of ours is begun any more.
        ws.move(thread_id, Cause.STARTED)
    if not ws.move(thread_id, Cause.ACTION_FAILED):
        return
    note_failure(ws, thread_id, failed)
    # A coordinator's owner may not have said yet whether to come; there is nothing to come to any more.
    ws.withdraw(thread_id, "it could not be carried out", "checkpoint")
    if not told:
        tell(ws, ws.thread(thread_id), State.FAILED, failed)
    for one in open_legs(ws, thread) if thread.role == HUB else ():
        # A leg has nothing to undo: it is where it was before anything stood.
        if one.state in {State.CONFIRMED, State.PROPOSED} and ws.move(one.thread_id, Cause.COUNTERED):
            ws.change(one.thread_id, proposal=None, unanswered_since=None)
    standing = ws.thread(thread_id).standing
    own = [one for one in standing.actions if one.executor == US and one.status in {DONE, STARTED}]
    left = [one.label or one.action for one in own if not one.reversible]
    if left:
        ws.notice(thread_id, "not_undone", ", ".join(left))
    to_undo = [one for one in own if one.reversible]
    if not to_undo:
        ws.move(thread_id, Cause.NOTHING_TO_UNDO)
        _again(ws, thread_id)
        return
    ws.move(thread_id, Cause.UNDOING)
    for one in to_undo:
        ws.say(records.Acted(thread_id, one.action_id, UNDOING))


def undone(ws: Workspace, thread_id: str, action_id: str, result: port.Result) -> None:
    """An undoing came to its end; the third failure is the owner's to handle (A2ACP-168).

    So is one that a service never says the end of, after many tries.
    """
    thread = ws.thread(thread_id)
    one = _planned(thread, action_id)
    if one.status != UNDOING:
        return
    tries = one.undo_tries + 1
    if result.status == port.DONE:
        ws.say(records.Acted(thread_id, action_id, UNDONE, tries))
    elif tries < (MOST_UNSURE_TRIES if result.status == port.UNKNOWN else MOST_UNDO_TRIES):
        ws.say(records.Acted(thread_id, action_id, UNDOING, tries))
        return
    else:
        ws.say(records.Acted(thread_id, action_id, STUCK, tries))
        content: dict[str, Any] = {"reason": failures.not_undone(one, result), "choices": ["dismiss"]}
        ws.ask(ws.thread(thread_id), "failure", content, subject=action_id)
    _after_undoing(ws, thread_id)


def is_under_way(ws: Workspace, thread_id: str, action_id: str) -> bool:
    """Whether an action or its undoing has yet to come to its end."""
    return _planned(ws.thread(thread_id), action_id).status in {"", STARTED, UNDOING}


def handled(ws: Workspace, thread_id: str, action_id: str) -> None:
    """The owner has seen to what could not be undone."""
    ws.say(records.Acted(thread_id, action_id, UNDONE, MOST_UNDO_TRIES))
    _after_undoing(ws, thread_id)


def _after_undoing(ws: Workspace, thread_id: str) -> None:
    standing = ws.thread(thread_id).standing
    if not any(one.status in {UNDOING, STUCK} for one in standing.actions) and ws.move(
        thread_id, Cause.UNDONE
    ):
        _again(ws, thread_id)


def _again(ws: Workspace, thread_id: str) -> None:
    """Back to negotiating: whose action failed says so, and the proposer goes on (A2ACP-169)."""
    thread = ws.thread(thread_id)
    standing = thread.standing
    if _ended_meanwhile(ws, thread):
        return
    view = view_of(ws, thread)
    own = [one for one in standing.actions if one.executor == US]
    failed = next((one for one in own if one.status == FAILED), None)
    if failed is not None:
        summary = str(view.intent.get("summary") or "What was arranged could not be done")
        body: Fields = {
            "intent": {
                "category": str(view.intent.get("category") or "scheduling"),
                "summary": summary,
                "urgency": "urgent" if thread.urgent else "normal",
            },
            "context": {"conflict": _constraint(ws, thread, standing, failed)},
        }
        sending.send(ws, view, "context", body)
    waiting = thread.waiting
    if waiting:
        # They were quicker: what they proposed while we were undoing stands now.
        ws.change(thread_id, waiting="", consider="")
        resolution = ws.body(thread, waiting, THEM, Resolution)
        if resolution is not None:
            proposing.received(ws, view, waiting, resolution)
    elif standing.side == US:
        ws.change(thread_id, consider=standing.packet_id)


def _ended_meanwhile(ws: Workspace, thread: Thread) -> bool:
    """Whether the other side ended the thread while we were undoing: then it ends here too (A2ACP-163)."""
    newest = next((packet for packet in reversed(thread.packets) if packet.side == THEM), None)
    if newest is None or newest.type != STATUS:
        return False
    status = ws.body(thread, newest.packet_id, THEM, ThreadStatus)
    if status is not None and status.state == State.DECLINED.value:
        told(ws, thread, status)
    return not ws.thread(thread.thread_id).is_open


def _constraint(ws: Workspace, thread: Thread, standing: Proposal, failed: Planned) -> Fields:
    """What failed, as both sides confirmed it: not to be proposed again."""
    details = proposal_slots.chosen_details(ws, thread, proposing.choice_of(standing))
    action = plan.Action(failed.action_id, 0, failed.action, "", ws.me, failed.reversible, failed.label)
    found = plan.failure(action, details)
    if not thread.ours:
        found["agent_a_values"], found["agent_b_values"] = found["agent_b_values"], found["agent_a_values"]
    return found


def crossed_its_end(ws: Workspace, thread: Thread, body: PacketBody) -> bool:
    """Whether our time ran out while the other's yes was on its way to our own (A2ACP-163)."""
    standing = thread.proposal
    if thread.state is not State.EXPIRED or standing is None or ws.me not in standing.confirmed:
        return False
    if isinstance(body, ThreadStatus):
        # From executing on the executor's report wins.
        return body.state in {State.EXECUTING.value, State.COMPLETED.value}
    return (
        isinstance(body, ResolutionResponse)
        and body.status == vocabulary.CONFIRMED
        and body.in_reply_to == standing.packet_id
        and proposing.said_at(ws, body) < standing.expires
    )


def revive(ws: Workspace, thread: Thread) -> None:
    """Both had said yes in time: it is confirmed after all."""
    standing = thread.standing
    choice = standing.confirmed[ws.me]
    ws.change(thread, proposal=replace(standing, confirmed={**standing.confirmed, thread.peer: choice}))
    ws.say(records.Moved(thread.thread_id, Cause.CONFIRMED, thread.state, State.CONFIRMED))


def told(ws: Workspace, thread: Thread, status: ThreadStatus) -> None:
    """The counterpart's word on its own actions and on the thread (A2ACP-163, A2ACP-166)."""
    state = status.state
    results(ws, thread, status)
    thread = ws.thread(thread.thread_id)
    if state == State.DECLINED.value:
        said = status.closed_reason
        # A word of the table, never theirs: the journal holds no word of a counterpart's.
        reason = said if said in CLOSED_REASONS else "withdrawn"
        if thread.state in {State.INITIATED, State.NEGOTIATING, State.STALLED, State.PROPOSED}:
            ws.notice(thread.thread_id, reason if reason == WITHOUT else "withdrawn")
            proposing.end(ws, thread.thread_id, Cause.CLOSED, reason)
    elif state == State.FAILED.value and thread.state in {State.CONFIRMED, State.EXECUTING}:
        fail(ws, thread.thread_id, failures.reported(ws, thread, status), told=True)
    elif state == State.FAILED.value and thread.state is State.PROPOSED:
        _called_off(ws, thread, status)
    elif state == State.EXPIRED.value and thread.state in {State.PROPOSED, State.STALLED}:
        proposing.expire(ws, thread)
    elif state in {State.COMPLETED.value, State.EXECUTING.value} and thread.state is State.EXECUTING:
        advance(ws, thread.thread_id)


def _called_off(ws: Workspace, thread: Thread, status: ThreadStatus) -> None:
    """What stands failed elsewhere before all of us had said yes: nobody is asked to confirm it any more."""
    standing = thread.proposal
    if standing is None or not failures.is_about(ws, thread, status):
        return
    note_failure(ws, thread.thread_id, failures.reported(ws, thread, status))
    ws.withdraw(thread.thread_id, "it could not be carried out", "checkpoint")
    if ws.move(thread.thread_id, Cause.COUNTERED):
        consider = standing.packet_id if standing.side == US else ""
        ws.change(thread.thread_id, proposal=None, consider=consider)


def results(ws: Workspace, thread: Thread, status: ThreadStatus) -> None:
    """What became of actions that are not ours, by the word of whoever carries them out."""
    standing = thread.proposal
    if standing is None:
        return
    known = {one.action_id: one for one in standing.actions if one.executor == THEM}
    # Before it is complete what was not started may still be begun.
    ends = ENDED if status.state == State.COMPLETED.value else ENDED - {NOT_STARTED}
    for result in status.action_results or ():
        action = known.get(result.action_id)
        if action is not None and result.status in ends and result.status != action.status:
            ws.say(records.Acted(thread.thread_id, action.action_id, result.status))


def _planned(thread: Thread, action_id: str) -> Planned:
    for one in thread.proposal.actions if thread.proposal else ():
        if one.action_id == action_id:
            return one
    raise Refused("unknown_action", "this thread has no such action")
