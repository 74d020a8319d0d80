"""Hints: what an owner is told of the agent once, when it first matters, and who is still new to it.

A2ACP-232, A2ACP-233, A2ACP-234. Part of the fold: threads are counted by counterpart as they begin and end,
and the record that makes a hint due is the one that triggers it, so that a hint is due at its moment and not
before, also after a restart or a rebuild. Seen is a record of its own. Knows nothing of where a hint is
shown, nor of anybody's words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.a2acp.threads.states import TERMINAL
from tacit.agent.groups.fold import GroupTables
from tacit.agent.kernel import records
from tacit.agent.kernel.book import Part
from tacit.agent.kernel.state import HUB, LEG
from tacit.agent.memory.records import Unlearned

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.agent.kernel.book import Book
    from tacit.base.moment import Moment

FIRST_THREAD: Final = "first_thread"
THIRD_THREAD: Final = "third_thread"
FIRST_GROUP: Final = "first_group"
FIRST_PROJECT: Final = "first_project"
TEN_THREADS: Final = "ten_threads"
EVERYBODY: Final = ""
"""The counterpart under which all threads together are counted."""
PROJECT: Final = "project_coordination"
NEW_UNTIL: Final = 3
"""So many threads must be over before a counterpart is no longer new (A2ACP-233)."""

TEXTS: Final = {
    FIRST_THREAD: (
        "How this goes: your agent shows you what would leave, field by field, and waits. What you do not"
        " release stays here, and nobody hears why."
    ),
    THIRD_THREAD: (
        "The third thing with {who}. What you have allowed three times your agent offers to share with"
        " {who} from then on without asking; you can say no, and after two noes it never offers it again."
    ),
    FIRST_GROUP: (
        "Several people are in this: the agent of whoever began it coordinates, collects what each has told"
        " it and proposes; each person confirms for themselves."
    ),
    FIRST_PROJECT: (
        "This is about a project. What you release for it goes into this thread alone; a space that all who"
        " work on it keep together begins with `tacit agent space new`."
    ),
    TEN_THREADS: (
        "Ten things are over. Your agent knows what you told whom and what allowed it: `tacit agent"
        " disclosures`; what you find yourself allowing again and again, `tacit agent permissions` settles."
    ),
}


class Tally(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many threads there were with a counterpart."""

    begun: int = 0
    ended: int = 0


class Hint(msgspec.Struct, frozen=True, omit_defaults=True):
    """A hint that has become due, and by which thread."""

    thread_id: str
    peer: str
    seen: bool = False


TABLES: Final[dict[str, tuple[Any, Any]]] = {"tallies": (str, Tally), "hints": (str, Hint)}


@dataclass(slots=True)
class HintTables:
    """The owner's part of the state: how much there was with whom, and the hints that are due."""

    tallies: MutableMapping[str, Tally]
    hints: MutableMapping[str, Hint]


def apply(book: Book, record: records.Record, _at: Moment) -> None:
    """Move tallies and hints past one record."""
    tables = book.part(HintTables)
    match record:
        case records.Began() if record.role != LEG:
            # A group is one thing with several people, however many threads it takes.
            people = record.members or (record.peer,)
            begun(tables.tallies, tables.hints, record.thread_id, people, project=record.project)
        case records.Moved():
            thread = book.threads[record.thread_id]
            if thread.is_open and record.after in TERMINAL and thread.role != LEG:
                people = (thread.peer,)
                if thread.role == HUB:
                    members = book.part(GroupTables).groups[thread.group].members
                    people = tuple(member for member in members if member != thread.peer)
                ended(tables.tallies, tables.hints, thread.thread_id, people)
        case records.Hinted():
            tables.hints[record.hint] = msgspec.structs.replace(tables.hints[record.hint], seen=True)
        case records.Forgotten() | Unlearned():
            # Whoever is forgotten is new when they come again.
            tables.tallies.pop(record.peer, None)
        case _:
            return


def begun(
    tallies: MutableMapping[str, Tally],
    due: MutableMapping[str, Hint],
    thread_id: str,
    counterparts: tuple[str, ...],
    *,
    project: bool,
) -> None:
    """A thread has begun."""
    for one in (EVERYBODY, *counterparts):
        before = tallies.get(one, Tally())
        tallies[one] = Tally(before.begun + 1, before.ended)
    most = max(tallies[one].begun for one in counterparts)
    triggers = {
        FIRST_THREAD: True,
        THIRD_THREAD: most >= 3,
        FIRST_GROUP: len(counterparts) > 1,
        FIRST_PROJECT: project,
    }
    for hint, triggered in triggers.items():
        if triggered and hint not in due:
            due[hint] = Hint(thread_id, counterparts[0])


def ended(
    tallies: MutableMapping[str, Tally],
    due: MutableMapping[str, Hint],
    thread_id: str,
    counterparts: tuple[str, ...],
) -> None:
    """A thread is over, however it ended."""
    for one in (EVERYBODY, *counterparts):
        before = tallies.get(one, Tally())
        tallies[one] = Tally(before.begun, before.ended + 1)
    if tallies[EVERYBODY].ended >= 10 and TEN_THREADS not in due:
        due[TEN_THREADS] = Hint(thread_id, counterparts[0])


def new_contact(tally: Tally | None, who: str) -> str | None:
    """What the owner is told while a counterpart is new (A2ACP-232); None once it is not."""
    known = tally or Tally()
    if known.ended >= NEW_UNTIL:
        return None
    if known.begun <= 1:
        return f"this is the first time with {who}: your agent checks with you more often"
    done = f"{known.ended} of {NEW_UNTIL} things done"
    return f"{who} is still new ({done}): your agent checks with you more often"


PART: Final = Part({}, apply, HintTables, TABLES, frozenset({"hints"}))
