"""Proposals: what is proposed, the checkpoint where each owner decides, and what both decisions make of it.

A2ACP-053, A2ACP-136, A2ACP-141, A2ACP-142, A2ACP-143, A2ACP-144, A2ACP-145, A2ACP-146, A2ACP-147,
A2ACP-148, A2ACP-149, A2ACP-150, A2ACP-154, A2ACP-155, A2ACP-160, A2ACP-166, A2ACP-170, A2ACP-172.

A confirmation is a person's act: the only function here that writes `confirmed` is `confirm`, and it is
called with the answer to the checkpoint of exactly this packet. What a counterpart lists as confirmers
cannot take our own owner out, nor bring a stranger in. A slot of a standing proposal is held: it is
offered in no other thread (`proposal_slots`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from msgspec import to_builtins
from msgspec.structs import replace

from tacit.a2acp.consent.tiers import canonical
from tacit.a2acp.packets import bodies, formats, vocabulary
from tacit.a2acp.threads.states import Cause, State
from tacit.agent.brain import writing
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import ask_consent, is_refused, zone_of
from tacit.agent.groups.members import list_shown
from tacit.agent.kernel.state import DECLINED, MEMBER, THEM, US, Planned, Proposal
from tacit.agent.memory import remembering
from tacit.agent.scheduling import differing, planning, proposal_slots, recalling, responses
from tacit.agent.scheduling.goal import INFORMATION, MEETING, Need
from tacit.agent.scheduling.options import WHY
from tacit.agent.scheduling.view import AVAILABILITY, view_of
from tacit.agent.scheduling.wording import words_of
from tacit.base.errors import Refused
from tacit.base.moment import Moment, parse_rfc3339
from tacit.base.strict_json import as_list, as_object

if TYPE_CHECKING:
    from tacit.agent.brain.port import Thought
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.options import Options
    from tacit.agent.scheduling.view import View
    from tacit.base.strict_json import Json, JsonObject

CALENDAR: Final = "calendar"
TAKEN: Final = "taken"
_MINUTE: Final = 60 * 1_000_000
_LONGEST: Final = 14 * 24 * 60
INVITING: Final = frozenset({"scheduling_conflict", "location_conflict", "budget_conflict"})


# Proposing.


def waits_for_consent(ws: Workspace, view: View, listed: list[JsonObject]) -> bool:
    """Whether a proposal would say what is not cleared: no brain sees or words it before it is."""
    return bool(sending.held(ws, view, "resolution", _body(ws, view, listed, [], "")))


def propose(ws: Workspace, view: View, found: Options, thought: Thought | None) -> str:
    """Send a resolution for the best option, the others beside it; or ask first what it would disclose."""
    listed = [proposal_slots.details(ws, view, one.span) for one in found.best]
    plain = _body(ws, view, listed, [], "")
    body = _body(ws, view, listed, *words_of(ws, view, thought))
    held = sending.held(ws, view, "resolution", plain)
    refused = {canonical(ws.policy, one.field) for one in held if is_refused(ws, view.thread, one.field)}
    if refused and not refused & {name for name, status in view.thread.wants.items() if status == DECLINED}:
        # Our owner has said no to this: it is not asked again, and they propose (A2ACP-092).
        return "left to the other side"
    if held:
        reason = "The proposal would say this of you"
        fields = {one.field: one.value for one in held}
        asked = [(Need(name, reason, "required"), value) for name, value in fields.items()]
        thread = ws.change(view.thread.thread_id, consider=view.thread.thread_id)
        ask_consent(ws, thread, asked, subject=thread.thread_id)
        return "the owner is asked before proposing"
    zone = ZoneInfo(zone_of(ws))
    excluded = [
        [window, WHY[one.why]] for one in found.excluded for window in formats.write_windows([one.what], zone)
    ]
    why = ws.keep(view.thread.peer, {"excluded": excluded[:50]})
    ws.change(view.thread.thread_id, why=why)
    send_resolution(ws, view, body, plain)
    return "resolution" if len(listed) == 1 else f"resolution with {len(listed) - 1} alternatives"


def conclude(ws: Workspace, view: View) -> str:
    """The outcome of a thread that needs no time together: handed over, or answered."""
    goal = view.goal
    if goal is None:
        return "nothing more to say"
    told = "The answer has arrived" if view.theirs else "There is no answer to be had"
    turned_down = str(view.theirs.get("acceptance")).casefold() in {"no", "false"}
    mine_alone = goal.kind == INFORMATION or turned_down
    details: JsonObject = dict(goal.details)
    if goal.kind != INFORMATION:
        told = "The hand-over was not accepted" if turned_down else f"Hand over: {goal.summary}"
        agreed = view.theirs.get("handover_date")
        details |= {"deadline": agreed} if agreed and not turned_down else {}
    body: JsonObject = {
        "proposal": {"summary": told, "details": details},
        "requires_confirmation_from": [ws.me] if mine_alone else [ws.me, view.thread.peer],
        "confirmation_timeout": window(view.thread),
        "on_timeout": "remind_then_expire",
    }
    send_resolution(ws, view, body, None)
    return "resolution"


def window(thread: Thread) -> str:
    """How long a proposal waits for its confirmations."""
    return "PT2H" if thread.urgent else "PT24H"


def _body(
    ws: Workspace, view: View, listed: list[JsonObject], words: list[str], reasoning: str
) -> JsonObject:
    own = [plainly(view, one) for one in listed]
    said = [*(one or own[number] for number, one in enumerate(words[: len(own)])), *own[len(words) :]]
    proposal: JsonObject = {"summary": said[0], "details": listed[0]}
    if len(listed) > 1:
        proposal["alternatives"] = [
            {"summary": said[number], "reason": "It suits both as well", "details": listed[number]}
            for number in range(1, len(listed))
        ]
    if reasoning:
        proposal["reasoning"] = reasoning
    return enclosed(ws, view, proposal)


def enclosed(ws: Workspace, view: View, proposal: JsonObject) -> JsonObject:
    """A proposal with what code alone says of it: who must confirm, until when, and what is then done."""
    return {
        "proposal": proposal,
        "requires_confirmation_from": [ws.me, view.thread.peer],
        "confirmation_timeout": window(view.thread),
        "on_timeout": "remind_then_expire",
        "actions_on_confirm": actions_for(ws, view, as_object(proposal["details"])),
    }


def plainly(view: View, found: JsonObject) -> str:
    """A proposal in words of the code's own."""
    what = str(found.get("event_type") or (view.goal.event_type if view.goal else "") or "meeting")
    return writing.summary({**found, "event_type": what})


def actions_for(ws: Workspace, view: View, named: JsonObject) -> list[Json]:
    """A calendar entry on each side for a slot, and what this agent's handlers do for such an event."""
    meets = view.goal is not None and view.goal.kind == MEETING
    if not meets and proposal_slots.slot_of(named, ws) is None:
        return []
    found: list[Json] = [
        {"action": CALENDAR, "requires_user_approval": False, "reversible": True, "executor": "each"}
    ]
    event = view.goal.event_type if view.goal is not None else ""
    for name, handler in ws.handlers.items():
        kinds = as_list(handler.get("for"))
        if not meets or handler.get("kind") == CALENDAR or (kinds and event not in kinds):
            continue
        found.append(
            {
                "action": name,
                "service": str(handler.get("kind")),
                "requires_user_approval": True,
                "reversible": bool(handler.get("reversible", True)),
                "executor": "proposer",
            }
        )
    return found


def send_resolution(ws: Workspace, view: View, body: JsonObject, plain: JsonObject | None) -> None:
    """Send a proposal; it stands, and our owner is asked, once it may leave."""
    thread_id = view.thread.thread_id
    sent = sending.send(ws, view, "resolution", body, plain=plain)
    resolution = ws.body(view.thread, sent, US, bodies.Resolution) if sent else None
    if resolution is not None and ws.move(thread_id, Cause.PROPOSED):
        stand(ws, ws.thread(thread_id), sent, US, resolution)


# What stands.


def stand(ws: Workspace, thread: Thread, packet_id: str, side: str, body: bodies.Resolution) -> None:
    """A resolution stands, sent or received; our owner is asked if its word is needed."""
    ws.withdraw(thread.thread_id, "another proposal stands", "checkpoint", "consent", "escalation")
    listed = body.requires_confirmation_from
    confirmers = tuple(dict.fromkeys(who for who in listed if who in {ws.me, thread.peer}))
    actions = planning.planned(ws, thread, packet_id, side, body, (ws.me, thread.peer))
    own = any(one.executor == US for one in actions)
    if ws.me not in confirmers and (own or set(listed) != {thread.peer}):
        # Nobody can leave our owner out of what this agent would do (A2ACP-142, A2ACP-145).
        confirmers = (*confirmers, ws.me)
    standing = standing_of(ws, packet_id, side, body, confirmers, actions)
    thread = ws.change(
        thread,
        proposal=standing,
        past_proposals=thread.past_proposals + 1,
        consider="",
        awaiting_user=False,
    )
    if ws.me in confirmers:
        ask_owner(ws, thread)


def standing_of(
    ws: Workspace,
    packet_id: str,
    side: str,
    body: bodies.Resolution,
    confirmers: tuple[str, ...],
    actions: tuple[Planned, ...] = (),
) -> Proposal:
    """A resolution as what stands: who must confirm it, until when, and what is done then (A2ACP-154)."""
    minutes = formats.read_duration(body.confirmation_timeout) or 24 * 60
    since = ws.now if side == US else said_at(ws, body)
    expires = Moment(since + min(minutes, _LONGEST) * _MINUTE)
    reminds = vocabulary.on_timeout(body.on_timeout) == vocabulary.REMIND_THEN_EXPIRE
    return Proposal(
        packet_id=packet_id,
        side=side,
        at=ws.now,
        expires=expires,
        remind_at=Moment(since + (expires - since) * 3 // 4) if reminds else None,
        confirmers=confirmers,
        actions=actions,
        irreversible=tuple(one.label for one in actions if one.executor == US and not one.reversible),
    )


def ask_owner(ws: Workspace, thread: Thread) -> None:
    """The checkpoint of what stands (A2ACP-143)."""
    standing = thread.standing
    content = checkpoint(ws, thread) | list_shown(ws, thread)
    question = ws.ask(thread, "checkpoint", content, subject=standing.packet_id)
    ws.change(thread, proposal=replace(standing, question_id=question.question_id))


def said_at(ws: Workspace, body: bodies.PacketBody) -> Moment:
    """When a packet of theirs was written, by its own word, but never later than now (A2ACP-154)."""
    at = parse_rfc3339(body.timestamp) if body.timestamp else None
    return ws.now if at is None else min(at, ws.now)


def checkpoint(ws: Workspace, thread: Thread) -> JsonObject:
    """What the owner sees, and may choose (A2ACP-143, A2ACP-144, A2ACP-172)."""
    proposal = proposal_slots.standing_proposal(ws, thread)
    standing = thread.proposal
    details = proposal.details
    rests = remembering.rests_on(ws, view_of(ws, thread))
    choices = ["confirm"]
    alternatives = proposal.alternatives or ()
    choices += [f"alternative {number}" for number in range(len(alternatives))]
    if details.get("time") or details.get("date"):
        choices.append("counter time")
    if details.get("place"):
        choices.append("counter place")
    if not {"time", "date", "place"} & set(details):
        choices.append("counter")
    choices += ["excuse again", "excuse leave", "refuse"]
    return {
        "proposal": {
            "summary": proposal.summary,
            "details": details,
            "alternatives": [
                # What a yes to it confirms, which is not what its words say alone.
                {
                    "summary": other.summary,
                    "reason": other.reason,
                    "details": proposal_slots.of_alternative(proposal, other),
                    **_not_as_asked(ws, thread, number),
                }
                for number, other in enumerate(alternatives)
            ],
            "reasoning": proposal.reasoning,
            "actions": [
                {
                    "action": action.action,
                    "executor": action.executor,
                    "reversible": action.reversible,
                    "tick": action.label if action.executor == US and not action.reversible else None,
                }
                for action in (standing.actions if standing else ())
            ],
            "by": standing.side if standing else "",
            **_not_as_asked(ws, thread),
        },
        "choices": [*choices],
        "excuses": {**EXCUSES},
        **({"remembered": [*rests]} if rests else {}),
    }


def _not_as_asked(ws: Workspace, thread: Thread, choice: int = proposal_slots.MAIN) -> JsonObject:
    slot = proposal_slots.slot_of(proposal_slots.chosen_details(ws, thread, choice), ws)
    countered = any(value.get("kind") == "countered" for value in recalling.remembered(ws, thread))
    differences = differing.differences(view_of(ws, thread), slot, elsewhere=countered)
    return {"not_as_asked": [*differences]} if differences else {}


EXCUSES: Final = {"again": writing.excuse(again=True), "leave": writing.excuse(again=False)}
"""What an excuse says, whole: it is shown before it goes, and knows of no reason (A2ACP-147, A2ACP-149)."""


def received(ws: Workspace, view: View, packet_id: str, body: bodies.Resolution) -> None:
    """A counterpart's resolution (A2ACP-141)."""
    thread = view.thread
    standing = thread.proposal
    if thread.state is State.PROPOSED and standing is not None and standing.side == US and thread.ours:
        # They crossed: the initiator's stands, which is ours.
        ws.notice(thread.thread_id, "proposals_crossed", packet_id)
        return
    if thread.state in {State.FAILED, State.ROLLBACK}:
        ws.change(thread, waiting=packet_id)
        return
    if thread.state is State.STALLED:
        ws.move(thread.thread_id, Cause.NEGOTIATED)
    if ws.move(thread.thread_id, Cause.PROPOSED):
        stand(ws, ws.thread(thread.thread_id), packet_id, THEM, body)


# Answers of people.


def confirm(
    ws: Workspace, thread: Thread, question_id: str, choice: int, ticks: frozenset[str], *, slot_free: bool
) -> None:
    """Our owner says yes, at the checkpoint of this very proposal (A2ACP-145)."""
    standing = thread.proposal
    if standing is None or standing.question_id != question_id or thread.state is not State.PROPOSED:
        raise Refused("stale_question", "the proposal that this was about no longer stands", row="A2ACP-145")
    check_choice(ws, thread, choice, ticks)
    if not slot_free:
        _slot_taken(ws, thread, choice)
        return
    body: JsonObject = {"status": "confirmed", "in_reply_to": standing.packet_id}
    if choice != proposal_slots.MAIN:
        body["selected_alternative"] = choice
    view = view_of(ws, thread)
    sending.send(ws, view, "resolution_response", body)
    confirmed = {**standing.confirmed, ws.me: choice}
    ws.change(thread, proposal=replace(standing, confirmed=confirmed))
    settle(ws, thread.thread_id)


def check_choice(ws: Workspace, thread: Thread, choice: int, ticks: frozenset[str]) -> None:
    """Whether a yes may be said as it was: to what is there, and with a tick for what cannot be undone."""
    proposal_slots.chosen_details(ws, thread, choice)
    standing = thread.proposal
    missing = [one for one in (standing.irreversible if standing else ()) if one not in ticks]
    if missing:
        raise Refused(
            "tick_needed",
            f"this cannot be undone, say so with --tick: {', '.join(missing)}",
            row="A2ACP-172",
        )


def _slot_taken(ws: Workspace, thread: Thread, choice: int) -> None:
    """Somebody booked it meanwhile: said to the owner, and negotiated again."""
    standing = thread.standing
    ws.notice(thread.thread_id, "slot_taken", standing.packet_id)
    thread = proposal_slots.rule_out(ws, thread, TAKEN, choice)
    body: JsonObject = {
        "status": "counter",
        "in_reply_to": standing.packet_id,
        "change_request": {"field": "time", "suggestion": None},
    }
    sending.send(ws, view_of(ws, thread), "resolution_response", body)
    if ws.move(thread.thread_id, Cause.COUNTERED):
        ws.change(thread.thread_id, proposal=None, consider=standing.packet_id)


def counter(ws: Workspace, thread: Thread, name: str, value: str) -> None:
    """Our owner wants something else (A2ACP-146)."""
    standing = thread.standing
    if name not in recalling.PLACES:
        thread = proposal_slots.rule_out(ws, thread, "countered")
    request: JsonObject = {"field": name, "suggestion": value}
    body: JsonObject = {"status": "counter", "in_reply_to": standing.packet_id, "change_request": request}
    # What a person says here is released by being said, and nothing else by that.
    spoken = (name, AVAILABILITY)
    sending.send(ws, view_of(ws, thread), "resolution_response", body, spoken=spoken)
    if ws.move(thread.thread_id, Cause.COUNTERED):
        ws.change(thread.thread_id, proposal=None, unanswered_since=ws.now)


def decline(
    ws: Workspace, thread: Thread, *, reason_class: str, message: str, ended: str = "user_declined"
) -> None:
    """Our owner says no; why is nobody's business (A2ACP-147, A2ACP-148, A2ACP-149)."""
    standing = thread.standing
    body: JsonObject = {
        "status": "declined",
        "in_reply_to": standing.packet_id,
        "reason_class": reason_class,
        "actual_reason": None,
    }
    if message:
        body["message_to_other_agent"] = message
    again = reason_class in INVITING
    if again:
        thread = proposal_slots.rule_out(ws, thread, "declined")
    sending.send(ws, view_of(ws, thread), "resolution_response", body)
    if not again:
        end(ws, thread.thread_id, Cause.DECLINED, ended)
    elif ws.move(thread.thread_id, Cause.COUNTERED):
        ws.change(thread.thread_id, proposal=None)


def response(ws: Workspace, view: View, body: bodies.ResolutionResponse) -> None:
    """A counterpart's word on the proposal that stands; on any other it has no effect."""
    thread = view.thread
    standing = responses.on_standing(ws, thread, body)
    if standing is None:
        return
    if said_at(ws, body) >= standing.expires:
        expire(ws, thread)
        return
    if body.status == vocabulary.CONFIRMED:
        if thread.role == MEMBER and ws.me not in standing.confirmed:
            ws.notice(thread.thread_id, "goes_ahead")
        choice = body.selected_alternative if body.selected_alternative is not None else proposal_slots.MAIN
        count = len(proposal_slots.standing_proposal(ws, thread).alternatives or ())
        choice = choice if proposal_slots.MAIN <= choice < count else proposal_slots.MAIN
        ws.change(thread, proposal=replace(standing, confirmed={**standing.confirmed, thread.peer: choice}))
        settle(ws, thread.thread_id)
        return
    if body.status == vocabulary.DECLINED and body.reason_class not in INVITING:
        ws.notice(thread.thread_id, "declined")
        end(ws, thread.thread_id, Cause.DECLINED, "user_declined")
        return
    request = body.change_request
    if request is None or request.field not in recalling.PLACES:
        thread = proposal_slots.rule_out(ws, thread, body.status)
    if request is not None:
        kept = ws.keep(thread.peer, {"kind": "wish", "wish": to_builtins(request)})
        thread = ws.change(thread, ruled_out=(*thread.ruled_out, kept))
    ws.withdraw(thread.thread_id, "countered", "checkpoint")
    if ws.move(thread.thread_id, Cause.COUNTERED):
        # Whose time was taken meanwhile looks for another itself, and says so by naming none.
        looks = request is not None and request.field in recalling.TIMES and request.wish is None
        ws.change(thread.thread_id, proposal=None, consider="" if looks else standing.packet_id)


def settle(ws: Workspace, thread_id: str) -> None:
    """Whether all have confirmed, and the same (A2ACP-142)."""
    thread = ws.thread(thread_id)
    standing = thread.proposal
    if standing is None or not set(standing.confirmers) <= set(standing.confirmed):
        return
    picked = set(standing.confirmed.values())
    if len(picked) > 1:
        # Each said yes to something else: the proposer proposes what the other chose.
        other = thread.peer if standing.side == US else ws.me
        choice = standing.confirmed.get(other, proposal_slots.MAIN)
        ws.notice(thread_id, "different_alternatives")
        slot = proposal_slots.slot_of(proposal_slots.chosen_details(ws, thread, choice), ws)
        wanted: JsonObject = {"kind": "wish"}
        if slot is not None:
            wanted["slot_wanted"] = [int(slot.start), int(slot.end)]
        thread = ws.change(thread, ruled_out=(*thread.ruled_out, ws.keep(thread.peer, wanted)))
        if ws.move(thread_id, Cause.COUNTERED):
            mine = standing.side == US
            ws.change(thread_id, proposal=None, consider=standing.packet_id if mine else "")
        return
    if ws.move(thread_id, Cause.CONFIRMED):
        ws.withdraw(thread_id, "confirmed", "checkpoint")


def choice_of(standing: Proposal) -> int:
    """What all have agreed on."""
    return next(iter(standing.confirmed.values()), proposal_slots.MAIN)


def expire(ws: Workspace, thread: Thread) -> None:
    """The window for confirmation has passed, or nobody went on with it (A2ACP-154, A2ACP-157)."""
    stalled = thread.state is State.STALLED
    cause = Cause.STALLED_TOO_LONG if stalled else Cause.TIMED_OUT
    if end(ws, thread.thread_id, cause, "stalled" if stalled else "confirmation_timeout"):
        ws.notice(thread.thread_id, "expired")


def end(ws: Workspace, thread_id: str, cause: Cause, reason: str) -> bool:
    """Close a thread and say so to the other side (A2ACP-163)."""
    if not ws.close(thread_id, cause, reason):
        return False
    thread = ws.thread(thread_id)
    if thread.packets:
        body: JsonObject = {"state": thread.state.value, "closed_reason": reason}
        sending.send(ws, view_of(ws, thread), "thread_status", body)
    return True


def due_planned(standing: Proposal) -> list[Planned]:
    """Our own actions that have not been begun, in order."""
    return [one for one in standing.actions if one.executor == US and not one.status]
