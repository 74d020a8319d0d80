"""What a node has only noted: messages of the stream, by group and sequence, that are not applied here.

A group with such messages is behind. Its rows stand in the same file and transaction as everything else that
is known of the stream, so that whoever reads a group sees in the same moment of the file whether it is all
there (`Behind`). A ledger in the folder has no such table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.ledger.ports import Behind

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

TABLE: Final = """
CREATE TABLE IF NOT EXISTS stream_noted(
  name TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY(name, sequence)) WITHOUT ROWID;
"""
_IS_THERE: Final = "SELECT 1 FROM sqlite_master WHERE name='stream_noted'"
_IS_BEHIND: Final = "SELECT 1 FROM stream_noted WHERE name=? LIMIT 1"
_ALL_BEHIND: Final = """
WITH RECURSIVE behind(name) AS (
  SELECT min(name) FROM stream_noted
  UNION ALL SELECT (SELECT min(n.name) FROM stream_noted n WHERE n.name>b.name) FROM behind b
  WHERE b.name IS NOT NULL)
SELECT name FROM behind WHERE name IS NOT NULL
"""
"""One step for each name, however many messages it has."""


def is_kept(connection: apsw.Connection) -> bool:
    """Does a ledger follow a stream, so that there may be something that is only noted?"""
    return connection.execute(_IS_THERE).fetchone() is not None


def behind_on(connection: apsw.Connection, only: Iterable[str] | None = None) -> tuple[str, ...]:
    """The groups that are behind, all or of these."""
    if only is None:
        return tuple(str(row[0]) for row in connection.execute(_ALL_BEHIND).fetchall())
    return tuple(name for name in only if connection.execute(_IS_BEHIND, (name,)).fetchone() is not None)


def require_all(connection: apsw.Connection, only: Iterable[str] | None = None) -> None:
    """Raise `Behind` unless all of these groups, or of all, is applied as far as it is known of."""
    behind = behind_on(connection, only)
    if behind:
        raise Behind(behind)


class NotedMessages:
    """The writer's side: what is noted, in the open transaction too."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        connection.execute(TABLE)
        self.groups: Final = set(behind_on(connection))
        """The groups that are behind."""
        self._came: set[str] = set()
        self._went: set[str] = set()

    def note(self, group_id: str, sequence: int) -> None:
        """A message is there, and not applied."""
        self._connection.execute("INSERT OR IGNORE INTO stream_noted VALUES(?,?)", (group_id, sequence))
        if group_id not in self.groups:
            self.groups.add(group_id)
            _move(group_id, self._went, self._came)

    def of(self, groups: Iterable[str]) -> list[tuple[int, str]]:
        """Where the messages of these groups stand, in the stream's order."""
        run = self._connection.execute
        return sorted(
            (int(sequence), group_id)
            for group_id in groups
            for (sequence,) in run("SELECT sequence FROM stream_noted WHERE name=?", (group_id,)).fetchall()
        )

    def drop(self, group_id: str, sequence: int, *, is_last: bool) -> None:
        """A message is applied; with its last one a group is behind no more."""
        self._connection.execute("DELETE FROM stream_noted WHERE name=? AND sequence=?", (group_id, sequence))
        if is_last:
            self.groups.discard(group_id)
            _move(group_id, self._came, self._went)

    def settle(self) -> None:
        """The transaction was committed."""
        self._came.clear()
        self._went.clear()

    def forget(self) -> None:
        """The transaction was not committed: all is as it was before."""
        self.groups.difference_update(self._came)
        self.groups.update(self._went)
        self.settle()


def _move(group_id: str, undone: set[str], done: set[str]) -> None:
    """Within a transaction the one takes the other back."""
    if group_id in undone:
        undone.remove(group_id)
    else:
        done.add(group_id)
