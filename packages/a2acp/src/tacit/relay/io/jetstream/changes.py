"""What a batch changed, as the bytes of a message and as news.

The bytes are SQLite's own record of changed rows (a patchset of its session extension): whole rows that were
added, the keys of those removed, the columns that were changed. Applied in the journal's order they give the
same file on every node. A change that does not fit says that a file is not what the batch was decided upon.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import apsw

from tacit.base.errors import Corrupt
from tacit.relay.followed import BatchNews, RemovedElsewhere, StoredElsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Missing in apsw's types: its session extension.
_session: Final = cast("Any", apsw)
LOCAL: Final = "stream_"
"""How the names of tables begin that are a node's own."""


class RowChange(NamedTuple):
    """One row that a batch changed.

    `INSERT` has it whole, `DELETE` its key, `UPDATE` its key and the columns that changed.
    """

    table: str
    op: str
    old: tuple[Any, ...]
    new: tuple[Any, ...]

    @property
    def key(self) -> Any:
        """The first column, which is (part of) the key of every table here."""
        return (self.new if self.op == "INSERT" else self.old)[0]


def rows(changes: bytes) -> list[RowChange]:
    """The rows that a batch changed."""
    return [
        RowChange(one.name, one.op, one.old or (), one.new or ()) for one in _session.Changeset.iter(changes)
    ]


def shared_tables(file: apsw.Connection) -> list[str]:
    """The tables that all nodes have alike."""
    found = file.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name").fetchall()
    names = [cast("str", row[0]) for row in found]
    return [name for name in names if not name.startswith(("sqlite_", LOCAL))]


class Recording:
    """Records what is changed in the open transaction."""

    def __init__(self, file: apsw.Connection, tables: Sequence[str]) -> None:
        self._session = _session.Session(file, "main")
        for table in tables:
            self._session.attach(table)

    def close(self) -> None:
        """Record no more."""
        self._session.close()

    def changes(self) -> bytes:
        """What has changed in sum; empty for nothing."""
        return cast("bytes", self._session.patchset())


def recording(file: apsw.Connection, tables: Sequence[str]) -> closing[Recording]:
    """Record for as long as the block lasts."""
    return closing(Recording(file, tables))


def apply(file: apsw.Connection, changes: bytes) -> None:
    """Make the same changes to this file, in its open transaction."""
    try:
        _session.Changeset.apply(changes, file)
    except (_session.AbortError, _session.SchemaChangeError, apsw.ConstraintError):
        raise Corrupt(
            "what this node has is not what the journal has", hint="start it again: it begins anew"
        ) from None


def news(file: apsw.Connection, changes: bytes, node: str) -> BatchNews:
    """What a node acts upon; `file` is as it was before the changes."""
    followed = BatchNews()
    for change in rows(changes):
        if change.table == "present":
            if change.new[1] != node:
                followed.claimed.append(change.key)
        elif (note := _NOTERS.get(change.table)) is not None:
            note(followed, file, change)
    return followed


def _queue(followed: BatchNews, file: apsw.Connection, change: RowChange) -> None:
    if change.op == "INSERT":
        position, recipient, sender, _, tag, size, _, envelope, sig, *_ = change.new
        followed.stored.append(StoredElsewhere(recipient, position, sender, tag, size, envelope, sig))
        return
    row = file.execute(
        "SELECT recipient, position, sender, tag, size FROM queue WHERE position=?", (change.key,)
    ).fetchone()
    if row is not None:
        followed.removed.append(RemovedElsewhere(*cast("tuple[int, int, str, str, int]", row)))


def _outgoing(followed: BatchNews, _file: apsw.Connection, change: RowChange) -> None:
    if change.op == "INSERT":
        followed.domains.add(cast("str", change.new[1]))


def _notices(followed: BatchNews, _file: apsw.Connection, change: RowChange) -> None:
    if change.op == "INSERT":
        number, account, frame = change.new
        followed.notices.append((account, number, frame))


def _agents(followed: BatchNews, _file: apsw.Connection, change: RowChange) -> None:
    followed.agents.add(change.key)


def _written(followed: BatchNews, _file: apsw.Connection, change: RowChange) -> None:
    if change.op != "DELETE":
        account, whom = (change.new if change.op == "INSERT" else change.old)[:2]
        followed.written.append((account, whom))


def _prekeys(followed: BatchNews, _file: apsw.Connection, change: RowChange) -> None:
    if change.op == "DELETE":
        followed.prekeys.add(change.key)


def _guest_answers(followed: BatchNews, _file: apsw.Connection, change: RowChange) -> None:
    if change.op == "INSERT":
        followed.answered.add(change.key)


def _operator(followed: BatchNews, _file: apsw.Connection, _change: RowChange) -> None:
    followed.operator = True


def _standing(followed: BatchNews, _file: apsw.Connection, change: RowChange) -> None:
    followed.scores[change.key] = None if change.op == "DELETE" else cast("int", change.new[1])


_NOTERS: Final[dict[str, Callable[[BatchNews, apsw.Connection, RowChange], None]]] = {
    "queue": _queue,
    "outgoing": _outgoing,
    "notices": _notices,
    "agents": _agents,
    "accounts": _agents,
    "written": _written,
    "prekeys": _prekeys,
    "guest_answers": _guest_answers,
    "operator_changes": _operator,
    "standing": _standing,
}
