"""Erasure: the content of a message that was taken back leaves the disk (C2A-187).

Theory of operation. Content stands in five places: the events that say it (the message, each edit, digests
that quote it), the full-text index, the blobs, the write-ahead log, and copies of torn logs in `quarantine/`.

1. In the transaction of the deletion, `erase` writes each event anew without its content (`redaction`), takes
   its words out of the index, its files out of the group, and lists in `erasures` what has changed. What it
   frees in the file is overwritten (`secure_delete`, for the index its own setting of that name).
2. Afterwards `finish` removes the files that no group has any more, starts the log anew, which still held the
   earlier pages, removes copies of torn ones, and empties the list.

A kill before the commit leaves everything as it was and nobody was answered. After the commit the list says
that there is something to finish; the next start does it before anything else. The triggers that keep events
as they are let those pass that are on the list, and only to lose their salt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from apsw import SQLITE_CHECKPOINT_TRUNCATE

from tacit.base.moment import parse_rfc3339
from tacit.ledger.envelope import GONE, QUOTING, SAYING, decode, redacted
from tacit.ledger.io.schema import SHIFT
from tacit.ledger.references import blob_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import apsw

    from tacit.base.moment import Moment
    from tacit.ledger.envelope import Remains, StoredEvent
    from tacit.ledger.io.audience_index import AudienceIndex
    from tacit.ledger.io.blobs import BlobFolder
    from tacit.ledger.ports import Lookup

_QUOTING: Final = """
SELECT pos FROM events
WHERE kind=(SELECT number FROM kinds WHERE name=?) AND pos>? AND pos<? AND instr(raw, ?)
"""


class Erasing:
    """Takes the content of messages of one group out of the tables, in the open transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        index: AudienceIndex,
        number: int,
        lookup: Lookup,
        remains: Callable[[StoredEvent], Remains],
    ) -> None:
        self._connection = connection
        self._index = index
        self._number = number
        self._lookup = lookup
        self._remains = remains

    def erase(self, first: StoredEvent, by: str, at: str) -> list[StoredEvent]:
        """Of a message, in every form and wherever the hub repeats it; the events as they were."""
        forms = self._forms(first)
        found = [*forms, *self._quoting(forms)]
        # All of them are read before the first goes: a form is understood by the one that it replaced.
        remains = [self._remains(event) for event in found]
        terms: set[str] = set()
        for event, left in zip(found, remains, strict=True):
            if self._redact(event, by, at, left) and event.kind in SAYING:
                terms |= self._out_of_the_index(event)
                self._out_of_the_group(event)
        _settle_index(self._connection, terms)
        return found

    def _forms(self, first: StoredEvent) -> list[StoredEvent]:
        forms = [first]
        newest = self._lookup.mark("edit", first.seq, "")
        found = self._lookup.at(newest[0]) if newest is not None else None
        while found is not None and found.kind == "x.c2a.edit":
            forms.append(found)
            found = self._lookup.event(str(found.data.get("supersedes")))
        return forms

    def _quoting(self, forms: Iterable[StoredEvent]) -> list[StoredEvent]:
        end = (self._number + 1) << SHIFT
        places = {
            int(row[0])
            for form in forms
            for row in self._connection.execute(
                _QUOTING, (QUOTING, self._number << SHIFT | form.seq, end, form.event_id.encode())
            ).fetchall()
        }
        quoting = (self._lookup.at(pos & ((1 << SHIFT) - 1)) for pos in sorted(places))
        return [event for event in quoting if event is not None]

    def _redact(self, event: StoredEvent, by: str, at: str, remains: Remains) -> bool:
        pos = self._number << SHIFT | event.seq
        row = self._connection.execute("SELECT salt FROM events WHERE pos=?", (pos,)).fetchone()
        salt: bytes | None = row[0] if row is not None else GONE
        if salt == GONE:
            return False
        self._connection.execute("INSERT INTO erasures(pos) VALUES(?)", (pos,))
        self._connection.execute(
            "UPDATE events SET raw=?, salt=? WHERE pos=?",
            (redacted(event.raw, salt, by, at, remains), GONE, pos),
        )
        return True

    def _out_of_the_index(self, event: StoredEvent) -> set[str]:
        pos = self._number << SHIFT | event.seq
        text = event.data.get("text")
        row = self._connection.execute("SELECT talk FROM audiences WHERE pos=?", (pos,)).fetchone()
        talk = int(row[0]) if row is not None and row[0] is not None else 0
        document = self._index.document(self._number, talk, text) if isinstance(text, str) else b""
        if document:
            self._connection.execute(
                "INSERT INTO search(search, rowid, text) VALUES('delete', ?, ?)", (pos, document)
            )
        return {word.decode() for word in document.split()}

    def _out_of_the_group(self, event: StoredEvent) -> None:
        """What its message alone brought into the group: its CLowl ids, its files."""
        data = event.data
        spoken: Any = data.get("clowl")
        if isinstance(spoken, dict):
            self._connection.execute(
                "DELETE FROM speech WHERE group_no=? AND mid=? AND seq=?",
                (self._number, cast("dict[str, Any]", spoken).get("mid"), event.seq),
            )
        for path in dict.fromkeys(blob_paths(data)) if event.kind == "chat.message" else ():
            self._lose_blob(event, path)

    def _lose_blob(self, event: StoredEvent, path: str) -> None:
        """The message refers to it no more; when nobody else does and nobody else brought it, it goes."""
        run, here = self._connection.execute, (self._number, path)
        run("DELETE FROM blob_refs WHERE group_no=? AND path=? AND seq=?", (*here, event.seq))
        if run("SELECT 1 FROM blob_refs WHERE group_no=? AND path=?", here).fetchone() is not None:
            return
        run("DELETE FROM blob_owners WHERE group_no=? AND path=? AND principal=?", (*here, event.by))
        if run("SELECT 1 FROM blob_owners WHERE group_no=? AND path=?", here).fetchone() is not None:
            return
        run("INSERT INTO erasures(sha256) SELECT sha256 FROM blobs WHERE group_no=? AND path=?", here)
        run("DELETE FROM blobs WHERE group_no=? AND path=?", here)


def _settle_index(connection: apsw.Connection, terms: set[str]) -> None:
    """Pages of the index are told apart by the beginning of a word: none may be a word that is gone."""
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.live_terms USING fts5vocab(main, search, row)"
    )
    connection.execute("SELECT 1 FROM temp.live_terms LIMIT 1").fetchall()  # writes what waits in memory
    for term in terms:
        if _tells(connection, term):
            connection.execute("INSERT INTO search(search) VALUES('optimize')")
            return


def _tells(connection: apsw.Connection, term: str) -> bool:
    told = b"0" + term.encode()
    beginnings = [told[:end] for end in range(len(told), term.index("\ue000") + 3, -1)]
    marks = ",".join("?" * len(beginnings))
    segment = 0
    while row := connection.execute("SELECT min(segid) FROM search_idx WHERE segid>?", (segment,)).fetchone():
        if row[0] is None:
            return False
        segment = int(row[0])
        kept = connection.execute(
            f"SELECT term FROM search_idx WHERE segid=? AND term IN ({marks})",  # noqa: S608 - question marks
            (segment, *beginnings),
        ).fetchall()
        for (beginning,) in kept:
            start = bytes(beginning)[1:].decode(errors="ignore")
            live = connection.execute(
                "SELECT 1 FROM temp.live_terms WHERE term>=? AND term<? LIMIT 1",
                (start, start + "\U0010ffff"),
            ).fetchone()
            if live is None:
                return True
    return False


class PendingErasures(NamedTuple):
    """How many events have lost content that may still lie in the log, in a file or in quarantine."""

    events: int
    since: Moment | None
    """When the oldest of them was taken back; None where there is none."""


def pending(connection: apsw.Connection) -> PendingErasures:
    """What is still to be finished. The first on the list is an event, and says when it was redacted."""
    count = connection.execute("SELECT count(DISTINCT pos) FROM erasures").fetchone()
    oldest = connection.execute(
        "SELECT raw FROM events WHERE pos=(SELECT pos FROM erasures ORDER BY number LIMIT 1)"
    ).fetchone()
    says = decode(oldest[0]).redacted if oldest is not None else None
    return PendingErasures(
        int(count[0]) if count else 0, parse_rfc3339(says.at) if says is not None else None
    )


def is_pending(connection: apsw.Connection) -> bool:
    """Is there content that was taken away and may still lie in the folder?"""
    return connection.execute("SELECT 1 FROM erasures LIMIT 1").fetchone() is not None


def finish(
    connection: apsw.Connection,
    folder: Path,
    blobs: BlobFolder,
    elsewhere: Callable[[apsw.Connection], None] | None = None,
) -> None:
    """Have what was taken away gone from the folder; `BusyError` while somebody still reads the log.

    `elsewhere` has it gone from where the file's truth is, if that is another place.
    """
    row = connection.execute("SELECT max(number) FROM erasures").fetchone()
    if row is None or row[0] is None:
        return
    _remove_files(connection, blobs)
    if elsewhere is not None:
        elsewhere(connection)
    connection.wal_checkpoint(mode=SQLITE_CHECKPOINT_TRUNCATE)
    for copy in (folder / "quarantine").glob("torn-*"):
        copy.unlink(missing_ok=True)
    connection.execute("DELETE FROM erasures WHERE number<=?", (row[0],))


def _remove_files(connection: apsw.Connection, blobs: BlobFolder) -> None:
    """Under the writer's lock: nobody can refer to a file anew between the look and its removal."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        gone = connection.execute(
            "SELECT e.sha256 FROM erasures e WHERE e.sha256 IS NOT NULL "
            "AND NOT EXISTS(SELECT 1 FROM blobs b WHERE b.sha256=e.sha256)"
        ).fetchall()
        for (sha256,) in gone:
            blobs.remove(sha256)
        connection.execute("UPDATE erasures SET sha256=NULL WHERE sha256 IS NOT NULL")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
