"""The agent's journal: the ledger's own store in a folder beside its keys, one group, one writer.

A2ACP-067, A2ACP-210, A2ACP-215, A2ACP-216. Every record is an event `x.a2acp.*` of the `system`; the fold
runs in the writer, in the transaction of the event, and its tables are what a start reads: a few rows for
each open thread, none for what has ended. So do the contents that the events name: they lie in the same file,
in a table that can forget (`vault`). `tacit ledger verify` and `rebuild` work on it as on any ledger.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.agent.kernel.book import TABLES
from tacit.agent.kernel.fold import VERSION, apply
from tacit.agent.kernel.io import vault
from tacit.agent.kernel.io.paths import FOLDER
from tacit.agent.kernel.workspace import absorb, layered
from tacit.base.errors import Bug, Corrupt, Refused, Unavailable
from tacit.base.io.sqlite import connect
from tacit.base.moment import Moment
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.commands import GroupCommand
from tacit.ledger.engine import NO_CONSEQUENCES, Consequences, Plan
from tacit.ledger.envelope import NOTHING_MORE, Remains
from tacit.ledger.io.fold_tables import GroupFolds
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.principal import SYSTEM
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import apsw

    from tacit.agent.kernel import records
    from tacit.agent.kernel.book import Book
    from tacit.agent.kernel.fold import Fold
    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.engine import GroupSnapshot
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.ports import Lookup
    from tacit.ledger.state import Group

GROUP: Final = "g_agent"
STEP: Final = 500
_PREFIX: Final = "a2acp."


def _open_question(question: Any) -> bool:
    return question.is_open


def book_on(folds: GroupFolds, fold: Fold) -> Book:
    """The fold's state on the tables of a ledger's file."""
    whole = folds.whole({f"{_PREFIX}{name}": fold.tables[name] for name in fold.always_loaded})
    by_key = {
        name: folds.table(f"{_PREFIX}{name}", *types, _open_question if name == "questions" else None)
        for name, types in fold.tables.items()
        if name not in fold.always_loaded
    }
    return fold.book(by_key | {name.removeprefix(_PREFIX): table for name, table in whole.items()})


def settings_on(folds: GroupFolds) -> Mapping[str, str]:
    """Of that state the settings alone: under which id each is kept."""
    return next(iter(folds.whole({f"{_PREFIX}settings": TABLES["settings"]}).values()))


class Decide(GroupCommand, frozen=True, tag=True, array_like=True):
    """A decision: its records, the values that they name, and those whose place was taken."""

    submissions: tuple[Submission, ...]
    keep: tuple[vault.Kept, ...] = ()
    gone: tuple[str, ...] = ()


class JournalEngine:
    """Follows the journal in the writer (the ledger's `Engine` port); what to write was decided before."""

    version: int = VERSION

    def __init__(self, connection: apsw.Connection, fold: Fold) -> None:
        self._connection = connection
        vault.prepare(connection)
        self._fold = fold
        self._folds: GroupFolds | None = None
        self._book = fold.book()

    def judge(self, submission: Submission, snapshot: GroupSnapshot) -> None:
        """The journal's only writer is the agent itself: there is nobody to refuse."""

    def committed(self, group: Group, event: StoredEvent, at: Moment, lookup: Lookup) -> Consequences:
        """Move past an event."""
        self.folded(group, event, at, lookup)
        return NO_CONSEQUENCES

    def folded(self, group: Group, event: StoredEvent, at: Moment, lookup: Lookup) -> None:  # noqa: ARG002 - a port's
        """Move past an event, live or in a rebuild."""
        found = self._fold.decoded(event.kind, event.data) if event.by == SYSTEM else None
        if found is None:
            return
        if self._folds is None:
            self._folds = GroupFolds(self._connection, group.number)
            self._book = book_on(self._folds, self._fold)
        apply(self._book, *found)

    def plan(self, command: GroupCommand, snapshot: GroupSnapshot) -> Plan:
        """The records of a decision, and in the same transaction its values."""
        if not isinstance(command, Decide):
            raise Bug(
                f"{type(command).__name__} at {snapshot.now}: the agent's journal knows no such command"
            )
        return Plan(
            command.submissions,
            lambda _outcomes: vault.write(self._connection, command.keep, command.gone),
        )

    def remains(self, group: Group, event: StoredEvent, lookup: Lookup) -> Remains:  # noqa: ARG002 - a port's
        """Nothing in the journal is ever said to anybody: what goes is forgotten by the vault."""
        return NOTHING_MORE

    def flush(self) -> None:
        """Write what changed into the open transaction."""
        if self._folds is not None:
            self._folds.flush()

    def forget(self) -> None:
        """Drop what belonged to a transaction that did not commit."""
        self._folds = None


class Journal:
    """One agent's journal, open; and the state folded from it."""

    def __init__(
        self, folder: Path, fold: Fold, *, clock: Clock, entropy: Entropy, vfs: str | None = None
    ) -> None:
        options = StoreOptions(
            settings=AdmissionSettings(idempotency_window=Moment(0)),
            clock=clock,
            entropy=entropy,
            readers=1,
            purpose="tacit agent",
            vfs=vfs,
            keeps_torn=False,
        )
        self.store = Store(
            folder / FOLDER, options, engine=lambda connection: JournalEngine(connection, fold)
        )
        self.store.start()
        number = self._group_number()
        self._connection = connect(self.store.path, readonly=True)
        self._folds = GroupFolds(self._connection, number)
        self.fold = fold
        self.book = book_on(self._folds, fold)
        for table in self.book.by_name().values():
            # What is open is read now, and moved by decisions alone from here on: read later, it could show
            # what the writer has just committed beside what is not yet part of the state.
            len(table)

    def _group_number(self) -> int:
        groups = self.store.read(lambda reader: reader.groups())
        if not groups:
            data = {"title": "agent"}
            first = Submission(GROUP, SYSTEM, "group.create", data, msgspec.json.encode(data))
            self.store.append(first, creates=True)
            groups = self.store.read(lambda reader: reader.groups())
        return groups[0].number

    def layer(self) -> Book:
        """A layer over the state, for one decision."""
        return layered(self.book)

    async def append(
        self,
        layer: Book,
        said: Sequence[records.Record],
        at: Moment,
        *,
        keep: Mapping[str, tuple[str, bytes]] = MappingProxyType({}),
        gone: Sequence[str] = (),
    ) -> None:
        """Make a decision durable, all of it or none, and only then part of the state.

        `keep` are the values that it names, by id: whose they are, and their bytes.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def settle(outcome: Any) -> None:
            loop.call_soon_threadsafe(lambda: done.done() or done.set_result(outcome))

        submissions: list[Submission] = []
        for record in said:
            kind, data, raw = self.fold.encoded(record, at)
            submissions.append(Submission(GROUP, SYSTEM, kind, data, raw))
        kept = tuple((name, contact, int(at), value) for name, (contact, value) in keep.items())
        self.store.submit(Decide(GROUP, tuple(submissions), kept, tuple(gone)), settle)
        outcome = await done
        if isinstance(outcome, (Refused, Unavailable, Corrupt)):
            raise outcome
        absorb(layer)
        self._folds.settle()

    def records(self, *kinds: str) -> Iterator[tuple[records.Record, Moment]]:
        """What the journal says, in order; only of some kinds when they are named."""
        for _, record, at in self.after(0, *kinds):
            yield record, at

    def end(self) -> int:
        """The position of the last record."""
        return self.store.read(lambda reader: reader.group(GROUP)).last_seq

    def after(self, position: int, *kinds: str) -> Iterator[tuple[int, records.Record, Moment]]:
        """The same after a position, each with its own."""
        from tacit.ledger.cursor import Selection

        after = position
        while True:
            page = self.store.read(
                lambda reader, after=after: reader.page(
                    reader.group(GROUP), "user", Selection(since_seq=after, kinds=kinds, limit=STEP)
                )
            )
            for event in page.events:
                found = self.fold.decoded(event.kind, event.data)
                if found is not None:
                    yield event.seq, *found
            if page.next_seq >= page.last_seq:
                return
            after = page.next_seq

    def close(self) -> None:
        """Let go of the folder."""
        self._connection.close()
        self.store.close()
