"""The relay's file: group commit, durable before anything is answered (A2ACP-002, A2ACP-005, A2ACP-215).

What other nodes would have to know is asked here as well, and is nothing: `relay.io.jetstream` has them.

One writer thread; all writes that waited share one synced transaction. Positions rise for ever, across
restarts. The loop thread reads through its own connection. A write that fails changes nothing and says
`Unavailable`.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar, cast

import msgspec

from tacit.base.errors import Bug, TacitError, Unavailable
from tacit.base.io import sqlite
from tacit.base.io.group_commit import GroupCommit
from tacit.relay.io.schema import SCHEMA, once
from tacit.relay.quota import Overflow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import apsw

    from tacit.base.moment import ConfirmedTime, Moment
    from tacit.relay.federation import Pair
    from tacit.relay.followed import BatchNews
    from tacit.relay.settings import RelayLimits
    from tacit.wire.envelope import Envelope

R = TypeVar("R")

_log: Final = logging.getLogger("tacit.relay")
FILE: Final = "relay.sqlite"
NODE: Final = "node.id"
"""Stands in the folder of a node whose file is a cache of a journal."""
_LINGER: Final = 0.003
_INSERT: Final = (
    "INSERT OR IGNORE INTO queue"
    " (position, recipient, sender, packet_id, tag, size, accepted_at, envelope, sig, once)"
    " VALUES (?,?,?,?,?,?,?,?,?,?)"
)


@dataclass(slots=True)
class Put:
    """A packet to be stored for a local recipient; `then` learns its position, 0 for one already there."""

    recipient: int
    envelope: Envelope
    sig: str
    size: int
    accepted_at: Moment
    then: Callable[[Put, int | TacitError], None]
    position: int = 0
    # Packets and bytes of other nodes for this mailbox, up to which the room that was reserved is there.
    most_elsewhere: tuple[int, int] | None = None


@dataclass(slots=True)
class StoreWrite:
    """Any other write."""

    run: Callable[[apsw.Connection], object]
    future: asyncio.Future[object] | None = None
    # Told at once, in the order of the writes; a future's waiter comes later.
    then: Callable[[object], None] | None = None


class Overtaken(Unavailable):
    """Another node has stored packets in this mailbox: whether there is room has to be asked anew."""


class Queued(msgspec.Struct, frozen=True, gc=False):
    """A stored packet."""

    position: int
    sender: str
    tag: str
    size: int
    envelope: bytes
    sig: str


def follows_stream(folder: Path) -> bool:
    """Is what a folder holds a cache of a journal on other machines?"""
    return (folder / NODE).exists()


class RelayStore:
    """One relay's file, opened for serving. It is the relay's own: no other node writes what it holds."""

    is_shared = False

    def __init__(self, folder: Path, *, now: Moment, vfs: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder: Final = folder
        self._path = folder / FILE
        self._writer = sqlite.connect(self._path, vfs=vfs)
        self._path.chmod(0o600)
        SCHEMA.migrate(self._writer, self._path)
        self.reader = sqlite.connect(self._path, readonly=True, vfs=vfs)
        last = self._writer.execute(
            "SELECT max((SELECT ifnull(max(position),0) FROM queue),"
            " (SELECT ifnull(max(position),0) FROM outgoing))"
        ).get
        # Starting from the clock keeps a number from being given twice after a queue ran empty.
        self._position = max(int(cast("int", last)), int(now))
        self._checkpointer = sqlite.Checkpointer(self._path, vfs=vfs)
        self._checkpointer.watch(self._writer)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._commits: GroupCommit[Put | StoreWrite, object] = GroupCommit(
            self._commit, self._deliver, name="tacit-relay-writer"
        )
        self.commits = 0
        self._gathered: list[Put] = []
        self._crowded = False

    def newest(self) -> int | None:
        """The newest moment that anything here bears; None while nothing does."""
        return cast(
            "int | None",
            self.reader.execute(
                "SELECT max(at) FROM (SELECT max(accepted_at) at FROM queue UNION"
                " SELECT max(accepted_at) FROM outgoing UNION SELECT max(opened_at) FROM guests)"
            ).get,
        )

    def ask_time(self, witness: Callable[[Moment], None]) -> None:
        """Tell what time it is elsewhere, from now on; beside a file of one's own nobody says so."""

    def start(self) -> None:
        """Begin to write; results arrive on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._checkpointer.start()
        self._commits.start()

    async def close(self) -> None:
        """Write what waits, then close the file."""
        self._hand_over()
        await asyncio.to_thread(self._commits.close)
        await asyncio.to_thread(self._checkpointer.close)
        # Let the last results reach their callers before the file goes away.
        await asyncio.sleep(0)
        self.reader.close()
        self._writer.close()

    @property
    def is_on_duty(self) -> bool:
        """Does this node do what one node has to do: carry packets to other relays, keep the house?"""
        return True

    async def fresh(self) -> None:
        """Wait until everything that was acknowledged by any node can be read here."""

    def claim(self, account: int, then: Callable[[TacitError | None], None]) -> None:
        """Have the connection of an agent be the last one, on whichever nodes it has others.

        `then` is told before another connection that is later.
        """
        del account
        then(None)

    def reserved(self, put: Put, spare: tuple[int, int]) -> None:
        """Room for a packet was reserved, and so many packets and bytes would fit beside it."""

    def has_room(self, put: Put) -> bool:
        """Does the room that was reserved for a packet still hold? For the writer thread."""
        del put
        return True

    def follow(self, follower: Callable[[BatchNews], None]) -> None:
        """Hand over what other nodes write, from now on."""

    async def keep_house(self) -> None:
        """What the store itself needs to have done now and then, by the node that is on duty."""

    @property
    def waiting(self) -> int:
        """How many writes wait."""
        return self._commits.depth

    @property
    def died(self) -> bool:
        """Whether the writer has ended in a way nobody foresaw; the relay must then stop."""
        return self._commits.died is not None

    def put(self, put: Put) -> None:
        """Queue a packet to be stored; `put.then` is told, also when the store cannot take it.

        Packets that come thick wait a moment for each other, so that one synced commit serves many of
        them; one that comes alone goes at once.
        """
        self._gathered.append(put)
        if len(self._gathered) == 1:
            loop = asyncio.get_running_loop()
            if self._crowded:
                loop.call_later(_LINGER, self._hand_over)
            else:
                loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        gathered, self._gathered = self._gathered, []
        self._crowded = len(gathered) > 1
        try:
            self._commits.submit_all(gathered)
        except Unavailable as error:
            for put in gathered:
                put.then(put, error)

    def write(self, run: Callable[[apsw.Connection], R]) -> asyncio.Future[R]:
        """The result of `run` once its transaction is on disk; it takes its place in the order at once."""
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        # Whatever was put before is written before.
        if self._gathered:
            self._hand_over()
        self._commits.submit(StoreWrite(run, future))
        return cast("asyncio.Future[R]", future)

    def write_then(self, run: Callable[[apsw.Connection], R], then: Callable[[R | TacitError], None]) -> None:
        """As `write`; `then` is told before anything that is written later."""
        if self._gathered:
            self._hand_over()
        self._commits.submit(StoreWrite(run, then=cast("Callable[[object], None]", then)))

    def next_position(self) -> int:
        """For the writer thread alone."""
        self._position += 1
        return self._position

    def _commit(self, jobs: Sequence[Put | StoreWrite]) -> Sequence[object]:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            outcomes = self._run(jobs)
            self._writer.execute("COMMIT")
        except (*sqlite.FAILED, *sqlite.DAMAGED) as error:
            return self._failed(jobs, Unavailable(f"the relay cannot write: {type(error).__name__}"))
        self.commits += 1
        return outcomes

    def _failed(self, jobs: Sequence[Put | StoreWrite], failure: Unavailable) -> list[object]:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")
        return [failure] * len(jobs)

    def _run(self, jobs: Sequence[Put | StoreWrite]) -> list[object]:
        """Do all jobs in the open transaction, in their order; what is put side by side goes together."""
        outcomes: list[object] = []
        start = 0
        while start < len(jobs):
            end = start
            while end < len(jobs) and isinstance(jobs[end], Put):
                end += 1
            if end > start:
                outcomes += self._store(cast("Sequence[Put]", jobs[start:end]))
            else:
                outcomes.append(self._call(cast("StoreWrite", jobs[start])))
                end += 1
            start = end
        return outcomes

    def _store(self, puts: Sequence[Put]) -> list[object]:
        before = self._writer.total_changes()
        for put in puts:
            put.position = self.next_position()
        self._writer.executemany(_INSERT, [_row(put) for put in puts])
        if self._writer.total_changes() - before == len(puts):
            return [put.position for put in puts]
        # Rare: a packet that is already there. Find out which ones were new.
        stored = "SELECT 1 FROM queue WHERE position=?"
        return [put.position if self._writer.execute(stored, (put.position,)).get else 0 for put in puts]

    def _call(self, call: StoreWrite) -> object:
        self._writer.execute("SAVEPOINT call")
        try:
            outcome = call.run(self._writer)
        except TacitError as refused:
            self._writer.execute("ROLLBACK TO call")
            outcome = refused
        except (*sqlite.FAILED, *sqlite.DAMAGED):
            raise
        except Exception as error:  # noqa: BLE001 - our own mistake costs its caller an answer, not everyone the writer
            self._writer.execute("ROLLBACK TO call")
            _log.error("a write broke a rule of its own: %s", type(error).__name__)
            outcome = Bug(f"a write broke a rule of the file: {type(error).__name__}")
        self._writer.execute("RELEASE call")
        return outcome

    def _deliver(self, jobs: Sequence[Put | StoreWrite], outcomes: Sequence[object]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(settle, jobs, outcomes)

    def fetch(self, recipient: int, after: int, limit: int) -> list[Queued]:
        """Stored packets of one mailbox in the order they were accepted."""
        rows = self.reader.execute(
            "SELECT position, sender, tag, size, envelope, sig FROM queue WHERE recipient=? AND position>?"
            " ORDER BY position LIMIT ?",
            (recipient, after, limit),
        )
        return [Queued(*cast("tuple[int, str, str, int, bytes, str]", row)) for row in rows]

    def occupancy(self) -> list[tuple[int, str, str, int, int]]:
        """Recipient, tag, sender, packets and bytes of all that is stored."""
        return cast(
            "list[tuple[int, str, str, int, int]]",
            self.reader.execute(
                "SELECT recipient, tag, sender, count(*), sum(size) FROM queue"
                " GROUP BY recipient, tag, sender"
            ).fetchall(),
        )

    def operator_version(self) -> int:
        """A number that rises with each of the operator's commands."""
        return int(cast("int", self.reader.execute("SELECT version FROM operator_changes").get))


def _row(put: Put) -> tuple[int, int, str, str, str, int, int, bytes, str, bytes]:
    found = put.envelope
    return (
        put.position,
        put.recipient,
        found.sender,
        found.packet_id,
        found.queue_tag,
        put.size,
        put.accepted_at,
        found.raw,
        put.sig,
        once(put.recipient, found.sender, found.packet_id, put.sig),
    )


def settle(jobs: Sequence[Put | StoreWrite], outcomes: Sequence[object]) -> None:
    """Tell whoever waits, on the loop."""
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(job, Put):
            job.then(job, cast("int | TacitError", outcome))
        elif job.then is not None:
            job.then(outcome)
        elif job.future is not None and not job.future.done():
            if isinstance(outcome, TacitError):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)


def remove(
    connection: apsw.Connection, recipient: int, positions: Sequence[int]
) -> list[tuple[str, str, int]]:
    """Forget packets that their recipient has on disk; a negative number is an overflow marker's.

    Tag, sender and size of each that was there.
    """
    gone = connection.executemany(
        "DELETE FROM queue WHERE position=? AND recipient=? RETURNING tag, sender, size",
        [(position, recipient) for position in positions if position > 0],
    ).fetchall()
    connection.executemany(
        "DELETE FROM markers WHERE id=? AND recipient=?",
        [(-position, recipient) for position in positions if position < 0],
    )
    return cast("list[tuple[str, str, int]]", gone)


def replace(connection: apsw.Connection, put: Put, position: int) -> list[tuple[int, int]]:
    """Store a consolidated packet in place of its sender's packets of that tag; returns what went."""
    gone = connection.execute(
        "DELETE FROM queue WHERE recipient=? AND sender=? AND tag=? AND packet_id<>?"
        " RETURNING position, size",
        (put.recipient, put.envelope.sender, put.envelope.queue_tag, put.envelope.packet_id),
    ).fetchall()
    add(connection, put, position)
    return cast("list[tuple[int, int]]", gone)


def add(connection: apsw.Connection, put: Put, position: int) -> None:
    """Store a packet; its position is 0 when it was there already."""
    put.position = position
    connection.execute(_INSERT, _row(put))
    if not connection.execute("SELECT 1 FROM queue WHERE position=?", (position,)).get:
        put.position = 0


def expire(connection: apsw.Connection, until: ConfirmedTime) -> list[tuple[int, str, str, int, str]]:
    """Forget what nobody fetched in time; returns recipient, sender, tag, size and packet id of each."""
    return cast(
        "list[tuple[int, str, str, int, str]]",
        connection.execute(
            "DELETE FROM queue WHERE position IN (SELECT position FROM queue WHERE accepted_at<? LIMIT 5000)"
            " RETURNING recipient, sender, tag, size, packet_id",
            (until,),
        ).fetchall(),
    )


def mark(connection: apsw.Connection, recipient: int, tag: str, most: int) -> None:
    """Count a refused packet for its recipient, for a bounded number of tags."""
    known = connection.execute("SELECT count(*) FROM markers WHERE recipient=?", (recipient,)).get
    if int(cast("int", known)) < most:
        connection.execute(
            "INSERT INTO markers (recipient, tag, refused) VALUES (?,?,1)"
            " ON CONFLICT (recipient, tag) DO UPDATE SET refused=refused+1",
            (recipient, tag),
        )


def markers(connection: apsw.Connection, recipient: int) -> list[tuple[int, str, int]]:
    """Id, tag and number of refused packets of one mailbox."""
    rows = connection.execute("SELECT id, tag, refused FROM markers WHERE recipient=?", (recipient,))
    return cast("list[tuple[int, str, int]]", rows.fetchall())


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A packet on its way to another relay."""

    position: int
    sender: str
    recipient: str
    packet_id: str
    accepted_at: Moment
    envelope: bytes
    sig: str

    @property
    def pair(self) -> Pair:
        """Between whom it goes."""
        return self.sender, self.recipient


def put_outgoing(
    connection: apsw.Connection,
    position: int,
    found: Envelope,
    sig: str,
    domain: str,
    now: Moment,
    limits: RelayLimits,
) -> Overflow | None:
    """Store a packet for another relay, or say which limit is in the way.

    Those of a mailbox here: for one recipient as much as one contact may leave, for all of them one mailbox.
    """
    waiting = connection.execute(
        "SELECT ifnull(sum(recipient=?1 AND tag=?2),0), ifnull(sum(recipient=?1),0), count(*),"
        " ifnull(sum(length(envelope)) FILTER (WHERE recipient=?1),0), ifnull(sum(length(envelope)),0)"
        " FROM outgoing WHERE sender=?3 AND NOT (?4 AND recipient=?1 AND tag=?2 AND packet_id<>?5)",
        (found.recipient, found.queue_tag, found.sender, found.replaces_queue, found.packet_id),
    ).fetchone()
    of_tag, to_recipient, of_sender, bytes_to_recipient, size = cast(
        "tuple[int, int, int, int, int]", waiting
    )
    share = limits.contacts
    for count, held, most, most_bytes in (
        (of_tag, 0, limits.per_tag, share.one_bytes),
        (to_recipient, bytes_to_recipient, share.one_packets, share.one_bytes),
        (of_sender, size, limits.per_recipient, limits.per_recipient_bytes),
    ):
        if count >= most or (held and held + len(found.raw) > most_bytes):
            return Overflow(most)
    if found.replaces_queue:  # only now: what was accepted stays where its successor is refused
        connection.execute(
            "DELETE FROM outgoing WHERE sender=? AND recipient=? AND tag=? AND packet_id<>?",
            (found.sender, found.recipient, found.queue_tag, found.packet_id),
        )
    row = (domain, found.sender, found.packet_id, found.recipient, found.queue_tag, int(now), found.raw, sig)
    connection.execute("INSERT OR IGNORE INTO outgoing VALUES (?,?,?,?,?,?,?,?,?)", (position, *row))
    return None


def outgoing(
    connection: apsw.Connection, domain: str, limit: int, without: Sequence[Pair] = ()
) -> list[Outgoing]:
    """The oldest packets for one relay, those between some senders and recipients left out."""
    rows = connection.execute(
        "SELECT position, sender, recipient, packet_id, accepted_at, envelope, sig FROM outgoing"
        " WHERE domain=? AND (sender, recipient) NOT IN (SELECT value->>0, value->>1 FROM json_each(?))"
        " ORDER BY position LIMIT ?",
        (domain, msgspec.json.encode(without).decode(), limit),
    )
    return [Outgoing(*cast("tuple[int, str, str, str, Moment, bytes, str]", row)) for row in rows]


def waits_for(connection: apsw.Connection, domain: str) -> bool:
    """Whether anything waits for a relay."""
    return bool(connection.execute("SELECT 1 FROM outgoing WHERE domain=? LIMIT 1", (domain,)).get)


def outgoing_domains(connection: apsw.Connection) -> list[str]:
    """Relays for which something waits."""
    return [cast("str", row[0]) for row in connection.execute("SELECT DISTINCT domain FROM outgoing")]


def remove_outgoing(connection: apsw.Connection, positions: Sequence[int]) -> None:
    """Forget packets that another relay has, or has refused for good."""
    connection.executemany("DELETE FROM outgoing WHERE position=?", [(position,) for position in positions])
