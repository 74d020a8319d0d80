"""A group, at its coordinator: whom it asks, what the answers come to, what it proposes.

A2ACP-054, A2ACP-173, A2ACP-174, A2ACP-175, A2ACP-176, A2ACP-177, A2ACP-178, A2ACP-179, A2ACP-180, A2ACP-181,
A2ACP-182.

Theory of operation. A group is a star of ordinary threads. The coordinator has a leg with each participant,
in which it asks, is told and proposes as in any thread, with that one's permissions, and a hub, whose
counterpart is its own owner: the hub has the goal, what stands, the checkpoint, the actions and the calendar.
Nobody is told anything by the hub. Legs move it: when all have answered, its turn has come, and the sums are
made in code (`group.aggregation`). A participant has one thread, with the coordinator.

What goes from one leg to another is derived: windows with how many and who cannot, and which field binds. The
opening names the days that were asked about and nothing of the owner's own calendar, so that nobody is asked
for consent before there is anything to say. It asks for what cannot be, and for the rest only once it is
known that it can be at all (`narrowing`).

One who has not answered when its time is over is the owner's to decide on, once: go on, wait once more, stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast
from zoneinfo import ZoneInfo

import msgspec

from tacit.a2acp.packets import formats, packet
from tacit.a2acp.packets.bodies import Resolution
from tacit.a2acp.packets.schemas import valued_as
from tacit.a2acp.threads.states import NEGOTIABLE, Cause, State
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import ask_consent, is_refused, zone_of
from tacit.agent.groups import (
    aggregation,
    confirmation,
    fairness,
    joining,
    membership,
    narrowing,
    trade_off,
    vouching,
)
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import AWAITING, LEFT_OUT, RECEIVED, WITHDRAWN, GroupTables
from tacit.agent.groups.members import (
    SIGNATURES,
    fanout_id,
    group_of,
    hub_of,
    keys_of,
    leg_of,
    legs_of,
    regroup,
    signatures_of,
)
from tacit.agent.kernel import records
from tacit.agent.kernel.state import HUB, LEG, US
from tacit.agent.scheduling import acting, asking, escalating, options, proposal_slots, proposing, recalling
from tacit.agent.scheduling.goal import MEETING, Goal, Need
from tacit.agent.scheduling.view import their_spans, their_times, view_of
from tacit.base.errors import Refused
from tacit.base.moment import LAST, Moment, Span, merged, without
from tacit.base.strict_json import as_list, as_object, as_objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.groups.aggregation import Aggregate, Window
    from tacit.agent.groups.fold import Group
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View

CATEGORY: Final = "group_scheduling"
GO_ON: Final = "go on without them"
WAIT: Final = "wait once more"
STOP: Final = escalating.STOP
TRY_AGAIN: Final = escalating.TRY_AGAIN
SILENT: Final = "silent"
CHOICE: Final = "windows"
_MOST_OFFERED: Final = 4


# The beginning.


def way_of(group: Group) -> confirmation.Confirmation:
    """How a group confirms."""
    return confirmation.Confirmation(group.mode, group.quorum, group.order)


def begin(
    ws: Workspace,
    goal: Goal,
    others: Sequence[str],
    *,
    quorum: object = None,
    in_order: bool = False,
    urgent: bool = False,
    thread_id: str = "",
    parent: str = "",
) -> str:
    """Begin a group for a wish of the owner's; its id."""
    if goal.unclear:
        raise Refused("unclear_request", goal.unclear[0], row="A2ACP-076")
    if goal.kind != MEETING:
        raise Refused("not_supported", "a group arranges a time together", row="A2ACP-173")
    members = membership.chosen(ws.me, others)
    if vouching.doubled(members, keys_of(ws, members)):
        raise Refused("bad_group", "two addresses have one key", row="A2ACP-174")
    way = confirmation.chosen(members, quorum=quorum, in_order=in_order)
    if parent and parent not in ws.book.part(GroupTables).groups:
        raise Refused("unknown_thread", "this agent has no such group", row="A2ACP-165")
    urgent = urgent or goal.urgency == "urgent"
    group_id = thread_id or packet.identifier("thr_", ws.draw(17))
    details = {**goal.details, "party_size": len(members)} | ({"related_threads": [parent]} if parent else {})
    wants = tuple(msgspec.structs.replace(one, reason=_for_all(one.reason)) for one in goal.wants)
    goal = msgspec.structs.replace(goal, category=CATEGORY, details=details, wants=wants)
    ws.say(group_records.Grouped(group_id, ws.me, members, way.mode, way.quorum, way.order, parent))
    hub(ws, group_id, group_id, goal, tuple(others), urgent=urgent)
    for one in others:
        leg(ws, group_id, one, goal, urgent=urgent)
    return group_id


def _for_all(reason: str) -> str:
    return reason.replace("suits both", "suits everybody")


def hub(
    ws: Workspace, name: str, group_id: str, goal: Goal, others: tuple[str, ...], *, urgent: bool
) -> None:
    """The coordinator's own thread of a group."""
    ws.say(
        records.Began(
            name,
            ws.me,
            ours=True,
            urgent=urgent,
            goal=ws.keep(ws.me, msgspec.to_builtins(goal)),
            intent=ws.keep(ws.me, asking.intent_of(goal, urgent=urgent)),
            group=group_id,
            role=HUB,
            members=others,
        )
    )


def leg(ws: Workspace, group_id: str, peer: str, goal: Goal, *, urgent: bool) -> None:
    """The thread with one participant: it asks, and offers nothing of the owner's own."""
    wants = narrowing.first_wants(ws, peer, goal)
    own = msgspec.structs.replace(goal, offers=(), flexibility={}, place="", wants=wants)
    name = joining.new_name(ws, group_id, peer)
    ws.say(
        records.Began(
            name,
            peer,
            ours=True,
            urgent=urgent,
            goal=ws.keep(peer, msgspec.to_builtins(own)),
            intent=ws.keep(peer, asking.intent_of(goal, urgent=urgent)),
            group=group_id,
            role=LEG,
        )
    )
    ws.change(name, consider=name)


# Answers.


def heard(ws: Workspace, view: View) -> str:
    """A participant has told what is needed of it (A2ACP-175); once all have, it is the hub's turn."""
    thread = ws.thread(view.thread.thread_id)
    group = group_of(ws, thread)
    if thread.peer not in group.present:
        return "goes on without them"
    regroup(ws, group, members={**group.members, thread.peer: RECEIVED})
    # Nothing is owed by them any more: it is for the coordinator to go on.
    ws.change(thread, unanswered_since=None)
    own = hub_of(ws, thread)
    if own.state is State.INITIATED:
        ws.move(own.thread_id, Cause.ANSWERED)
    token = next((one.packet_id for one in reversed(thread.packets) if one.side != US), thread.thread_id)
    return _hub_turn(ws, own, token)


def _hub_turn(ws: Workspace, own: Thread, token: str) -> str:
    if awaited(group_of(ws, own)):
        return "waits for the others"
    for question in ws.open_questions(own.thread_id, "escalation"):
        if as_object(ws.read(question.content)).get("group") == SILENT:
            ws.say(records.Withdrawn(question.question_id, "they have answered"))
    if ws.thread(own.thread_id).state in NEGOTIABLE:
        ws.change(own.thread_id, consider=token)
    return "all have answered"


def awaited(group: Group) -> tuple[str, ...]:
    """Who has yet to answer."""
    return tuple(one for one in group.present if group.members[one] == AWAITING)


def is_awaited(ws: Workspace, thread: Thread) -> bool:
    """Whether a leg's participant has yet to answer."""
    return thread.peer in awaited(group_of(ws, thread))


def take(ws: Workspace, view: View, windows: tuple[Span, ...] | None, token: str) -> None:
    """The hub's turn: the sums, and what follows from them."""
    own = view.thread
    if ws.open_questions(own.thread_id, "consent", "escalation"):
        return
    if own.state not in NEGOTIABLE:
        return
    own = ws.change(own, consider="")
    group = group_of(ws, own)
    if awaited(group):
        return
    found = aggregate(ws, view, group, windows)
    group = regroup(ws, group, overlap=ws.keep(ws.me, _shown(ws, group, found)))
    outcome = _decided(ws, view_of(ws, own), group, found, token)
    steps = (("PARSE", f"{len(found.windows)} windows"), ("ACTION", outcome))
    ws.say(records.Cycled(own.thread_id, token, steps))


def aggregate(ws: Workspace, view: View, group: Group, windows: tuple[Span, ...] | None) -> Aggregate:
    """What those who have answered have in common (A2ACP-176)."""
    own = view.thread
    goal = view.known_goal
    gone = (*recalling.ruled_out_slots(ws, own), Span(Moment(-LAST), ws.now))
    free: dict[str, tuple[Span, ...]] = {ws.me: without(_wished(ws, view, windows or ()), gone)}
    places: dict[str, object] = {ws.me: ws.profile.get("location_preference")}
    diets: dict[str, object] = {ws.me: ws.profile.get("dietary")}
    for one in legs_of(ws, group):
        if group.members[one.peer] != RECEIVED:
            continue
        told = view_of(ws, one)
        places[one.peer] = told.theirs.get("location_preference")
        diets[one.peer] = told.theirs.get("dietary")
        if their_times(ws, told) is not None or recalling.wish(ws, one, *recalling.TIMES) is not None:
            free[one.peer] = without(_wished(ws, told, their_spans(ws, told)[0]), gone)
    return aggregation.aggregate(free, goal.minutes, places=places, diets=diets, first=left_out_last(ws))


def _wished(ws: Workspace, view: View, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Somebody's times, with the one that they asked for in place of a proposal."""
    wished = recalling.wished_slot(ws, view)
    return spans if wished is None else merged((*spans, wished))


def left_out_last(ws: Workspace) -> frozenset[str]:
    """Who could not be there their last time: of equal choices one that leaves out somebody else is taken."""
    newest = sorted(ws.book.part(GroupTables).outings.values(), key=lambda one: one.at, reverse=True)
    return fairness.left_out_last((one.there, one.missing) for one in newest)


def _shown(ws: Workspace, group: Group, found: Aggregate) -> Fields:
    """The sums as the owner sees them."""
    zone = zone_of(ws)
    told = trade_off.overlap_told(found, group.members, zone)
    binding = found.binding
    return {
        "windows": told["availability_overlap"]["windows"],
        "trade_off": told["availability_overlap"].get("trade_off"),
        "binding": {"agent": binding.agent, "field": binding.field} if binding else None,
        "areas": list(found.areas),
        "dietary": list(found.dietary),
    }


# What follows from the sums.


def _decided(ws: Workspace, view: View, group: Group, found: Aggregate, token: str) -> str:
    left = narrowing.possible(group, found.windows)
    if left and narrowing.ask_for_the_rest(ws, view, group, left):
        return "it can be: the rest is asked for"
    if left:
        return propose(ws, view, found, token)
    binding = found.binding
    if recalling.why_it_failed(ws, view.thread):
        # It failed, and not for want of time: that is for people, and nobody is asked to bend.
        return _ask_which(ws, view, group, found)
    if binding is not None and binding.agent != ws.me and binding.agent not in group.asked:
        return _ask_to_bend(ws, view, group, found, token)
    return _ask_which(ws, view, group, found)


def _clear_with_owner(ws: Workspace, view: View, kind: str, bodies: dict[str, Fields], token: str) -> bool:
    """Whether all of it may go; else the owner is asked, once for everybody (A2ACP-130)."""
    own = ws.thread(view.thread.thread_id)
    asked: dict[str, object] = {}
    for name, body in bodies.items():
        # What was released for the group was released for each of it.
        known = ws.thread(name)
        ws.change(known, approved={**known.approved, **own.approved})
        for one in sending.held(ws, view_of(ws, ws.thread(name)), kind, body):
            asked.setdefault(one.field, one.value)
    if not asked:
        return True
    refused = [one for one in asked if is_refused(ws, own, one)]
    if refused:
        ws.notice(own.thread_id, "generation_failed")
        ws.change(own, paused=True)
        return False
    reason = "The group would be told this of you"
    ws.change(own, consider=token)
    ask_consent(
        ws, own, [(Need(name, reason, "required"), value) for name, value in asked.items()], subject=token
    )
    return False


def _ask_to_bend(ws: Workspace, view: View, group: Group, found: Aggregate, token: str) -> str:
    """Ask the one who binds, and nobody else, whether one of the others' windows could be (A2ACP-178)."""
    binding = cast("aggregation.Binding", found.binding)
    one = cast("Thread", leg_of(ws, group, binding.agent))
    zone = zone_of(ws)
    people = len(group.present)
    offered = [each for each in found.windows if binding.agent in each.missing] or list(found.windows)
    goal = view.known_goal
    slots = [_slot(ws, view, goal, each) for each in offered[:_MOST_OFFERED]]
    alternatives = [
        {
            "option": trade_off.words(each, zone),
            "rationale": f"{trade_off.attendance(each, people)} could be there",
            "time_windows": [formats.write_window(slot, ZoneInfo(zone))],
        }
        for each, slot in zip(offered, slots, strict=False)
        if slot is not None
    ]
    if not alternatives or not sending.may_speak(one):
        return _ask_which(ws, view, group, found)
    reason = (
        f"No time suits everybody; with more {trade_off.BINDING[binding.field]} of yours more could be there"
    )
    body: Fields = {
        "intent": escalating.intent(view_of(ws, one), "Could you make one of these times?"),
        "context": {"proposed_alternatives": alternatives},
        "aggregated_context": trade_off.overlap_told(found, group.members, zone),
        "coordinator_recommendation": trade_off.ASK_TO_BEND,
        "reason": reason,
        "escalation": {
            "recommend": "surface_to_users",
            "reason": reason,
            "suggested_prompt": "Could you make one of these times?",
        },
    }
    if not _clear_with_owner(ws, view, "context", {one.thread_id: body}, token):
        return "the owner is asked before anybody is told"
    if not sending.send(ws, view_of(ws, ws.thread(one.thread_id)), "context", body):
        return _ask_which(ws, view, group, found)
    regroup(
        ws,
        group,
        asked=(*group.asked, binding.agent),
        members={**group.members, binding.agent: AWAITING},
    )
    return "the one who binds is asked"


def _slot(ws: Workspace, view: View, goal: Goal, window: Window) -> Span | None:
    """Where in a window it would best be."""
    found = options.options(
        msgspec.structs.replace(goal, spans=()),
        (window.span,),
        (window.span,),
        zone=zone_of(ws),
        now=ws.now,
        excluded=recalling.ruled_out_slots(ws, view.thread),
        holds=proposal_slots.held_slots(ws, view.thread.thread_id),
    )
    return found.best[0].span if found.best else None


def _ask_which(ws: Workspace, view: View, group: Group, found: Aggregate) -> str:
    """Nothing suits everybody: the owner chooses among ranked windows, or stops (A2ACP-179).

    Where the last time failed, that is the reason, and it may be tried again as it was (A2ACP-171).
    """
    own = view.thread
    failed = recalling.why_it_failed(ws, own)
    people = len(group.present)
    zone = zone_of(ws)
    offered = [
        {
            "option": f"{trade_off.words(one, zone)} with {trade_off.attendance(one, people)}"
            + (f", without {', '.join(map(_name, one.missing))}" if one.missing else ""),
            "window": [int(one.span.start), int(one.span.end)],
            "missing": list(one.missing),
        }
        for one in found.windows[:_MOST_OFFERED]
        if one.count > 1
    ]
    question: Fields = {
        "group": CHOICE,
        "reason": failed or "No time suits everybody",
        "trade_off": trade_off.trade_off(found.windows, people, zone),
        "alternatives": offered,
        "choices": [str(one["option"]) for one in offered] + ([TRY_AGAIN] if failed else []) + [STOP],
    }
    own = ws.change(own, awaiting_user=True, escalated=True, consider="")
    ws.ask(own, "escalation", question, subject=own.thread_id)
    return "the owner is asked which"


def _name(member: str) -> str:
    return member.removeprefix("agent:")


def propose(ws: Workspace, view: View, found: Aggregate, token: str) -> str:
    """Propose the best window to everybody, each in a packet of their own."""
    own = ws.thread(view.thread.thread_id)
    group = group_of(ws, own)
    best = found.windows[0]
    slot = _slot(ws, view, view.known_goal, best)
    if slot is None:
        return _ask_which(ws, view, group, found)
    fanout = fanout_id(ws)
    body = _resolution(ws, view, group, found, slot) | {"fanout_id": fanout}
    legs = {one.thread_id: body for one in legs_of(ws, group)}
    if not _clear_with_owner(ws, view, "resolution", legs, token):
        return "the owner is asked before proposing"
    if not ws.move(own.thread_id, Cause.PROPOSED):
        return "nothing to propose now"
    group = regroup(ws, group, declined={})
    ws.keep(ws.me, body, name=fanout)
    standing = proposing.standing_of(ws, fanout, US, valued_as(Resolution, body), group.present)
    ws.change(own, proposal=standing, past_proposals=own.past_proposals + 1, awaiting_user=False)
    ask(ws, own.thread_id)
    return "resolution"


def _resolution(ws: Workspace, view: View, group: Group, found: Aggregate, slot: Span) -> Fields:
    details = proposal_slots.details(ws, view, slot)
    best = found.windows[0]
    zone = zone_of(ws)
    told = best.count + len(best.missing)
    reasons = [f"It suits {trade_off.attendance(best, told)} who told their times."]
    if said := trade_off.trade_off(found.windows, told, zone):
        reasons.append(f"{said}.")
    fair = _fair(ws, found)
    if fair:
        reasons.append(fair)
    if found.dietary:
        reasons.append("What everybody can eat is taken into account.")
    return {
        "proposal": {
            "summary": proposing.plainly(view, details),
            "details": details,
            "reasoning": " ".join(reasons),
        },
        "requires_confirmation_from": list(group.present),
        "confirmation_timeout": proposing.window(view.thread),
        "on_timeout": "remind_then_expire",
        "actions_on_confirm": proposing.actions_for(ws, view, details),
        "confirmation": msgspec.json.decode(msgspec.json.encode(confirmation.written(way_of(group)))),
        SIGNATURES: signatures_of(ws, group),
    }


def _fair(ws: Workspace, found: Aggregate) -> str:
    """Why a window was taken before another that as many could make."""
    last = left_out_last(ws)
    best = found.windows[0]
    others = [one for one in found.windows[1:] if one.count == best.count and last & set(one.missing)]
    spared = last - set(best.missing)
    if not others or not spared or not best.missing:
        return ""
    return "Of equal choices it is the one that leaves nobody out twice in a row."


def ask(ws: Workspace, hub_id: str) -> None:
    """Ask those whose turn it is to confirm what stands (A2ACP-152)."""
    own = ws.thread(hub_id)
    group = group_of(ws, own)
    standing = own.proposal
    if standing is None:
        return
    turn = confirmation.standing(way_of(group), group.present, standing.confirmed, group.declined).asked
    body = ws.packet(own, standing.packet_id, US)
    for one in legs_of(ws, group):
        if one.peer not in turn or one.state is State.PROPOSED:
            continue
        sent = sending.send(ws, view_of(ws, one), "resolution", body, fanout=standing.packet_id)
        if sent and ws.move(one.thread_id, Cause.PROPOSED):
            stands = proposing.standing_of(ws, sent, US, valued_as(Resolution, body), (one.peer,))
            stands = msgspec.structs.replace(stands, expires=standing.expires, remind_at=None)
            ws.change(one.thread_id, proposal=stands, consider="")
    if ws.me in turn and not standing.question_id:
        proposing.ask_owner(ws, own)


# Who does not answer.


def silent(ws: Workspace, thread: Thread) -> None:
    """A participant's time to answer is over: the owner says how to go on (A2ACP-182)."""
    own = hub_of(ws, thread)
    group = group_of(ws, thread)
    if group.members.get(thread.peer) != AWAITING or own.state not in NEGOTIABLE:
        return
    ws.withdraw(own.thread_id, "asked anew", "escalation")
    late = [one for one in awaited(group) if _is_stalled(ws, group, one)]
    left = len(group.present) - len(late)
    least = group.quorum if group.mode == confirmation.QUORUM else 2
    choices = [GO_ON] if left >= least else []
    choices += [WAIT] if not set(late) <= set(group.waited) else []
    question: Fields = {
        "group": SILENT,
        "reason": f"No answer from {', '.join(map(_name, late))}",
        "silent": late,
        "alternatives": [],
        "choices": [*choices, STOP],
    }
    own = ws.change(own, awaiting_user=True)
    ws.ask(own, "escalation", question, subject=own.thread_id)


def _is_stalled(ws: Workspace, group: Group, member: str) -> bool:
    found = leg_of(ws, group, member)
    return found is not None and found.state is State.STALLED


def chosen(ws: Workspace, own: Thread, content: Fields, number: int) -> None:
    """How the owner wants a group to go on that could not do so by itself."""
    choices = [str(one) for one in as_list(content.get("choices"))]
    own = ws.change(own, awaiting_user=False)
    if choices[number] == TRY_AGAIN:
        recalling.try_again(ws, own)
        ws.change(own, consider=own.thread_id)
        return
    if content.get("group") == CHOICE:
        own = recalling.chosen_by_people(ws, own)
        offered = as_objects(content["alternatives"])[number]
        leave(ws, own, [str(member) for member in as_list(offered["missing"])], LEFT_OUT)
        goal = view_of(ws, own).known_goal
        fixed = msgspec.structs.replace(goal, spans=(msgspec.convert(offered["window"], Span),))
        ws.change(own.thread_id, goal=ws.keep(ws.me, msgspec.to_builtins(fixed)), consider=own.thread_id)
        return
    late = [str(member) for member in as_list(content["silent"])]
    group = group_of(ws, own)
    if choices[number] == GO_ON:
        leave(ws, own, late, LEFT_OUT)
        return
    regroup(ws, group, waited=tuple(dict.fromkeys((*group.waited, *late))))
    for one in late:
        found = leg_of(ws, group, one)
        if found is not None and found.state is State.STALLED:
            ws.move(found.thread_id, Cause.NEGOTIATED)


def leave(ws: Workspace, own: Thread, members: Sequence[str], status: str) -> None:
    """Go on without some: they are told, and the others are no longer kept waiting."""
    group = group_of(ws, own)
    members = [one for one in members if one in group.present and one != ws.me]
    group = regroup(ws, group, members={**group.members, **dict.fromkeys(members, status)})
    for one in members:
        found = leg_of(ws, group, one)
        if found is not None and found.is_open:
            _told_off(ws, found, acting.WITHOUT if status == LEFT_OUT else "withdrawn")
    if len(group.present) < 2:
        proposing.end(ws, own.thread_id, Cause.CLOSED, "withdrawn")
    elif own.state in NEGOTIABLE:
        _hub_turn(ws, own, own.thread_id)


def _told_off(ws: Workspace, thread: Thread, reason: str) -> None:
    """End a leg; an agent of which nothing is known yet is told in words that every agent takes."""
    proposing.end(ws, thread.thread_id, Cause.CLOSED, reason)
    thread = ws.thread(thread.thread_id)
    if reason == acting.WITHOUT and thread.packets and thread.packets[-1].type != "thread_status":
        view = view_of(ws, thread)
        body: Fields = {"intent": escalating.intent(view, "The others go on without you"), "context": {}}
        sending.send(ws, view, "context", body)


def came_late(ws: Workspace, thread: Thread) -> None:
    """A packet of somebody without whom it went on: how it ended for them, which they may not know yet."""
    body: Fields = {"state": State.DECLINED.value, "closed_reason": acting.WITHOUT}
    sending.send(ws, view_of(ws, thread), "thread_status", body)


def withdrawn(ws: Workspace, thread: Thread) -> None:
    """A participant wants no part in it, or is no longer known: the others go on."""
    own = hub_of(ws, thread)
    ws.notice(own.thread_id, "left_the_group", thread.peer)
    leave(ws, own, [thread.peer], WITHDRAWN)
