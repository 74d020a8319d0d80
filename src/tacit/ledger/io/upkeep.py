"""Upkeep of a data folder: export and rebuild.

Export only reads, also beside a running hub. Rebuild throws the projections away and folds every
event again through the very functions that the live writer uses.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.sqlite import DAMAGED, FAILED, connect, damage_hint, is_damage
from tacit.base.moment import parse_rfc3339
from tacit.ledger.envelope import Event, decode
from tacit.ledger.io.schema import PROJECTIONS, SEQ_MASK, SHIFT
from tacit.ledger.io.store import DATABASE
from tacit.ledger.io.writer import View, Writer
from tacit.ledger.ports import JournalEntry
from tacit.ledger.projection import body_of, project
from tacit.ledger.state import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import apsw

    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.admission import Settings
    from tacit.ledger.engine import Engine

STEP: Final = 1000


def groups_on(connection: apsw.Connection) -> list[tuple[int, str, int, bytes]]:
    """Every group: number, id, last position, end of its chain."""
    rows = connection.execute("SELECT number, group_id, last_seq, chain FROM groups ORDER BY number")
    return [(row[0], row[1], row[2], bytes(row[3])) for row in rows]


def rows_on(
    connection: apsw.Connection, number: int, last: int = SEQ_MASK
) -> Iterator[tuple[int, bytes, str, bytes, bytes]]:
    """Event rows of a group up to `last`, in short reads so that the log of a running hub can move on."""
    at, end = number << SHIFT, number << SHIFT | last
    while rows := connection.execute(
        "SELECT pos, id, (SELECT name FROM kinds WHERE number=kind), chain, raw FROM events "
        "WHERE pos>? AND pos<=? ORDER BY pos LIMIT ?",
        (at, end, STEP),
    ).fetchall():
        for pos, event_id, kind, chain, raw in rows:
            yield pos & SEQ_MASK, bytes(event_id), kind, bytes(chain), bytes(raw)
        at = rows[-1][0]


def holds(folder: Path, group_id: str) -> bool:
    """Whether a folder's ledger has a group of this id."""
    connection = connect(folder / DATABASE, readonly=True)
    try:
        return any(name == group_id for _, name, _, _ in groups_on(connection))
    except (*DAMAGED, *FAILED) as error:
        raise _as_fault(error, folder / DATABASE, "the ledger cannot be read") from error
    finally:
        connection.close()


def export(folder: Path, group_id: str | None = None) -> Iterator[bytes]:
    """Every event as one line of JSON, group after group, in append order."""
    connection = connect(folder / DATABASE, readonly=True)
    try:
        yield from events_on(connection, group_id)
    except (*DAMAGED, *FAILED) as error:
        raise _as_fault(error, folder / DATABASE, "the ledger cannot be read") from error
    finally:
        connection.close()


def _as_fault(error: Exception, path: Path, otherwise: str) -> Corrupt | Unavailable:
    if is_damage(error):
        return Corrupt("the ledger's file is damaged", hint=damage_hint(path))
    return Unavailable(f"{otherwise} ({type(error).__name__})")


def events_on(connection: apsw.Connection, group_id: str | None = None) -> Iterator[bytes]:
    """The same from an open connection, which may stand in a transaction."""
    for number, name, _last, _chain in groups_on(connection):
        if group_id in {None, name}:
            for _seq, _id, _kind, _link, raw in rows_on(connection, number):
                yield raw


def rebuild(
    folder: Path,
    clock: Clock,
    entropy: Entropy,
    settings: Settings,
    attending: Callable[[apsw.Connection], Engine] | None = None,
) -> int:
    """Fold every event again into empty projections, in one transaction; returns how many events."""
    path = folder / DATABASE
    # A hub that runs on this folder keeps counts in memory and must not be written past.
    lock = FolderLock(folder, purpose="tacit ledger rebuild")
    try:
        connection = connect(path)
        try:
            connection.execute("BEGIN IMMEDIATE")
            writer = Writer(connection, path, clock, entropy, settings)
            if attending is not None:
                writer.attend(attending(connection))
            count = fold_all(connection, writer)
            connection.execute("COMMIT")
        finally:
            connection.close()
    except (*DAMAGED, *FAILED) as error:
        raise _as_fault(error, path, "the rebuild failed, nothing was changed") from error
    finally:
        lock.release()
    return count


def fold_all(connection: apsw.Connection, writer: Writer) -> int:
    """Empty the projections and fold every event again, in the open transaction."""
    count = 0
    for table in PROJECTIONS:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from our own list
    connection.execute("INSERT INTO search(search) VALUES('delete-all')")
    for number, group_id, _last, _chain in groups_on(connection):
        group = Group(group_id, number)
        for seq, event_id, kind, _link, raw in rows_on(connection, number):
            _again(writer, group, JournalEntry(seq, event_id, kind, raw))
            count += 1
            if count % STEP == 0:
                writer.flush_model()
        writer.flush_model()
    return count


def _again(writer: Writer, group: Group, entry: JournalEntry) -> None:
    try:
        event: Event = decode(entry.raw)
        at = parse_rfc3339(event.ts) or group.last_ts
        body = body_of(entry.kind, event.data)
        facts = project(entry.kind, event.by, event.data, body, group, View(writer, group))
    except (Refused, msgspec.DecodeError) as error:
        raise Corrupt(
            f"event {entry.seq} of group {group.group_id} cannot be folded",
            hint="run `tacit ledger verify`; nothing was changed",
        ) from error
    writer.fold(group, writer.take(entry, event.id, event.by, at, event.data, group, facts), at)


def fingerprint(folder: Path) -> dict[str, str]:
    """One hash for each projection: equal fingerprints mean equal read models."""
    connection = connect(folder / DATABASE, readonly=True)
    prints: dict[str, str] = {}
    try:
        for table in PROJECTIONS:
            prints[table] = _print(connection, f"SELECT * FROM {table}")  # noqa: S608
        connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, search, instance)")
        prints["search"] = _print(
            connection, "SELECT term, doc, col, offset FROM temp.terms ORDER BY 1,2,3,4"
        )
    finally:
        connection.close()
    return prints


def _print(connection: apsw.Connection, query: str) -> str:
    digest = hashlib.sha256()
    row: tuple[Any, ...]
    for row in connection.execute(query):
        digest.update(repr(row).encode())
    return digest.hexdigest()
