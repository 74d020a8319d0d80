"""What our owner wants: a new thread and its first packet, another intent, several threads for one, an end.

A2ACP-033, A2ACP-041, A2ACP-073, A2ACP-077, A2ACP-078, A2ACP-080, A2ACP-105, A2ACP-111, A2ACP-115,
A2ACP-117, A2ACP-134, A2ACP-163, A2ACP-235.

The first packet carries as much as it may: free windows inside what was asked for, what of the profile
matters, what we need in turn. What the owner has not released is asked once, all of it, before anything
leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import msgspec

from tacit.a2acp.consent import filter as consent
from tacit.a2acp.consent import implicit
from tacit.a2acp.consent.tiers import Tier, canonical, tier
from tacit.a2acp.packets import formats, packet
from tacit.a2acp.packets.windows import read_windows
from tacit.a2acp.threads.states import NEGOTIABLE, Cause, State
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import ask_consent, is_refused, note_wants, own_name, own_value
from tacit.agent.groups import blackouts
from tacit.agent.kernel import records
from tacit.agent.kernel.state import DECLINED, GIVEN, US
from tacit.agent.memory import remembering
from tacit.agent.owner import hints
from tacit.agent.scheduling import limits, proposing, purpose
from tacit.agent.scheduling.goal import MEETING, Goal, Need
from tacit.agent.scheduling.view import view_of
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View
    from tacit.base.moment import Span

_OWN: Final = "Part of what you asked for"
BY_PROGRAM: Final = "A program of yours would like to say this for you"
AVAILABILITY: Final = "time_windows"
WORDS: Final = "words_of_programs"
"""The field of a question that stands for what a program would say in its own words to begin a thread."""


def intent_of(goal: Goal, *, urgent: bool) -> Fields:
    """A goal as packets name it."""
    return {
        "category": goal.category,
        "summary": goal.summary,
        "urgency": "urgent" if urgent else goal.urgency,
    }


def ask(ws: Workspace, goal: Goal, peer: str, *, urgent: bool = False, thread_id: str = "") -> str:
    """Begin a thread for a wish of the owner's; its id. The first packet follows when it is considered."""
    if goal.unclear:
        raise Refused("unclear_request", goal.unclear[0], row="A2ACP-076")
    urgent = urgent or goal.urgency == "urgent"
    thread_id = thread_id or packet.identifier("thr_", ws.draw(17))
    ws.say(
        records.Began(
            thread_id,
            peer,
            ours=True,
            urgent=urgent,
            goal=ws.keep(peer, msgspec.to_builtins(goal)),
            intent=ws.keep(peer, intent_of(goal, urgent=urgent)),
            project=goal.category == hints.PROJECT,
        )
    )
    ws.change(thread_id, consider=thread_id)
    return thread_id


def opens(thread: Thread) -> bool:
    """Whether our first packet of a thread of ours is still to be written."""
    return thread.ours and not thread.introduced and not thread.packets


def opening(ws: Workspace, view: View, windows: tuple[Span, ...] | None) -> Fields:
    """The first packet, with everything that would help; consent decides what of it goes."""
    goal = view.goal
    if goal is None:
        raise Refused("no_goal", "this thread has no goal")
    context: Fields = dict(goal.details)
    if goal.event_type:
        context["event_type"] = goal.event_type
    zone = ws.profile.get("timezone")
    if zone and goal.kind == MEETING:
        context["timezone"] = zone
    listed = formats.write_windows(windows or (), ZoneInfo(str(zone or "UTC")))
    if listed:
        context[AVAILABILITY] = listed
    for name in goal.offers:
        value = own_value(ws, view, name, windows or None)
        if value is not None:
            context[name] = value
    _enrich(ws, view, context, windows)
    if goal.flexibility:
        context["flexibility"] = dict(goal.flexibility)
    body: Fields = {"intent": view.intent, "context": context}
    wants = first_needs(ws, view, windows)
    if wants:
        body["needs"] = [
            {"field": one.field, "reason": one.reason, "priority": one.priority} for one in wants
        ]
    return body


def _enrich(ws: Workspace, view: View, context: Fields, windows: tuple[Span, ...] | None) -> None:
    """Add what they always ask for and may have without a question (A2ACP-079, A2ACP-080)."""
    if view.goal is None or view.goal.by_program or _cannot_be_first(view):
        return
    told = {canonical(ws.policy, one) for one in context}
    for name in remembering.enriching(ws, view):
        value = own_value(ws, view, name, windows or None)
        if name not in told and value is not None:
            context[remembering.ASKED_AS.get(name, name)] = value


def _cannot_be_first(view: View) -> bool:
    """Whether a thread of a group begins with what cannot be: then nothing else is asked or told yet."""
    return view.goal is not None and blackouts.come_first(one.field for one in view.goal.wants)


def first_needs(ws: Workspace, view: View, windows: tuple[Span, ...] | None) -> list[Any]:
    """What we ask for first: five at most, the most important ones (A2ACP-105)."""
    if _cannot_be_first(view):
        return list(view.goal.wants) if view.goal is not None else []
    wanted = remembering.needs(ws, view, times_told=bool(windows))
    wanted = limits.askable(wanted, frozenset(), lambda name: canonical(ws.policy, name))
    return list(limits.five(wanted)[0])


def begin(ws: Workspace, view: View, windows: tuple[Span, ...] | None) -> str:
    """Send the first packet, or ask the owner what of it may go (A2ACP-134)."""
    thread = view.thread
    body = opening(ws, view, windows)
    held = sending.held(ws, view, "context", body)
    fresh = {one.field: one for one in held if not is_refused(ws, thread, one.field)}
    offers = view.goal.offers if view.goal else ()
    # What a program asks for is no word of the owner's: nothing goes unasked, nothing stands ticked.
    asked_by_program = view.goal is not None and view.goal.by_program
    start = implicit.at_start(
        ws.policy,
        thread.peer,
        fresh,
        frozenset() if asked_by_program else frozenset((*offers, AVAILABILITY)),
        mode=implicit.PROMPT_ONCE if asked_by_program else str(ws.choices.get("implicit_consent", "")),
        autonomy=str(ws.choices.get("autonomy", "low")),
    )
    if start.approved:
        ground = f"implicit:{thread.thread_id}"
        released = {own_name(ws, name): ground for name in start.approved}
        for name in start.approved:
            ws.keep(thread.peer, fresh[name].value, name=f"{ground}:{own_name(ws, name)}")
        thread = ws.change(thread, approved={**thread.approved, **released})
    words = _words(ws, view, body) if asked_by_program else ""
    if words and (canonical(ws.policy, WORDS) in thread.refused or _tier(ws, view) is Tier.NEVER):
        # The owner does not want it said: nothing of it leaves, and the other side hears of nothing.
        proposing.end(ws, thread.thread_id, Cause.CLOSED, "user_closed")
        return "the owner does not want it said"
    if start.ask or words:
        why = BY_PROGRAM if asked_by_program else _OWN
        asked = [(Need(WORDS, BY_PROGRAM, "required"), words)] if words else []
        asked += [(Need(name, why), fresh[name].value) for name in start.ask]
        ask_consent(ws, thread, asked, subject=thread.thread_id, ticked=start.ticked)
        return "the owner is asked what may go"
    ws.change(thread, consider="")
    if sending.send(ws, view_of(ws, ws.thread(thread.thread_id)), "context", body) and view.goal is not None:
        note_wants(ws, thread.thread_id, tuple(first_needs(ws, view, windows)))
    return "context"


def _words(ws: Workspace, view: View, body: Fields) -> str:
    """What a program would say in its own words; empty once the owner has read it and said that it may go.

    Code does not know what is in such words: so the owner reads them, whatever the thread is about. What is
    asked for by its field has its own place in the question.
    """
    if _tier(ws, view) is Tier.ALWAYS:
        return ""
    members = frozenset({ws.me, view.thread.peer})
    seen = consent.examine(
        body, "context", ws.policy, view.thread.peer, {}, known=sending.known(view), members=members
    )
    asked = {one.path for one in seen.held}
    context: Fields = body["context"]
    told = [f"{name}: {value}" for name, value in context.items() if f"context.{name}" not in asked]
    needs: list[Fields] = body.get("needs") or []
    asks = [f"asks for {one['field']}: {one['reason']}" for one in needs]
    said = "; ".join([str(view.intent.get("summary", "")), *told, *asks])
    question = view.thread.approved.get(canonical(ws.policy, WORDS))
    read = ws.read(f"{question}:{canonical(ws.policy, WORDS)}") if question else None
    return "" if read == said else said


def _tier(ws: Workspace, view: View) -> Tier:
    return tier(ws.policy, WORDS, view.thread.peer)


def change_intent(ws: Workspace, thread_id: str, goal: Goal, reason: str, scope_change: str) -> str:
    """It is to be something else now (A2ACP-111): said to the counterpart, who asks its owner.

    The id of the packet that says so, or of the thread while nothing was said in it; empty when none could be
    written, and then it is what it was.
    """
    thread = ws.thread(thread_id)
    if thread.state not in NEGOTIABLE:
        raise Refused("too_late", "the intent of this thread can no longer change", row="A2ACP-111")
    if goal.unclear:
        raise Refused("unclear_request", goal.unclear[0], row="A2ACP-076")
    view = view_of(ws, thread)
    if view.goal is not None and view.goal.by_program:
        # Once a program's, always a program's: another wording gives it no word of the owner's.
        goal = msgspec.structs.replace(goal, by_program=True)
    before = {name: view.intent.get(name, "") for name in ("category", "summary")}
    intent = intent_of(goal, urgent=thread.urgent)
    narrowed = scope_change == "narrowed"
    if opens(thread):
        # Nobody has heard of it: it begins as what it is now, and its owner is asked about that.
        purpose.lapse(ws, thread_id, "")
        ws.withdraw(thread_id, "the intent changed", "consent", "escalation")
        _renamed(ws, thread, goal, intent)
        ws.change(thread_id, consider=thread_id)
        return thread_id
    body: Fields = {
        "previous_intent": before,
        "updated_intent": {
            "category": goal.category,
            "summary": goal.summary,
            "scope_change": scope_change,
        },
        "reason": reason,
    }
    # A no to another purpose may be asked about once more (A2ACP-110); what was told is known.
    wanted = thread.wants if narrowed else purpose.outlasting(thread.wants)
    again = {name for name, status in wanted.items() if status == DECLINED and not narrowed}
    again = {name for name in again if f"{name}:reopened" not in wanted}
    known = frozenset(wanted.keys() - again)
    new = limits.askable(list(goal.wants), known, lambda name: canonical(ws.policy, name))
    wants = limits.five(new)[0]
    if wants:
        body["additional_context_needed"] = [
            {"field": one.field, "reason": one.reason, "priority": one.priority} for one in wants
        ]
    sent = sending.send(ws, view, "intent_update", body)
    if not sent:
        return ""
    if not narrowed:
        thread = purpose.lapse(ws, thread_id, sent)
        ws.withdraw(thread_id, "the intent changed", "consent", "escalation")
        named = {canonical(ws.policy, one.field) for one in wants}
        marks = {f"{name}:reopened": GIVEN for name in again & named}
        ws.change(thread_id, wants={**thread.wants, **marks}, consider="")
    _renamed(ws, thread, goal, intent)
    note_wants(ws, thread_id, wants)
    return sent


def _renamed(ws: Workspace, thread: Thread, goal: Goal, intent: Fields) -> None:
    ws.change(
        thread.thread_id,
        intent=ws.keep(thread.peer, intent),
        goal=ws.keep(thread.peer, msgspec.to_builtins(goal)),
        awaiting_user=False,
    )


def fork(ws: Workspace, thread_id: str, goals: list[Goal]) -> list[str]:
    """One thread becomes several, each for itself from now on (A2ACP-115, A2ACP-117).

    Their ids; none when the packet that says so could not be written: then it stays the one that it is.
    """
    thread = ws.thread(thread_id)
    if thread.state not in NEGOTIABLE or thread.depth >= purpose.DEEPEST:
        raise Refused("cannot_fork", "this thread can no longer become several", row="A2ACP-117")
    if not 2 <= len(goals) <= purpose.MOST_CHILDREN:
        raise Refused("cannot_fork", "a thread becomes two to five others", row="A2ACP-117")
    if not ws.peer_of(thread.peer).can("thread_forking"):
        raise Refused(
            "not_supported", "the other agent does not know forks; ask anew instead", row="A2ACP-278"
        )
    view = view_of(ws, thread)
    if opens(thread) and view.goal is not None and view.goal.by_program:
        raise Refused("cannot_fork", "its owner has yet to read what begins this thread", row="A2ACP-266")
    children: list[tuple[str, Fields, str]] = []
    for goal in goals:
        if goal.unclear:
            raise Refused("unclear_request", goal.unclear[0], row="A2ACP-076")
        kept = ws.keep(thread.peer, msgspec.to_builtins(goal))
        children.append((packet.identifier("thr_", ws.draw(17)), intent_of(goal, urgent=thread.urgent), kept))
    body: Fields = {
        "parent_thread_id": thread_id,
        "new_threads": [
            {"thread_id": name, "intent": {"category": intent["category"], "summary": intent["summary"]}}
            for name, intent, _ in children
        ],
        "shared_context": purpose.for_children(view.ours, ws, timely=_same_days(ws, view, goals)),
    }
    sent = sending.send(ws, view, "thread_fork", body)
    if not sent:
        return []
    purpose.fork(ws, ws.thread(thread_id), sent, US, children)
    return [name for name, _, _ in children]


def left(sent: object) -> None:
    """Refuse when nothing could be sent: asked once the decision is durable, the pause with it."""
    if not sent:
        raise Refused("not_sent", "nothing of this may leave; the thread may be paused", row="A2ACP-072")


def _same_days(ws: Workspace, view: View, goals: list[Goal]) -> bool:
    """Whether the times that we told say something of every child's days."""
    told = read_windows(view.ours.get(AVAILABILITY), timezone=None, proposed_date=None, now=ws.now).spans
    return all(
        any(one.start < span.end and span.start < one.end for one in told for span in goal.spans)
        for goal in goals
    )


def stop(ws: Workspace, thread_id: str, *, reason: str = "withdrawn") -> None:
    """The owner wants no more of it (A2ACP-104, A2ACP-163)."""
    thread = ws.thread(thread_id)
    if not thread.is_open:
        return
    if thread.state is State.PROPOSED:
        proposing.decline(ws, thread, reason_class="user_declined", message="", ended=reason)
        return
    if not proposing.end(ws, thread_id, Cause.CLOSED, reason):
        raise Refused("too_late", "this is being carried out and can no longer be stopped", row="A2ACP-163")


def resume(ws: Workspace, thread_id: str) -> None:
    """The owner goes on with a thread that stood still or was paused (A2ACP-089, A2ACP-163)."""
    thread = ws.thread(thread_id)
    if not thread.is_open:
        raise Refused("thread_ended", "this thread has ended; ask anew", row="A2ACP-165")
    thread = ws.change(thread, paused=False)
    if thread.state is State.STALLED:
        ws.move(thread_id, Cause.NEGOTIATED)
    if thread.last_side != US and ws.thread(thread_id).state in NEGOTIABLE:
        ws.change(thread_id, consider=thread_id)
