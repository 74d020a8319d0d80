"""The cycle of a packet: PARSE, COMPLETENESS, ACTION, PERMISSIONS, CONSTRUCT; and what comes of it.

A2ACP-037, A2ACP-067, A2ACP-068, A2ACP-069, A2ACP-076, A2ACP-077, A2ACP-078, A2ACP-080, A2ACP-091,
A2ACP-092, A2ACP-093, A2ACP-094, A2ACP-095, A2ACP-096, A2ACP-099, A2ACP-102, A2ACP-105, A2ACP-109,
A2ACP-110, A2ACP-132.

Theory of operation. A thread is considered when it is our turn: a packet came, or our owner answered.
First their needs: each is given, declined, not available, or must be asked of the owner, and one question
holds all of the last (nothing leaves before its answer). Then our own gaps: what is required and not known
is asked for, in the same packet as our answers where that can be. Only when nothing is owed and nothing
required is missing, an outcome is looked for: one clear option, several, or none. None is first met by
widening what we offer, as far as both sides are flexible; then by asking the owners.

Calendars and brains are asked by the caller, between `reading_task`, `calendar_span`, `outlook` and
`decide`; `token` is the thread's mark of what is considered, so that a decision on an older state is not
taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.a2acp.consent import questions
from tacit.a2acp.consent.tiers import Tier, canonical, tier
from tacit.a2acp.threads.states import NEGOTIABLE, Cause, State
from tacit.agent.brain import port
from tacit.agent.brain.scenes import scene_of
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import (
    UNSURE,
    allowed_by,
    ask_consent,
    is_refused,
    is_released,
    note_wants,
    own_value,
    zone_of,
)
from tacit.agent.groups import grouping
from tacit.agent.groups.members import policy_in
from tacit.agent.kernel import records
from tacit.agent.kernel.state import DECLINED, GIVEN, LEG, MEMBER, NOT_AVAILABLE, OPEN
from tacit.agent.scheduling import escalating, limits, options, proposal_slots, proposing, recalling, tries
from tacit.agent.scheduling.calendars.availability import free
from tacit.agent.scheduling.goal import INFORMATION, MEETING, NICE_TO_HAVE, REQUIRED, Goal, Need
from tacit.agent.scheduling.tries import NOT_FLEXIBLE
from tacit.agent.scheduling.view import AVAILABILITY, their_spans, their_times, view_of
from tacit.base.moment import MINUTE, Moment, Span, merged, without

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.agent.scheduling.options import Options
    from tacit.agent.scheduling.view import View
    from tacit.base.strict_json import JsonObject

LOOKED_AHEAD: Final = 22 * 24 * 3600 * 1_000_000
"""How far beyond what was asked for the calendars are read: other weeks are tried before anyone is asked."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What becomes of the fields that they asked for."""

    provided: dict[str, Any] = field(default_factory=dict[str, Any])
    declined: tuple[str, ...] = ()
    not_available: tuple[str, ...] = ()
    held: tuple[tuple[Need, Any], ...] = ()
    repeated: int = 0

    @property
    def owed(self) -> bool:
        """Whether there is anything to answer."""
        return bool(self.provided or self.declined or self.not_available or self.held)


@dataclass(frozen=True, slots=True)
class Outlook:
    """All that was computed for one decision."""

    token: str
    view: View
    answers: Answers
    gaps: tuple[Need, ...]
    windows: tuple[Span, ...] | None
    """When we are free, inside what was asked for; None when that cannot be said."""
    busy: Busy | None
    found: Options | None = None
    task: port.Task | None = None


def reading_task(ws: Workspace, thread: Thread) -> port.Task | None:
    """What a brain must read before a thread can be considered: a counterpart's first packet."""
    if thread.goal or not thread.consider:
        return None
    view = view_of(ws, thread)
    fields: JsonObject = {"intent": view.intent, "context": view.theirs}
    scene = scene_of(ws, thread.peer, thread) if ws.minded else None
    return port.Task(port.READ_PACKET, ws.now, zone_of(ws), packet=fields, scene=scene)


def goal_read(ws: Workspace, thread_id: str, token: str, thought: port.Thought) -> None:
    """Keep what a brain has read, unless the thread has moved on."""
    thread = ws.thread(thread_id)
    if thread.consider != token or thread.goal:
        return
    goal = thought.goal or Goal(kind=INFORMATION, category="", summary="")
    if thread.role == MEMBER:
        # Who coordinates asks; a participant tells, and hears what comes of it (A2ACP-173).
        goal = msgspec.structs.replace(goal, wants=())
    ws.change(thread, goal=ws.keep(thread.peer, msgspec.to_builtins(goal)))
    if thought.ask_owner:
        escalating.unsure(ws, view_of(ws, ws.thread(thread_id)), goal, subject=token)


def unwritten(ws: Workspace, thread_id: str, token: str) -> None:
    """No brain could answer what a turn needs: the thread is paused on both sides (A2ACP-088)."""
    thread = ws.book.threads.get(thread_id)
    if thread is not None and thread.consider == token and thread.is_open:
        sending.give_up(ws, thread)


def calendar_span(ws: Workspace, view: View) -> Span | None:
    """What has to be read of the calendars; None when no time matters here."""
    goal = view.goal
    if goal is None or goal.kind != MEETING:
        return None
    end = max((one.end for one in (*goal.spans, *their_spans(ws, view)[0])), default=ws.now)
    return Span(ws.now, Moment(max(end, ws.now) + LOOKED_AHEAD))


def outlook(ws: Workspace, thread: Thread, busy: Busy | None) -> Outlook:
    """Everything that code can say before a brain writes a word."""
    view = view_of(ws, thread)
    windows = our_windows(ws, view, busy)
    answers = _answers(ws, view, windows)
    gaps = _gaps(ws, view)
    if answers.owed or thread.state not in NEGOTIABLE or _must_ask(gaps) or thread.role:
        return Outlook(thread.consider, view, answers, gaps, windows, busy)
    if view.goal is None or view.goal.kind != MEETING:
        return Outlook(thread.consider, view, answers, gaps, windows, busy)
    found = _options(ws, view, busy, windows or ())
    if not found.best:
        return Outlook(thread.consider, view, answers, gaps, windows, busy, found)
    details = tuple(proposal_slots.details(ws, view, one.span) for one in found.best)
    task = None
    # No model words, or sees, what its owner has yet to release; the rules may, they tell nobody.
    if not ws.minded or not proposing.waits_for_consent(ws, view, list(details)):
        scene = scene_of(ws, thread.peer, thread) if ws.minded else None
        task = port.Task(
            port.WRITE_PROPOSAL, ws.now, zone_of(ws), goal=view.goal, options=details, scene=scene
        )
    return Outlook(thread.consider, view, answers, gaps, windows, busy, found, task)


def our_windows(ws: Workspace, view: View, busy: Busy | None) -> tuple[Span, ...] | None:
    """When we are free inside what was asked for, without the slots of other proposals.

    None when no time was named, or a calendar cannot be read: that is not the same as having no time.
    """
    if view.goal is None or busy is None or not view.goal.spans or not busy.complete:
        return None
    asked = _with_theirs(ws, view, view.goal) if view.conflict else view.goal.spans
    return _free_in(ws, view, busy, asked)


def _free_in(ws: Workspace, view: View, busy: Busy, asked: tuple[Span, ...]) -> tuple[Span, ...]:
    held = proposal_slots.held_slots(ws, view.thread.thread_id)
    minutes = view.goal.minutes if view.goal is not None else 0
    return free(busy, tuple(without(asked, held)) if held else asked, minutes)


def _with_theirs(ws: Workspace, view: View, goal: Goal) -> tuple[Span, ...]:
    """The goal's stretches and what they offered beside them; not where our date is fixed (A2ACP-042)."""
    if goal.flexibility.get("date") == tries.NOT_FLEXIBLE:
        return goal.spans
    return merged((*goal.spans, *their_spans(ws, view)[0]))


def _options(ws: Workspace, view: View, busy: Busy | None, windows: tuple[Span, ...]) -> Options:
    """What both could do: inside what was asked for, else in what they offered beside it (A2ACP-041)."""
    goal = view.known_goal
    remaining = recalling.remaining_alternatives(ws, view)
    wished = recalling.wished_slot(ws, view)
    if wished is not None and wished not in recalling.ruled_out_slots(ws, view.thread):
        found = _exactly(ws, view, (wished,), busy)
        if found.best:
            return found
    if remaining is not None:
        return _exactly(ws, view, remaining, busy)
    found = _options_in(ws, view, goal, windows)
    wider = _with_theirs(ws, view, goal)
    if found.best or busy is None or wider == goal.spans:
        return found
    other = msgspec.structs.replace(goal, spans=wider)
    return _options_in(ws, view, other, _free_in(ws, view, busy, wider))


def _options_in(ws: Workspace, view: View, goal: Goal, windows: tuple[Span, ...]) -> Options:
    theirs: tuple[Span, ...] | None
    theirs, _ = their_spans(ws, view)
    if view.thread.wants.get(AVAILABILITY) in {DECLINED, NOT_AVAILABLE}:
        # They would not say: what suits us is proposed, and they say yes or no (A2ACP-092).
        theirs = theirs or None
    return options.options(
        goal,
        windows,
        theirs,
        zone=zone_of(ws),
        excluded=recalling.ruled_out_slots(ws, view.thread),
        holds=proposal_slots.held_slots(ws, view.thread.thread_id),
        now=ws.now,
    )


def _exactly(ws: Workspace, view: View, slots: tuple[Span, ...], busy: Busy | None) -> Options:
    """Of slots that somebody has named, those that are free with us, in their order."""
    goal = view.known_goal
    fixed = NOT_FLEXIBLE in {goal.flexibility.get("date", ""), view.flexibility.get("date", "")}
    held = proposal_slots.held_slots(ws, view.thread.thread_id)
    best: list[options.Option] = []
    notes: list[options.Exclusion] = []
    for slot in slots:
        asked_for = any(one.start <= slot.start and slot.end <= one.end for one in goal.spans)
        minutes = (slot.end - slot.start) // MINUTE
        exact = msgspec.structs.replace(goal, spans=(slot,), minutes=minutes)
        ours = free(busy, (slot,), minutes) if busy is not None and (asked_for or not fixed) else ()
        found = options.options(exact, ours, (slot,), zone=zone_of(ws), holds=held, now=ws.now)
        best += [one for one in found.best if one.span == slot][:1]
        notes += found.excluded
    return options.Options(tuple(best), tuple(notes))


# What they ask.


def _answers(ws: Workspace, view: View, windows: tuple[Span, ...] | None) -> Answers:
    thread = view.thread
    provided: dict[str, Any] = {}
    declined: list[str] = []
    missing: list[str] = []
    held: list[tuple[Need, Any]] = []
    repeated = 0
    for need in view.asked:
        name = canonical(ws.policy, need.field)
        status = thread.asked.get(name, OPEN)
        value = own_value(ws, view, need.field, windows)
        # What was given under one name of a group was not given under each.
        unsaid = status == GIVEN and need.field not in view.ours and not _allowed(ws, thread, need, value)
        if status != OPEN and name not in thread.reopened and not unsaid:
            repeated += 1
            value = view.ours.get(need.field, value) if status == GIVEN else None
            outcome = status
        else:
            outcome = _outcome(ws, thread, need, value)
        if outcome == GIVEN and value is not None:
            provided[need.field] = value
        elif outcome == OPEN:
            held.append((need, value))
        elif outcome == DECLINED:
            declined.append(need.field)
        else:
            missing.append(need.field)
    return Answers(provided, tuple(declined), tuple(missing), tuple(held), repeated)


def _outcome(ws: Workspace, thread: Thread, need: Need, value: Any) -> str:
    """What one need gets: a value, a refusal that does not say why, or the owner's attention (OPEN)."""
    level = tier(policy_in(ws, thread), need.field, thread.peer)
    if level is Tier.NEVER or is_refused(ws, thread, need.field):
        return DECLINED
    if _allowed(ws, thread, need, value):
        return GIVEN if value is not None else NOT_AVAILABLE
    return DECLINED if need.priority == NICE_TO_HAVE else OPEN


def _allowed(ws: Workspace, thread: Thread, need: Need, value: Any) -> bool:
    """Whether a need may have our value without another question."""
    if tier(policy_in(ws, thread), need.field, thread.peer) is Tier.ALWAYS:
        return True
    approved = thread.approved
    return bool(allowed_by(ws, approved, need.field)) and (
        value is None or is_released(ws, approved, need.field, value)
    )


# What we miss.


def _gaps(ws: Workspace, view: View) -> tuple[Need, ...]:
    """What we would ask for: wanted, not told, not answered (A2ACP-068, A2ACP-109)."""
    if view.goal is None:
        return ()
    told = {canonical(ws.policy, name) for name in view.theirs} | view.remembered.keys()
    wanted = [one for one in view.goal.wants if canonical(ws.policy, one.field) not in told]
    spans, unclear = their_spans(ws, view)
    if unclear and not spans:
        wanted.insert(0, Need("time_windows", UNSURE, REQUIRED))
    elif view.goal.unclear and not view.goal.spans and not view.thread.ours:
        wanted.insert(0, Need("proposed_date", UNSURE, REQUIRED))
    answered = {
        name: status for name, status in view.thread.wants.items() if name not in view.thread.reopened
    }
    if unclear and not spans and answered.get(AVAILABILITY) in {OPEN, GIVEN}:
        # Said, and not to be read: asked for once more, which is no repeat of an answered question.
        clarified = f"{AVAILABILITY}:clarified"
        if clarified not in answered:
            answered.pop(AVAILABILITY, None)
    found = limits.askable(wanted, frozenset(answered), lambda name: canonical(ws.policy, name))
    return limits.five(found)[0]


def _must_ask(gaps: tuple[Need, ...]) -> bool:
    return any(one.priority == REQUIRED for one in gaps)


# The decision.


def decide(ws: Workspace, seen: Outlook, thought: port.Thought | None) -> None:
    """Take the turn; says nothing when the thread has moved on meanwhile."""
    thread = ws.book.threads.get(seen.view.thread.thread_id)
    if thread is None or thread.consider != seen.token or not thread.is_open or thread.paused:
        return
    if _waits(ws, thread, seen):
        return
    steps = [("PARSE", f"{len(seen.view.asked)} needs, {len(seen.view.theirs)} fields")]
    _count_violations(ws, seen)
    proposes = seen.found is not None and bool(seen.found.best)
    if thread.state in NEGOTIABLE and not sending.may_speak(thread) and not proposes:
        escalating.at_the_limit(ws, seen.view)
        steps.append(("ACTION", "limit of round trips: the owner is asked"))
    else:
        _take_turn(ws, seen, thought, steps)
        spoken = ws.thread(thread.thread_id)
        if spoken.state in NEGOTIABLE and not spoken.consider and sending.exhausted(spoken):
            # The other side may still propose; it sends nothing else any more, and neither do we.
            escalating.at_the_limit(ws, view_of(ws, spoken))
    ws.say(records.Cycled(thread.thread_id, seen.token, _all_five(steps)))


STEPS: Final = ("PARSE", "COMPLETENESS", "ACTION", "PERMISSIONS", "CONSTRUCT")
"""The way of every packet (A2ACP-067)."""


def _all_five(steps: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Each step with its outcome, also one that had nothing to do."""
    found = dict(steps)
    if "CONSTRUCT" in found:
        found.setdefault("PERMISSIONS", "what consent has cleared goes")
    return tuple((name, found.get(name, "nothing to do")) for name in STEPS)


def _waits(ws: Workspace, thread: Thread, seen: Outlook) -> bool:
    """Whether this turn has to wait: for the owner's word, or until something else is over.

    When urgent, what a newer packet asks joins an open question, once (A2ACP-138).
    """
    if thread.state in {State.FAILED, State.ROLLBACK, State.STALLED}:
        return True
    waiting = ws.open_questions(thread.thread_id, "consent", "scope", "escalation")
    joins = thread.urgent and bool(seen.answers.held)
    return bool(waiting) and (
        not joins or any(one.kind != "consent" or one.subject == seen.token for one in waiting)
    )


def _count_violations(ws: Workspace, seen: Outlook) -> None:
    thread = seen.view.thread
    if seen.view.asked_beyond:
        ws.say(records.Violated(thread.thread_id, thread.peer, "needs_beyond_five"))
    if seen.answers.repeated:
        ws.say(records.Violated(thread.thread_id, thread.peer, "repeated_need"))


def _take_turn(
    ws: Workspace, seen: Outlook, thought: port.Thought | None, steps: list[tuple[str, str]]
) -> None:
    view, answers = seen.view, seen.answers
    gaps = f"{len(seen.gaps)} gaps, {len(answers.held)} to ask the owner"
    steps.append(("COMPLETENESS", gaps))
    unsure = tuple(one for one in seen.gaps if one.reason == UNSURE)
    if unsure and view.thread.state in NEGOTIABLE:
        # Which days are meant comes first: what they ask of us depends on it.
        ws.change(view.thread, consider="")
        steps.extend([("ACTION", "clarify"), ("CONSTRUCT", _request(ws, view, Answers(), unsure))])
        return
    if answers.held:
        _ask_owner(ws, view, answers)
        steps.append(("PERMISSIONS", "the owner is asked"))
        return
    thread = ws.change(view.thread, consider="")
    if thread.state not in NEGOTIABLE:
        if answers.owed:
            _answer(ws, view, answers)
            steps.append(("CONSTRUCT", "context_response"))
        return
    asks = seen.gaps if answers.owed or _must_ask(seen.gaps) else ()
    if asks or answers.owed:
        sent = _request(ws, view, answers, asks) if asks else _answer(ws, view, answers)
        steps.extend([("ACTION", "ask" if asks else "answer"), ("CONSTRUCT", sent)])
        if not asks and thread.wants.get(AVAILABILITY) in {DECLINED, NOT_AVAILABLE}:
            # They keep their times to themselves: it is ours to propose (A2ACP-092).
            ws.change(thread.thread_id, consider=thread.thread_id)
        return
    steps.append(("ACTION", _act(ws, seen, thought)))


def _ask_owner(ws: Workspace, view: View, answers: Answers) -> None:
    """One question for all that needs the owner's word (A2ACP-130)."""
    thread = view.thread
    ask_consent(ws, thread, answers.held, subject=thread.consider, own=False)


def _answer(ws: Workspace, view: View, answers: Answers) -> str:
    body: Fields = {}
    if answers.provided:
        body["context_provided"] = answers.provided
    unavailable = questions.answer_entries(answers.declined, answers.not_available)
    if unavailable or not answers.provided:
        body["context_unavailable"] = unavailable
    sent = sending.send(ws, view, "context_response", body)
    if sent:
        note_answers(ws, view, answers)
        spoke(ws, view)
    return "context_response"


def _request(ws: Workspace, view: View, answers: Answers, gaps: tuple[Need, ...]) -> str:
    """Ask, with what we answer in the same packet where the type has room for it (A2ACP-046, A2ACP-096)."""
    if answers.declined or answers.not_available:
        _answer(ws, view, answers)
        answers = Answers()
    needs = [{"field": one.field, "reason": one.reason, "priority": one.priority} for one in gaps]
    body: Fields = {"needs": needs}
    if answers.provided:
        body["context_provided"] = answers.provided
    if sending.send(ws, view, "context_request", body):
        note_answers(ws, view, answers)
        note_wants(ws, view.thread.thread_id, gaps)
        spoke(ws, view)
    return "context_request"


def note_answers(ws: Workspace, view: View, answers: Answers) -> None:
    """Remember what they were told of what they asked for."""
    asked = dict(ws.thread(view.thread.thread_id).asked)
    for status, names in (
        (GIVEN, tuple(answers.provided)),
        (DECLINED, answers.declined),
        (NOT_AVAILABLE, answers.not_available),
    ):
        asked.update((canonical(ws.policy, name), status) for name in names)
    left = tuple(one for one in ws.thread(view.thread.thread_id).reopened if asked.get(one, OPEN) == OPEN)
    ws.change(view.thread.thread_id, asked=asked, reopened=left)


def spoke(ws: Workspace, view: View) -> None:
    """Our packet may be the first of the side that did not begin."""
    thread = ws.thread(view.thread.thread_id)
    if thread.state is State.INITIATED and not thread.ours:
        ws.move(thread.thread_id, Cause.ANSWERED)


def _act(ws: Workspace, seen: Outlook, thought: port.Thought | None) -> str:
    """Nothing is owed and nothing required is missing: look for the outcome (A2ACP-069)."""
    view = seen.view
    goal = view.goal
    thread = ws.thread(view.thread.thread_id)
    if thread.role == LEG:
        return grouping.heard(ws, view)
    if thread.role == MEMBER:
        return "waits for the coordinator"
    if goal is None or (goal.kind != MEETING and not thread.ours):
        return "nothing more to say"
    answered = {name for name, status in thread.wants.items() if status} | set(view.theirs)
    if not limits.may_propose(goal.wants, answered, lambda name: canonical(ws.policy, name)):
        return "waits for what is required"
    if goal.kind != MEETING:
        return proposing.conclude(ws, view)
    if seen.found is not None and seen.found.best:
        return proposing.propose(ws, view, seen.found, thought)
    return _without_option(ws, seen)


def _without_option(ws: Workspace, seen: Outlook) -> str:
    """No common time: offer more of ours as far as both are flexible, then ask the owners (A2ACP-099)."""
    view = seen.view
    theirs, _ = their_spans(ws, view)
    if recalling.remaining_alternatives(ws, view) is not None:
        return escalating.exhausted(ws, view, theirs, seen.busy)
    if their_times(ws, view) is None:
        return "waits for their times"
    return escalating.no_overlap(ws, view, theirs, seen.busy)
