from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.base.io.sqlite import connect
from tacit.ledger.io.journal import FIRST_LINK, SqliteJournal, link
from tacit.ledger.io.schema import SCHEMA, SEQ_MASK, SHIFT
from tacit.ledger.state import Group
from tests.ledger.journal_contract import JournalContract, SharedJournalContract, entries
from tests.ledger.shared_journal import SharedJournal, Truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import apsw

    from tacit.ledger.ports import Journal


class SqliteBench:
    """A journal on a file of its own; the bench plays the writer, who opens and ends transactions."""

    def __init__(self, path: Path, journal: Callable[[apsw.Connection], Journal] = SqliteJournal) -> None:
        self.path = path
        self._made = journal
        self._open()

    def _open(self) -> None:
        self.connection = connect(self.path)
        SCHEMA.migrate(self.connection, self.path)
        self.journal = self._made(self.connection)
        self.connection.execute("BEGIN IMMEDIATE")

    def ship(self, *bound: set[str]) -> frozenset[str]:
        return self.journal.ship([frozenset(groups) for groups in bound])

    def settle(self) -> None:
        self.connection.execute("COMMIT")
        self.journal.settle()
        self.connection.execute("BEGIN IMMEDIATE")

    def undo(self) -> None:
        self.connection.execute("ROLLBACK")
        self.journal.forget()
        self.connection.execute("BEGIN IMMEDIATE")
        for missed in self.journal.missed():
            group = self.group(missed.group_id)
            self.journal.stage(group, missed.entries, group.last_seq)
        self.settle()

    def stored(self, group: Group, after: int, limit: int) -> list[bytes]:
        rows = self.connection.execute(
            "SELECT raw FROM events WHERE pos>? AND pos<=? ORDER BY pos LIMIT ?",
            (group.number << SHIFT | after, group.number << SHIFT | SEQ_MASK, limit),
        )
        return [bytes(raw) for (raw,) in rows]

    def restart(self) -> None:
        self.connection.close()
        self._open()

    def close(self) -> None:
        self.connection.close()

    def group(self, name: str) -> Group:
        row = self.connection.execute(
            "SELECT number, last_seq, chain FROM groups WHERE group_id=?", (name,)
        ).fetchone()
        if row:
            return Group(name, row[0], last_seq=row[1], chain=bytes(row[2]))
        group = Group(name)
        self.journal.number(group)
        return group


class TestSqliteJournal(JournalContract):
    @pytest.fixture
    def bench(self, tmp_path: Path) -> Iterator[SqliteBench]:
        made = SqliteBench(tmp_path / "journal.db")
        yield made
        made.close()

    def test_an_unfinished_transaction_leaves_nothing(self, bench: SqliteBench) -> None:
        group = self.fill(bench, "g_a", 3)
        bench.journal.stage(group, entries("g_a", 4, 2), 3)
        bench.restart()
        assert bench.journal.last(bench.group("g_a")) == 3

    def test_each_event_is_chained_to_the_one_before(self, bench: SqliteBench) -> None:
        group = self.fill(bench, "g_a", 7)
        chain = FIRST_LINK
        for raw, (stored,) in zip(
            self.texts(bench, group),
            bench.connection.execute("SELECT chain FROM events ORDER BY pos"),
            strict=True,
        ):
            chain = link(chain, raw, None)
            assert bytes(stored) == chain
        assert group.chain == chain


class TestSharedJournal(SharedJournalContract):
    """The model that the writer's tests use in place of a second machine promises what the others promise."""

    @pytest.fixture
    def truth(self) -> Truth:
        return Truth()

    @pytest.fixture
    def bench(self, tmp_path: Path, truth: Truth) -> Iterator[SqliteBench]:
        made = SqliteBench(tmp_path / "one.db", lambda connection: SharedJournal(connection, truth))
        yield made
        made.close()

    @pytest.fixture
    def other(self, tmp_path: Path, truth: Truth) -> Iterator[SqliteBench]:
        made = SqliteBench(tmp_path / "other.db", lambda connection: SharedJournal(connection, truth))
        yield made
        made.close()
