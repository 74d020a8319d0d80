"""When agents cannot settle it: offer more of our own time, then ask the people.

A2ACP-042, A2ACP-097, A2ACP-098, A2ACP-099, A2ACP-100, A2ACP-101, A2ACP-102, A2ACP-104, A2ACP-171.

What a side is not flexible about is never changed in a resolution; it may only be among the alternatives
that people choose from. Nothing here is sent before consent has looked at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import msgspec

from tacit.a2acp.packets import formats
from tacit.a2acp.packets.windows import read_windows
from tacit.a2acp.threads.states import MOST_ROUNDS, Cause
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import zone_of
from tacit.agent.kernel.state import GIVEN, US
from tacit.agent.scheduling import conflict, proposal_slots, recalling, tries
from tacit.agent.scheduling.calendars.availability import all_free
from tacit.base.quoting import shown, shown_in
from tacit.base.strict_json import as_list, as_objects

if TYPE_CHECKING:
    from tacit.a2acp.packets.bodies import ContextPacket
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.agent.scheduling.goal import Goal
    from tacit.agent.scheduling.view import View
    from tacit.base.moment import Span

MEALS: Final = frozenset({"breakfast", "brunch", "lunch", "dinner", "drinks"})
WIDENED: Final = "widened"
"""The mark among a thread's wants that we have offered more of our time than was asked for."""
KEEP_TRYING: Final = "keep trying"
STOP: Final = "stop"
TRY_AGAIN: Final = "try the same again"
GO_ON: Final = "go on as understood"


def no_overlap(ws: Workspace, view: View, theirs: tuple[Span, ...], busy: Busy | None) -> str:
    """No common time inside what both offered."""
    goal = view.goal
    if goal is None or busy is None:
        return "nothing more to say"
    made = _tries(ws, view, goal, theirs, busy)
    # A meal at another time of day, or a call in its place, is another thing: that is for people to choose.
    same = {tries.FOLLOWING_WEEK} if goal.event_type in MEALS else {tries.FOLLOWING_WEEK, tries.OTHER_TIMES}
    found = [one for one in made if one.why_failed != tries.FIXED and one.name in same]
    widened = tuple(option.span for one in found for option in (*one.options, *one.suggestions))
    if widened and WIDENED not in view.thread.wants:
        return _widen(ws, view, theirs, made, tuple(sorted(set(widened))))
    return surface(ws, view, theirs, made, busy.notices)


def exhausted(ws: Workspace, view: View, theirs: tuple[Span, ...], busy: Busy | None) -> str:
    """What was offered beside a failed proposal is used up: people are asked at once (A2ACP-171)."""
    if view.goal is None or busy is None:
        return "nothing more to say"
    return surface(ws, view, theirs, _tries(ws, view, view.goal, theirs, busy), busy.notices)


def _tries(
    ws: Workspace, view: View, goal: Goal, theirs: tuple[Span, ...], busy: Busy
) -> tuple[tries.Try, ...]:
    return tries.tries(
        goal,
        lambda wanted: all_free(busy, wanted, goal.minutes),
        theirs,
        view.flexibility,
        zone=zone_of(ws),
        now=ws.now,
        excluded=recalling.ruled_out_slots(ws, view.thread),
        holds=proposal_slots.held_slots(ws, view.thread.thread_id),
    )


def _write(ws: Workspace, spans: tuple[Span, ...]) -> list[Fields]:
    return [dict(one) for one in formats.write_windows(spans, ZoneInfo(zone_of(ws)))[:5]]


def _conflict(
    ws: Workspace,
    view: View,
    theirs: tuple[Span, ...],
    made: tuple[tries.Try, ...],
    kind: str = conflict.NO_OVERLAP,
) -> dict[str, Any]:
    told = view.ours.get("time_windows")
    ours = as_list(told)
    return conflict.conflict_context(
        field="time_windows",
        ours=ours,
        theirs=_write(ws, theirs),
        we_began=view.thread.ours,
        made=made,
        zone=zone_of(ws),
        kind=kind,
    )


def intent(view: View, summary: str) -> Fields:
    """The intent of a packet within a thread: its category, and what this packet says."""
    category = str(view.intent.get("category") or "scheduling")
    return {
        "category": category,
        "summary": summary,
        "urgency": "urgent" if view.thread.urgent else "normal",
    }


def _widen(
    ws: Workspace,
    view: View,
    theirs: tuple[Span, ...],
    made: tuple[tries.Try, ...],
    widened: tuple[Span, ...],
) -> str:
    """Say which of our times lie beside what was asked for; the other side may find one of its own."""
    thread = view.thread
    told = read_windows(view.ours.get("time_windows"), timezone=None, proposed_date=None, now=ws.now).spans
    widened = (*told, *widened)
    context = {"conflict": _conflict(ws, view, theirs, made)["conflict"]}
    body: Fields = {
        "intent": intent(view, "No common time yet: more times are offered"),
        "context": {**context, "time_windows": _write(ws, widened)},
    }
    goal = view.goal
    if sending.send(ws, view, "context", body) and goal is not None:
        spans = tuple(sorted({*goal.spans, *widened}))
        wider = msgspec.structs.replace(goal, spans=spans)
        ws.change(
            thread.thread_id,
            goal=ws.keep(thread.peer, msgspec.to_builtins(wider)),
            wants={**ws.thread(thread.thread_id).wants, WIDENED: "data"},
        )
        _spoke(ws, view)
    return "context with more of our times"


def _spoke(ws: Workspace, view: View) -> None:
    thread = ws.thread(view.thread.thread_id)
    if not thread.ours:
        ws.move(thread.thread_id, Cause.ANSWERED)


def surface(
    ws: Workspace,
    view: View,
    theirs: tuple[Span, ...],
    made: tuple[tries.Try, ...],
    unclear: tuple[str, ...],
) -> str:
    """Nothing is left that code may try: both owners are asked (A2ACP-100).

    Ours alone hears what of the calendars was `unclear`, and may have taken the time.
    """
    thread = view.thread
    failed = recalling.why_it_failed(ws, thread)
    context = _conflict(ws, view, theirs, made, conflict.CONSTRAINT_CLASH if failed else conflict.NO_OVERLAP)
    escalation = conflict.after_failure(made) if failed else conflict.escalation(made)
    what = "It could not be carried out" if failed else "No common time"
    body: Fields = {
        "intent": intent(view, f"{what}: people are asked"),
        "context": context,
        "escalation": escalation,
    }
    sending.send(ws, view, "context", body)
    _spoke(ws, view)
    offered: list[Fields] = context["proposed_alternatives"]
    question = {
        "reason": failed or escalation["reason"],
        "tried": [*({"try": "calendars", "why": notice} for notice in unclear), *conflict.log_of(made)],
        "alternatives": offered,
        "choices": [str(one["option"]) for one in offered] + [TRY_AGAIN if failed else KEEP_TRYING, STOP],
    }
    _ask(ws, view, question, subject=thread.consider or thread.thread_id)
    return "people are asked"


def asked_by_them(ws: Workspace, view: View, packet_id: str, body: ContextPacket) -> None:
    """The other side has come to its end and wants the people asked (A2ACP-101)."""
    if view.thread.ours and ws.open_questions(view.thread.thread_id, "escalation"):
        # Both came to it at once: people choose from one list, the initiator's.
        return
    context = body.context or {}
    found = as_objects(context.get("proposed_alternatives"))
    escalation = body.escalation
    failed = recalling.why_it_failed(ws, view.thread)
    question = {
        # Of what was agreed and failed our owner knows more than the other side can say.
        "reason": failed or shown(escalation.reason if escalation else None),
        "suggested_prompt": conflict.PROMPT
        if failed
        else shown(escalation.suggested_prompt if escalation else None),
        "from": view.thread.peer,
        "conflict": shown_in(context.get("conflict")),
        "alternatives": found,
        "choices": [shown(one.get("option")) for one in found] + [TRY_AGAIN if failed else KEEP_TRYING, STOP],
    }
    _ask(ws, view, question, subject=packet_id)


def at_the_limit(ws: Workspace, view: View) -> None:
    """Eight round trips and no outcome: our owner says whether to go on (A2ACP-102, A2ACP-104)."""
    if ws.open_questions(view.thread.thread_id, "escalation"):
        return
    question = {
        "reason": f"{MOST_ROUNDS} round trips without an outcome",
        "tried": _tried(ws, view),
        "alternatives": [],
        "choices": [KEEP_TRYING, STOP],
    }
    _ask(ws, view, question, subject=view.thread.thread_id)


def _tried(ws: Workspace, view: View) -> list[list[str]]:
    """What was tried so far, as pairs of what and which: by names alone, nobody's values."""
    thread = ws.thread(view.thread.thread_id)
    sent = sum(1 for one in thread.packets if one.side == US)
    found = [["packets sent", str(sent)], ["packets received", str(len(thread.packets) - sent)]]
    got = [name for name, status in thread.wants.items() if status == GIVEN]
    listed = {
        "asked for and told": got,
        "asked for in vain": [name for name in thread.wants if name not in got],
        "told by you": sorted(view.ours),
        "not told": sorted(name for name, status in thread.asked.items() if status not in {GIVEN, ""}),
    }
    found += [[what, ", ".join(map(shown, names))] for what, names in listed.items() if names]
    proposals = thread.past_proposals + (thread.proposal is not None)
    if proposals or thread.ruled_out:
        found.append(["proposals", f"{proposals}, {len(thread.ruled_out)} options ruled out"])
    return found


def unsure(ws: Workspace, view: View, goal: Goal, *, subject: str) -> None:
    """No brain is sure what they want: our owner reads it, and says whether to go on (A2ACP-084)."""
    question = {
        "reason": "Your agent is not sure that it has understood what they want",
        "from": view.thread.peer,
        "said": shown(view.intent.get("summary")),
        "understood": shown(goal.summary),
        "unsure": True,
        "alternatives": [],
        "choices": [GO_ON, STOP],
    }
    _ask(ws, view, question, subject=subject)


def _ask(ws: Workspace, view: View, question: dict[str, Any], *, subject: str) -> None:
    ws.withdraw(view.thread.thread_id, "asked anew", "escalation", "consent")
    thread = ws.change(view.thread.thread_id, awaiting_user=True, escalated=True, consider="")
    ws.ask(thread, "escalation", question, subject=subject)
