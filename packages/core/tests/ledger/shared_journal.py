"""A journal whose truth is outside of the file, in this process: several writers can share it.

The smallest thing that behaves like a stream on other machines: it refuses what does not follow, and it does not
roll back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.ledger.io.journal import SqliteJournal
from tacit.ledger.ports import Missed, Stale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import apsw

    from tacit.ledger.ports import JournalEntry
    from tacit.ledger.state import Group


class Truth:
    """What is durable, in order; `before_taking` is called before each shipment is looked at."""

    def __init__(self) -> None:
        self.log: list[Missed] = []
        self.ends: dict[str, int] = {}
        self.before_taking: Callable[[], None] = lambda: None

    def take(self, batches: Sequence[Missed]) -> bool:
        """All of these or, when one does not follow its group's end, none."""
        if any(batch.entries[0].seq != self.ends.get(batch.group_id, 0) + 1 for batch in batches):
            return False
        for batch in batches:
            self.log.append(batch)
            self.ends[batch.group_id] = batch.entries[-1].seq
        return True


class SharedJournal(SqliteJournal):
    """One node's end of it: the file holds what was applied here."""

    def __init__(self, connection: apsw.Connection, truth: Truth) -> None:
        super().__init__(connection)
        self._cache = connection
        self._truth = truth
        self._staged: dict[str, Missed] = {}

    def stage(self, group: Group, entries: Sequence[JournalEntry], expected_last: int) -> None:
        super().stage(group, entries, expected_last)
        self._staged[group.group_id] = Missed(group.group_id, tuple(entries))

    def ship(self, bound: Sequence[frozenset[str]]) -> frozenset[str]:
        self._truth.before_taking()
        parts = [*bound, *({name} for name in self._staged if not any(name in part for part in bound))]
        kept = frozenset[str]()
        for part in parts:
            if self._truth.take([self._staged[name] for name in sorted(part & self._staged.keys())]):
                kept |= part & self._staged.keys()
        if kept != self._staged.keys():
            raise Stale(kept)
        return kept

    def settle(self) -> None:
        self._staged.clear()

    def forget(self) -> None:
        super().forget()
        self._staged.clear()

    def missed(self) -> Iterator[Missed]:
        row = self._cache.execute("SELECT value FROM facts WHERE name='applied'").fetchone()
        for batch in self._truth.log[int(row[0]) if row else 0 :]:
            found = self._cache.execute(
                "SELECT last_seq FROM groups WHERE group_id=?", (batch.group_id,)
            ).fetchone()
            if not found or found[0] < batch.entries[0].seq:
                yield batch
        self._cache.execute("INSERT OR REPLACE INTO facts VALUES('applied', ?)", (str(len(self._truth.log)),))
