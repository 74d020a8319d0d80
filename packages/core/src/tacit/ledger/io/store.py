"""The store: one data folder with its lock, journal, read model, blobs, a way to its writer, and readers.

The only object that the rest of the house holds of the disk. It composes; the rules are elsewhere. The writer
is a part of its own (`OpenWriter`), so that it can stand in this process, behind a thread, or in another one.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import msgspec
from apsw import SQLITE_CHECKPOINT_TRUNCATE, BusyError

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.sqlite import (
    DAMAGED,
    FAILED,
    STOPPED,
    Checkpointer,
    add_checksums,
    connect,
    damage_hint,
    has_checksums,
    is_checked,
    is_damage,
    way_out,
)
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService, even_time
from tacit.base.moment import Moment, rfc3339
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.commands import Append, AppendedTogether, AppendTogether, Committed, Decided, Duplicate
from tacit.ledger.io import derived, erasure, folding, torn
from tacit.ledger.io.blobs import BLOBS, BlobFolder
from tacit.ledger.io.journal import SqliteJournal
from tacit.ledger.io.reader import Reader
from tacit.ledger.io.salvage import Salvage
from tacit.ledger.io.schema import SCHEMA, STREAM
from tacit.ledger.io.writer import Writer
from tacit.ledger.io.writer_thread import WriterThread, deliver_here
from tacit.ledger.principal import SYSTEM
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    import apsw

    from tacit.base.io.sqlite import Stopping
    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.commands import Command, GroupCommand, Success
    from tacit.ledger.engine import Engine
    from tacit.ledger.io.writer_thread import Deliver, Done, WriterTransport
    from tacit.ledger.ports import Journal

T = TypeVar("T")
log: Final = logging.getLogger("tacit.ledger")

DATABASE: Final = "ledger.db"
CHECKED: Final = "checksums"
OVERWRITTEN: Final = "overwritten"
"""Set once nothing lies in the file's free space that was there before freed space was overwritten."""
NOTICED_GROUPS: Final = 64


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a store is opened."""

    settings: AdmissionSettings = field(default_factory=AdmissionSettings)
    clock: Clock = field(default_factory=TimeService)
    entropy: Entropy = field(default_factory=SystemEntropy)
    readers: int = 2
    purpose: str = "tacit hub"
    vfs: str | None = None
    wal_hard_pages: int = 16_000
    keeps_torn: bool = True
    """Whether a half-written commit is kept aside and told of; else every start begins with an empty log."""
    journal: Callable[[apsw.Connection], Journal] = SqliteJournal
    """Where order is decided: in the file itself, unless the truth is elsewhere and the file follows it."""
    erases: Callable[[apsw.Connection], None] | None = None
    """How what was taken back goes from there."""
    blobs: Callable[[Path, Entropy], BlobFolder] = BlobFolder
    """Where the bytes of blobs are: in a folder, which may be a cache too."""
    lock: FolderLock | None = None
    """The folder's lock, where the process that has started this one holds it."""

    def locked(self, folder: Path) -> FolderLock:
        """The folder's lock, taken unless it is held for us."""
        return self.lock or FolderLock(folder, purpose=self.purpose)


class OpenWriter:
    """The writing end of a ledger's file: its connection, the writer on it, and the checkpoints of its log.

    Whoever opens one holds the folder's lock.
    """

    def __init__(
        self, path: Path, options: StoreOptions, engine: Callable[[apsw.Connection], Engine] | None = None
    ) -> None:
        self.connection = connect(path, vfs=options.vfs, overwrites=True)
        journal = options.journal(self.connection)
        self._blobs = options.blobs(path.parent / BLOBS, options.entropy)
        self.writer = Writer(
            self.connection, path, options.clock, options.entropy, options.settings, journal, self._blobs
        )
        self._folder = path.parent
        self._erases = options.erases
        if engine is not None:
            self.writer.attend(engine(self.connection))
        self.checkpointer = Checkpointer(path, hard_pages=options.wal_hard_pages, vfs=options.vfs)
        self.checkpointer.watch(self.connection)
        self.checkpointer.forgets_by(self._finish_erasures)
        self.writer.on_erasure = self.checkpointer.forget
        if erasure.is_pending(self.connection):
            self.checkpointer.forget()

    def _finish_erasures(self, connection: apsw.Connection) -> None:
        erasure.finish(connection, self._folder, self._blobs, self._erases)

    def start(self) -> None:
        """Begin to move the log."""
        self.checkpointer.start()

    def close(self) -> None:
        """Stop the checkpoints, let go of the file."""
        self.checkpointer.close()
        # What readers of another process still keep in the log, the next start takes away.
        self.connection.set_busy_timeout(0)
        with suppress(*FAILED, *DAMAGED, Unavailable):
            self._finish_erasures(self.connection)
        try:
            self.connection.close()
        except FAILED as error:
            log.warning("the log stays for the next start", extra={"fault": type(error).__name__})


class Store:
    """An open data folder. Blocking calls; the hub adapts them to its loop."""

    def __init__(
        self,
        folder: Path,
        options: StoreOptions | None = None,
        *,
        engine: Callable[[apsw.Connection], Engine] | None = None,
        elsewhere: Callable[[Store], WriterTransport] | None = None,
        makes_ready: bool = True,
    ) -> None:
        """`engine` is the fold above the ledger.

        `elsewhere` gives the way to a writer outside this process; unless `makes_ready`, it is that one who
        makes the file, and has done so when `elsewhere` returns.
        """
        self.options = options or StoreOptions()
        self.folder = folder
        self.path = folder / DATABASE
        self.blobs_folder = folder / BLOBS
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.lock = self.options.locked(folder)
        self._torn: torn.Torn | None = None
        self._embedded: OpenWriter | None = None
        try:
            if makes_ready:
                self._make_ready(engine)
            if elsewhere is None:
                self._embedded = OpenWriter(self.path, self.options, engine)
            self.blobs = self.options.blobs(self.blobs_folder, self.options.entropy)
            if self.options.lock is None:
                self.blobs.prepare()
            self.transport: WriterTransport = self._thread() if elsewhere is None else elsewhere(self)
        except (*DAMAGED, *FAILED) as error:
            self.lock.release()
            raise _as_fault(self.path, error, "the ledger cannot be opened") from error
        except BaseException:
            self.lock.release()
            raise
        self._readers: SimpleQueue[Reader] = SimpleQueue()
        self._reader_connections: list[apsw.Connection] = []
        for _ in range(self.options.readers):
            connection = connect(self.path, readonly=True)
            self._reader_connections.append(connection)
            self._readers.put(Reader(connection, Salvage(self.path)))
        if not makes_ready:
            self._go_on_from(self._reader_connections[0])
        self.pool = ThreadPoolExecutor(self.options.readers, thread_name_prefix="tacit-read")
        self._closed = False
        self.on_closed: Callable[[], None] = lambda: None
        """Called when everything is let go of."""

    def _make_ready(self, engine: Callable[[apsw.Connection], Engine] | None) -> None:
        """Bring tables and folds to the newest version, look at every group's end, start a torn log anew."""
        SCHEMA.require_known_header(self.path)
        if self.options.keeps_torn:
            self._torn = torn.set_aside(self.path, rfc3339(self.options.clock.now()))
        checked = self.options.vfs is None
        if checked and self.path.exists():
            self._make_sure_of_checksums()
        connection = connect(self.path, vfs=self.options.vfs, checked=checked, overwrites=True)
        try:
            SCHEMA.migrate(connection, self.path)
            if self.options.journal is SqliteJournal and _follows(connection):
                raise Refused("follows_stream", "this ledger follows a NATS stream: start it with --nats")
            _overwrite_old_space(connection)
            if checked and is_checked(self.path):
                connection.execute("INSERT OR IGNORE INTO facts VALUES(?, '1')", (CHECKED,))
            _check_ends(connection, self.path)
            self._go_on_from(connection)
            if engine is not None:
                self._fold_again(connection, engine(connection))
            if self._torn is not None or not self.options.keeps_torn:
                # The torn end is kept in quarantine; left in the log it would be found again after every
                # crash.
                with suppress(BusyError):
                    connection.wal_checkpoint(mode=SQLITE_CHECKPOINT_TRUNCATE)
            if self.options.erases is None:
                # Else what the file lacks comes first: it may be older than what is elsewhere.
                with suppress(BusyError):
                    erasure.finish(
                        connection, self.folder, BlobFolder(self.blobs_folder, self.options.entropy)
                    )
        finally:
            connection.close()

    def _fold_again(self, connection: apsw.Connection, engine: Engine) -> None:
        options = self.options
        writer = Writer(connection, self.path, options.clock, options.entropy, options.settings)
        folding.bring_forward(connection, writer, engine)

    def _go_on_from(self, connection: apsw.Connection) -> None:
        """Time goes on from the newest event: behind it every span would count from a time to come."""
        row = connection.execute("SELECT max(last_ts) FROM groups").fetchone()
        if (clock := even_time(self.options.clock)) and row is not None and row[0] is not None:
            clock.not_before(Moment(row[0]))

    def _make_sure_of_checksums(self) -> None:
        """A ledger from before checksums is rewritten once; one that had them and says no is damaged."""
        if not self.path.stat().st_size and self.blobs_folder.exists():
            raise Corrupt(f"{DATABASE} is empty", hint=damage_hint(self.path))
        with closing(connect(self.path)) as connection:
            lost = lost_checksums(connection, self.path)
        if lost:
            raise Corrupt(f"{DATABASE} is damaged in its first page", hint=damage_hint(self.path))
        if not add_checksums(self.path):
            log.warning("the ledger's pages carry no checksums yet: there is no room to rewrite it")

    def _thread(self) -> WriterThread:
        embedded = self._opened()
        return WriterThread(embedded.writer, lambda: embedded.checkpointer.pages)

    def _opened(self) -> OpenWriter:
        if self._embedded is None:
            raise Unavailable("the writer of this ledger stands in another process")
        return self._embedded

    @property
    def checkpointer(self) -> Checkpointer:
        """Who moves the log, when the writer stands in this process."""
        return self._opened().checkpointer

    @property
    def writer(self) -> Writer:
        """The writer, when it stands in this process."""
        return self._opened().writer

    def start(self, deliver: Deliver | None = None) -> None:
        """Begin to write. Without a loop to deliver to, outcomes are handed over where they arrive."""
        if self._embedded is not None:
            self._embedded.start()
        self.transport.start(deliver or deliver_here)
        if deliver is None:
            for notice in self.torn_notices():
                self.append(notice)

    def torn_notices(self) -> list[Submission]:
        """What the groups are told of a commit that an earlier crash left half-written; empty mostly."""
        if self._torn is None:
            return []
        found, self._torn = self._torn, None
        log.warning("a half-written commit was set aside", extra={"bytes": found.size})
        data = {
            "kind": "error",
            "priority": "high",
            "title": "The hub was stopped in the middle of a write",
            "message": "A write that was never acknowledged was set aside; nothing acknowledged is lost.",
            "context": {"kept_in": f"quarantine/{found.kept_in.name}", "bytes": found.size},
        }
        return self._to_groups(data)

    def clock_notices(self, by_seconds: int) -> list[Submission]:
        """What the groups are told of a machine's clock that was set."""
        data = {
            "kind": "error",
            "priority": "high",
            "title": "The machine's clock was set",
            "message": f"It moved by {by_seconds:+d} seconds. Deadlines and claims last as long as before, "
            "and what is written keeps its order; the time shown draws nearer to the machine's slowly.",
            "context": {"by_seconds": by_seconds},
        }
        return self._to_groups(data)

    def doubt_notices(self, doubt: str) -> list[Submission]:
        """What the groups are told of a machine's clock that is not believed."""
        title = "The machine's clock is in doubt"
        data = {
            "kind": "error",
            "priority": "high",
            "title": title,
            "message": f"{doubt[0].upper()}{doubt[1:]}.",
        }
        return self._to_groups(data)

    def _to_groups(self, data: dict[str, Any]) -> list[Submission]:
        """A notice to the groups in which something happened last."""
        groups = self.read(lambda reader: reader.groups())
        told = sorted(groups, key=lambda group: -group.last_ts)[:NOTICED_GROUPS]
        return [self.own_submission(group.group_id, "system.notify", data) for group in told]

    def own_submission(self, group_id: str, kind: str, data: dict[str, Any]) -> Submission:
        """A submission of the hub's own."""
        return Submission(group_id, SYSTEM, kind, data, msgspec.json.encode(data))

    def submit(self, command: Command, done: Done) -> None:
        """Queue a command for the writer."""
        self.transport.submit(command, done)

    def execute(self, command: Command) -> Success:
        """Have a command carried out, and wait until it is durable."""
        future: Future[Any] = Future()
        self.submit(command, future.set_result)
        outcome = future.result()
        if isinstance(outcome, (Refused, Unavailable, Corrupt)):
            raise outcome
        return outcome

    def append(self, submission: Submission, *, creates: bool = False) -> Committed | Duplicate:
        """Append and wait until it is durable."""
        return cast("Committed | Duplicate", self.execute(Append(submission, creates)))

    def together(self, submissions: Sequence[Submission]) -> tuple[Committed | Duplicate, ...]:
        """Append several, all or none, and wait."""
        return cast("AppendedTogether", self.execute(AppendTogether(tuple(submissions)))).outcomes

    def decide(self, command: GroupCommand) -> Decided:
        """Have the engine decide a command, and wait."""
        return cast("Decided", self.execute(command))

    def read(self, query: Callable[[Reader], T], stopping: Stopping | None = None) -> T:
        """Run a query on a free reader, against one state of the ledger; blocks while all are busy."""
        reader = self._readers.get()
        try:
            with (
                stopping.on(reader.connection) if stopping is not None else nullcontext(),
                read_faults(self.path, reader),
                reader.snapshot(),
            ):
                return query(reader)
        finally:
            self._readers.put(reader)

    def is_erasing(self) -> bool:
        """Has content that was taken back still to go from somewhere? Waits for no reader."""
        try:
            with closing(connect(self.path, readonly=True)) as connection:
                return erasure.is_pending(connection)
        except (*FAILED, *DAMAGED):
            return True  # nobody knows; whoever opens the file next finds out

    def new_group_id(self) -> str:
        """A fresh group id: the milliseconds, then chance, which keeps those of one millisecond apart."""
        return f"g_{self.options.clock.now() // 1000:012x}{self.options.entropy.draw(6).hex()}"

    def close(self) -> None:
        """Finish what waits, move the log into the database, let go of the folder. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        try:
            self.transport.close()
            self.pool.shutdown(wait=True)
            # Some read outside of the pool: a connection is closed once its reader has been given back.
            readers = [self._readers.get() for _ in self._reader_connections]
            for connection in self._reader_connections:
                connection.close()
            for reader in readers:
                # Whoever reads only now is told that the ledger is closed, and does not wait for ever.
                self._readers.put(reader)
            # The last connection that may write moves the log into the database; a reader cannot.
            if self._embedded is not None:
                self._embedded.close()
            else:
                _move_log(self.path)
        finally:
            self.lock.release()
            self.on_closed()


def lost_checksums(connection: apsw.Connection, path: Path) -> bool:
    """Does the file's first page say that pages carry no checksum, although they did?"""
    has_facts = connection.execute("SELECT 1 FROM sqlite_master WHERE name='facts'").fetchone()
    had = has_facts and connection.execute("SELECT 1 FROM facts WHERE name=?", (CHECKED,)).fetchone()
    return bool(had) and has_checksums() and not is_checked(path)


def _follows(connection: apsw.Connection) -> bool:
    """Is the truth elsewhere, so that what was written here alone would be nowhere?"""
    return connection.execute("SELECT 1 FROM facts WHERE name=?", (STREAM,)).fetchone() is not None


def _overwrite_old_space(connection: apsw.Connection) -> None:
    """A ledger from before freed space was overwritten is written anew once."""
    if connection.execute("SELECT 1 FROM facts WHERE name=?", (OVERWRITTEN,)).fetchone() is not None:
        return
    if connection.execute("SELECT 1 FROM events LIMIT 1").fetchone() is not None:
        try:
            connection.execute("VACUUM")
        except FAILED:
            log.warning("the ledger's free space may hold what was deleted: there is no room to rewrite it")
            return
    connection.execute("INSERT INTO facts VALUES(?, '1')", (OVERWRITTEN,))


def _move_log(path: Path) -> None:
    """What a writer of another process left in the log while readers were here."""
    try:
        connect(path).close()
    except (*FAILED, *DAMAGED, Unavailable, Corrupt) as error:
        log.warning("the log stays for the next start", extra={"fault": type(error).__name__})


def _as_fault(path: Path, error: Exception, otherwise: str) -> Corrupt | Unavailable:
    if is_damage(error) or isinstance(error, msgspec.DecodeError):
        return Corrupt("the ledger's file is damaged", hint=damage_hint(path))
    return Unavailable(f"{otherwise} ({type(error).__name__}){way_out(error)}")


@contextmanager
def read_faults(path: Path, reader: Reader) -> Generator[None]:
    """What may go wrong with a read, in the house's own kinds of error; damage by the names of tables."""
    try:
        try:
            yield
        except (*DAMAGED, *FAILED, msgspec.DecodeError) as error:
            if is_damage(error) and (hurt := reader.damaged_tables()):
                raise derived.fault(hurt) from error
            raise _as_fault(path, error, "the ledger cannot be read now") from error
    except STOPPED as error:
        raise Unavailable("the read was stopped") from error


def _check_ends(connection: apsw.Connection, path: Path) -> None:
    """Each group's last event must be where the group says it is; a cheap look at every start."""
    rows = connection.execute(
        "SELECT g.group_id, g.last_seq, e.chain=g.chain FROM groups g "
        "LEFT JOIN events e ON e.pos=(g.number<<40)|g.last_seq"
    ).fetchall()
    for group_id, last, same in rows:
        if last and not same:
            raise Corrupt(f"group {group_id} does not end where its record says", hint=damage_hint(path))
