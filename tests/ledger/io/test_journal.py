from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.base.io.sqlite import connect
from tacit.ledger.io.journal import FIRST_LINK, SqliteJournal, link
from tacit.ledger.io.schema import SCHEMA, SEQ_MASK, SHIFT
from tacit.ledger.state import Group
from tests.ledger.journal_contract import JournalContract, entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class SqliteBench:
    """The journal on a file of its own; the bench plays the writer, who opens and ends transactions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open()

    def _open(self) -> None:
        self.connection = connect(self.path)
        SCHEMA.migrate(self.connection, self.path)
        self.journal = SqliteJournal(self.connection)
        self.connection.execute("BEGIN IMMEDIATE")

    def settle(self) -> None:
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN IMMEDIATE")

    def undo(self) -> None:
        self.connection.execute("ROLLBACK")
        self.connection.execute("BEGIN IMMEDIATE")
        self.journal.forget()

    def stored(self, group: Group, after: int, limit: int) -> list[bytes]:
        rows = self.connection.execute(
            "SELECT raw FROM events WHERE pos>? AND pos<=? ORDER BY pos LIMIT ?",
            (group.number << SHIFT | after, group.number << SHIFT | SEQ_MASK, limit),
        )
        return [bytes(raw) for (raw,) in rows]

    def restart(self) -> None:
        self.connection.close()
        self._open()

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
        made.connection.close()

    def test_an_unfinished_transaction_leaves_nothing(self, bench: SqliteBench) -> None:
        group = self.fill(bench, "g_a", 3)
        bench.journal.commit(group, entries("g_a", 4, 2), 3)
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
