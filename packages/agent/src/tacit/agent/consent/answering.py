"""What the owner answers: each question once, by its id, about exactly what it was asked about.

A2ACP-101, A2ACP-104, A2ACP-112, A2ACP-113, A2ACP-124, A2ACP-125, A2ACP-126, A2ACP-128, A2ACP-131,
A2ACP-132, A2ACP-133, A2ACP-143, A2ACP-144, A2ACP-145, A2ACP-147, A2ACP-149, A2ACP-168.

Nothing else in the engine writes an `Answered` record, and nothing but this module calls for a
confirmation. A question that was withdrawn, answered before or whose subject has changed is stale: the
answer has no effect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import msgspec

from tacit.a2acp.consent import aliases, promotion, questions, tiers
from tacit.a2acp.consent.tiers import canonical
from tacit.a2acp.packets import dates, formats
from tacit.a2acp.packets.windows import read_windows
from tacit.a2acp.threads.states import Cause, State
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import DRAFT, own_name, zone_of
from tacit.agent.groups import blackouts, grouping, joining
from tacit.agent.groups.members import is_hub
from tacit.agent.kernel import records
from tacit.agent.kernel.answer import Answer
from tacit.agent.kernel.state import MEMBER, US, Approvals
from tacit.agent.scheduling import (
    acting,
    asking,
    concluding,
    escalating,
    proposal_slots,
    proposing,
    recalling,
    tries,
)
from tacit.agent.scheduling.view import AVAILABILITY, view_of
from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tacit.base.quoting import shown
from tacit.base.strict_json import as_list, as_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Question, Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.goal import Goal
    from tacit.base.moment import Span
    from tacit.base.strict_json import Json

ROUNDS_GRANTED: Final = 8
LASTING: Final = frozenset({"consent", "checkpoint", "escalation", "scope"})


def open_question(ws: Workspace, question_id: str) -> Question:
    """The question, if it still waits for its answer."""
    found = ws.book.questions.get(question_id)
    if found is None or not found.is_open:
        raise Refused("stale_question", "this question is answered or no longer open", row="A2ACP-133")
    return found


def answer(ws: Workspace, question_id: str, said: Answer, *, slot_free: bool = True) -> str:
    """Take a person's answer; the thread it belongs to."""
    question = open_question(ws, question_id)
    thread = ws.thread(question.thread_id)
    content = as_object(ws.read(question.content))
    if replace(said, via="") == Answer(dismiss=True) and question.kind in LASTING:
        # Put aside, not answered: it stays open, and is there again when it is asked for (A2ACP-131).
        return question.thread_id
    match question.kind:
        case "consent":
            _consent(ws, thread, question, content, said)
        case "checkpoint":
            _checkpoint(ws, thread, question, said, slot_free=slot_free)
        case "escalation":
            _escalation(ws, thread, question, content, said)
        case "scope":
            _scope(ws, thread, question, said)
        case "promotion":
            _promotion(ws, thread, question, content, said)
        case "failure":
            _needs(said.dismiss or said.confirm, "--dismiss once you have seen to it")
            _record(ws, question, said, "dismiss")
            acting.handled(ws, thread.thread_id, question.subject)
        case _:
            raise Refused("unknown_question", "this question is answered elsewhere")
    return question.thread_id


def _record(
    ws: Workspace,
    question: Question,
    said: Answer,
    choice: str,
    fields: tuple[str, ...] = (),
    declined: tuple[str, ...] = (),
) -> None:
    ws.say(records.Answered(question.question_id, choice, fields, declined, said.via))


def _needs(given: bool, how: str) -> None:
    if not given:
        raise Refused("bad_answer", f"this question is answered with {how}", row="A2ACP-128")


# Consent.


def _consent(ws: Workspace, thread: Thread, question: Question, content: Fields, said: Answer) -> None:
    _needs(
        bool(said.share or said.decline or said.decline_all or said.refuse),
        "--share FIELD, --decline FIELD or --decline-all",
    )
    decline_all = said.decline_all or said.refuse
    asked = msgspec.convert(content["asked"], questions.ConsentQuestion)
    shown_before = {one.field: one.values[0] for one in asked.fields if one.values}
    got = questions.apply_answer(asked, said.share, said.decline, decline_all=decline_all)
    approved = {
        own_name(ws, name): _written(ws, name, value, shown_before.get(name))
        if said.share.get(name) is not None
        else value
        for name, value in got.approved.items()
    }
    declined = tuple(own_name(ws, name) for name in got.declined)
    _record(ws, question, said, "consent", tuple(approved), declined)
    for name, value in approved.items():
        ws.keep(thread.peer, value, name=f"{question.question_id}:{name}")
    refused = tuple(dict.fromkeys([*thread.refused, *declined]))
    released = {**thread.approved, **dict.fromkeys(approved, question.question_id)}
    thread = ws.change(
        thread,
        approved=released,
        refused=tuple(one for one in refused if one not in approved),
        consider=thread.consider if question.subject == DRAFT else question.subject or thread.thread_id,
    )
    if thread.state is State.STALLED:
        # Late, and welcome: it is sent and the thread goes on (A2ACP-133).
        ws.move(thread.thread_id, Cause.NEGOTIATED)
    if not is_hub(thread):
        _count(ws, thread, approved, declined)


def _written(ws: Workspace, name: str, value: Any, before: Any) -> Any:
    """A value of the owner's own making as packets write it: its times certain, its dates right."""
    if canonical(ws.policy, name) == AVAILABILITY:
        said = blackouts.blocked_in(value)
        reading = read_windows(said, timezone=zone_of(ws), proposed_date=None, now=ws.now)
        if reading.unclear:
            raise Refused("unclear_times", reading.unclear[0], row="A2ACP-075")
        if tiers.ready(ws.policy).chain(name)[0] == blackouts.FIELD:
            return blackouts.corrected(before, reading.spans, ZoneInfo(zone_of(ws)))
        return formats.write_windows(reading.spans, ZoneInfo(zone_of(ws)))
    _check_dates(ws, value)
    return value


def _check_dates(ws: Workspace, value: Any) -> None:
    faults = dates.weekday_faults_in(value, ws.now)
    if faults:
        raise Refused("wrong_weekday", faults[0], row="A2ACP-075")


def _count(ws: Workspace, thread: Thread, approved: Iterable[str], declined: Iterable[str]) -> None:
    """Answers are counted by the tier field that a promotion would name."""
    for name in dict.fromkeys(canonical(ws.policy, one) for one in approved):
        now = promotion.after_approval(_approvals(ws, name, thread.peer))
        ws.say(records.Counted(name, thread.peer, now.approvals, now.dismissals))
        offered = any(
            one is not None
            and one.is_open
            and (one.kind, one.subject, one.peer) == ("promotion", name, thread.peer)
            for one in map(ws.book.questions.get, list(ws.book.questions))
        )
        if promotion.offer_due(now, tiers.tier(ws.policy, name, thread.peer)) and not offered:
            content = {"field": name, "counterpart": thread.peer, "choices": ["confirm", "dismiss"]}
            ws.ask(thread, "promotion", content, subject=name)
    for name in dict.fromkeys(canonical(ws.policy, one) for one in declined):
        if (name, thread.peer) in ws.book.approvals:
            now = promotion.after_refusal(_approvals(ws, name, thread.peer))
            ws.say(records.Counted(name, thread.peer, now.approvals, now.dismissals))


def _approvals(ws: Workspace, name: str, peer: str) -> promotion.ApprovalCount:
    found = ws.book.approvals.get((name, peer), Approvals())
    return promotion.ApprovalCount(found.count, found.dismissed)


def _promotion(ws: Workspace, thread: Thread, question: Question, content: Fields, said: Answer) -> None:
    _needs(said.confirm or said.dismiss or said.refuse, "--confirm or --dismiss")
    name = str(content["field"])
    _record(ws, question, said, "confirm" if said.confirm else "dismiss", (name,))
    if said.confirm:
        policy = tiers.changed(ws.policy, name, tiers.Tier.ALWAYS, thread.peer, confirmed=False)
        set_policy(ws, policy)
        return
    now = promotion.after_dismissal(_approvals(ws, name, thread.peer))
    ws.say(records.Counted(name, thread.peer, now.approvals, now.dismissals))


def set_policy(ws: Workspace, policy: tiers.Policy) -> None:
    """Keep the owner's permissions."""
    ws.policy = policy
    ws.say(records.Set("policy", ws.keep("", msgspec.to_builtins(policy))))


# The checkpoint.


def _checkpoint(ws: Workspace, thread: Thread, question: Question, said: Answer, *, slot_free: bool) -> None:
    standing = thread.proposal
    hub = is_hub(thread)
    confirm = concluding.confirm if hub else proposing.confirm
    counter = concluding.counter if hub else proposing.counter
    decline = concluding.decline if hub else proposing.decline
    lasts = concluding.ANSWERABLE if hub else {State.PROPOSED}
    if thread.state not in lasts or standing is None or standing.packet_id != question.subject:
        raise Refused("stale_question", "the proposal that this was about no longer stands", row="A2ACP-145")
    if standing.expires <= ws.now:
        raise Refused("stale_question", "the time for confirming this has passed", row="A2ACP-154")
    if said.alternative is not None and said.alternative < 0:
        raise Refused("unknown_alternative", "the proposal has no such alternative", row="A2ACP-144")
    if said.confirm or said.alternative is not None:
        choice = said.alternative if said.alternative is not None else proposal_slots.MAIN
        proposing.check_choice(ws, thread, choice, said.ticks)
        _record(ws, question, said, "confirm")
        confirm(ws, thread, question.question_id, choice, said.ticks, slot_free=slot_free)
        return
    _needs(
        bool(said.counter or said.excuse or said.refuse),
        "--confirm, --alternative N, --counter FIELD=VALUE, --excuse again|leave or --refuse",
    )
    if said.counter:
        _check_dates(ws, said.counter[1])
        _record(ws, question, said, "counter", (said.counter[0],))
        counter(ws, thread, *said.counter)
    elif said.excuse:
        if said.excuse not in proposing.EXCUSES:
            raise Refused("bad_answer", "an excuse is `again` or `leave`", row="A2ACP-149")
        _record(ws, question, said, f"excuse {said.excuse}")
        reason = "scheduling_conflict" if said.excuse == "again" else "user_declined"
        decline(ws, thread, reason_class=reason, message=proposing.EXCUSES[said.excuse])
    else:
        _record(ws, question, said, "refuse")
        decline(ws, thread, reason_class="user_declined", message="")


# Escalation and scope.


def _escalation(ws: Workspace, thread: Thread, question: Question, content: Fields, said: Answer) -> None:
    choices = [str(one) for one in as_list(content.get("choices"))]
    _needs(said.choose is not None or said.refuse, "--choose N or --refuse")
    number = len(choices) - 1 if said.choose is None else said.choose
    if not 0 <= number < len(choices):
        raise Refused("bad_answer", f"--choose takes 0 to {len(choices) - 1}", row="A2ACP-101")
    _record(ws, question, said, f"choose {number}")
    if is_hub(thread):
        if number == len(choices) - 1:
            concluding.stop(ws, thread.thread_id, reason="user_closed")
        else:
            grouping.chosen(ws, thread, content, number)
        return
    thread = ws.change(thread, awaiting_user=False)
    again = number == len(choices) - 2 and choices[number] == escalating.TRY_AGAIN
    thread = (recalling.try_again if again else recalling.chosen_by_people)(ws, thread)
    if thread.state is State.STALLED:
        ws.move(thread.thread_id, Cause.NEGOTIATED)
    if number == len(choices) - 1:
        asking.stop(ws, thread.thread_id, reason="user_closed")
        return
    if content.get("unsure"):
        ws.change(thread, consider=question.subject)
        return
    if number == len(choices) - 2:
        if thread.role == MEMBER:
            joining.cannot_bend(ws, thread)
        else:
            _go_on(ws, thread)
        return
    _chosen(ws, thread, question, as_list(content["alternatives"])[number])


def _go_on(ws: Workspace, thread: Thread) -> None:
    """As many round trips again (A2ACP-104), and the date may be varied: the owner wants it tried."""
    goal = view_of(ws, thread).goal
    changes: dict[str, Any] = {"granted": thread.granted + ROUNDS_GRANTED}
    if goal is not None and goal.flexibility.get("date"):
        looser = msgspec.structs.replace(goal, flexibility={**goal.flexibility, "date": "somewhat_flexible"})
        changes["goal"] = ws.keep(thread.peer, msgspec.to_builtins(looser))
    if thread.last_side != US or escalating.WIDENED not in thread.wants:
        changes["consider"] = thread.consider or thread.thread_id
    ws.change(thread.thread_id, **changes)


def _chosen(ws: Workspace, thread: Thread, question: Question, alternative: Json) -> None:
    """What the person chose goes back as context, and the thread goes on with it (A2ACP-101).

    It is considered further once the other person has chosen too.
    """
    found = as_object(alternative)
    details = as_object(found.get("details"))
    window = {one: details[one] for one in ("date", "time") if details.get(one)}
    windows = found.get("time_windows") or ([window] if len(window) == 2 else None)
    name = canonical(ws.policy, "time_windows")
    if windows:
        # Choosing a time is saying that one has it.
        approved = {**thread.approved, name: question.question_id}
        ws.keep(thread.peer, windows, name=f"{question.question_id}:{name}")
        thread = ws.change(thread, approved=approved)
    view = view_of(ws, thread)
    plain: Fields = {"intent": escalating.intent(view, "One of the alternatives was chosen"), "context": {}}
    if windows:
        plain["context"]["time_windows"] = windows
        if aliases.is_label(details.get("event_type")):
            plain["context"]["event_type"] = details["event_type"]
        reading = read_windows(windows, timezone=None, proposed_date=None, now=ws.now)
        if view.goal is not None and reading.spans:
            goal = _taken(view.goal, reading.spans, details)
            ws.change(thread, goal=ws.keep(thread.peer, msgspec.to_builtins(goal)))
    words = f"Chosen: {shown(found.get('option'))}"
    body: Fields = {**plain, "intent": escalating.intent(view, words)}
    sending.send(ws, view, "context", body, plain=plain)
    if not thread.ours and thread.state is State.INITIATED:
        ws.move(thread.thread_id, Cause.ANSWERED)
    if thread.consider:
        ws.change(thread.thread_id, consider=question.question_id)


def _taken(goal: Goal, spans: tuple[Span, ...], details: Fields) -> Goal:
    """A goal with what a person has chosen: another time, and perhaps another thing."""
    longest = max(one.end - one.start for one in spans) // (60 * SECOND)
    event: object = details.get("event_type")
    return msgspec.structs.replace(
        goal,
        spans=spans,
        minutes=min(goal.minutes, longest),
        # What a person has chosen is not varied by an agent.
        flexibility={**goal.flexibility, "date": tries.NOT_FLEXIBLE},
        event_type=event if isinstance(event, str) and event else goal.event_type,
    )


def _scope(ws: Workspace, thread: Thread, question: Question, said: Answer) -> None:
    _needs(said.confirm or said.refuse, "--confirm or --refuse")
    _record(ws, question, said, "confirm" if said.confirm else "refuse")
    if said.refuse:
        asking.stop(ws, thread.thread_id)
    else:
        ws.change(thread, consider=question.subject or thread.thread_id)
