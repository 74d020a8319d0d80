"""What other programs of the owner's can ask of an agent: wishes and looks, never an answer.

A2ACP-264, A2ACP-265, A2ACP-266. One table for the MCP server and whoever else speaks for a program. All that
is in it may be asked by a model: there is no command here that answers a question, confirms, or changes a
permission, and the whole table is one command of the agent's (`program`), so that what a program's process
sends to the agent's socket can be told from what its owner sends. Questions are listed by field and reason;
their values, and those of the profile and the calendars, stay here. What is received from a counterpart is
handed out as data.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import structs

from tacit.a2acp.packets import packet, vocabulary
from tacit.a2acp.packets.tools import LONGEST_WAIT, TOOLS
from tacit.agent.brain import port
from tacit.agent.contacts.io import people
from tacit.agent.groups import membership
from tacit.agent.groups.fold import GroupTables
from tacit.agent.groups.members import legs_of
from tacit.agent.kernel import records
from tacit.agent.kernel.state import THEM
from tacit.agent.scheduling import asking, drafting, facts, proposal_slots
from tacit.agent.scheduling.calendars.busy import CalendarUnreadable
from tacit.agent.scheduling.goal import Need
from tacit.agent.scheduling.io import wishes
from tacit.agent.scheduling.view import view_of
from tacit.agent.spaces.io import operations as spaces
from tacit.agent.spaces.state import JOINED
from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import rfc3339
from tacit.base.quoting import set_off
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.state import Question
    from tacit.agent.scheduling.drafting import Drafted
    from tacit.agent.scheduling.goal import Goal
    from tacit.agent.shell.io.commands import Commands

    Given = dict[str, Any]

DEFAULT_WAIT: Final = 25.0
OPENING_WAIT: Final = 20.0
"""Seconds for the first step of a wish: a call that returns before has nothing to tell its owner."""
_LOOK_AGAIN: Final = 0.2
MOST_PACKETS: Final = 50
_SHOWN: Final = (
    "intent",
    "context",
    "context_provided",
    "context_unavailable",
    "needs",
    "proposal",
    "status",
)
_MORE: Final = (
    "additional_context_needed",
    "updated_intent",
    "reason_class",
    "message_to_other_agent",
    "state",
)


# Wishes.


async def send_context(agent: Commands, given: Given) -> Fields:
    """Tell a counterpart something, in a thread or as the beginning of one."""
    said = _said(given, "context")
    needs = _needs(given)
    thread_id = given.get("thread_id")
    if thread_id is None:
        return await _begin(agent, given, said, needs)
    return await _drafted(agent, lambda ws: drafting.context(ws, str(thread_id), said, needs))


async def request_context(agent: Commands, given: Given) -> Fields:
    """Ask a counterpart for fields, in a thread or as the beginning of one."""
    said = _said(given, "context_provided")
    needs = _needs(given)
    thread_id = given.get("thread_id")
    if thread_id is None:
        return await _begin(agent, given, said, needs)
    return await _drafted(agent, lambda ws: drafting.request(ws, str(thread_id), needs, said))


async def _begin(agent: Commands, given: Given, said: Fields, needs: list[Need]) -> Fields:
    intent = cast("Fields", given.get("intent"))
    if not intent or not given.get("to"):
        raise Refused("bad_command", "a new thread needs `to` and `intent`; an open one its `thread_id`")
    summary = str(intent["summary"])
    peer = people.accepted(agent, people.addressee(agent, summary, [str(given["to"])]))
    goal = drafting.goal_of(await _read(agent, summary, [peer]), intent, said, needs)
    values = {name: value for name, value in said.items() if name != "flexibility"}
    known: Fields = {"fields": values} if values else {}
    urgent = goal.urgency == "urgent"
    thread_id = await agent.decide(lambda ws: drafting.begin(ws, goal, peer, known, urgent=urgent))
    await _opened(agent, [thread_id])
    return _stands(agent, thread_id)


async def _read(agent: Commands, summary: str, to: list[str]) -> Goal | None:
    """What a brain makes of the words with which a program begins something."""
    zone, addressees = agent.outside.zone(), people.addressed(agent, to)
    task = port.Task(port.READ_REQUEST, agent.clock.now(), zone, text=summary, addressees=addressees)
    return (await agent.think(task)).goal


async def begin_group(agent: Commands, given: Given) -> Fields:
    """Arrange something with several: each of them is a contact, and for each the owner reads the words."""
    intent = cast("Fields", given["intent"])
    named = [str(address.parse_typed(one)) for one in cast("list[str]", given["participants"])]
    others = [people.accepted(agent, one) for one in named]
    membership.chosen(agent.me, others)
    summary = str(intent["summary"])
    goal = drafting.goal_of(await _read(agent, summary, others), intent, {}, ())
    begun: str = await agent.decide(
        lambda ws: drafting.begin_group(
            ws,
            goal,
            others,
            thread_id=packet.identifier("thr_", ws.draw(17)),
            quorum=given.get("quorum"),
            in_order=bool(given.get("in_order")),
            parent=str(given.get("after") or ""),
        )
    )
    await _opened(agent, _legs(agent, begun))
    return _group_stands(agent, begun)


async def transfer_group(agent: Commands, given: Given) -> Fields:
    """Offer the coordinator's role in a group of a program's to another in it."""
    group_id, to = str(given["thread_id"]), str(address.parse_typed(str(given["to"])))
    await agent.decide(lambda ws: drafting.hand_over(ws, group_id, to))
    await agent.refresh()
    return _group_stands(agent, group_id)


def _group_stands(agent: Commands, group_id: str) -> Fields:
    """Where a group stands, with what the owner is asked in it or about one of its people."""
    stands = _stands(agent, group_id)
    ws = agent.workspace()
    asked = [_question(agent, one) for name in _legs(agent, group_id) for one in ws.open_questions(name)]
    return {**stands, "questions": [*stands["questions"], *asked]}


def _legs(agent: Commands, group_id: str) -> list[str]:
    ws = agent.workspace()
    group = ws.book.part(GroupTables).groups[group_id]
    return [one.thread_id for one in legs_of(ws, group)]


async def _opened(agent: Commands, names: list[str]) -> None:
    """Until the owner is asked, or the first packet is written: the wheel may be turning for something else.

    What a model thinks over first takes longer than a caller waits; the question is then listed later.
    """
    await agent.refresh()

    def waits(name: str) -> bool:
        thread = agent.workspace().thread(name)
        return asking.opens(thread) and thread.is_open and not agent.workspace().open_questions(name)

    loop = asyncio.get_running_loop()
    until = loop.time() + OPENING_WAIT
    with agent.changes.followed() as follower:
        while any(map(waits, names)) and loop.time() < until:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await follower.next()


async def respond_context(agent: Commands, given: Given) -> Fields:
    """Answer what a counterpart has asked for."""
    said = _said(given, "context_provided")
    unavailable = [dict(one) for one in given.get("context_unavailable") or ()]
    return await _drafted(agent, lambda ws: drafting.respond(ws, given["thread_id"], said, unavailable))


async def propose_resolution(agent: Commands, given: Given) -> Fields:
    """Propose an outcome; the owner is asked to confirm it before anything is done."""
    proposal = cast("Fields", given["proposal"])
    slots = drafting.slots_of(agent.workspace(), proposal)
    thread_id = str(given["thread_id"])
    try:
        taken = frozenset([slot for slot in slots if not await agent.slot_free(slot, thread_id)])
    except CalendarUnreadable:
        # Which one and why is the owner's to know.
        raise Unavailable("a calendar of the owner's cannot be read now: nothing is proposed") from None
    return await _drafted(agent, lambda ws: drafting.propose(ws, thread_id, proposal, taken))


async def update_intent(agent: Commands, given: Given) -> Fields:
    """Make something else of an open thread."""
    updated = cast("Fields", given["updated_intent"])
    goal = await _goal(agent, updated, str(given["thread_id"]))
    needs = _needs(given, "additional_context_needed")
    goal = structs.replace(goal, wants=(*needs, *goal.wants))
    thread_id = str(given["thread_id"])
    change = vocabulary.scope_change(updated.get("scope_change"))

    def decided(ws: Any) -> str:
        drafting.may_change(ws, thread_id, "intent_update")
        return asking.change_intent(ws, thread_id, goal, str(given["reason"]), change)

    sent = await agent.decide(decided)
    await agent.refresh()
    asking.left(sent)
    return _stands(agent, thread_id)


async def fork_thread(agent: Commands, given: Given) -> Fields:
    """Make several threads of one."""
    thread_id = str(given["thread_id"])
    goals = [await _goal(agent, cast("Fields", one["intent"]), thread_id) for one in given["new_threads"]]

    def decided(ws: Any) -> list[str]:
        drafting.may_change(ws, thread_id, "thread_fork")
        return asking.fork(ws, thread_id, goals)

    children = await agent.decide(decided)
    await agent.refresh()
    asking.left(children)
    stands = [_stands(agent, child) for child in children]
    return {"untrusted": True, "thread_id": thread_id, "threads": stands}


async def _goal(agent: Commands, intent: Fields, thread_id: str) -> Goal:
    goal = await wishes.goal(agent, str(intent["summary"]), thread_id=thread_id)
    return structs.replace(goal, by_program=True)


def _said(given: Given, name: str) -> Fields:
    said = facts.fields_checked(given.get(name) or {})
    if any(one in said for one in drafting.STRUCTURAL):
        raise Refused("bad_packet", "where both clash is written by the agent", row="A2ACP-097")
    return said


def _needs(given: Given, name: str = "needs") -> list[Need]:
    return [
        Need(str(one["field"]), str(one["reason"]), vocabulary.priority(one.get("priority")))
        for one in cast("list[Fields]", given.get(name) or [])
    ]


async def _drafted(agent: Commands, decision: Callable[[Any], Drafted]) -> Fields:
    """Have a draft judged; what it must wait for is durable before the program hears of it."""
    found: Drafted = await agent.decide(decision)
    await agent.refresh()
    if found.question is not None:
        raise Refused(
            "consent_needed",
            "the owner is asked first; call again when the question is answered",
            row="A2ACP-266",
            details={"question_id": found.question.question_id, "fields": list(found.fields)},
        )
    asking.left(found.packet_id)
    return {**_stands(agent, found.thread_id), "packet_id": found.packet_id}


def _stands(agent: Commands, thread_id: str) -> Fields:
    """Where a thread stands after a wish, and what the owner is asked in it."""
    ws = agent.workspace()
    asked = ws.open_questions(thread_id)
    return {
        "untrusted": True,
        "thread_id": thread_id,
        "state": ws.thread(thread_id).state.value,
        "questions": [_question(agent, one) for one in asked],
        "cursor": agent.journal.end(),
    }


# Looks.


def _question(agent: Commands, one: Question) -> Fields:
    """A question without a value: what it is about, and why it is asked."""
    content = cast("Fields", agent.vault.value(one.content) or {})
    fields = cast("list[Fields]", content.get("fields") or [])
    return {
        "question_id": one.question_id,
        "kind": one.kind,
        "thread_id": one.thread_id,
        "counterpart": one.peer,
        "asked_at": rfc3339(one.asked_at),
        "fields": [{name: field.get(name) for name in ("field", "reason", "priority")} for field in fields],
    }


async def list_pending(agent: Commands, _given: Given) -> Fields:
    """What the owner is asked: fields and reasons, no values."""
    await agent.refresh()
    book = agent.journal.book
    found = [one for one in map(book.questions.get, list(book.questions)) if one is not None and one.is_open]
    listed = [_question(agent, one) for one in sorted(found, key=lambda one: one.asked_at)]
    return {"untrusted": True, "questions": listed}


async def list_threads(agent: Commands, given: Given) -> Fields:
    """What is being arranged."""
    found = await agent.threads(every=bool(given.get("all")))
    return {"untrusted": True, "threads": found["threads"], "cursor": agent.journal.end()}


async def get_thread(agent: Commands, given: Given) -> Fields:
    """One thread: what came, what was shared by name, what is owed, and the proposal that stands."""
    thread_id = str(given["thread_id"])
    found = await agent.thread(thread_id)
    ws = agent.workspace()
    thread = ws.thread(thread_id)
    view = view_of(ws, thread)
    standing = proposal_slots.shown_proposal(ws, thread)
    kept = ("thread_id", "state", "closed_reason", "flags", "intent", "participants", "turns", "shared")
    more = ("received", "requested", "outstanding", "history", "parent", "siblings")
    return {
        "untrusted": True,
        **{name: found[name] for name in (*kept, *more)},
        "needs": [{"field": one.field, "reason": one.reason, "priority": one.priority} for one in view.asked],
        "proposal": standing or None,
        "questions": [_question(agent, one) for one in ws.open_questions(thread_id)],
    }


async def get_group(agent: Commands, given: Given) -> Fields:
    """A group; its sums hold the owner's own times, and are shown once the owner has let them be told."""
    group_id = str(given["thread_id"])
    found = await agent.group(group_id)
    hub = agent.journal.book.threads.get(group_id)
    told = bool(found["asked_to_bend"]) or (hub is not None and hub.proposal is not None)
    sums: Fields = {} if told else {"windows": [], "trade_off": None, "binding": None}
    return {"untrusted": True, **found, **sums}


async def wait_for_packet(agent: Commands, given: Given) -> Fields:
    """What counterparts have sent since a cursor; waits for the first when there is nothing yet."""
    seconds = min(max(float(given.get("timeout_seconds", DEFAULT_WAIT)), 0.0), LONGEST_WAIT)
    wanted = given.get("thread_id")
    if wanted is not None:
        agent.workspace().thread(str(wanted))
    cursor = given.get("cursor")
    since = agent.journal.end() if cursor is None else int(cursor)
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    with agent.changes.followed() as follower:
        while True:
            found, since = _received(agent, since, wanted)
            left = until - loop.time()
            if found or left <= 0:
                return {"untrusted": True, "packets": found, "cursor": since, "timed_out": not found}
            try:
                async with asyncio.timeout(left):
                    await follower.next()
            except TimeoutError:
                continue


def _is_in(agent: Commands, thread_id: str, wanted: str | None) -> bool:
    """Whether a packet's thread is the one that is waited for, or one of its group."""
    known = agent.journal.book.threads.get(thread_id)
    return wanted in {None, thread_id, known.group if known is not None and known.group else thread_id}


def _received(agent: Commands, since: int, thread_id: str | None) -> tuple[list[Fields], int]:
    found: list[Fields] = []
    end = agent.journal.end()
    for position, one, at in agent.journal.after(since, "x.a2acp.received"):
        if not isinstance(one, records.Received) or not _is_in(agent, one.thread_id, thread_id):
            continue
        fields = agent.vault.packet(one.peer, one.packet_id, THEM) or {}
        found.append(
            {
                "packet_id": one.packet_id,
                "thread_id": one.thread_id,
                "from": one.peer,
                "type": one.type,
                "at": rfc3339(at),
                "fields": {name: fields[name] for name in (*_SHOWN, *_MORE) if name in fields},
            }
        )
        if len(found) == MOST_PACKETS:
            return found, position
    return found, end


async def list_spaces(agent: Commands, _given: Given) -> Fields:
    """Shared spaces with their fields; what others wrote is quoted, a mark before each line (A2ACP-066)."""
    found: list[Fields] = []
    for line in (await spaces.listed(agent))["spaces"]:
        if line["status"] != JOINED:
            continue
        shown_space = await spaces.show(agent, line["space_id"], look=False)
        fields = [
            {"field": one["field"], "by": one["by"], "at": one["at"], "quoted": set_off(_text(one["value"]))}
            for one in shown_space["fields"]
        ]
        known = ("space_id", "title", "participants", "level")
        found.append({name: line[name] for name in known} | {"fields": fields})
    return {"untrusted": True, "spaces": found}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def update_space(agent: Commands, given: Given) -> Fields:
    """Write fields of a shared space, as far as everybody there may know them; else it is asked."""
    outcomes = [
        await spaces.set_field(agent, str(given["space_id"]), str(path), value)
        for path, value in cast("Fields", given["changes"]).items()
    ]
    asked = any(one["status"] == "asked" for one in outcomes)
    return {"space_id": given["space_id"], "status": "consent_needed" if asked else "written"}


_DONE: Final[dict[str, Callable[[Commands, Given], Awaitable[Fields]]]] = {
    "send_context": send_context,
    "request_context": request_context,
    "respond_context": respond_context,
    "propose_resolution": propose_resolution,
    "update_intent": update_intent,
    "fork_thread": fork_thread,
    "begin_group": begin_group,
    "transfer_group": transfer_group,
    "get_group": get_group,
    "list_threads": list_threads,
    "get_thread": get_thread,
    "list_pending": list_pending,
    "wait_for_packet": wait_for_packet,
    "list_spaces": list_spaces,
    "update_space": update_space,
}


async def call(agent: Commands, name: str, given: Given) -> Fields:
    """Carry out one of them; what is not in the table, or not in the arguments, is refused."""
    tool = TOOLS.get(name)
    if tool is None:
        raise Refused("unknown_op", "there is no such tool", row="A2ACP-265")
    tool.check(given)
    return await _DONE[name](agent, given)
