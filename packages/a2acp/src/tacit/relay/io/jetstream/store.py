"""A relay's store on a journal that several nodes share: the file is a cache of it.

Theory of operation.

*State.* The truth is the journal (`journal.RelayJournal`): messages in one order, each the changes of one
batch of writes, and a kept state now and then, behind which the journal is cut (`kept_state`). A node's file
is what the messages up to `applied` make of it; it may be lost, cut off or old at any time.

*What moves it.* A batch is decided as always, by the same functions in one transaction of the file
(`RelayStore._run`), while SQLite records which rows change. Then the record is published, guarded by the
sequence that the batch was decided upon. Taken: the file is committed, with its new end, and callers hear.
Overtaken by another node: the transaction is rolled back, what the other wrote is applied, and all jobs are
decided again. So every rule that holds inside a transaction of one relay's file (a one-time key is popped
once, a code is used once, a name is given once) holds for all nodes together. The other nodes are told that
the journal moved, apply the message, and act on its news (`BatchNews`): whoever is connected there is handed
its packet. Jobs, outcomes and news reach the loop in one order.

*What lives outside of transactions* is the count of the mailboxes' room: each node's loop reserves by its own
count. So a packet carries how much others may have stored meanwhile for the reservation to hold; beyond that
it is not stored and room is asked for anew (`Overtaken`). And the last connection of an agent: a login writes
a row, and whoever follows another node's row closes its own connection of that agent.

*What can go wrong.* No answer: the fate of the batch is unknown, its callers hear `Unavailable`, and nothing
is written until the subject has moved (by a fence, if need be); a packet that was taken after all comes back
as news. The node dies between the answer and its commit: the message is applied at its next start, by others
at once. A message does not fit the file: the file is damaged; the node stops, and begins anew at its next
start. A batch that is too large for a message is cut between jobs.

*Why so.* Rows in key-value entries would have to say every rule a second time, without transactions.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar, cast

import msgspec

from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.base.io import sqlite
from tacit.base.shipping import Fate
from tacit.relay.io.jetstream import changes
from tacit.relay.io.jetstream.journal import JournalBatch
from tacit.relay.io.store import Overtaken, Put, RelayStore, StoreWrite, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import apsw

    from tacit.base.io.folder_lock import FolderLock
    from tacit.base.io.jetstream.lease import Lease
    from tacit.base.moment import Moment
    from tacit.base.ports import Entropy
    from tacit.relay.followed import BatchNews
    from tacit.relay.io.jetstream.journal import RelayJournal
    from tacit.relay.io.jetstream.kept_state import KeptState

R = TypeVar("R")
_log: Final = logging.getLogger("tacit.relay")
TABLES: Final = """
CREATE TABLE IF NOT EXISTS present(
  account INTEGER PRIMARY KEY, node TEXT NOT NULL, login INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS stream_applied(
  id INTEGER PRIMARY KEY CHECK (id = 1), stream TEXT NOT NULL, sequence INTEGER NOT NULL,
  position INTEGER NOT NULL) STRICT;
"""
LOOK_EVERY: Final = 30
"""In how many rounds of housekeeping it is asked once whether the journal is to be cut."""
MOST_TRIES: Final = 200
"""How often a batch is decided again because other nodes were faster."""
OVERHEAD: Final = 512
"""Bytes of a packet's row beside its envelope, amply."""
UNKNOWN: Final = "whether this was written is not known: the journal does not answer"
DECLINED: Final = "the journal takes nothing now; nothing was written"
CROWDED: Final = "other nodes write all the time; nothing was written"
TOO_LARGE: Final = "this is too large for the servers' messages; nothing was written"
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(tuple[int, bytes]).decode


@dataclass(slots=True)
class CatchUp(StoreWrite):
    """Read what others wrote: up to a sequence, or to the end."""

    upto: int | None = None


class StreamStore(RelayStore):
    """One node's store of a relay that has several."""

    is_shared = True

    def __init__(
        self, folder: Path, journal: RelayJournal, *, node: str, now: Moment, entropy: Entropy
    ) -> None:
        super().__init__(folder, now=now)
        self.journal: Final = journal
        self.node: Final = node
        self._entropy = entropy
        self._writer.execute(TABLES)
        self._tables = changes.shared_tables(self._writer)
        mine = f"{journal.name} {journal.created}"
        self._writer.execute("INSERT OR IGNORE INTO stream_applied VALUES (1,?,0,0)", (mine,))
        applied = self._writer.execute("SELECT sequence, position FROM stream_applied").fetchone()
        self.applied, given = cast("tuple[int, int]", applied)
        self._position = max(self._position, given)
        self._unsettled: JournalBatch | None = None
        self._follower: Callable[[BatchNews], None] | None = None
        # What the loop is to hear, in the journal's order: news, and jobs with their outcomes.
        self._done: list[BatchNews | tuple[Sequence[Put | StoreWrite], Sequence[object]]] = []
        # Packets and bytes that others have stored for each mailbox, since this node follows: as the writer
        # has applied them, and as the loop has heard of them.
        self._applied_for: Counter[int] = Counter()
        self._applied_bytes_for: Counter[int] = Counter()
        self._heard_for: Counter[int] = Counter()
        self._heard_bytes_for: Counter[int] = Counter()
        self.lock: FolderLock | None = None
        self.lease: Lease | None = None
        self.kept_state: KeptState | None = None
        self._rounds = 0

    def check_stream(self) -> None:
        """Raise `Refused` when the file is a cache of another journal."""
        mine = f"{self.journal.name} {self.journal.created}"
        if self._writer.execute("SELECT stream FROM stream_applied").get != mine:
            raise Refused("other_stream", "this folder follows another stream: give an empty folder")

    def close_file(self) -> None:
        """Let go of a file that was never served from."""
        self.reader.close()
        self._writer.close()

    def ask_time(self, witness: Callable[[Moment], None]) -> None:
        """The servers say what time it is whenever the lease is renewed."""
        if self.lease is not None:
            self.lease.on_witness = witness

    def abandon(self) -> None:
        """Let go of everything, when nothing was served."""
        self.close_file()
        self._let_go()

    def _let_go(self) -> None:
        if self.lease is not None:
            self.lease.release()
        self.journal.connection.close()
        if self.lock is not None:
            self.lock.release()

    # On the loop.

    @property
    def is_on_duty(self) -> bool:
        """Does this node hold the lease?"""
        return self.lease is not None and self.lease.is_held

    async def fresh(self) -> None:
        """Wait until everything that was acknowledged by any node can be read here."""
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._commits.submit(CatchUp(_nothing, future))
        await future

    def claim(self, account: int, then: Callable[[TacitError | None], None]) -> None:
        """Have the connection of an agent be the last one: the journal's order decides."""

        def note(file: apsw.Connection) -> None:
            row = (account, self.node, self.next_position())
            file.execute("INSERT OR REPLACE INTO present VALUES (?,?,?)", row)

        self.write_then(note, then)

    def follow(self, follower: Callable[[BatchNews], None]) -> None:
        """Hand over what other nodes write, from now on. Nothing may be on its way to the file yet."""
        self._follower = follower
        self.journal.hear_moved(self._moved)

    def reserved(self, put: Put, spare: tuple[int, int]) -> None:
        """The room of a packet holds while others store no more than what is left beside it."""
        packets, size = self._heard_for[put.recipient], self._heard_bytes_for[put.recipient]
        put.most_elsewhere = packets + spare[0], size + spare[1]

    async def keep_house(self) -> None:
        """Look for what nobody said; on duty, cut the journal behind a kept state."""
        await self.fresh()
        self._rounds += 1
        if self.is_on_duty and self.kept_state is not None and self._rounds % LOOK_EVERY == 1:
            await asyncio.to_thread(self.kept_state.keep_if_due, self._path, self.journal)

    async def close(self) -> None:
        """Write what waits, then let go of the file, the lease and the servers."""
        await super().close()
        await asyncio.to_thread(self._let_go)

    # On the connection's thread.

    def _moved(self, sequence: int) -> None:
        loop = self._loop
        if sequence > self.applied and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._read_up_to, sequence)

    def _read_up_to(self, sequence: int) -> None:
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_seen)
        try:
            self._commits.submit(CatchUp(_nothing, future, upto=sequence))
        except Unavailable:
            future.cancel()

    # On the writer's thread.

    def write_now(self, run: Callable[[apsw.Connection], R]) -> R:
        """Write before the store is started, or without starting it."""
        (outcome,) = self._commit([StoreWrite(run)])
        self._done.clear()
        if isinstance(outcome, TacitError):
            raise outcome
        return cast("R", outcome)

    def catch_up(self, upto: int | None = None) -> None:
        """Apply what the journal has and the file has not."""
        if upto is None:
            upto = self.journal.ends()[1]
        if upto < self.applied:
            raise Unavailable("the journal ends before what this node has seen: it was set back")
        for sequence, payload in self.journal.read(self.applied, upto):
            self._apply(sequence, payload)

    def _apply(self, sequence: int, payload: bytes) -> None:
        news = None
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            if payload:
                position, changed = _decode(payload)
                if self._follower is not None:
                    news = changes.news(self._writer, changed, self.node)
                changes.apply(self._writer, changed)
                self._position = max(self._position, position)
            self._note(sequence)
            self._writer.execute("COMMIT")
        finally:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        self.applied = sequence
        if news is not None:
            self._done.append(news)
            for stored in news.stored:
                self._applied_for[stored.recipient] += 1
                self._applied_bytes_for[stored.recipient] += stored.size

    def _note(self, sequence: int) -> None:
        self._writer.execute("UPDATE stream_applied SET sequence=?, position=?", (sequence, self._position))

    def _commit(self, jobs: Sequence[Put | StoreWrite]) -> Sequence[object]:
        for some in self._portions(jobs):
            self._settle_some(some)
        return [outcome for done in self._done if isinstance(done, tuple) for outcome in done[1]]

    def _portions(self, jobs: Sequence[Put | StoreWrite]) -> Iterator[Sequence[Put | StoreWrite]]:
        """As many jobs at a time as one message can be expected to hold."""
        start, size = 0, 0
        for number, job in enumerate(jobs):
            needed = job.size + OVERHEAD if isinstance(job, Put) else OVERHEAD
            if size and size + needed > self.journal.room:
                yield jobs[start:number]
                start, size = number, 0
            size += needed
        yield jobs[start:]

    def _settle_some(self, jobs: Sequence[Put | StoreWrite]) -> None:
        try:
            self._read_on(jobs)
            outcomes = self._decided(jobs)
        except (*sqlite.FAILED, *sqlite.DAMAGED) as error:
            outcomes = self._failed(jobs, Unavailable(f"the relay cannot write: {type(error).__name__}"))
        except Unavailable as error:
            outcomes = self._failed(jobs, error)
        if outcomes is None:
            half = len(jobs) // 2
            self._settle_some(jobs[:half])
            self._settle_some(jobs[half:])
        else:
            self._done.append((jobs, outcomes))

    def _read_on(self, jobs: Sequence[Put | StoreWrite]) -> None:
        """Settle what was left unknown, and read what a job waits for."""
        if self._unsettled is not None:
            if self.journal.settle(self._unsettled).fate is Fate.UNKNOWN:
                raise Unavailable(UNKNOWN)
            self._unsettled = None
        wanted = [job.upto for job in jobs if isinstance(job, CatchUp)]
        if None in wanted:
            self.catch_up()
        elif wanted and (upto := max(upto for upto in wanted if upto is not None)) > self.applied:
            self.catch_up(upto)

    def _decided(self, jobs: Sequence[Put | StoreWrite]) -> Sequence[object] | None:
        """The outcomes; None for what is too much for one message."""
        for _ in range(MOST_TRIES):
            self._writer.execute("BEGIN IMMEDIATE")
            with changes.recording(self._writer, self._tables) as record:
                outcomes = self._run(jobs)
                changed = record.changes()
            if not changed:
                self._writer.execute("COMMIT")
                return outcomes
            payload = _encode((self._position, changed))
            if len(payload) > self.journal.room:
                self._writer.execute("ROLLBACK")
                if len(jobs) == 1:
                    raise Unavailable(TOO_LARGE)
                return None
            if self._shipped(payload):
                return outcomes
            self.catch_up()
        raise Unavailable(CROWDED)

    def _shipped(self, payload: bytes) -> bool:
        """Publish what was decided, and commit it; false when another node was faster."""
        batch = JournalBatch(self._entropy.draw(12).hex(), self.applied, payload)
        tracking = self.journal.carry(batch)
        if tracking.fate is Fate.KEPT:
            self._note(tracking.sequence)
            self._writer.execute("COMMIT")
            self.applied = tracking.sequence
            self.commits += 1
            self.journal.say_moved(tracking.sequence)
            return True
        self._writer.execute("ROLLBACK")
        if tracking.fate is Fate.UNKNOWN:
            self._unsettled = batch
            raise Unavailable(UNKNOWN, unknown=True)
        if tracking.fate is Fate.NOT_WRITTEN:
            raise Unavailable(DECLINED)
        return False

    def _store(self, puts: Sequence[Put]) -> list[object]:
        fitting = [put for put in puts if self.has_room(put)]
        stored = dict(zip(map(id, fitting), super()._store(fitting), strict=True)) if fitting else {}
        return [stored.get(id(put), Overtaken("the mailbox has changed")) for put in puts]

    def has_room(self, put: Put) -> bool:
        """Does the room that was reserved for a packet hold, after what others have stored meanwhile?"""
        if put.most_elsewhere is None:
            return True
        packets, size = put.most_elsewhere
        recipient = put.recipient
        return self._applied_for[recipient] <= packets and self._applied_bytes_for[recipient] <= size

    def _deliver(self, jobs: Sequence[Put | StoreWrite], outcomes: Sequence[object]) -> None:
        done, self._done = self._done, []
        if self.died:
            super()._deliver(jobs, outcomes)
        elif self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._hear, done)

    def _hear(self, done: Sequence[BatchNews | tuple[Sequence[Put | StoreWrite], Sequence[object]]]) -> None:
        for one in done:
            if isinstance(one, tuple):
                settle(*one)
                continue
            for stored in one.stored:
                self._heard_for[stored.recipient] += 1
                self._heard_bytes_for[stored.recipient] += stored.size
            if self._follower is not None:
                self._follower(one)


def _nothing(_file: apsw.Connection) -> None:
    """Nothing is written: the job waits for what it reads."""


def _seen(future: asyncio.Future[object]) -> None:
    """What could not be read now is read at the next opportunity."""
    if not future.cancelled() and future.exception() is not None:
        _log.warning("what other nodes wrote cannot be read now")
