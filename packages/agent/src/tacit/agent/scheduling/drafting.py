"""Packets that another program of the owner's drafts: judged as if this agent had written them.

A2ACP-072, A2ACP-102, A2ACP-109, A2ACP-145, A2ACP-265, A2ACP-266.

Theory of operation. A model behind MCP, or a skill, wants something said. It has no word of the owner's, so
what it drafts is a wish: the thread must stand where such a packet may be sent, the limits of turns and
needs hold, and every value is held against the permissions. Where the engine's own packets go by a field
that the owner released, a draft goes by the field *and its value*: what was released is what the owner was
shown, and a program that got a yes to one value has none for the next. What is not released becomes a
question to the owner, one for a thread, and nothing of the draft leaves; the program tries again when the
owner has answered. What the owner declined is not asked again.

A proposal names what is proposed and nothing else: who must confirm, until when and what is done then are
written by code, so that our own owner is always asked (`proposing.stand`). Nothing here reads an answer.

What can go wrong: words. A summary or a reason that a program wrote is searched for values that may not go,
as every text is; what nobody told this agent it cannot find there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast
from zoneinfo import ZoneInfo

import msgspec

from tacit.a2acp.consent import filter as consent
from tacit.a2acp.consent import values
from tacit.a2acp.consent.tiers import Tier, canonical, tier
from tacit.a2acp.packets import formats
from tacit.a2acp.packets.windows import read_windows
from tacit.a2acp.threads.states import NEGOTIABLE, State
from tacit.agent.brain import numbers
from tacit.agent.brain.requests import SCHEDULING, WHAT
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import (
    DRAFT,
    ask_consent,
    facts_name,
    is_refused,
    note_wants,
    own_name,
    own_value,
    zone_of,
)
from tacit.agent.groups import grouping, transferring
from tacit.agent.groups.fold import GroupTables
from tacit.agent.kernel.state import HUB
from tacit.agent.scheduling import asking, considering, limits, proposal_slots, proposing, recalling
from tacit.agent.scheduling.goal import INFORMATION, MEETING, Goal, Need
from tacit.agent.scheduling.view import AVAILABILITY, view_of
from tacit.base.errors import Refused
from tacit.base.strict_json import as_object, as_objects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.a2acp.consent.walk import HeldValue
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Question, Thread
    from tacit.agent.kernel.workspace import Workspace
    from tacit.agent.scheduling.view import View
    from tacit.base.moment import Span

MOST_WAITING: Final = 10
"""Threads of programs that may be open at once: nobody is flooded with questions, or with packets."""
MOST_ASKED: Final = 10
"""Fields in one question that a program may bring it to."""
STRUCTURAL: Final = ("conflict", "proposed_alternatives")
"""What the agent alone writes into a context (A2ACP-097)."""
_STANDS: Final = ("checkpoint", "scope", "escalation")
_WHEN: Final = frozenset({"date", "time", "timezone", "duration"})
_SLOT_AT: Final = re.compile(r"(?:proposal|proposal\.alternatives\[\d+\])\.details\.(?:date|time)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Drafted:
    """What became of a draft: a packet that leaves, a question to the owner, or a thread that is paused."""

    thread_id: str
    packet_id: str = ""
    question: Question | None = None
    fields: tuple[str, ...] = ()


# A wish.


def goal_of(read: Goal | None, intent: Fields, context: Mapping[str, Any], needs: Sequence[Need]) -> Goal:
    """The goal of a program's wish: what a brain read in its words, with the fields that it names.

    Words in which nothing to arrange was found are plain context, told and asked as they are. Where a time
    is to
    be found, words that were not understood are refused: what the program means by them is for it to say.
    """
    plain = Goal(kind=INFORMATION, category=str(intent["category"]), summary=str(intent["summary"]))
    schedules = plain.category in {SCHEDULING, grouping.CATEGORY}
    if schedules and read is not None and read.unclear and read.unclear != (WHAT,):
        raise Refused("unclear_request", read.unclear[0], row="A2ACP-076")
    arranged = read is not None and read.kind == MEETING and not read.unclear
    goal = cast("Goal", read) if arranged else plain
    named = tuple(one for one in context if one != "flexibility")
    mine = {one.field for one in needs}
    return msgspec.structs.replace(
        goal,
        urgency=str(intent.get("urgency") or goal.urgency),
        wants=(*needs, *(one for one in goal.wants if one.field not in mine)),
        offers=tuple(dict.fromkeys((*named, *goal.offers))),
        flexibility={**goal.flexibility, **cast("dict[str, str]", context.get("flexibility") or {})},
        by_program=True,
    )


def begin(
    ws: Workspace, goal: Goal, peer: str, facts: Fields, *, urgent: bool = False, thread_id: str = ""
) -> str:
    """Begin a thread for a program's wish; the same wish while it is open is the same thread."""
    if "fields" in facts:
        facts = {**facts, "fields": _timed(ws, own_words(ws, facts["fields"]))}
    waiting = 0
    for name in list(ws.book.open_threads):
        thread = ws.thread(name)
        if not thread.ours or thread.peer != peer:
            waiting += _of_a_program(ws, thread)
            continue
        known: Any = ws.read(thread.goal)
        if (
            known is not None
            and msgspec.convert(known, Goal) == goal
            and (ws.read(facts_name(name)) or {}) == facts
        ):
            return name
        waiting += _of_a_program(ws, thread)
    if waiting >= MOST_WAITING:
        raise Refused("too_many_waiting", "several wishes of programs are open already", row="A2ACP-266")
    return ask(ws, goal, peer, facts, urgent=urgent, thread_id=thread_id)


def begin_group(ws: Workspace, goal: Goal, others: Sequence[str], *, thread_id: str, **how: Any) -> str:
    """Begin a group for a program's wish; the same wish to the same people, while it is open, is one group.

    Each participant has a thread of its own, and counts as one: before it begins, the owner reads the words.
    """
    for name in list(ws.book.open_threads):
        own = ws.thread(name)
        if own.role != HUB or not _of_a_program(ws, own):
            continue
        people = set(ws.book.part(GroupTables).groups[own.group].members) - {ws.me}
        if people == set(others) and msgspec.convert(ws.read(own.goal), Goal).summary == goal.summary:
            return own.group
    waiting = sum(_of_a_program(ws, ws.thread(name)) for name in list(ws.book.open_threads))
    if waiting + len(others) > MOST_WAITING:
        raise Refused("too_many_waiting", "several wishes of programs are open already", row="A2ACP-266")
    return grouping.begin(ws, goal, others, thread_id=thread_id, **how)


def hand_over(ws: Workspace, group_id: str, to: str) -> None:
    """Offer the coordinator's role in a group that a program began; others of the owner's are not its own."""
    group = ws.book.part(GroupTables).groups.get(group_id)
    hub = ws.book.threads.get(ws.book.part(GroupTables).legs.get((group_id, ws.me), ""))
    if group is None or hub is None:
        raise Refused("unknown_thread", "this agent coordinates no such group", row="A2ACP-173")
    if not _of_a_program(ws, hub):
        raise Refused("not_of_a_program", "a program hands on what a program has begun", row="A2ACP-266")
    waiting = ws.open_questions(hub.thread_id, "consent", *_STANDS)
    if waiting:
        raise _asked(waiting[0])
    transferring.offer(ws, group, to)


def ask(
    ws: Workspace, goal: Goal, peer: str, facts: Fields, *, urgent: bool = False, thread_id: str = ""
) -> str:
    """Begin a thread, with what another program knows for it (A2ACP-268)."""
    thread_id = asking.ask(ws, goal, peer, urgent=urgent, thread_id=thread_id)
    if facts:
        ws.keep(peer, facts, name=facts_name(thread_id))
        offers = tuple(dict.fromkeys((*goal.offers, *facts.get("fields", {}))))
        if offers != goal.offers:
            wider = msgspec.structs.replace(goal, offers=offers)
            ws.change(thread_id, goal=ws.keep(peer, msgspec.to_builtins(wider)))
    return thread_id


def _of_a_program(ws: Workspace, thread: Thread) -> bool:
    known: Any = ws.read(thread.goal) if thread.ours else None
    return known is not None and msgspec.convert(known, Goal).by_program


def own_words(ws: Workspace, said: Fields) -> Fields:
    """What a program tells; by no field of its own can it pass for words that its owner has read."""
    if any(canonical(ws.policy, one) == canonical(ws.policy, asking.WORDS) for one in said):
        raise Refused("bad_packet", "this field stands for what the owner is shown", row="A2ACP-266")
    return said


# Packets of a thread.


def context(ws: Workspace, thread_id: str, said: Fields, needs: Sequence[Need]) -> Drafted:
    """More context, and what is asked with it."""
    view = _view(ws, thread_id, "context")
    said = _timed(ws, said)
    asked = _askable(ws, view, needs) if needs else ()
    body: Fields = {"intent": view.intent, "context": said}
    if asked:
        body["needs"] = _listed(asked)
    return _sent(ws, view, "context", body, asked)


def request(ws: Workspace, thread_id: str, needs: Sequence[Need], said: Fields) -> Drafted:
    """Ask for fields that were not asked for yet (A2ACP-046, A2ACP-109)."""
    view = _view(ws, thread_id, "context_request")
    said = _timed(ws, said)
    asked = _askable(ws, view, needs)
    body: Fields = {"needs": _listed(asked), **({"context_provided": said} if said else {})}
    return _sent(ws, view, "context_request", body, asked)


def respond(ws: Workspace, thread_id: str, said: Fields, unavailable: Sequence[Fields]) -> Drafted:
    """Answer what the other side has asked for and is owed (A2ACP-047)."""
    view = _view(ws, thread_id, "context_response", *NEGOTIABLE, State.PROPOSED)
    owed = {canonical(ws.policy, one.field) for one in view.asked}
    named = [*said, *(str(one["field"]) for one in unavailable)]
    beyond = sorted(one for one in named if canonical(ws.policy, one) not in owed)
    if beyond:
        raise Refused(
            "not_asked", "a response holds what the other side asked for; see `needs` of the thread",
            row="A2ACP-047", details={"fields": beyond},
        )  # fmt: skip
    waiting = ws.open_questions(thread_id, "consent")
    if unavailable and waiting:
        # The owner has the word: a program's no is none (A2ACP-266).
        return _waits(ws, thread_id, waiting[0])
    _declined_by_owner(ws, view, unavailable)
    said = _timed(ws, said)
    listed = [{"field": one["field"], "status": one["status"], "hint": None} for one in unavailable]
    body: Fields = {"context_provided": said} if said else {}
    if listed or not said:
        body["context_unavailable"] = listed
    drafted = _sent(ws, view, "context_response", body, ())
    if drafted.packet_id:
        status = {str(one["field"]): str(one["status"]) for one in unavailable}
        answers = considering.Answers(
            said,
            tuple(name for name, one in status.items() if one == "declined"),
            tuple(name for name, one in status.items() if one != "declined"),
        )
        considering.note_answers(ws, view, answers)
    return drafted


def _declined_by_owner(ws: Workspace, view: View, unavailable: Sequence[Fields]) -> None:
    """Refuse a no that is not the owner's: not said in this thread, and no standing one."""
    refused = view.thread.refused
    named = [str(one["field"]) for one in unavailable if one["status"] == "declined"]
    own = sorted(
        one
        for one in named
        if canonical(ws.policy, one) not in refused
        and tier(ws.policy, one, view.thread.peer) is not Tier.NEVER
    )
    if own:
        raise Refused(
            "not_declined", "only the owner declines; say `not_available` of what you do not have",
            row="A2ACP-266", details={"fields": own},
        )  # fmt: skip


def _waits(ws: Workspace, thread_id: str, question: Question) -> Drafted:
    return Drafted(thread_id, question=question, fields=tuple(sorted(_fields_of(ws, question, known=False))))


def _sent(ws: Workspace, view: View, packet_type: str, body: Fields, asked: tuple[Need, ...]) -> Drafted:
    waits = _consent(ws, view, packet_type, body)
    if waits is not None:
        return waits
    thread_id = view.thread.thread_id
    packet_id = sending.send(ws, view, packet_type, body)
    if packet_id:
        note_wants(ws, thread_id, asked)
        considering.spoke(ws, view)
    return Drafted(thread_id, packet_id)


def _view(ws: Workspace, thread_id: str, packet_type: str, *states: State) -> View:
    """The thread, if a packet of this type may be sent in it now."""
    thread = ws.thread(thread_id)
    if not thread.is_open:
        raise Refused("thread_ended", "this thread has ended; ask anew", row="A2ACP-165")
    waiting = ws.open_questions(thread_id, *_STANDS) if thread.state in NEGOTIABLE else []
    if waiting:
        raise _asked(waiting[0])
    if asking.opens(thread):
        waiting = ws.open_questions(thread_id, "consent")
        raise _asked(waiting[0]) if waiting else Refused("not_begun", "the first packet is being written")
    if thread.state not in (states or NEGOTIABLE):
        raise Refused("too_late", f"nothing is negotiated here: the thread is {thread.state.lower()}")
    if thread.paused:
        raise Refused("paused", "this thread is paused; its owner can resume it", row="A2ACP-089")
    if not sending.may_speak(thread, packet_type):
        raise Refused("round_trips_used", "the round trips are used up; the owner is asked", row="A2ACP-102")
    return view_of(ws, thread)


def may_change(ws: Workspace, thread_id: str, packet_type: str) -> None:
    """Refuse unless a program may make something else of this thread now."""
    _view(ws, thread_id, packet_type)


def _asked(question: Question) -> Refused:
    return Refused(
        "owner_is_asked",
        "the owner is asked something about this thread first",
        row="A2ACP-266",
        details={"question_id": question.question_id},
    )


def _askable(ws: Workspace, view: View, needs: Sequence[Need]) -> tuple[Need, ...]:
    known = frozenset(view.thread.wants)
    found = limits.askable(list(needs), known, lambda name: canonical(ws.policy, name))
    if not found:
        raise Refused("already_asked", "all of this was asked for before", row="A2ACP-109")
    return tuple(limits.five(found)[0])


def _listed(needs: Sequence[Need]) -> list[Fields]:
    return [{"field": one.field, "reason": one.reason, "priority": one.priority} for one in needs]


# Consent, by field and value.


def _consent(
    ws: Workspace, view: View, packet_type: str, body: Fields, slots: tuple[Span, ...] = ()
) -> Drafted | None:
    """The question that a draft has to wait for; None when the owner released all that it says."""
    thread = ws.thread(view.thread.thread_id)
    members = frozenset({ws.me, thread.peer})
    known = sending.known(view)
    seen = consent.examine(body, packet_type, ws.policy, thread.peer, {}, known=known, members=members)
    said = _said(ws, body, seen.held, slots)
    fresh = {name: value for name, value in said.items() if not _released(ws, view, name, value)}
    if not fresh:
        return None
    declined = sorted(name for name in fresh if is_refused(ws, thread, name))
    if declined:
        raise Refused(
            "declined_by_owner", "the owner has said no to this in this thread",
            row="A2ACP-132", details={"fields": declined},
        )  # fmt: skip
    open_now = ws.open_questions(thread.thread_id, "consent")
    named = {name for one in open_now for name in _fields_of(ws, one)}
    if fresh.keys() <= named:
        return Drafted(thread.thread_id, question=open_now[0], fields=tuple(sorted(fresh)))
    if len(named | fresh.keys()) > MOST_ASKED:
        raise Refused("too_many_questions", "the owner is asked about enough in this thread", row="A2ACP-266")
    asked = [(Need(name, asking.BY_PROGRAM, "required"), value) for name, value in fresh.items()]
    ask_consent(ws, thread, asked, subject=thread.consider or DRAFT)
    question = ws.open_questions(thread.thread_id, "consent")[-1]
    return Drafted(thread.thread_id, question=question, fields=tuple(sorted(fresh)))


def _said(
    ws: Workspace, body: Fields, held: Sequence[HeldValue], slots: tuple[Span, ...]
) -> dict[str, object]:
    """What a draft says of its owner, its times as one field: the owner is shown them whole.

    Times stand where code has written them from what it read, and nowhere else: a yes to one hour is none to
    what a program writes beside it.
    """
    times = [one for one in held if _is_time(ws, one.field)]
    written = {
        f"{area}.{name}"
        for area in ("context", "context_provided")
        for name in as_object(body.get(area))
        if _is_time(ws, name)
    }
    elsewhere = any(not (_SLOT_AT.fullmatch(one.path) if slots else one.path in written) for one in times)
    if elsewhere or (not slots and len(times) > 1):
        raise Refused(
            "bad_packet",
            "times are said in `time_windows`; a proposal's in `date`, `time` and `timezone`",
            row="A2ACP-074",
        )
    others: dict[str, object] = {one.field: one.value for one in held if one not in times}
    if slots and times:
        return {**others, asking.AVAILABILITY: formats.write_windows(slots, ZoneInfo(zone_of(ws)))}
    return {**others, **{one.field: one.value for one in times}}


def _timed(ws: Workspace, said: Fields) -> Fields:
    """What a program tells, its times as code writes them from what it read (A2ACP-074, A2ACP-075)."""
    own_words(ws, said)
    times = [name for name in said if _is_time(ws, name)]
    if len(times) > 1:
        raise Refused("bad_packet", "times are said in one field: time_windows", row="A2ACP-074")
    if not times:
        return said
    declared: object = said.get("timezone")
    zone = declared if isinstance(declared, str) else None
    reading = read_windows(said[times[0]], timezone=zone, proposed_date=None, now=ws.now)
    if reading.unclear or not reading.spans:
        raise Refused("unclear_times", "each window names `date` and `time` with its offset", row="A2ACP-075")
    windows = formats.write_windows(reading.spans, ZoneInfo(zone_of(ws)))
    return {**said, times[0]: windows}


def _fields_of(ws: Workspace, question: Question, *, known: bool = True) -> set[str]:
    """What a question asks for; if `known`, has a value for: one without gets what the program found."""
    content = as_object(ws.read(question.content))
    listed = as_objects(content.get("fields"))
    return {str(one["field"]) for one in listed if one["values"] or not known}


def _released(ws: Workspace, view: View, name: str, value: object) -> bool:
    """Whether the owner released this field with this very value; of times, any part of those released."""
    wanted = own_name(ws, name)
    question = view.thread.approved.get(wanted)
    if question is None:
        return False
    if wanted == AVAILABILITY:
        told = [ws.read(f"{question}:{wanted}"), *(view.ours[one] for one in view.ours if _is_time(ws, one))]
        released = [span for one in told for span in _times(ws, one)]
        wished = _times(ws, value)
        return bool(wished) and all(_within(one, released) for one in wished)
    told = ws.read(f"{question}:{wanted}")
    return value == (told if told is not None else own_value(ws, view, name, None))


def _is_time(ws: Workspace, name: str) -> bool:
    return canonical(ws.policy, name) == AVAILABILITY


def _times(ws: Workspace, value: object) -> tuple[Span, ...]:
    if value is None:
        return ()
    reading = read_windows(value, timezone=None, proposed_date=None, now=ws.now)
    return () if reading.unclear else reading.spans


def _within(slot: Span, released: Sequence[Span]) -> bool:
    return any(one.start <= slot.start and slot.end <= one.end for one in released)


# A proposal.


def slots_of(ws: Workspace, proposal: Fields) -> tuple[Span, ...]:
    """The slots that a drafted proposal and its alternatives name."""
    main = as_object(proposal["details"])
    listed = [
        main,
        *({**main, **as_object(one.get("details"))} for one in as_objects(proposal.get("alternatives"))),
    ]
    found = [proposal_slots.slot_of(one, ws) for one in listed]
    return tuple(one for one in found if one is not None)


def _written(ws: Workspace, proposal: Fields, *, meets: bool) -> tuple[Fields, tuple[Span, ...]]:
    """A proposal with its times as code writes them, and the slots; what else is time-like is refused."""
    others = as_objects(proposal.get("alternatives"))
    listed = [as_object(one.get("details")) for one in (proposal, *others)]
    if any(_is_time(ws, name) and name not in _WHEN for one in listed for name in one):
        raise Refused(
            "bad_packet",
            "a proposal names its time by `date`, `time`, `timezone` and `duration` only",
            row="A2ACP-074",
        )
    if any(
        canonical(ws.policy, name) == "topic" and values.tells_time(value)
        for one in listed
        for name, value in one.items()
    ):
        raise Refused("bad_packet", "only `date` and `time` name a day or an hour", row="A2ACP-074")
    slots = slots_of(ws, proposal)
    timed = meets or bool(slots) or any(name in one for one in listed for name in ("date", "time"))
    if not timed:
        return proposal, ()
    if len(slots) != len(listed):
        raise Refused("unclear_times", "each option names `date`, `time` and `timezone`", row="A2ACP-075")
    zone = zone_of(ws)
    own = [
        {name: value for name, value in one.items() if name not in _WHEN}
        | formats.write_window(slot, ZoneInfo(zone))
        | {"timezone": zone}
        for one, slot in zip(listed, slots, strict=True)
    ]
    written = {**proposal, "details": own[0]}
    if others:
        written["alternatives"] = [
            {**one, "details": found} for one, found in zip(others, own[1:], strict=True)
        ]
    return written, slots


def _only_its_numbers(proposal: Fields) -> None:
    """Refuse words with an hour or a number that the details lack: people say yes to what they read."""
    main = as_object(proposal["details"])
    others = as_objects(proposal.get("alternatives"))
    listed = [main, *({**main, **as_object(one.get("details"))} for one in others)]
    texts = [(proposal.get("summary"), listed[:1]), (proposal.get("reasoning"), listed)]
    for one, details in zip(others, listed[1:], strict=True):
        texts += [(one.get("summary"), [details]), (one.get("reason"), listed)]
    for said, details in texts:
        found = numbers.beyond(str(said), details) if said else ""
        if found:
            raise Refused("bad_packet", f"the words name {found} that the details lack", row="A2ACP-090")


def propose(ws: Workspace, thread_id: str, proposal: Fields, taken: frozenset[Span]) -> Drafted:
    """Propose what a program drafted; our owner is asked to confirm it like any other (A2ACP-145).

    `taken` are slots that the calendars say are not free: told only of what the owner has released.
    """
    view = _view(ws, thread_id, "resolution")
    thread, goal = view.thread, view.goal
    answered = {name for name, status in thread.wants.items() if status} | set(view.theirs)
    wants = goal.wants if goal is not None else ()
    if not limits.may_propose(wants, answered, lambda name: canonical(ws.policy, name)):
        raise Refused("too_early", "what is required of the other side is not answered yet", row="A2ACP-091")
    proposal, slots = _written(ws, proposal, meets=goal is not None and goal.kind == MEETING)
    if any(slot.start <= ws.now for slot in slots):
        raise Refused("past", "an option lies in the past", row="A2ACP-075")
    _only_its_numbers(proposal)
    body = proposing.enclosed(ws, view, proposal)
    waits = _consent(ws, view, "resolution", body, slots)
    if waits is not None:
        return waits
    waiting = ws.open_questions(thread_id, "consent")
    if waiting:
        # A proposal that stands ends the questions before it: what the owner is asked comes first.
        return _waits(ws, thread_id, waiting[0])
    ruled_out = (*proposal_slots.held_slots(ws, thread_id), *recalling.ruled_out_slots(ws, thread))
    if any(
        slot in taken or any(slot.start < one.end and one.start < slot.end for one in ruled_out)
        for slot in slots
    ):
        raise Refused("slot_taken", "an option is not free, or was turned down before", row="A2ACP-169")
    before = len(ws.thread(thread_id).packets)
    proposing.send_resolution(ws, view, body, None)
    after = ws.thread(thread_id).packets
    sent = after[-1].packet_id if len(after) > before and after[-1].type == "resolution" else ""
    return Drafted(thread_id, sent)
