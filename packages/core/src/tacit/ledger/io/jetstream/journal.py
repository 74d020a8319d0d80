"""The journal on JetStream: order is decided by the stream, the SQLite file is a cache of it.

A group's batch is one message, guarded by the sequence that the group's subject ended with. That sequence
is known from the answer alone, so it is kept in the cache, written between the answer and the commit
(`stream_ends`); so is how far the whole stream was applied, under the empty name, and which message brought
which events and files (`stream_batches`, `stream_blobs`), for the day on which their content has to go. The
cache may be deleted, cut off or old at any time: what it lacks is read from the stream. A group in which the
fate of a batch is unknown takes nothing until its subject has moved.

A node need not have all of every group. Of a group that nobody there reads or writes (`is_wanted`) a quiet
batch is only noted, by its place (`tacit.ledger.io.noted`); the group is behind from there on, its end stays
that of what was applied. The next batch of it that is not quiet, or somebody who asks, has it brought up, in
order and from the stream, and whatever is looked at here before that says that it is behind.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.shipping import Fate, Tracking, again
from tacit.ledger.commands import HUB, RecordBlob
from tacit.ledger.io.journal import FIRST_LINK, NOTHING_KEPT, SqliteJournal
from tacit.ledger.io.noted import NotedMessages
from tacit.ledger.io.schema import SHIFT, STREAM
from tacit.ledger.ports import NotCurrent, Stale, TooLarge
from tacit.ledger.quiet import is_quiet
from tacit.ledger.shipment import (
    COPIED,
    COPYING,
    INSTEAD,
    Shipment,
    ShipmentPart,
    group_of,
    packed,
    packed_records,
    token,
    unpacked,
    unpacked_records,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import apsw

    from tacit.ledger.commands import DatedRecord
    from tacit.ledger.io.jetstream.stream import JetStream
    from tacit.ledger.ports import JournalEntry, Missed
    from tacit.ledger.shipment import StreamMessage
    from tacit.ledger.state import Group

ALL: Final = ""
NO_ENTRIES: Final[tuple[int, bytes, Sequence[JournalEntry]]] = (0, b"", ())
TABLES: Final = """
CREATE TABLE IF NOT EXISTS stream_ends(name TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stream_batches(pos INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS stream_blobs(
  group_id TEXT NOT NULL, path TEXT NOT NULL, principal TEXT NOT NULL, sequence INTEGER NOT NULL,
  PRIMARY KEY(group_id, path, principal, sequence)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stream_instead(
  stands_for INTEGER NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY(stands_for, sequence)) WITHOUT ROWID;
"""
UNKNOWN: Final = "whether this was written is not known: the stream does not answer"
WAITS: Final = "an earlier write to this group has no answer yet; nothing was appended"
NOT_OURS: Final = "another hub may serve this group now; nothing was appended"
DECLINED: Final = "the stream takes nothing now; nothing was appended"


class JetStreamJournal(SqliteJournal):
    """Implements the `Journal` port on a stream and a cache of it."""

    def __init__(
        self,
        connection: apsw.Connection,
        stream: JetStream,
        holds: Callable[[str], bool] = lambda _group_id: True,
    ) -> None:
        """`holds`: may this node write to a group now?"""
        super().__init__(connection)
        self._holds = holds
        self._cache = connection
        self._stream = stream
        self._staged: dict[str, tuple[int, bytes, Sequence[JournalEntry]]] = {}
        self._records: list[DatedRecord] = []
        self._unsettled: dict[str, Shipment] = {}
        self._arriving = 0
        self._own_end = 0
        self.notes = False
        """May quiet batches of groups that nobody here wants be noted? Else all is applied."""
        self.awake: Final[set[str]] = set()
        """The groups that somebody here reads."""
        self._touched: set[str] = set()
        self.gapless = 0
        """Everything up to this sequence is applied here and committed."""
        self.reached = 0
        """The last sequence that is: this node's own, behind which others have written what is not yet."""
        # What a power cut takes from the log is in the stream: a commit need not wait for this disk, too.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(TABLES)
        self._noted = NotedMessages(connection)
        self._same_stream()
        self.settle()

    def _same_stream(self) -> None:
        """A cache belongs to one stream; events of another would not be noticed before they were mixed."""
        mine = f"{self._stream.name} {self._stream.created}"
        row = self._cache.execute("SELECT value FROM facts WHERE name=?", (STREAM,)).fetchone()
        if row is None and self._cache.execute("SELECT 1 FROM events LIMIT 1").fetchone() is not None:
            raise Refused("other_ledger", "this folder holds a ledger of its own, which no stream has")
        if row is not None and row[0] != mine:
            raise Refused("other_stream", "this folder follows another stream: give an empty folder")
        self._cache.execute("INSERT OR IGNORE INTO facts VALUES(?, ?)", (STREAM, mine))

    def stage(self, group: Group, entries: Sequence[JournalEntry], expected_last: int) -> None:
        """Take entries whose positions follow `expected_last` into the batch, or raise `Stale`."""
        before = group.chain or FIRST_LINK
        super().stage(group, entries, expected_last)
        pos = group.number << SHIFT | entries[0].seq
        if self._arriving:
            self._keep_batch(pos, self._arriving)
        self._staged[group.group_id] = (pos, before, entries)

    def stage_record(self, record: DatedRecord) -> None:
        """Take a record of the hub's own into the batch: they have a subject of their own."""
        self._records.append(record)
        self._staged[HUB] = NO_ENTRIES

    def ship(self, bound: Sequence[frozenset[str]]) -> frozenset[str]:
        """Publish every group's batch and wait for all fates; raises `Stale` unless all are kept."""
        self._touched.clear()  # whatever had to be current for this batch was
        if not self._staged:
            return self._move_on_alone()
        blocked = self._move_on(self._staged.keys() & self._unsettled.keys())
        shipments: list[Shipment] = []
        for shipment in self._shipments(bound):
            groups = [part.group_id for part in shipment.parts]
            if not any(self._holds(group) for group in groups):
                blocked |= dict.fromkeys(groups, Unavailable(NOT_OURS))
            elif not any(group in blocked for group in groups):
                shipments.append(shipment)
        tries = self._stream.tries
        tracked = [(shipment, Tracking(shipment.batch_id, tries)) for shipment in shipments]
        ends, failed = dict[str, int](), dict(blocked)
        for shipment, tracking in zip(shipments, self._stream.carry(tracked), strict=True):
            groups = [part.group_id for part in shipment.parts]
            match tracking.fate:
                case Fate.KEPT:
                    first = tracking.sequence - len(groups) + 1
                    ends.update((group, first + number) for number, group in enumerate(groups))
                case Fate.UNKNOWN:
                    self._unsettled.update(dict.fromkeys(groups, shipment))
                    failed.update(dict.fromkeys(groups, Unavailable(UNKNOWN, unknown=True)))
                case Fate.NOT_WRITTEN:
                    failed.update(dict.fromkeys(groups, Unavailable(DECLINED)))
                case _:
                    pass
        self._note(ends)
        kept = frozenset(ends)
        if kept != self._staged.keys():
            raise Stale(kept, {name: fault for name, fault in failed.items() if fault is not None})
        return kept

    def require_open(self) -> None:
        """Raise `Unavailable` unless the stream answers."""
        self._stream.require_open()

    def _move_on_alone(self) -> frozenset[str]:
        """Nothing is to be written: look after what was left unknown; `Stale` when some of it is known."""
        waiting = set(self._unsettled)
        self._move_on(waiting)
        if waiting != self._unsettled.keys():
            raise Stale
        return NOTHING_KEPT

    @property
    def is_unsettled(self) -> bool:
        """Is there a group in which the fate of a batch is unknown?"""
        return bool(self._unsettled)

    def _move_on(self, groups: set[str]) -> dict[str, Unavailable | None]:
        """Settle what was left unknown in these groups; none of them takes anything in this batch."""
        if not groups:
            return {}
        old = {self._unsettled[group].batch_id: self._unsettled[group] for group in groups}
        tracked = [(one, again(Tracking(one.batch_id, 1), self._stream.tries)) for one in old.values()]
        for shipment, tracking in zip(old.values(), self._stream.carry(tracked), strict=True):
            if tracking.fate is not Fate.UNKNOWN:
                for part in shipment.parts:
                    self._unsettled.pop(part.group_id, None)
        return {group: Unavailable(WAITS) if group in self._unsettled else None for group in groups}

    def _shipments(self, bound: Sequence[frozenset[str]]) -> list[Shipment]:
        together = [sorted(groups & self._staged.keys()) for groups in bound]
        alone = self._staged.keys() - {group for groups in together for group in groups}
        shipments: list[Shipment] = []
        for groups in [*(groups for groups in together if groups), *([group] for group in sorted(alone))]:
            parts = tuple(
                ShipmentPart(
                    group, token(group), self._end_of(group), self._payload(group), self._is_quiet(group)
                )
                for group in groups
            )
            if any(len(part.payload) > self._stream.room for part in parts):
                raise TooLarge
            shipments.append(Shipment(secrets.token_hex(12), parts))
        return shipments

    def _is_quiet(self, group: str) -> bool:
        return group != HUB and is_quiet(self._staged[group][2])

    def _payload(self, group: str) -> bytes:
        _pos, before, entries = self._staged[group]
        return packed_records(self._records) if group == HUB else packed(before, entries)

    def settle(self) -> None:
        """The cache was committed."""
        self._staged.clear()
        self._records.clear()
        self._arriving = 0
        self.gapless = self.applied
        self.reached = max(self.reached, self._own_end, self.gapless)
        self._noted.settle()

    def forget(self) -> None:
        """Drop what was learnt in a transaction that did not commit."""
        super().forget()
        self._staged.clear()
        self._records.clear()
        self._arriving = self._own_end = 0
        self._noted.forget()

    def missed(self) -> Iterator[Missed]:
        """What the stream has and the cache has not, in the stream's order."""
        applied, end = self.applied, self._stream.end()
        if end < applied:
            raise Unavailable("the stream ends before what this node has seen: it was set back, restore it")
        yield from self._taken(self._stream.read(applied, end))
        yield from self.brought_up([group_id for group_id in self._noted.groups if self._is_wanted(group_id)])

    def arrived(self, messages: Iterable[StreamMessage], upto: int) -> Iterator[Missed]:
        """The same, of messages that came by themselves; what is missing in between is read, up to `upto`."""
        for message in messages:
            yield from self._taken(self._stream.read(self.applied, message.sequence - 1))
            if message.sequence > self.applied:
                yield from self._taken((message,))
        yield from self._taken(self._stream.read(self.applied, upto))

    @property
    def applied(self) -> int:
        """The sequence up to which everything was taken in, in the open transaction too."""
        return self._end_of(ALL)

    def _taken(self, messages: Iterable[StreamMessage]) -> Iterator[Missed]:
        for message in messages:
            self._keep_end(ALL, message.sequence)
            if message.token.startswith(INSTEAD):
                self._note_instead(message)
                continue
            if message.token in {COPYING, COPIED}:
                if not self._stream.has(COPIED):
                    raise Unavailable("a copy into this stream has not come to its end")
                continue
            group_id = group_of(message.token)
            if message.sequence <= self._end_of(group_id):
                continue
            if self._is_left(group_id, message):
                self._noted.note(group_id, message.sequence)
                continue
            if group_id in self._noted.groups:
                yield from self.brought_up((group_id,))
            yield from self._applied(group_id, message)

    def _applied(self, group_id: str, message: StreamMessage) -> Iterator[Missed]:
        self._keep_end(group_id, message.sequence)
        self._arriving = message.sequence
        if message.payload:
            yield self._following(group_id, message.payload)

    # -- what is only noted

    @property
    def behind(self) -> frozenset[str]:
        """The groups of which something is only noted."""
        return frozenset(self._noted.groups)

    @property
    def count_behind(self) -> int:
        """How many there are; on any thread."""
        return len(self._noted.groups)

    def _is_wanted(self, group_id: str) -> bool:
        """Is a group read or written here?"""
        return (
            not self.notes
            or group_id in self.awake
            or group_id in self._touched
            or group_id == HUB
            or self._holds(group_id)
        )

    def _is_left(self, group_id: str, message: StreamMessage) -> bool:
        """Is it enough to note this message? A fence has nothing to apply, unless something is before it."""
        may_wait = message.quiet if message.payload else group_id in self._noted.groups
        return may_wait and not self._is_wanted(group_id)

    def presses(self, message: StreamMessage) -> bool:
        """May somebody wait for this? Of groups that are written here it was applied before it came."""
        group_id = group_of(message.token)
        return not self._holds(group_id) and not self._is_left(group_id, message)

    def brought_up(self, groups: Iterable[str]) -> Iterator[Missed]:
        """What was noted of these groups, in the stream's order, to be applied."""
        noted = self._noted.of(groups)
        last = {group_id: sequence for sequence, group_id in noted}
        for message in self._stream.read_these([sequence for sequence, _group_id in noted]):
            group_id = group_of(message.token)
            self._noted.drop(group_id, message.sequence, is_last=last[group_id] == message.sequence)
            yield from self._applied(group_id, message)

    def require_current(self, group_id: str) -> None:
        """Raise `NotCurrent` when something is only noted of a group: it is brought up for the next try."""
        if group_id in self._noted.groups:
            self._touched.add(group_id)
            raise NotCurrent

    def _note_instead(self, message: StreamMessage) -> None:
        """Two for one place: whoever put the second died before the first was gone. It is finished here."""
        if not message.payload:
            return
        stands_for = int(message.token.removeprefix(INSTEAD))
        run = self._cache.execute
        if run("SELECT 1 FROM stream_instead WHERE stands_for=?", (stands_for,)).fetchone() is not None:
            run("INSERT INTO erasures(pos) VALUES(NULL)")
        run("INSERT OR IGNORE INTO stream_instead VALUES(?,?)", (stands_for, message.sequence))

    def _following(self, group_id: str, payload: bytes) -> Missed:
        if group_id == HUB:
            brought = unpacked_records(payload)
            self._keep_blobs(brought.records, self._arriving)
            return brought
        before, missed = unpacked(group_id, payload)
        row = self._cache.execute("SELECT chain FROM groups WHERE group_id=?", (group_id,)).fetchone()
        if before != (bytes(row[0]) if row else FIRST_LINK):
            raise Corrupt(
                f"what this node has of group {group_id} is not what the stream has",
                hint="remove ledger.db: it is made anew from the stream",
            )
        return missed

    def _end_of(self, name: str) -> int:
        row = self._cache.execute("SELECT sequence FROM stream_ends WHERE name=?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def _keep_end(self, name: str, sequence: int) -> None:
        self._cache.execute("INSERT OR REPLACE INTO stream_ends VALUES(?,?)", (name, sequence))

    def _note(self, ends: dict[str, int]) -> None:
        """These groups end there now; the stream is applied up to there, if nobody else wrote in between."""
        # In the stream's order, which need not be that of sending: else a gap would seem to be left.
        for group, sequence in sorted(ends.items(), key=lambda end: end[1]):
            self._own_end = max(self._own_end, sequence)
            self._keep_end(group, sequence)
            if group == HUB:
                self._keep_blobs(self._records, sequence)
            else:
                self._keep_batch(self._staged[group][0], sequence)
            if self._end_of(ALL) == sequence - 1:
                self._keep_end(ALL, sequence)

    def _keep_batch(self, pos: int, sequence: int) -> None:
        self._cache.execute("INSERT OR REPLACE INTO stream_batches VALUES(?,?)", (pos, sequence))

    def _keep_blobs(self, records: Sequence[DatedRecord], sequence: int) -> None:
        brought = [dated.record for dated in records if isinstance(dated.record, RecordBlob)]
        self._cache.executemany(
            "INSERT OR IGNORE INTO stream_blobs VALUES(?,?,?,?)",
            [(one.group_id, one.sha256, one.principal, sequence) for one in brought],
        )
