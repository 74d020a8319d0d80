"""One discipline for every SQLite file in the house: WAL, synced commits, bounded WAL, versioned schema.

A commit that was answered is on disk. A file that cannot be trusted raises `Corrupt` with what to do.

A file that holds keys is kept otherwise (`erases`): what a commit replaces or removes is gone from the folder
when the commit has been answered. A write-ahead log keeps every earlier state until it is started anew, so
such a file has none: its rollback journal holds the state before for as long as the commit takes and is
removed with it, and freed space inside the file is overwritten.

A page may carry a checksum (SQLite's own checksum VFS, which apsw brings along): whoever reads the page reads
what was written, or is told that it is damaged. Every process of ours loads that VFS before it opens a file,
as one that wrote without it would leave pages whose checksums are wrong.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
import threading
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import apsw
from apsw import sqlite_extra

from tacit.base.errors import Corrupt, Unavailable, WrittenByNewer
from tacit.base.io.private_file import make_private

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

PAGE_CACHE_KIB: Final = 16_384
READER_CACHE_KIB: Final = 4_096
BUSY_MS: Final = 10_000
RESTART_WAIT_MS: Final = 50
FORGET_WAIT: Final = 0.05
MOST_FORGET_WAIT: Final = 5.0
CHECKSUM_BYTES: Final = 8
_RESERVED_AT: Final = 20
_HEADER_BYTES: Final = 100
_LOOK: Final = "SELECT count(*) FROM sqlite_master"
_LOOKS_EVERY: Final = 1_000
"""Steps of SQLite's machine between two looks at whether a read is to end: some tens of microseconds."""

DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError)
FAILED: Final = (
    apsw.IOError,
    apsw.FullError,
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.BusyError,
    apsw.NoMemError,
)


STOPPED: Final = (apsw.InterruptError, apsw.ExecTraceAbort)


def is_damage(error: BaseException) -> bool:
    """Does this fault mean that what was written is not what is read?"""
    return isinstance(error, DAMAGED) or (getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA)


def way_out(error: BaseException) -> str:
    """What a person does about a disk that refuses, as the end of a line."""
    match error:
        case apsw.FullError():
            return ": the disk is full; make room, then try again"
        case apsw.ReadOnlyError() | apsw.CantOpenError():
            return ": is the disk read-only, the folder another account's, or are too many files open?"
        case apsw.IOError():
            return ": the disk does not answer or is full; look at the machine's log"
        case _:
            return ""


@functools.cache
def has_checksums() -> bool:
    """Load the checksum VFS for all connections to come; false where apsw was built without it."""
    with closing(apsw.Connection(":memory:")) as connection:
        try:
            sqlite_extra.load(connection, "cksumvfs")
        except (sqlite_extra.NotAvailable, apsw.ExtensionLoadingError):
            return False
    return True


def is_checked(path: Path) -> bool:
    """Do the pages of this file carry checksums? The file's first page says so."""
    try:
        with path.open("rb") as file:
            file.seek(_RESERVED_AT)
            return file.read(1) == bytes([CHECKSUM_BYTES])
    except OSError:
        return False


def add_checksums(path: Path) -> bool:
    """Rewrite a file so that its pages carry checksums; nobody else may have it open. False: it stays."""
    if not has_checksums() or is_checked(path):
        return has_checksums()
    with closing(connect(path)) as connection:
        try:
            # In a write-ahead log pages keep the layout that they have.
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
            connection.reserve_bytes(reserve=CHECKSUM_BYTES)
            connection.execute("VACUUM")
        except FAILED:
            return False
        finally:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
    return True


class Stopping:
    """A way to end what runs on a connection, from any thread: the statement that runs, and all after it.

    SQLite's own interrupt would stay in force while another statement is open, and end the rollback too, so
    that the connection stayed in its transaction for good.
    """

    def __init__(self) -> None:
        self._stopped = False

    @contextmanager
    def on(self, connection: apsw.Connection) -> Generator[None]:
        """While the block runs, this is what can be stopped; what comes after it on the connection is not."""
        connection.exec_trace = self._goes_on
        connection.set_progress_handler(lambda: self._stopped, _LOOKS_EVERY)
        try:
            yield
        finally:
            connection.exec_trace = None
            connection.set_progress_handler(None)

    def _goes_on(self, _cursor: object, sql: str, _values: object) -> bool:
        return not self._stopped or sql == "ROLLBACK"

    def stop(self) -> None:
        """End it."""
        self._stopped = True


def damage_hint(path: Path) -> str:
    """What a person should do about a damaged file."""
    look = "run `tacit ledger verify` to see how far it is sound, " if path.name == "ledger.db" else ""
    return f"stop the process, keep a copy of {path.name} and {path.name}-wal, {look}then restore a backup"


def connect(
    path: Path,
    *,
    readonly: bool = False,
    vfs: str | None = None,
    erases: bool = False,
    checked: bool = False,
    overwrites: bool = False,
    patience_ms: int = BUSY_MS,
) -> apsw.Connection:
    """A connection under the house rules. `vfs` exists for tests that make the disk fail.

    With `checked` the pages of a file that is made here carry checksums; with `overwrites` what is freed in
    the file is overwritten.
    """
    if not has_checksums() and is_checked(path):
        raise Unavailable(f"{path.name} has checksums that this build of apsw does not know")
    try:
        if readonly:
            connection = _reading(path, vfs, patience_ms)
        else:
            _keep_private(path)
            connection = apsw.Connection(str(path), vfs=vfs)
            connection.set_busy_timeout(patience_ms)
        if checked and has_checksums() and not path.stat().st_size:
            connection.reserve_bytes(reserve=CHECKSUM_BYTES)
        if erases:
            _forget_what_goes(connection, path)
        elif not readonly:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            # Checkpoints belong to the Checkpointer's thread, never to a commit that someone waits for.
            connection.execute("PRAGMA wal_autocheckpoint=0")
        if overwrites:
            connection.execute("PRAGMA secure_delete=ON")
        if not readonly:
            # Without it, REPLACE would remove a row past the triggers that forbid it.
            connection.execute("PRAGMA recursive_triggers=ON")
        connection.execute(f"PRAGMA cache_size=-{READER_CACHE_KIB if readonly else PAGE_CACHE_KIB}")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute(_LOOK).fetchall()
    except DAMAGED as error:
        raise Corrupt(f"{path.name} is damaged or is no database", hint=damage_hint(path)) from error
    except FAILED as error:
        if is_damage(error):
            raise Corrupt(f"{path.name} is damaged", hint=damage_hint(path)) from error
        raise Unavailable(f"cannot open {path.name}: {type(error).__name__}{way_out(error)}") from error
    return connection


def _reading(path: Path, vfs: str | None, patience_ms: int) -> apsw.Connection:
    """A connection that only reads, and needs no place for a log or its index beside the file.

    To read a file with a write-ahead log SQLite makes both where they are missing. Where it cannot, nobody
    has the file open, as whoever had would have made them: what lies there does not change.
    """
    connection = _read_only(str(path), vfs, patience_ms)
    try:
        connection.execute(_LOOK).fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        log, index, journal = (path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))
        if index.exists() or journal.exists() or not path.exists():
            raise
        if log.exists() and log.stat().st_size:
            return _reading_copy(path, log, vfs, patience_ms)
        return _read_only(f"{path.absolute().as_uri()}?immutable=1", vfs, patience_ms)
    except BaseException:
        connection.close()
        raise
    return connection


def _reading_copy(path: Path, log: Path, vfs: str | None, patience_ms: int) -> apsw.Connection:
    """The file with its log, read from a copy, which is gone when the connection is closed."""
    with tempfile.TemporaryDirectory(prefix="tacit-read-") as scratch:
        copy = f"{scratch}/{path.name}"
        try:
            shutil.copyfile(path, copy)
            shutil.copyfile(log, f"{scratch}/{log.name}")
        except OSError as error:
            raise Unavailable(f"there is no room to read a copy of {path.name}: {error.strerror}") from error
        connection = _read_only(copy, vfs, patience_ms)
        connection.execute(_LOOK).fetchall()
    return connection


def _read_only(place: str, vfs: str | None, patience_ms: int) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | (apsw.SQLITE_OPEN_URI if place.startswith("file:") else 0)
    connection = apsw.Connection(place, flags=flags, vfs=vfs)
    connection.set_busy_timeout(patience_ms)
    return connection


def _keep_private(path: Path) -> None:
    """The log and its index are made with the rights that the file has; older ones are corrected."""
    beside = (path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))
    # A place that cannot be written is told of by whoever opens it next.
    with suppress(OSError):
        for one in (path, *(log for log in beside if log.exists())):
            make_private(one)


def _forget_what_goes(connection: apsw.Connection, path: Path) -> None:
    """No log of earlier states, and nothing left in freed space; a file from before is rewritten once."""
    before = str(connection.execute("PRAGMA journal_mode").get)
    mode = str(connection.execute("PRAGMA journal_mode=DELETE").get)
    if mode != "delete":
        raise Unavailable(f"{path.name} is in use by an older program; end it first")
    # The directory entry of the journal is synced too: a journal that came back would bring back what went.
    connection.execute("PRAGMA synchronous=EXTRA")
    connection.execute("PRAGMA secure_delete=ON")
    if before == "wal":
        connection.execute("VACUUM")


@dataclass(frozen=True, slots=True)
class Schema:
    """A file's identity and its versions: `steps[n]` leads from version n to n + 1."""

    application_id: int
    steps: Sequence[str | Callable[[apsw.Connection], None]]

    def require_known(self, connection: apsw.Connection, path: Path) -> int:
        """The version of a file; `WrittenByNewer` when this program does not know it."""
        version = _pragma(connection, "user_version")
        self._require_known(_pragma(connection, "application_id"), version, path)
        return version

    def require_known_header(self, path: Path) -> None:
        """The same before anything is opened, and so changed; what the log alone says shows later."""
        try:
            with path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except OSError:
            return
        application_id, version = (int.from_bytes(header[at : at + 4], "big") for at in (68, 60))
        self._require_known(application_id, version, path)

    def _require_known(self, application_id: int, version: int, path: Path) -> None:
        if application_id == self.application_id and version > len(self.steps):
            raise WrittenByNewer(f"this folder's {path.name}", version, len(self.steps))

    def migrate(self, connection: apsw.Connection, path: Path) -> int:
        """Bring the file forward to the newest version, each step in its own transaction."""
        application_id = _pragma(connection, "application_id")
        version = self.require_known(connection, path)
        is_blank = not version and not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        if application_id != self.application_id and not (application_id == 0 and is_blank):
            raise Corrupt(
                f"{path.name} belongs to another program", hint="point --data at a folder of Tacit's own"
            )
        for number in range(version, len(self.steps)):
            step = self.steps[number]
            connection.execute("BEGIN IMMEDIATE")
            try:
                if callable(step):
                    step(connection)
                else:
                    connection.execute(step)
                connection.execute(f"PRAGMA application_id={self.application_id}")
                connection.execute(f"PRAGMA user_version={number + 1}")
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        return len(self.steps)


def _pragma(connection: apsw.Connection, name: str) -> int:
    row = connection.execute(f"PRAGMA {name}").fetchone()
    return int(row[0]) if row else 0


class Checkpointer:
    """Moves the write-ahead log into the database in a thread of its own, so that no commit waits for it.

    Below `soft_pages` nothing happens; above, a passive checkpoint follows whenever the log has grown by a
    quarter of that since the last: each syncs twice, however little there is to move. When the log passes
    `hard_pages`, the next checkpoint starts the log anew. Doing so keeps writers out while it waits for
    readers, so it waits for a moment only; if a reader stays, it tries again `soft_pages` later.
    """

    def __init__(
        self, path: Path, *, soft_pages: int = 8_000, hard_pages: int = 16_000, vfs: str | None = None
    ) -> None:
        self._path = path
        self._vfs = vfs
        self._soft = soft_pages
        self._hard = hard_pages
        self._pages = 0
        self._held = 0
        self._moved = 0
        self._wake = threading.Event()
        self._closing = False
        self._forget: Callable[[apsw.Connection], None] | None = None
        self._forgets = False
        self.failures = 0
        self._thread = threading.Thread(target=self._run, name="tacit-checkpoint", daemon=True)

    def start(self) -> None:
        """Begin to listen for nudges."""
        self._thread.start()

    def watch(self, connection: apsw.Connection) -> None:
        """Be told of the log's length after each commit on `connection`."""

        def committed(_connection: apsw.Connection, _database: str, pages: int) -> int:
            self._pages = pages
            if pages < self._moved:
                # The log has begun anew.
                self._moved = 0
            if pages >= max(self._soft, self._moved + self._soft // 4):
                self._wake.set()
            return apsw.SQLITE_OK

        connection.set_wal_hook(committed)

    def forgets_by(self, forget: Callable[[apsw.Connection], None]) -> None:
        """How the log is started anew because of what it holds; raises `BusyError` while it is read."""
        self._forget = forget

    def forget(self) -> None:
        """Start the log anew soon: it holds what must go. Tried again until it has happened."""
        self._forgets = True
        self._wake.set()

    @property
    def pages(self) -> int:
        """The log's length at the last commit, in pages."""
        return self._pages

    def close(self) -> None:
        """Stop the thread."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        patience: float | None = None
        while True:
            self._wake.wait(patience)
            self._wake.clear()
            if self._closing:
                break
            try:
                if connection is None:
                    connection = connect(self._path, vfs=self._vfs, overwrites=True)
                    connection.set_busy_timeout(RESTART_WAIT_MS)
                if self._forgets and self._forget is not None:
                    patience = min(2 * (patience or FORGET_WAIT), MOST_FORGET_WAIT)
                    self._forgets = False
                    try:
                        self._forget(connection)
                    except BaseException:
                        self._forgets = True
                        raise
                    patience = None
                else:
                    self._checkpoint(connection)
            except (*FAILED, *DAMAGED, Unavailable, Corrupt):
                # The log simply stays longer; the next nudge tries again, the metric tells.
                self.failures += 1
        if connection is not None:
            connection.close()

    def _checkpoint(self, connection: apsw.Connection) -> None:
        pages = self._pages
        restart = pages >= max(self._hard, self._held)
        try:
            connection.wal_checkpoint(
                mode=apsw.SQLITE_CHECKPOINT_RESTART if restart else apsw.SQLITE_CHECKPOINT_PASSIVE
            )
        except apsw.BusyError:
            if restart:
                self._held = pages + self._soft
            raise
        self._moved = pages
        if restart:
            self._held = 0
