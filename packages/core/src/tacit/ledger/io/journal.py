"""The SQLite journal: order and durability of events (CCCS-018, CCCS-026, CCCS-114, CCCS-115).

Writes go through the connection's open transaction; whoever opened it commits, and that commit makes them
durable: nothing is left to ship, and nobody else can have written. Each event is chained to the
one before it (sha256 over the previous link and the event's own digest, `redaction`), so that order can be
proven, also when the content of one was taken away.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Bug
from tacit.ledger.envelope import digest
from tacit.ledger.io.schema import SHIFT
from tacit.ledger.ports import Stale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from tacit.ledger.commands import DatedRecord
    from tacit.ledger.ports import JournalEntry, Missed
    from tacit.ledger.state import Group

FIRST_LINK: Final = b"\0" * 32
NOTHING_KEPT: Final[frozenset[str]] = frozenset()


def link(previous: bytes, raw: bytes, salt: bytes | None) -> bytes:
    """The next link of a group's chain."""
    return sha256(previous + digest(raw, salt)).digest()


class SqliteJournal:
    """Implements the `Journal` port on one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._kinds: dict[str, int] = {}

    def last(self, group: Group) -> int:
        """The last position of a group; 0 when it has none."""
        row = self._connection.execute(
            "SELECT last_seq FROM groups WHERE group_id=?", (group.group_id,)
        ).fetchone()
        return int(row[0]) if row else 0

    def stage(self, group: Group, entries: Sequence[JournalEntry], expected_last: int) -> None:
        """Append entries whose positions follow `expected_last`, or raise `Stale`."""
        if self.last(group) != expected_last or entries[0].seq != expected_last + 1:
            raise Stale
        if entries[-1].seq != expected_last + len(entries):
            raise Bug("entries leave a gap or stand out of order")
        base = self.number(group) << SHIFT
        chain = group.chain or FIRST_LINK
        rows: list[tuple[int, bytes, int, bytes, bytes, bytes | None]] = []
        for entry in entries:
            chain = link(chain, entry.raw, entry.salt)
            kind = self._kind(entry.kind)
            rows.append((base | entry.seq, entry.event_id, kind, chain, entry.raw, entry.salt))
        self._connection.executemany("INSERT INTO events VALUES(?,?,?,?,?,?)", rows)
        group.chain = chain
        self._connection.execute(
            "UPDATE groups SET last_seq=?, last_ts=?, chain=? WHERE number=?",
            (entries[-1].seq, group.last_ts, chain, group.number),
        )

    def stage_record(self, record: DatedRecord) -> None:
        """Nothing to do: its rows are in the same transaction."""

    def ship(self, bound: Sequence[frozenset[str]]) -> frozenset[str]:
        """Nothing to do: the transaction holds all groups together, and its commit makes them durable."""
        del bound
        return NOTHING_KEPT

    def settle(self) -> None:
        """The transaction was committed."""

    @property
    def is_unsettled(self) -> bool:
        """Never: a commit of the file is known to be one, or to be none."""
        return False

    def require_open(self) -> None:
        """Nothing to ask: whether the disk takes it is tried by writing."""

    def missed(self) -> Iterator[Missed]:
        """Nothing: who has the file has every event."""
        return iter(())

    def require_current(self, group_id: str) -> None:
        """Nothing to ask: who has the file has every event."""

    def forget(self) -> None:
        """Drop what was learnt in a transaction that did not commit."""
        self._kinds.clear()

    def number(self, group: Group) -> int:
        """The group's number in this file, given on first use."""
        if not group.number:
            self._connection.execute(
                "INSERT INTO groups(group_id, last_seq, last_ts, chain) VALUES(?,0,0,?)",
                (group.group_id, FIRST_LINK),
            )
            group.number = self._connection.last_insert_rowid()
        return group.number

    def _kind(self, name: str) -> int:
        number = self._kinds.get(name)
        if number is None:
            self._connection.execute("INSERT OR IGNORE INTO kinds(name) VALUES(?)", (name,))
            row = self._connection.execute("SELECT number FROM kinds WHERE name=?", (name,)).fetchone()
            number = self._kinds[name] = int(row[0]) if row else 0
        return number
