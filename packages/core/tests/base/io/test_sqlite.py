from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tacit.base.errors import Corrupt, Unavailable, WrittenByNewer
from tacit.base.io.sqlite import STOPPED, Checkpointer, Schema, Stopping, connect, damage_hint, is_checked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ONE = "CREATE TABLE a(x); INSERT INTO a VALUES(1),(2);"
TWO = "ALTER TABLE a ADD COLUMN y; UPDATE a SET y=x*10;"


def value(connection: apsw.Connection, query: str) -> Any:
    row = connection.execute(query).fetchone()
    return row[0] if row else None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.db"


def test_commits_are_synced_and_logged_ahead(path: Path) -> None:
    connection = connect(path)
    assert value(connection, "PRAGMA journal_mode") == "wal"
    assert value(connection, "PRAGMA synchronous") == 2
    assert value(connection, "PRAGMA wal_autocheckpoint") == 0
    connection.close()


def test_the_pages_of_a_new_file_carry_checksums_where_that_is_asked_for(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.db"
    for one, checked in ((path, True), (plain, False)):
        connection = connect(one, checked=checked)
        Schema(77, (ONE,)).migrate(connection, one)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    assert (is_checked(path), is_checked(plain)) == (True, False)


def test_a_schema_with_two_steps_brings_an_old_file_forward(path: Path) -> None:
    connection = connect(path)
    assert Schema(77, (ONE,)).migrate(connection, path) == 1
    connection.execute("INSERT INTO a VALUES(3)")
    newer = Schema(77, (ONE, TWO))
    assert newer.migrate(connection, path) == 2
    assert newer.migrate(connection, path) == 2
    assert connection.execute("SELECT x, y FROM a").fetchall() == [(1, 10), (2, 20), (3, 30)]
    assert value(connection, "PRAGMA user_version") == 2
    assert value(connection, "PRAGMA application_id") == 77
    connection.close()


def test_a_step_may_be_a_function(path: Path) -> None:
    def step(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE b AS SELECT x+1 AS z FROM a")

    connection = connect(path)
    Schema(77, (ONE, step)).migrate(connection, path)
    assert connection.execute("SELECT z FROM b").fetchall() == [(2,), (3,)]
    connection.close()


@pytest.mark.parametrize("broken", ["DROP TABLE a; SELECT nonsense;", "function"])
def test_a_step_that_fails_leaves_the_file_at_its_version(path: Path, broken: str) -> None:
    def step(connection: apsw.Connection) -> None:
        connection.execute("DROP TABLE a")
        raise KeyError("no")

    connection = connect(path)
    Schema(77, (ONE,)).migrate(connection, path)
    bad = Schema(77, (ONE, TWO, step if broken == "function" else broken))
    with pytest.raises((apsw.SQLError, KeyError)):
        bad.migrate(connection, path)
    assert not connection.in_transaction
    assert value(connection, "PRAGMA user_version") == 2
    assert connection.execute("SELECT y FROM a").fetchall() == [(10,), (20,)]
    good = Schema(77, (ONE, TWO, "CREATE TABLE c(x)"))
    assert good.migrate(connection, path) == 3
    connection.close()


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE theirs(x); PRAGMA application_id=5",
        "CREATE TABLE theirs(x)",
        "CREATE TABLE theirs(x); PRAGMA user_version=1",
        "PRAGMA user_version=1",
    ],
)
def test_a_file_of_another_program_is_left_alone(path: Path, made: str) -> None:
    theirs = apsw.Connection(str(path))
    theirs.execute(made)
    before = theirs.execute("SELECT * FROM sqlite_master").fetchall()
    connection = connect(path)
    with pytest.raises(Corrupt, match="another program") as caught:
        Schema(77, (ONE,)).migrate(connection, path)
    assert "--data" in caught.value.hint
    assert theirs.execute("SELECT * FROM sqlite_master").fetchall() == before
    connection.close()
    theirs.close()


def test_a_file_of_a_newer_release_is_left_alone(path: Path) -> None:
    connection = connect(path)
    Schema(77, (ONE, TWO)).migrate(connection, path)
    refusal = (
        r"newer version of Tacit wrote .* format 2, .* up to 1\. Use that version or a newer one; nothing was"
    )
    with pytest.raises(WrittenByNewer, match=refusal):
        Schema(77, (ONE,)).migrate(connection, path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with pytest.raises(WrittenByNewer, match=refusal):
        Schema(77, (ONE,)).require_known_header(path)
    with pytest.raises(Corrupt, match="another program"):
        Schema(78, (ONE,)).migrate(connection, path)
    Schema(78, (ONE,)).require_known_header(path)
    Schema(77, (ONE, TWO)).require_known_header(path)
    connection.close()


def test_a_file_that_is_no_database_is_corrupt_with_a_hint(path: Path) -> None:
    path.write_bytes(b"this is no database at all, it only has its name" * 100)
    with pytest.raises(Corrupt, match="damaged or is no database") as caught:
        connect(path)
    assert "restore a backup" in caught.value.hint
    assert "tacit ledger verify" in damage_hint(path.with_name("ledger.db"))


def test_a_place_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="CantOpenError"):
        connect(tmp_path / "no" / "such" / "folder.db")
    with pytest.raises(Unavailable, match="CantOpenError"):
        connect(tmp_path / "absent.db", readonly=True)


class Log:
    """A table that grows, with a checkpointer that is driven step by step instead of by its thread."""

    def __init__(self, path: Path, *, soft_pages: int = 10, hard_pages: int = 40) -> None:
        self.connection = connect(path)
        self.connection.set_busy_timeout(0)
        self.connection.execute("CREATE TABLE t(x)")
        self.checkpointer = Checkpointer(path, soft_pages=soft_pages, hard_pages=hard_pages)
        self.checkpointer.watch(self.connection)
        self.other = connect(path)
        self.other.set_busy_timeout(5)

    def grow(self, commits: int) -> int:
        for _ in range(commits):
            self.connection.execute("INSERT INTO t VALUES(zeroblob(3000))")
        return self.checkpointer.pages

    def step(self) -> None:
        self.checkpointer._checkpoint(self.other)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "log.db")
    yield made
    made.connection.close()
    made.other.close()


def test_the_log_stays_bounded_when_nobody_holds_it(log: Log) -> None:
    for _ in range(50):
        assert log.grow(5) < 60
        log.step()


def test_a_long_log_is_moved_when_it_has_grown_and_not_after_every_commit(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.db", soft_pages=40, hard_pages=4_000)
    reader = connect(tmp_path / "log.db", readonly=True)
    reader.execute("BEGIN")
    assert value(reader, "SELECT count(*) FROM t") == 0  # the log cannot begin anew
    nudge, moved = log.checkpointer._wake, []
    while log.grow(1) < 200:
        if nudge.is_set():
            moved.append(log.checkpointer.pages)
            nudge.clear()
            log.step()
    assert 40 <= moved[0] < 50
    assert all(10 <= later - earlier < 20 for earlier, later in pairwise(moved))
    assert len(moved) > 5
    for one in (reader, log.connection, log.other):
        one.close()


def test_a_reader_that_holds_a_snapshot_lengthens_the_log_but_stops_no_writer(
    log: Log, tmp_path: Path
) -> None:
    reader = connect(tmp_path / "log.db", readonly=True)
    reader.execute("BEGIN")
    assert value(reader, "SELECT count(*) FROM t") == 0
    refused = 0
    for _ in range(120):
        log.grow(1)  # with no patience at all: a writer that had to wait would fail here
        try:
            log.step()
        except apsw.BusyError:
            refused += 1
    held = log.checkpointer.pages
    assert held > 200
    # It tried to start the log anew now and then, not after every commit.
    assert 0 < refused <= held // 10
    assert value(reader, "SELECT count(*) FROM t") == 0
    reader.execute("COMMIT")
    reader.close()
    for _ in range(3):
        log.grow(5)
        log.step()
    assert log.grow(1) < 60


def test_the_thread_checkpoints_when_nudged_and_ends_when_told(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    connection = connect(path)
    connection.execute("CREATE TABLE t(x)")
    checkpointer = Checkpointer(path, soft_pages=5, hard_pages=20)
    checkpointer.watch(connection)
    checkpointer.start()
    longest = 0
    for _ in range(5000):
        connection.execute("INSERT INTO t VALUES(zeroblob(3000))")
        if checkpointer.pages < longest:
            break
        longest = checkpointer.pages
        checkpointer._thread.join(0.001)  # commits of a store leave gaps too
    assert checkpointer.pages < longest
    checkpointer.close()
    assert not checkpointer._thread.is_alive()
    connection.close()


def test_a_checkpointer_that_cannot_open_its_file_counts_it_and_lives(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    checkpointer = Checkpointer(tmp_path / "no" / "such.db", soft_pages=1)
    connection = connect(path)
    checkpointer.watch(connection)
    checkpointer.start()
    connection.execute("CREATE TABLE t(x)")
    while not checkpointer.failures:
        checkpointer._thread.join(0.01)
        assert checkpointer._thread.is_alive()
    checkpointer.close()
    connection.close()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


def test_a_read_that_is_stopped_beside_another_leaves_no_transaction_behind(path: Path) -> None:
    connection = connect(path)
    stopping = Stopping()
    connection.create_scalar_function("stop", stopping.stop, 0)

    def read() -> None:
        connection.execute("BEGIN")
        try:
            rows = connection.execute(ENDLESS)
            while next(rows):
                connection.execute(f"SELECT stop() UNION ALL SELECT max(i) FROM ({ENDLESS})").fetchall()
        finally:
            connection.execute("ROLLBACK")

    with pytest.raises(STOPPED), stopping.on(connection):
        read()
    assert not connection.in_transaction
    assert connection.execute("SELECT 1").fetchall() == [(1,)]
