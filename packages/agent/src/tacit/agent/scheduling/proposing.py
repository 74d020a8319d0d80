"""Proposals: what is proposed, the checkpoint where each owner decides, and what both decisions make of it.

A2ACP-053, A2ACP-136, A2ACP-141, A2ACP-142, A2ACP-143, A2ACP-144, A2ACP-145, A2ACP-146, A2ACP-147,
A2ACP-148, A2ACP-149, A2ACP-150, A2ACP-154, A2ACP-155, A2ACP-160, A2ACP-166, A2ACP-170, A2ACP-172.

A confirmation is a person's act: the only function here that writes `confirmed` is `confirm`, and it is
called with the answer to the checkpoint of exactly this packet. What a counterpart lists as confirmers
cannot take our own owner out, nor bring a stranger in. A slot of a standing proposal is held: it is
offered in no other thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from tacit.a2acp.consent.aliases import GENERAL_LOCATION
from tacit.a2acp.consent.tiers import canonical
from tacit.a2acp.packets import formats, vocabulary, windows
from tacit.a2acp.threads.states import Cause, State
from tacit.agent.brain import writing
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import ask_consent, is_refused, zone_of
from tacit.agent.groups.members import list_shown
from tacit.agent.kernel.state import DECLINED, MEMBER, THEM, US, Planned, Proposal
from tacit.agent.memory import remembering
from tacit.agent.memory.relationship import TOLD
from tacit.agent.scheduling import differing, planning, recalling, responses
from tacit.agent.scheduling.goal import INFORMATION, MEETING, Need
from tacit.agent.scheduling.options import WHY
from tacit.agent.scheduling.view import AVAILABILITY, view_of
from tacit.agent.scheduling.wording import words_of
from tacit.base.errors import Refused
from tacit.base.moment import Moment, parse_rfc3339

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.brain.port import Thought
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.options import Options
    from tacit.agent.scheduling.view import View
    from tacit.base.spans import Span

CALENDAR: Final = "calendar"
MAIN: Final = -1
"""The proposal itself, not one of its alternatives."""
TAKEN: Final = "taken"
_MINUTE: Final = 60 * 1_000_000
_LONGEST: Final = 14 * 24 * 60
INVITING: Final = frozenset({"scheduling_conflict", "location_conflict", "budget_conflict"})


def details(ws: Workspace, view: View, slot: Span) -> Fields:
    """What a proposal for a slot says, by code alone."""
    goal = view.goal
    zone = zone_of(ws)
    window = formats.write_window(slot, ZoneInfo(zone))
    found: Fields = {"date": window["date"], "time": window["time"], "timezone": zone}
    if goal is not None and goal.event_type:
        found["event_type"] = goal.event_type
    place = recalling.wish(ws, view.thread, *recalling.PLACES) or (goal.place if goal is not None else "")
    place = place or view.theirs.get("location_preference") or _remembered_place(view)
    if isinstance(place, str) and place:
        found["place"] = place
    return found


def _remembered_place(view: View) -> Any:
    """Where they said that they like to be, in an earlier thread; what our owner noted goes nowhere."""
    known = view.remembered.get(GENERAL_LOCATION)
    return known.value if known is not None and known.source == TOLD else None


def slot_of(found: Fields, ws: Workspace) -> Span | None:
    """The slot that a proposal's details name; None when there is none, or none that can be read."""
    reading = windows.read_slot(found, timezone=None, minutes=None, now=ws.now)
    return reading.spans[0] if len(reading.spans) == 1 and not reading.unclear else None


def chosen_details(ws: Workspace, thread: Thread, choice: int = MAIN) -> Fields:
    """The details of the standing proposal, or of one of its alternatives."""
    body = proposal_body(ws, thread)
    found = cast("Fields", body.get("details") or {})
    if choice == MAIN:
        return {**found, "summary": str(body.get("summary", ""))}
    listed = alternatives(body)
    if not 0 <= choice < len(listed):
        raise Refused("unknown_alternative", "the proposal has no such alternative", row="A2ACP-144")
    other = listed[choice]
    return {**_over(found, other), "summary": str(other.get("summary", ""))}


def _over(main: Fields, other: Fields) -> Fields:
    """The details of an alternative: its own over those of the proposal."""
    own: object = other.get("details")
    return {**main, **cast("Fields", own)} if isinstance(own, dict) else dict(main)


def proposal_body(ws: Workspace, thread: Thread) -> Fields:
    """The `proposal` of the resolution that stands."""
    standing = thread.proposal
    if standing is None:
        return {}
    fields = ws.packet(thread, standing.packet_id, standing.side)
    return cast("Fields", fields.get("proposal") or {})


def alternatives(body: Fields) -> list[Fields]:
    """The alternatives of a proposal that have the right shape."""
    listed: object = body.get("alternatives")
    return [
        cast("Fields", one)
        for one in (cast("list[object]", listed) if isinstance(listed, list) else [])
        if isinstance(one, dict)
    ]


def held_slots(ws: Workspace, besides: str) -> tuple[Span, ...]:
    """Slots that stand in proposals of other threads: not offered twice."""
    found: list[Span] = []
    for thread_id in ws.book.holds:
        if thread_id == besides:
            continue
        thread = ws.book.threads.get(thread_id)
        if thread is not None:
            slot = slot_of(chosen_details(ws, thread), ws)
            found.extend([slot] if slot is not None else [])
    return tuple(sorted(found))


def offered_slots(ws: Workspace, thread: Thread) -> list[Span]:
    """The slots of the standing proposal and of its alternatives."""
    count = len(alternatives(proposal_body(ws, thread)))
    slots = [slot_of(chosen_details(ws, thread, one), ws) for one in range(MAIN, count)]
    return [one for one in slots if one is not None]


def rule_out(ws: Workspace, thread: Thread, kind: str, choice: int = MAIN, **more: Any) -> Thread:
    """Remember that the standing proposal is not to come again."""
    slot = slot_of(chosen_details(ws, thread, choice), ws)
    if slot is None and not more:
        return thread
    value: Fields = {"kind": kind, **more}
    if kind == recalling.FAILED:
        others = [one for one in offered_slots(ws, thread) if one != slot]
        value["beside"] = [[int(one.start), int(one.end)] for one in others]
    if slot is not None:
        value["slot"] = [int(slot.start), int(slot.end)]
    return ws.change(thread, ruled_out=(*thread.ruled_out, ws.keep(thread.peer, value)))


# Proposing.


def waits_for_consent(ws: Workspace, view: View, listed: list[Fields]) -> bool:
    """Whether a proposal would say what is not cleared: no brain sees or words it before it is."""
    return bool(sending.held(ws, view, "resolution", _body(ws, view, listed, [], "")))


def propose(ws: Workspace, view: View, found: Options, thought: Thought | None) -> str:
    """Send a resolution for the best option, the others beside it; or ask first what it would disclose."""
    listed = [details(ws, view, one.span) for one in found.best]
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
    details: Fields = dict(goal.details)
    if goal.kind != INFORMATION:
        told = "The hand-over was not accepted" if turned_down else f"Hand over: {goal.summary}"
        agreed: Any = view.theirs.get("handover_date")
        details |= {"deadline": agreed} if agreed and not turned_down else {}
    body: Fields = {
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


def _body(ws: Workspace, view: View, listed: list[Fields], words: list[str], reasoning: str) -> Fields:
    own = [plainly(view, one) for one in listed]
    said = [*(one or own[number] for number, one in enumerate(words[: len(own)])), *own[len(words) :]]
    proposal: Fields = {"summary": said[0], "details": listed[0]}
    if len(listed) > 1:
        proposal["alternatives"] = [
            {"summary": said[number], "reason": "It suits both as well", "details": listed[number]}
            for number in range(1, len(listed))
        ]
    if reasoning:
        proposal["reasoning"] = reasoning
    return enclosed(ws, view, proposal)


def enclosed(ws: Workspace, view: View, proposal: Fields) -> Fields:
    """A proposal with what code alone says of it: who must confirm, until when, and what is then done."""
    return {
        "proposal": proposal,
        "requires_confirmation_from": [ws.me, view.thread.peer],
        "confirmation_timeout": window(view.thread),
        "on_timeout": "remind_then_expire",
        "actions_on_confirm": actions_for(ws, view, cast("Fields", proposal["details"])),
    }


def plainly(view: View, found: Fields) -> str:
    """A proposal in words of the code's own."""
    what = str(found.get("event_type") or (view.goal.event_type if view.goal else "") or "meeting")
    return writing.summary({**found, "event_type": what})


def actions_for(ws: Workspace, view: View, named: Fields) -> list[Fields]:
    """A calendar entry on each side for a slot, and what this agent's handlers do for such an event."""
    meets = view.goal is not None and view.goal.kind == MEETING
    if not meets and slot_of(named, ws) is None:
        return []
    found: list[Fields] = [
        {"action": CALENDAR, "requires_user_approval": False, "reversible": True, "executor": "each"}
    ]
    event = view.goal.event_type if view.goal is not None else ""
    for name, handler in ws.handlers.items():
        kinds = cast("list[str]", handler.get("for") or [])
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


def send_resolution(ws: Workspace, view: View, body: Fields, plain: Fields | None) -> None:
    """Send a proposal; it stands, and our owner is asked, once it may leave."""
    thread_id = view.thread.thread_id
    sent = sending.send(ws, view, "resolution", body, plain=plain)
    if sent and ws.move(thread_id, Cause.PROPOSED):
        stand(ws, ws.thread(thread_id), sent, US, ws.packet(view.thread, sent, US))


# What stands.


def stand(ws: Workspace, thread: Thread, packet_id: str, side: str, fields: Fields) -> None:
    """A resolution stands, sent or received; our owner is asked if its word is needed."""
    ws.withdraw(thread.thread_id, "another proposal stands", "checkpoint", "consent", "escalation")
    listed = [str(one) for one in cast("list[object]", fields.get("requires_confirmation_from") or [])]
    confirmers = tuple(dict.fromkeys(one for one in listed if one in {ws.me, thread.peer}))
    actions = planning.planned(ws, thread, packet_id, side, fields, (ws.me, thread.peer))
    own = any(one.executor == US for one in actions)
    if ws.me not in confirmers and (own or set(listed) != {thread.peer}):
        # Nobody can leave our owner out of what this agent would do (A2ACP-142, A2ACP-145).
        confirmers = (*confirmers, ws.me)
    standing = standing_of(ws, packet_id, side, fields, confirmers, actions)
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
    fields: Fields,
    confirmers: tuple[str, ...],
    actions: tuple[Planned, ...] = (),
) -> Proposal:
    """A resolution as what stands: who must confirm it, until when, and what is done then (A2ACP-154)."""
    minutes = formats.read_duration(fields.get("confirmation_timeout")) or 24 * 60
    since = ws.now if side == US else said_at(ws, fields)
    expires = Moment(since + min(minutes, _LONGEST) * _MINUTE)
    reminds = vocabulary.on_timeout(fields.get("on_timeout")) == "remind_then_expire"
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
    standing = cast("Proposal", thread.proposal)
    content = checkpoint(ws, thread) | list_shown(ws, thread)
    question = ws.ask(thread, "checkpoint", content, subject=standing.packet_id)
    ws.change(thread, proposal=replace(standing, question_id=question.question_id))


def said_at(ws: Workspace, fields: Fields) -> Moment:
    """When a packet of theirs was written, by its own word, but never later than now (A2ACP-154)."""
    stamp: object = fields.get("timestamp")
    at = parse_rfc3339(stamp) if isinstance(stamp, str) else None
    return ws.now if at is None else min(at, ws.now)


def checkpoint(ws: Workspace, thread: Thread) -> Fields:
    """What the owner sees, and may choose (A2ACP-143, A2ACP-144, A2ACP-172)."""
    body = proposal_body(ws, thread)
    standing = thread.proposal
    found = cast("Fields", body.get("details") or {})
    rests = remembering.rests_on(ws, view_of(ws, thread))
    choices = ["confirm"]
    listed = alternatives(body)
    choices += [f"alternative {number}" for number in range(len(listed))]
    if found.get("time") or found.get("date"):
        choices.append("counter time")
    if found.get("place"):
        choices.append("counter place")
    if not {"time", "date", "place"} & set(found):
        choices.append("counter")
    choices += ["excuse again", "excuse leave", "refuse"]
    return {
        "proposal": {
            "summary": body.get("summary"),
            "details": found,
            "alternatives": [
                # What a yes to it confirms, which is not what its words say alone.
                {"summary": one.get("summary"), "reason": one.get("reason"), "details": _over(found, one)}
                | _not_as_asked(ws, thread, number)
                for number, one in enumerate(listed)
            ],
            "reasoning": body.get("reasoning"),
            "actions": [
                {
                    "action": one.action,
                    "executor": one.executor,
                    "reversible": one.reversible,
                    "tick": one.label if one.executor == US and not one.reversible else None,
                }
                for one in (standing.actions if standing else ())
            ],
            "by": standing.side if standing else "",
            **_not_as_asked(ws, thread),
        },
        "choices": choices,
        "excuses": dict(EXCUSES),
        **({"remembered": rests} if rests else {}),
    }


def _not_as_asked(ws: Workspace, thread: Thread, choice: int = MAIN) -> Fields:
    slot = slot_of(chosen_details(ws, thread, choice), ws)
    countered = any(one.get("kind") == "countered" for one in recalling.remembered(ws, thread))
    found = differing.differences(view_of(ws, thread), slot, elsewhere=countered)
    return {"not_as_asked": found} if found else {}


EXCUSES: Final = {"again": writing.excuse(again=True), "leave": writing.excuse(again=False)}
"""What an excuse says, whole: it is shown before it goes, and knows of no reason (A2ACP-147, A2ACP-149)."""


def received(ws: Workspace, view: View, packet_id: str, fields: Fields) -> None:
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
        stand(ws, ws.thread(thread.thread_id), packet_id, THEM, fields)


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
    body: Fields = {"status": "confirmed", "in_reply_to": standing.packet_id}
    if choice != MAIN:
        body["selected_alternative"] = choice
    view = view_of(ws, thread)
    sending.send(ws, view, "resolution_response", body)
    confirmed = {**standing.confirmed, ws.me: choice}
    ws.change(thread, proposal=replace(standing, confirmed=confirmed))
    settle(ws, thread.thread_id)


def check_choice(ws: Workspace, thread: Thread, choice: int, ticks: frozenset[str]) -> None:
    """Whether a yes may be said as it was: to what is there, and with a tick for what cannot be undone."""
    chosen_details(ws, thread, choice)
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
    standing = cast("Proposal", thread.proposal)
    ws.notice(thread.thread_id, "slot_taken", standing.packet_id)
    thread = rule_out(ws, thread, TAKEN, choice)
    body: Fields = {
        "status": "counter",
        "in_reply_to": standing.packet_id,
        "change_request": {"field": "time", "suggestion": None},
    }
    sending.send(ws, view_of(ws, thread), "resolution_response", body)
    if ws.move(thread.thread_id, Cause.COUNTERED):
        ws.change(thread.thread_id, proposal=None, consider=standing.packet_id)


def counter(ws: Workspace, thread: Thread, name: str, value: str) -> None:
    """Our owner wants something else (A2ACP-146)."""
    standing = cast("Proposal", thread.proposal)
    if name not in recalling.PLACES:
        thread = rule_out(ws, thread, "countered")
    request = {"field": name, "suggestion": value}
    body: Fields = {"status": "counter", "in_reply_to": standing.packet_id, "change_request": request}
    # What a person says here is released by being said, and nothing else by that.
    spoken = (name, AVAILABILITY)
    sending.send(ws, view_of(ws, thread), "resolution_response", body, spoken=spoken)
    if ws.move(thread.thread_id, Cause.COUNTERED):
        ws.change(thread.thread_id, proposal=None, unanswered_since=ws.now)


def decline(
    ws: Workspace, thread: Thread, *, reason_class: str, message: str, ended: str = "user_declined"
) -> None:
    """Our owner says no; why is nobody's business (A2ACP-147, A2ACP-148, A2ACP-149)."""
    standing = cast("Proposal", thread.proposal)
    body: Fields = {
        "status": "declined",
        "in_reply_to": standing.packet_id,
        "reason_class": reason_class,
        "actual_reason": None,
    }
    if message:
        body["message_to_other_agent"] = message
    again = reason_class in INVITING
    if again:
        thread = rule_out(ws, thread, "declined")
    sending.send(ws, view_of(ws, thread), "resolution_response", body)
    if not again:
        end(ws, thread.thread_id, Cause.DECLINED, ended)
    elif ws.move(thread.thread_id, Cause.COUNTERED):
        ws.change(thread.thread_id, proposal=None)


def response(ws: Workspace, view: View, fields: Fields) -> None:
    """A counterpart's word on the proposal that stands; on any other it has no effect."""
    thread = view.thread
    found = responses.on_standing(ws, thread, fields)
    if found is None:
        return
    standing, status = found
    if said_at(ws, fields) >= standing.expires:
        expire(ws, thread)
        return
    if status == "confirmed":
        if thread.role == MEMBER and ws.me not in standing.confirmed:
            ws.notice(thread.thread_id, "goes_ahead")
        picked: object = fields.get("selected_alternative", MAIN)
        choice = picked if isinstance(picked, int) and not isinstance(picked, bool) else MAIN
        count = len(alternatives(proposal_body(ws, thread)))
        choice = choice if MAIN <= choice < count else MAIN
        ws.change(thread, proposal=replace(standing, confirmed={**standing.confirmed, thread.peer: choice}))
        settle(ws, thread.thread_id)
        return
    reason = vocabulary.reason_class(fields.get("reason_class"))
    if status == "declined" and reason not in INVITING:
        ws.notice(thread.thread_id, "declined")
        end(ws, thread.thread_id, Cause.DECLINED, "user_declined")
        return
    request: object = fields.get("change_request")
    wanted = cast("Fields", request) if isinstance(request, dict) else {}
    if wanted.get("field") not in recalling.PLACES:
        thread = rule_out(ws, thread, status)
    if wanted:
        kept = ws.keep(thread.peer, {"kind": "wish", "wish": wanted})
        thread = ws.change(thread, ruled_out=(*thread.ruled_out, kept))
    ws.withdraw(thread.thread_id, "countered", "checkpoint")
    if ws.move(thread.thread_id, Cause.COUNTERED):
        # Whose time was taken meanwhile looks for another itself, and says so by naming none.
        looks = bool(wanted) and wanted.get("field") in recalling.TIMES and wanted.get("suggestion") is None
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
        choice = standing.confirmed.get(other, MAIN)
        ws.notice(thread_id, "different_alternatives")
        slot = slot_of(chosen_details(ws, thread, choice), ws)
        wanted: Fields = {"kind": "wish"} | (
            {"slot_wanted": [int(slot.start), int(slot.end)]} if slot else {}
        )
        thread = ws.change(thread, ruled_out=(*thread.ruled_out, ws.keep(thread.peer, wanted)))
        if ws.move(thread_id, Cause.COUNTERED):
            mine = standing.side == US
            ws.change(thread_id, proposal=None, consider=standing.packet_id if mine else "")
        return
    if ws.move(thread_id, Cause.CONFIRMED):
        ws.withdraw(thread_id, "confirmed", "checkpoint")


def choice_of(standing: Proposal) -> int:
    """What all have agreed on."""
    return next(iter(standing.confirmed.values()), MAIN)


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
        body: Fields = {"state": thread.state.value, "closed_reason": reason}
        sending.send(ws, view_of(ws, thread), "thread_status", body)
    return True


def due_planned(standing: Proposal) -> list[Planned]:
    """Our own actions that have not been begun, in order."""
    return [one for one in standing.actions if one.executor == US and not one.status]
