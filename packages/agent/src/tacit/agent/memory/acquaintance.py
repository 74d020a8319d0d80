"""How often there was something with each counterpart, how it ended, and which of its answers are counted.

A2ACP-186, A2ACP-190, A2ACP-196. Part of the fold: a row for a counterpart, moved by the records that end a
thread, so that it is the same after a restart or a rebuild. No words of anybody's are in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.a2acp.threads.states import TERMINAL, Cause, State
from tacit.agent.kernel import records
from tacit.agent.kernel.book import Part
from tacit.agent.kernel.state import HUB
from tacit.agent.memory import records as memory_records
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.agent.kernel.book import Book
    from tacit.agent.kernel.state import Approvals


class Acquaintance(msgspec.Struct, frozen=True, omit_defaults=True):
    """The counters of one counterpart."""

    count: int = 0
    """Threads that are over, however they ended (A2ACP-190)."""
    first: Moment = Moment(0)
    last: Moment = Moment(0)
    completed: int = 0
    declined: int = 0
    """Proposals that a person turned down."""
    approvals: tuple[str, ...] = ()
    """Fields whose approvals are counted for it."""


TABLES: Final[dict[str, tuple[Any, Any]]] = {"acquaintances": (str, Acquaintance)}


@dataclass(slots=True)
class AcquaintanceTables:
    """Memory's part of the state: counters alone, by counterpart."""

    acquaintances: MutableMapping[str, Acquaintance]


def apply(book: Book, record: records.Record, at: Moment) -> None:
    """Move the counters past one record."""
    table = book.part(AcquaintanceTables).acquaintances
    match record:
        case records.Moved():
            thread, after = book.threads[record.thread_id], State(record.after)
            if thread.is_open and after in TERMINAL and thread.role != HUB:
                ended(table, thread.peer, state=after, before=thread.state, cause=record.cause, at=at)
        case records.Counted():
            approval_counted(table, record.peer, record.field)
        case records.Forgotten():
            forgotten(table, book.approvals, record.peer)
        case memory_records.Unlearned():
            book.uncount(record.peer)
            unlearned(table, record.peer)
        case _:
            return


def ended(
    table: MutableMapping[str, Acquaintance],
    peer: str,
    *,
    state: State,
    before: State,
    cause: str,
    at: Moment,
) -> None:
    """A thread is over; one that became several goes on in them."""
    if cause == Cause.FORKED:
        return
    known = table.get(peer, Acquaintance())
    table[peer] = msgspec.structs.replace(
        known,
        count=known.count + 1,
        first=known.first or at,
        last=at,
        completed=known.completed + (state is State.COMPLETED),
        declined=known.declined + (state is State.DECLINED and before is State.PROPOSED),
    )


def approval_counted(table: MutableMapping[str, Acquaintance], peer: str, field: str) -> None:
    """An approval of a field is counted, and has to be found again when the counterpart is forgotten."""
    known = table.get(peer, Acquaintance())
    if field not in known.approvals:
        table[peer] = msgspec.structs.replace(known, approvals=(*known.approvals, field))


def unlearned(table: MutableMapping[str, Acquaintance], peer: str) -> None:
    """Nothing is remembered of it; the owner's own approvals stay counted."""
    known = table.pop(peer, None)
    if known is not None and known.approvals:
        table[peer] = Acquaintance(approvals=known.approvals)


def forgotten(
    table: MutableMapping[str, Acquaintance],
    approvals: MutableMapping[tuple[str, str], Approvals],
    peer: str,
) -> None:
    """A contact is gone, with what was counted for it (A2ACP-196)."""
    known = table.pop(peer, None)
    for field in known.approvals if known is not None else ():
        approvals.pop((field, peer), None)


PART: Final = Part(memory_records.KINDS, apply, AcquaintanceTables, TABLES, frozenset())
