"""The fold: the agent's state as a function of its journal.

A2ACP-210, A2ACP-216. `apply` is the only way in which any of it changes, live, after a restart, in a
rebuild and in a decision that is still being made: the same records give the same state. What the state
holds, `book` says. A feature's part moves past a record before the kernel's own tables do, and so sees a
thread as it was when the record was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tacit.a2acp.threads.states import State
from tacit.agent.kernel import records, timers
from tacit.agent.kernel.book import ALWAYS_LOADED, TABLES, Book, Part, Table
from tacit.agent.kernel.state import (
    REMEMBERED_PACKETS,
    THEM,
    US,
    Approvals,
    Entry,
    Thread,
)
from tacit.base.errors import Bug
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

VERSION: Final = 2
"""Of what is folded and how. Raise it with any change of what a row of the journal's folds holds."""
HOLDING: Final = frozenset({State.PROPOSED, State.CONFIRMED, State.EXECUTING})
ACTING: Final = frozenset({State.CONFIRMED, State.EXECUTING, State.FAILED, State.ROLLBACK})


class Fold:
    """The kernel's kinds of record and tables together with those of features."""

    def __init__(self, *parts: Part) -> None:
        self._parts = parts
        self.kinds: dict[str, type[records.Record]] = dict(records.KINDS)
        self.tables: dict[str, tuple[Any, Any]] = dict(TABLES)
        """Each table with the types of its keys and values."""
        self.always_loaded = ALWAYS_LOADED.union(*(part.always_loaded for part in parts))
        """Small tables that are gone through."""
        for part in parts:
            if part.kinds.keys() & self.kinds.keys() or part.types.keys() & self.tables.keys():
                raise Bug(f"{part.tables.__name__}: a kind or a table of this name is there already")
            self.kinds |= part.kinds
            self.tables |= part.types
        self._kind_of = {body: kind for kind, body in self.kinds.items()}

    def book(self, tables: Mapping[str, Table] | None = None) -> Book:
        """The state on these tables; an empty one in memory without any."""
        if tables is None:
            tables = {name: {} for name in self.tables}
        parts = {
            part.tables: part.tables(**{name: tables[name] for name in part.types}) for part in self._parts
        }
        own: dict[str, Any] = {name: tables[name] for name in TABLES}
        return Book(**own, parts=parts, applies=tuple(part.apply for part in self._parts))

    def encoded(self, record: records.Record, at: Moment) -> tuple[str, dict[str, Any], bytes]:
        """A record as an event: its kind, its data and their bytes.

        The moment of the decision is part of it: the ledger's own time is that of the commit, a little later.
        """
        data = {**msgspec.to_builtins(record), "at": int(at)}
        return self._kind_of[type(record)], data, msgspec.json.encode(data)

    def decoded(self, kind: str, data: dict[str, Any]) -> tuple[records.Record, Moment] | None:
        """The record in an event of the journal, and its moment; None for what is not of the agent's own."""
        body = self.kinds.get(kind)
        return None if body is None else (msgspec.convert(data, body), Moment(data["at"]))


def apply(book: Book, record: records.Record, at: Moment) -> None:
    """Move the state past one record."""
    for part_moves in book.applies:
        part_moves(book, record, at)
    match record:
        case records.Began():
            _keep(book, _begun(record, at))
        case records.Received() | records.Sent() | records.Entered():
            _packet(book, record, at)
        case records.Posted():
            book.unposted.pop(record.packet_id, None)
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
        case records.Forgotten():
            # Whoever is forgotten is new when they come again.
            book.uncount(record.peer)
        case _:
            # Cycled, Noticed, NotMoved and Violated are said for those who read the journal.
            return


def _count(book: Book, record: records.Counted | records.Completed) -> None:
    if isinstance(record, records.Counted):
        book.approvals[record.field, record.peer] = Approvals(record.count, record.dismissed)
    else:
        book.completions[record.peer, record.category] = record.count


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
    standing = thread.proposal if thread.state in HOLDING and not thread.follows_hub else None
    _mark(book.holds, name, standing.packet_id if standing else None)
    _mark(
        book.acting, name, thread.state.value if thread.state in ACTING and not thread.follows_hub else None
    )
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
