"""What the rules may look up, and what a journal promises.

A journal decides order and makes events durable; a read model answers look-ups. Embedded, both are the same
SQLite file and the same transaction; apart, the read model follows the journal.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from tacit.base.errors import Unavailable
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.ledger.commands import DatedRecord
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.state import Group


K_contra = TypeVar("K_contra", contravariant=True)
V = TypeVar("V")


class Lists(Protocol[K_contra, V]):
    """A list for every key, empty until something was put there: what a fold is asked for by name alone."""

    def __getitem__(self, key: K_contra, /) -> tuple[V, ...]:
        """What is there."""
        ...

    def __setitem__(self, key: K_contra, items: tuple[V, ...], /) -> None:
        """What is there from now on."""
        ...


def no_lists() -> Lists[Any, Any]:
    """Lists in memory, where nothing was put yet."""
    return defaultdict[Any, tuple[Any, ...]](tuple)


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored attachment of one group."""

    path: str
    sha256: str
    size: int
    mime_type: str = "application/octet-stream"


class EarlierSubmission(msgspec.Struct, frozen=True, gc=False):
    """A submission that was accepted before under the same key."""

    seq: int
    at: Moment


class EventById(Protocol):
    """Finds an event of one group by its id."""

    def event(self, event_id: str) -> StoredEvent | None:
        """The event with this id, in this group."""
        ...


class EventLookup(EventById, Protocol):
    """The events of one group; sees everything admitted so far, also in the open batch."""

    def at(self, seq: int) -> StoredEvent | None:
        """The event at this position, in this group."""
        ...

    def messages(self, limit: int) -> list[StoredEvent]:
        """The last messages, oldest first."""
        ...


class Lookup(EventLookup, Protocol):
    """Read access to one group for the rules."""

    def submission(self, by: str, client_id: str) -> EarlierSubmission | None:
        """The last submission under this idempotency key."""
        ...

    def mark(self, mark: str, target: int, actor: str, detail: str = "") -> tuple[int, bool] | None:
        """The event that set an ack, notice ack or reaction, and whether it still holds."""
        ...

    def owes(self, actor: str, target: int) -> bool:
        """Is an acknowledgement by this actor open?"""
        ...

    def read_position(self, actor: str) -> tuple[int, int] | None:
        """(position read, event that said so)."""
        ...

    def blob(self, path: str, reader: str) -> Blob | None:
        """The blob, if this reader may see it."""
        ...

    def has_task(self, task_id: str) -> bool:
        """Does the group's task store have it?"""
        ...

    def speech(self, mid: str) -> StoredEvent | None:
        """The first message of the group that carries this CLowl id."""
        ...

    def require_source(self, group_id: str, event_id: str, reader: str) -> None:
        """Refuses unless it is an event of another group that `reader` may read (CCCS-095)."""
        ...


class JournalEntry(msgspec.Struct, frozen=True, gc=False):
    """One event on its way into a journal: its position, its id, its kind, its bytes, and its salt.

    The salt is None for what was written before events had any.
    """

    seq: int
    event_id: bytes
    kind: str
    raw: bytes
    salt: bytes | None = None


@dataclass(frozen=True, slots=True)
class Missed:
    """Entries of a group, or records of the hub's own, that are durable and not applied on this node."""

    group_id: str
    entries: tuple[JournalEntry, ...] = ()
    records: tuple[DatedRecord, ...] = ()


class Journal(Protocol):
    """Where order is decided and an event becomes durable: what the writer writes through.

    A batch goes in three steps, since what has left for another machine cannot be rolled back. `stage` takes
    each group's entries into the writer's transaction. `ship`, called once, when nothing of the writer's own
    can fail any more, makes the entries of all groups durable where order is decided. Then the writer commits
    its transaction and calls `settle`; or rolls it back and calls `forget`.
    """

    def number(self, group: Group) -> int:
        """The group's number here, given on first use."""
        ...

    def require_current(self, group_id: str) -> None:
        """Raise `NotCurrent` when more is known of a group than is applied here: it is not decided upon."""
        ...

    def stage(self, group: Group, entries: Sequence[JournalEntry], expected_last: int) -> None:
        """Take entries whose positions follow `expected_last` into the batch, or raise `Stale`."""
        ...

    def stage_record(self, record: DatedRecord) -> None:
        """Take a record of the hub's own into the batch, beside the groups."""
        ...

    def ship(self, bound: Sequence[frozenset[str]]) -> frozenset[str]:
        """Make all that was staged durable, or raise `Stale`; bound groups go together or not at all.

        No group is in two of the sets in `bound`; one there may have nothing staged. Returns the groups whose
        entries stay whatever becomes of the transaction: none, where the transaction itself is what makes
        them durable.
        """
        ...

    def settle(self) -> None:
        """The transaction was committed: the batch is over."""
        ...

    @property
    def is_unsettled(self) -> bool:
        """Is the fate of an earlier batch unknown still? The next `ship` asks, with or without a batch."""
        ...

    def require_open(self) -> None:
        """Raise `Unavailable` unless a batch would be taken now, as far as can be known without one."""
        ...

    def forget(self) -> None:
        """Drop what was learnt in a transaction that did not commit."""
        ...

    def missed(self) -> Iterator[Missed]:
        """What is durable and not applied here, in order; each is applied before the next is asked for."""
        ...


class Stale(Exception):
    """Some group's end is not where the writer believed: apply what was missed and decide again.

    `kept` are the groups of the same batch whose entries are durable all the same: those come back with what
    was missed, and deciding their commands again would append them twice. `failed` are groups that take
    nothing now, with what their callers are told.
    """

    def __init__(
        self, kept: frozenset[str] = frozenset(), failed: Mapping[str, Unavailable] | None = None
    ) -> None:
        super().__init__()
        self.kept = kept
        self.failed = dict(failed or {})


class NotCurrent(Stale):
    """Of a group that a command names something is only noted here: it is applied before the next try."""


class Behind(Unavailable):
    """Of these groups this node has only noted what is new: it is applied when somebody asks for them."""

    def __init__(self, groups: Sequence[str]) -> None:
        super().__init__(
            "this node has only noted what is new here: whoever asks its hub for it has all of it"
        )
        self.groups = tuple(groups)


class TooLarge(Exception):
    """A group's entries are more than one message can carry; nothing was shipped. Fewer commands may fit."""
