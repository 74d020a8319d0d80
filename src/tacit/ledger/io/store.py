"""The store: one data folder with its lock, journal, read model, blobs, writer and readers.

The only object that the rest of the house holds of the disk. It composes; the rules are elsewhere.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import msgspec
from apsw import SQLITE_CHECKPOINT_TRUNCATE, BusyError

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.group_commit import GroupCommit
from tacit.base.io.sqlite import DAMAGED, FAILED, Checkpointer, connect, damage_hint
from tacit.base.io.system import SystemClock, SystemEntropy
from tacit.base.moment import rfc3339
from tacit.ledger.admission import Settings, Submission
from tacit.ledger.io import torn
from tacit.ledger.io.blobs import BlobFolder
from tacit.ledger.io.reader import Reader
from tacit.ledger.io.schema import SCHEMA
from tacit.ledger.io.writer import Append, CommandOutcome, Committed, Duplicate, Job, Together, Write, Writer
from tacit.ledger.principal import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import apsw

    from tacit.base.ports import Clock, Entropy

T = TypeVar("T")
log: Final = logging.getLogger("tacit.ledger")
Deliver = "Callable[[Sequence[Job], Sequence[Outcome]], None]"

DATABASE: Final = "ledger.db"
NOTICED_GROUPS: Final = 64


def deliver_here(jobs: Sequence[Job], outcomes: Sequence[CommandOutcome]) -> None:
    """Answer callers from the writer thread itself."""
    for job, outcome in zip(jobs, outcomes, strict=True):
        job.done(outcome)


@dataclass(frozen=True, slots=True)
class Options:
    """How a store is opened."""

    settings: Settings = field(default_factory=Settings)
    clock: Clock = field(default_factory=SystemClock)
    entropy: Entropy = field(default_factory=SystemEntropy)
    readers: int = 2
    purpose: str = "tacit hub"
    vfs: str | None = None
    wal_hard_pages: int = 16_000


class Store:
    """An open data folder. Blocking calls; the hub adapts them to its loop."""

    def __init__(self, folder: Path, options: Options | None = None) -> None:
        self.options = options or Options()
        self.folder = folder
        self.path = folder / DATABASE
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = FolderLock(folder, purpose=self.options.purpose)
        try:
            self._torn = torn.set_aside(self.path, rfc3339(self.options.clock.now()))
            self._connection = connect(self.path, vfs=self.options.vfs)
            SCHEMA.migrate(self._connection, self.path)
            self._check_ends()
            if self._torn is not None:
                self._start_log_anew()
        except DAMAGED as error:
            self._lock.release()
            raise Corrupt("the ledger's file is damaged", hint=damage_hint(self.path)) from error
        except FAILED as error:
            self._lock.release()
            raise Unavailable(f"the ledger cannot be opened: {type(error).__name__}") from error
        except BaseException:
            self._lock.release()
            raise
        self.blobs = BlobFolder(folder / "blobs", self.options.entropy)
        self.blobs.prepare()
        self.writer = Writer(
            self._connection, self.path, self.options.clock, self.options.entropy, self.options.settings
        )
        self.checkpointer = Checkpointer(
            self.path, hard_pages=self.options.wal_hard_pages, vfs=self.options.vfs
        )
        self.checkpointer.watch(self._connection)
        self._deliver: Callable[[Sequence[Job], Sequence[CommandOutcome]], None] = deliver_here
        self.queue: GroupCommit[Job, CommandOutcome] = GroupCommit(self.writer.commit, self._hand_over)
        self._readers: SimpleQueue[Reader] = SimpleQueue()
        self._reader_connections: list[apsw.Connection] = []
        for _ in range(self.options.readers):
            connection = connect(self.path, readonly=True)
            self._reader_connections.append(connection)
            self._readers.put(Reader(connection))
        self.pool = ThreadPoolExecutor(self.options.readers, thread_name_prefix="tacit-read")
        self._closed = False

    def start(
        self, deliver: Callable[[Sequence[Job], Sequence[CommandOutcome]], None] = deliver_here
    ) -> None:
        """Begin to write; reports what an earlier crash left half-written."""
        self._deliver = deliver_here
        self.checkpointer.start()
        self.queue.start()
        if self._torn is not None:
            self._report_torn(self._torn)
        self._deliver = deliver

    def _hand_over(self, jobs: Sequence[Job], outcomes: Sequence[CommandOutcome]) -> None:
        self._deliver(jobs, outcomes)

    def _check_ends(self) -> None:
        """Each group's last event must be where the group says it is; a cheap look at every start."""
        rows = self._connection.execute(
            "SELECT g.group_id, g.last_seq, e.chain=g.chain FROM groups g "
            "LEFT JOIN events e ON e.pos=(g.number<<40)|g.last_seq"
        ).fetchall()
        for group_id, last, same in rows:
            if last and not same:
                raise Corrupt(
                    f"group {group_id} does not end where its record says", hint=damage_hint(self.path)
                )

    def _start_log_anew(self) -> None:
        """The torn end is kept in quarantine; left in the log it would be found again after every crash."""
        with suppress(BusyError):
            self._connection.wal_checkpoint(mode=SQLITE_CHECKPOINT_TRUNCATE)

    def _report_torn(self, found: torn.Torn) -> None:
        log.warning("a half-written commit was set aside", extra={"bytes": found.size})
        data = {
            "kind": "error",
            "priority": "high",
            "title": "The hub was stopped in the middle of a write",
            "message": "A write that was never acknowledged was set aside; nothing acknowledged is lost.",
            "context": {"kept_in": f"quarantine/{found.kept_in.name}", "bytes": found.size},
        }
        groups = self.read(lambda reader: reader.groups())
        for group in sorted(groups, key=lambda group: -group.last_ts)[:NOTICED_GROUPS]:
            self.append(self.own_submission(group.group_id, "system.notify", data))

    def own_submission(self, group_id: str, kind: str, data: dict[str, Any]) -> Submission:
        """A submission of the hub's own."""
        return Submission(group_id, SYSTEM, kind, data, msgspec.json.encode(data))

    def submit(self, job: Job) -> None:
        """Queue a job for the writer."""
        self.queue.submit(job)

    def append(self, submission: Submission, *, creates: bool = False) -> Committed | Duplicate:
        """Append and wait until it is durable."""
        return cast("Committed | Duplicate", self._wait(lambda done: Append(submission, done, creates)))

    def together(
        self,
        submissions: Sequence[Submission],
        prepare: Callable[[apsw.Connection], None] | None = None,
    ) -> list[Committed | Duplicate]:
        """Append several, all or none, and wait."""
        return cast(
            "list[Committed | Duplicate]", self._wait(lambda done: Together(submissions, done, prepare))
        )

    def write(self, act: Callable[[apsw.Connection], T]) -> T:
        """Write what is no event, and wait."""
        return cast("T", self._wait(lambda done: Write(act, done)))

    def _wait(self, job: Callable[[Callable[[Any], None]], Job]) -> object:
        future: Future[object] = Future()
        self.submit(job(future.set_result))
        outcome = future.result()
        if isinstance(outcome, (Refused, Unavailable, Corrupt)):
            raise outcome
        return outcome

    def read(self, query: Callable[[Reader], T]) -> T:
        """Run a query on a free reader, against one state of the ledger; blocks while all are busy."""
        reader = self._readers.get()
        try:
            with reader.snapshot():
                return query(reader)
        except (*DAMAGED, msgspec.DecodeError) as error:
            raise Corrupt("the ledger's file is damaged", hint=damage_hint(self.path)) from error
        except FAILED as error:
            raise Unavailable(f"the ledger cannot be read now ({type(error).__name__})") from error
        finally:
            self._readers.put(reader)

    def new_group_id(self) -> str:
        """A fresh group id: the milliseconds, then chance, which keeps those of one millisecond apart."""
        return f"g_{self.options.clock.now() // 1000:012x}{self.options.entropy.draw(6).hex()}"

    def close(self) -> None:
        """Finish what waits, move the log into the database, let go of the folder. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self.queue.close()
        self.checkpointer.close()
        self.pool.shutdown(wait=True)
        try:
            for connection in (*self._reader_connections, self._connection):
                connection.close()
        except FAILED as error:
            log.warning("the log stays for the next start", extra={"fault": type(error).__name__})
        finally:
            self._lock.release()
