"""The port to the engine above the ledger: it follows every event in the writer and decides its own commands.

The ledger knows nothing of what an engine does. It promises that everything happens inside one transaction,
in the writer alone: an event, what the engine says because of it, and what the engine keeps (rows of the
`folds` table).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.base.moment import Moment
    from tacit.ledger.commands import Committed, Duplicate, GroupCommand
    from tacit.ledger.envelope import Remains, StoredEvent
    from tacit.ledger.ports import Lookup
    from tacit.ledger.state import Group
    from tacit.ledger.submission import Submission


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """A group as it stands in the writer, for a command that decides and writes in one step."""

    group: Group
    lookup: Lookup
    now: Moment


@dataclass(frozen=True, slots=True)
class Plan:
    """What a command is to append, all or nothing, and its answer once that is done.

    `answer` is called in the writer, inside the transaction; what it returns is a value that can travel.
    """

    submissions: Sequence[Submission] = ()
    answer: Callable[[Sequence[Committed | Duplicate]], Any] = lambda _outcomes: None


@dataclass(frozen=True, slots=True)
class Consequences:
    """What follows from one event.

    Events of the hub's own, and effects on the outside once all is durable.
    """

    submissions: Sequence[Submission] = ()
    effects: tuple[Any, ...] = ()


NO_CONSEQUENCES = Consequences()


class Engine(Protocol):
    """A fold above the ledger, with what it keeps in the same transaction as the events."""

    @property
    def version(self) -> int:
        """Of what it folds and how: a ledger that another version folded is folded again."""
        ...

    def judge(self, submission: Submission, snapshot: GroupSnapshot) -> None:
        """Refuse, by raising, what an actor wants appended and the ledger's own rules would admit."""
        ...

    def committed(self, group: Group, event: StoredEvent, at: Moment, lookup: Lookup) -> Consequences:
        """Move past an event; what follows from it."""
        ...

    def folded(self, group: Group, event: StoredEvent, at: Moment, lookup: Lookup) -> None:
        """Move past an event of the past, in a rebuild."""
        ...

    def plan(self, command: GroupCommand, snapshot: GroupSnapshot) -> Plan:
        """Decide a command; refuses by raising. Called again after a failed commit it decides again."""
        ...

    def remains(self, group: Group, event: StoredEvent, lookup: Lookup) -> Remains:
        """What must stay of an event whose content goes, so that a rebuild folds the same."""
        ...

    def flush(self) -> None:
        """Write what changed into the open transaction."""
        ...

    def forget(self) -> None:
        """Drop what belonged to a transaction that did not commit."""
        ...
