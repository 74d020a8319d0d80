"""The fold: the agent's state as a function of its journal.

A2ACP-210, A2ACP-216. `apply` is the only way in which any of it changes, live, after a restart, in a
rebuild and in a decision that is still being made: the same records give the same state. What state there
is:

- `threads` and `questions`, by id; `due`, the next moment of each thread and question that time will move;
- `considering`, the threads in which it is the agent's turn; `unposted`, packets that the post may lack;
- `holds`, the slots of standing proposals; `acting`, threads with an action under way;
- `approvals` by field and counterpart; `completions` by counterpart and category; `settings`, the names
  of the owner's values;
- `tallies`, how many threads began and ended with each counterpart; `hints`, those that are due;
- `acquaintances`, how often there was something with each counterpart and how it ended;
- `spaces`, `space_cells` and `space_packets`: shared spaces, their fields, what of theirs is to leave;
- `groups`, `legs`, `outings` and `early`, what is known of groups (`threads.groups`).

What it is kept in is the caller's: tables of the ledger's file in the writer, a layer over them while a
decision is being made. Records carry no content, so the state holds none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tacit.a2acp.threads.states import CATEGORIES, State
from tacit.agent.groups import fold as groups
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import Early, Group, Outing
from tacit.agent.guests import fold as guest_fold
from tacit.agent.guests import records as guest_records
from tacit.agent.guests.fold import Guest
from tacit.agent.kernel import records, timers
from tacit.agent.kernel.state import (
    HUB,
    LEG,
    REMEMBERED_PACKETS,
    THEM,
    US,
    Approvals,
    Entry,
    Question,
    Thread,
)
from tacit.agent.memory import acquaintance
from tacit.agent.memory import records as memory_records
from tacit.agent.memory.acquaintance import Acquaintance
from tacit.agent.owner import hints
from tacit.agent.owner.hints import Hint, Tally
from tacit.agent.spaces import fold as space_fold
from tacit.agent.spaces import records as space_records
from tacit.agent.spaces.state import Cell, Leaving, Space
from tacit.base.errors import Bug
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import MutableMapping

Pair: TypeAlias = tuple[str, str]
VERSION: Final = 2
"""Of what is folded and how. Raise it with any change of what a row of the journal's folds holds."""
HOLDING: Final = frozenset({State.PROPOSED, State.CONFIRMED, State.EXECUTING})
ACTING: Final = frozenset({State.CONFIRMED, State.EXECUTING, State.FAILED, State.ROLLBACK})
TABLES: Final[dict[str, tuple[Any, Any]]] = {
    "threads": (str, Thread),
    "questions": (str, Question),
    "due": (str, Moment),
    "considering": (str, str),
    "unposted": (str, str),
    "holds": (str, str),
    "acting": (str, str),
    "approvals": (Pair, Approvals),
    "settings": (str, str),
    "open_threads": (str, Moment),
    "tallies": (str, Tally),
    "hints": (str, Hint),
    "completions": (Pair, int),
    **guest_fold.TABLES,
    "acquaintances": (str, Acquaintance),
    **space_fold.TABLES,
    **groups.TABLES,
}
"""Each table with the types of its keys and values."""
ALWAYS_LOADED: Final = frozenset(
    {
        "due",
        "considering",
        "unposted",
        "holds",
        "acting",
        "settings",
        "open_threads",
        "hints",
        "outings",
        "early",
    }
    | guest_fold.ALWAYS_LOADED
    | space_fold.TABLES.keys()
)
"""Small tables that are gone through; the others are looked up by key, except for open questions."""

KINDS: Final[dict[str, type[records.Record]]] = {
    **records.KINDS,
    **group_records.KINDS,
    **guest_records.KINDS,
    **memory_records.KINDS,
    **space_records.KINDS,
}
KIND_OF: Final = {body: kind for kind, body in KINDS.items()}


@dataclass(slots=True)
class Book:
    """The state; every attribute is a mapping."""

    threads: MutableMapping[str, Thread] = field(default_factory=dict[str, Thread])
    questions: MutableMapping[str, Question] = field(default_factory=dict[str, Question])
    due: MutableMapping[str, Moment] = field(default_factory=dict[str, Moment])
    considering: MutableMapping[str, str] = field(default_factory=dict[str, str])
    unposted: MutableMapping[str, str] = field(default_factory=dict[str, str])
    holds: MutableMapping[str, str] = field(default_factory=dict[str, str])
    acting: MutableMapping[str, str] = field(default_factory=dict[str, str])
    approvals: MutableMapping[Pair, Approvals] = field(default_factory=dict[Pair, Approvals])
    settings: MutableMapping[str, str] = field(default_factory=dict[str, str])
    open_threads: MutableMapping[str, Moment] = field(default_factory=dict[str, Moment])
    tallies: MutableMapping[str, Tally] = field(default_factory=dict[str, Tally])
    hints: MutableMapping[str, Hint] = field(default_factory=dict[str, Hint])
    completions: MutableMapping[Pair, int] = field(default_factory=dict[Pair, int])
    guests: MutableMapping[str, Guest] = field(default_factory=dict[str, Guest])
    open_guests: MutableMapping[str, Moment] = field(default_factory=dict[str, Moment])
    asked_guests: MutableMapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    acquaintances: MutableMapping[str, Acquaintance] = field(default_factory=dict[str, Acquaintance])
    spaces: MutableMapping[str, Space] = field(default_factory=dict[str, Space])
    space_cells: MutableMapping[Pair, Cell] = field(default_factory=dict[Pair, Cell])
    space_packets: MutableMapping[str, Leaving] = field(default_factory=dict[str, Leaving])
    groups: MutableMapping[str, Group] = field(default_factory=dict[str, Group])
    legs: MutableMapping[Pair, str] = field(default_factory=dict[Pair, str])
    outings: MutableMapping[str, Outing] = field(default_factory=dict[str, Outing])
    early: MutableMapping[str, Early] = field(default_factory=dict[str, Early])


def apply(book: Book, record: records.Record, at: Moment) -> None:
    """Move the state past one record."""
    match record:
        case records.Began():
            _begin(book, record, at)
        case records.Received() | records.Sent() | records.Entered():
            _packet(book, record, at)
        case records.Posted():
            book.unposted.pop(record.packet_id, None)
            book.space_packets.pop(record.packet_id, None)
        case records.Moved():
            _move(book, record, at)
        case records.Changed():
            thread = book.threads[record.thread_id]
            named = {name: getattr(record, name) for name in record.__struct_fields__}
            changes = {name: value for name, value in named.items() if value is not UNSET}
            _keep(book, replace(thread, **changes))
        case records.Acted():
            _act(book, record)
        case records.Asked() | records.Answered() | records.Withdrawn() | records.Reminded():
            _question(book, record)
        case records.Counted() | records.Completed():
            _count(book, record)
        case records.Set():
            _mark(book.settings, record.name, record.value or None)
        case records.Hinted():
            book.hints[record.hint] = replace(book.hints[record.hint], seen=True)
        case records.Forgotten() | memory_records.Unlearned():
            _forget(book, record)
        case _:
            groups.apply(book, record, at)
            # Cycled, Noticed, NotMoved and Violated are said for those who read the journal.
            guest_fold.apply(book.guests, book.open_guests, book.asked_guests, record, at)
            space_fold.apply(book.spaces, book.space_cells, book.space_packets, record, at)


def _count(book: Book, record: records.Counted | records.Completed) -> None:
    if isinstance(record, records.Counted):
        book.approvals[record.field, record.peer] = Approvals(record.count, record.dismissed)
        acquaintance.approval_counted(book.acquaintances, record.peer, record.field)
    else:
        book.completions[record.peer, record.category] = record.count


def _forget(book: Book, record: records.Forgotten | memory_records.Unlearned) -> None:
    # Whoever is forgotten is new when they come again.
    book.tallies.pop(record.peer, None)
    for category in CATEGORIES:
        book.completions.pop((record.peer, category), None)
    if isinstance(record, records.Forgotten):
        acquaintance.forgotten(book.acquaintances, book.approvals, record.peer)
    else:
        acquaintance.unlearned(book.acquaintances, record.peer)


def _begin(book: Book, record: records.Began, at: Moment) -> None:
    _keep(book, _begun(record, at))
    if record.group:
        groups.begun(book, record.thread_id, record.group, record.peer)
    if record.role != LEG:
        # A group is one thing with several people, however many threads it takes.
        who = record.members or (record.peer,)
        hints.begun(book.tallies, book.hints, record.thread_id, who, project=record.project)


def _begun(record: records.Began, at: Moment) -> Thread:
    return Thread(
        thread_id=record.thread_id,
        peer=record.peer,
        ours=record.ours,
        state=State.INITIATED,
        began=at,
        since=at,
        urgent=record.urgent,
        goal=record.goal,
        intent=record.intent,
        parent=record.parent,
        siblings=record.siblings,
        depth=record.depth,
        approved=record.approved,
        asked=record.asked,
        wants=record.wants,
        group=record.group,
        role=record.role,
    )


def _keep(book: Book, thread: Thread) -> None:
    """Keep a thread, and what is derived from it, in step."""
    name = thread.thread_id
    book.threads[name] = thread
    _mark(book.due, name, timers.next_due(thread))
    _mark(book.considering, name, thread.consider or None)
    follows = groups.follows_hub(thread)
    standing = thread.proposal if thread.state in HOLDING and not follows else None
    _mark(book.holds, name, standing.packet_id if standing else None)
    _mark(book.acting, name, thread.state.value if thread.state in ACTING and not follows else None)
    _mark(book.open_threads, name, thread.since if thread.is_open else None)


def _mark(table: MutableMapping[str, Any], name: str, value: Any) -> None:
    if value is None:
        table.pop(name, None)
    elif table.get(name) != value:
        table[name] = value


def _packet(book: Book, record: records.Received | records.Sent | records.Entered, at: Moment) -> None:
    if isinstance(record, records.Entered):
        thread = book.threads[record.thread_id]
        entry = Entry(record.packet_id, record.side, record.type, at)
        # What a thread begins with waits for its first answer like a packet of its own.
        _keep(book, replace(thread, packets=(*thread.packets, entry), unanswered_since=at))
        return
    side = US if isinstance(record, records.Sent) else THEM
    if isinstance(record, records.Sent):
        book.unposted[record.packet_id] = record.thread_id
    thread = book.threads.get(record.thread_id)
    if thread is None:
        return
    entry = Entry(record.packet_id, side, record.type, at, record.mac)
    packets = (*thread.packets, entry)[-REMEMBERED_PACKETS:]
    changes: dict[str, Any] = {"packets": packets}
    if side == US:
        changes["introduced"] = True
    if record.negotiates and thread.last_side != side:
        # The clock starts at the first packet of a turn and starts again when the other side speaks.
        changes |= {"turns": thread.turns + 1, "last_side": side, "unanswered_since": at, "reminded": False}
    _keep(book, replace(thread, **changes))


def _move(book: Book, record: records.Moved, at: Moment) -> None:
    thread = book.threads[record.thread_id]
    changes: dict[str, Any] = {"state": State(record.after), "closed_reason": record.reason}
    if record.after != thread.state:
        changes["since"] = at
    moved = replace(thread, **changes)
    if not moved.is_open:
        moved = replace(moved, consider="", awaiting_user=False, paused=False, unanswered_since=None)
        if thread.is_open and thread.role != LEG:
            members = book.groups[thread.group].members if thread.role == HUB else (thread.peer,)
            who = tuple(one for one in members if thread.role != HUB or one != thread.peer)
            hints.ended(book.tallies, book.hints, thread.thread_id, who)
        if thread.is_open and thread.role != HUB:
            acquaintance.ended(
                book.acquaintances,
                thread.peer,
                state=moved.state,
                before=thread.state,
                cause=record.cause,
                at=at,
            )
    elif moved.state is State.NEGOTIATING and thread.state not in {State.NEGOTIATING, State.INITIATED}:
        moved = replace(moved, unanswered_since=at)
    _keep(book, moved)


def _act(book: Book, record: records.Acted) -> None:
    thread = book.threads[record.thread_id]
    proposal = thread.proposal
    if proposal is None:
        raise Bug("an action without its proposal")
    actions = tuple(
        replace(one, status=record.status, undo_tries=record.undo_tries)
        if one.action_id == record.action_id
        else one
        for one in proposal.actions
    )
    _keep(book, replace(thread, proposal=replace(proposal, actions=actions)))


def _question(
    book: Book, record: records.Asked | records.Answered | records.Withdrawn | records.Reminded
) -> None:
    if isinstance(record, records.Asked):
        question = record.question
    else:
        question = book.questions[record.question_id]
        match record:
            case records.Answered():
                question = replace(question, outcome="answered")
            case records.Withdrawn():
                question = replace(question, outcome="withdrawn")
            case records.Reminded():
                question = replace(question, remind_at=None)
    book.questions[question.question_id] = question
    _mark(book.due, question.question_id, timers.question_due(question))


def encoded(record: records.Record, at: Moment) -> tuple[str, dict[str, Any], bytes]:
    """A record as an event: its kind, its data and their bytes.

    The moment of the decision is part of it: the ledger's own time is that of the commit, a little later.
    """
    data = {**msgspec.to_builtins(record), "at": int(at)}
    return KIND_OF[type(record)], data, msgspec.json.encode(data)


def decoded(kind: str, data: dict[str, Any]) -> tuple[records.Record, Moment] | None:
    """The record in an event of the journal, and its moment; None for what is not of the agent's own."""
    body = KINDS.get(kind)
    return None if body is None else (msgspec.convert(data, body), Moment(data["at"]))
