"""Upkeep of a data folder: export, import and rebuild.

Export only reads, also beside a running hub. Rebuild throws the projections away and folds every
event again (`folding`).
"""

from __future__ import annotations

import hashlib
from collections import deque
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from apsw import ConstraintError

from tacit.base import ids
from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.sqlite import DAMAGED, FAILED, connect, damage_hint, is_damage
from tacit.base.moment import parse_rfc3339
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.envelope import GONE, decode
from tacit.ledger.io import noted
from tacit.ledger.io.folding import STEP, fold_all, groups_on, note_version, rows_on
from tacit.ledger.io.journal import SqliteJournal
from tacit.ledger.io.renewal import renew
from tacit.ledger.io.schema import PROJECTIONS, SCHEMA
from tacit.ledger.io.store import DATABASE, Store, StoreOptions
from tacit.ledger.io.writer import Writer
from tacit.ledger.ports import JournalEntry, Stale
from tacit.ledger.state import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import apsw

    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.engine import Engine


def holds(folder: Path, group_id: str) -> bool:
    """Whether a folder's ledger has a group of this id."""
    connection = connect(folder / DATABASE, readonly=True)
    try:
        return any(name == group_id for _, name, _, _ in groups_on(connection))
    except (*DAMAGED, *FAILED) as error:
        raise _as_fault(error, folder / DATABASE, "the ledger cannot be read") from error
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class GroupEnd:
    """Where a group ends: its last position and the end of its chain of hashes."""

    last_seq: int
    chain: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What was brought in; `proved` when the file said where the hashes end, and they do."""

    ends: dict[str, GroupEnd]
    proved: bool


def ends_on(connection: apsw.Connection) -> dict[str, GroupEnd]:
    """The end of every group."""
    return {name: GroupEnd(last, chain.hex()) for _number, name, last, chain in groups_on(connection)}


class _Proof(msgspec.Struct, frozen=True):
    tacit_export: dict[str, GroupEnd]


class _Salts(msgspec.Struct, frozen=True):
    """The salts of the events on the next lines, without which their hashes cannot be had again."""

    tacit_salts: list[str | None]


def export(folder: Path, group_id: str | None = None, *, proof: bool = False) -> Iterator[bytes]:
    """Every event as one line of JSON, group after group, in append order.

    With `proof` a last line says where the hashes of each group end, at the same moment, and lines between
    hold the salts that those are made with. Raises `Behind` when a node has only noted part of it.
    """
    connection = connect(folder / DATABASE, readonly=True)
    try:
        SCHEMA.require_known(connection, folder / DATABASE)
        if proof:
            connection.execute("BEGIN")
        if noted.is_kept(connection):
            noted.require_all(connection, None if group_id is None else (group_id,))
        yield from events_on(connection, group_id, salts=proof)
        if proof:
            ends = ends_on(connection)
            yield msgspec.json.encode(_Proof({name: ends[name] for name in ends if group_id in {None, name}}))
    except (*DAMAGED, *FAILED) as error:
        raise _as_fault(error, folder / DATABASE, "the ledger cannot be read") from error
    finally:
        connection.close()


def _as_fault(error: Exception, path: Path, otherwise: str) -> Corrupt | Unavailable:
    if is_damage(error):
        return Corrupt("the ledger's file is damaged", hint=damage_hint(path))
    return Unavailable(f"{otherwise} ({type(error).__name__})")


def events_on(
    connection: apsw.Connection, group_id: str | None = None, *, salts: bool = False
) -> Iterator[bytes]:
    """The same from an open connection, which may stand in a transaction."""
    for number, name, _last, _chain in groups_on(connection):
        if group_id in {None, name}:
            rows = rows_on(connection, number)
            while some := list(islice(rows, STEP)):
                if salts:
                    yield msgspec.json.encode(
                        _Salts([None if salt is None else salt.hex() for *_, salt in some])
                    )
                yield from (raw for *_, raw, _salt in some)


def rebuild(
    folder: Path,
    clock: Clock,
    entropy: Entropy,
    settings: AdmissionSettings,
    attending: Callable[[apsw.Connection], Engine] | None = None,
) -> int:
    """Fold every event again into empty projections, in one transaction; returns how many events.

    Where a page is damaged this is done in a new file, which takes the place of the old (`renewal`).
    """
    path = folder / DATABASE

    def fold(connection: apsw.Connection) -> int:
        return _fold(connection, Writer(connection, path, clock, entropy, settings), attending)

    # A hub that runs on this folder keeps counts in memory and must not be written past.
    lock = FolderLock(folder, purpose="tacit ledger rebuild")
    try:
        if not _is_whole(path):
            return renew(path, fold)
        with closing(connect(path, overwrites=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            count = fold(connection)
            connection.execute("COMMIT")
    except (*DAMAGED, *FAILED) as error:
        raise _as_fault(error, path, "the rebuild failed, nothing was changed") from error
    finally:
        lock.release()
    return count


def _is_whole(path: Path) -> bool:
    try:
        with closing(connect(path, readonly=True)) as connection:
            SCHEMA.require_known(connection, path)
            return connection.execute("PRAGMA integrity_check(1)").fetchall() == [("ok",)]
    except (*DAMAGED, *FAILED) as error:
        if is_damage(error):
            return False
        raise


def _fold(
    connection: apsw.Connection, writer: Writer, attending: Callable[[apsw.Connection], Engine] | None
) -> int:
    if attending is None:
        return fold_all(connection, writer)
    engine = attending(connection)
    writer.attend(engine)
    count = fold_all(connection, writer)
    note_version(connection, engine)
    return count


def bring_in(
    folder: Path,
    lines: Iterable[bytes],
    clock: Clock,
    entropy: Entropy,
    attending: Callable[[apsw.Connection], Engine] | None = None,
) -> Imported:
    """Make a new ledger of exported lines, in one transaction; refuses what does not give the same hashes."""
    if (folder / DATABASE).exists():
        raise Refused("not_empty", f"{folder} has a ledger already: events are brought into a new folder")
    Store(
        folder, StoreOptions(clock=clock, entropy=entropy, purpose="tacit ledger import", readers=1)
    ).close()
    lock = FolderLock(folder, purpose="tacit ledger import")
    try:
        with closing(connect(folder / DATABASE, overwrites=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            proof = _insert(connection, lines)
            writer = Writer(connection, folder / DATABASE, clock, entropy, AdmissionSettings())
            _fold(connection, writer, attending)
            ends = ends_on(connection)
            _hold(proof, ends)
            connection.execute("COMMIT")
    except BaseException:
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
            (folder / name).unlink(missing_ok=True)
        raise
    finally:
        lock.release()
    return Imported(ends, proof is not None)


def _hold(proof: dict[str, GroupEnd] | None, ends: dict[str, GroupEnd]) -> None:
    if proof is not None and proof != ends:
        raise Refused("other_hashes", "these events do not have the hashes that their proof says")


def _insert(connection: apsw.Connection, lines: Iterable[bytes]) -> dict[str, GroupEnd] | None:
    """Journal the events of exported lines; the proof, when there is one."""
    journal, groups, proof = SqliteJournal(connection), dict[str, Group](), None
    salts = deque[str | None]()
    for number, line in enumerate(lines, 1):
        raw = line.rstrip(b"\r\n")
        if raw.startswith(b'{"tacit_export"'):
            proof = msgspec.json.decode(raw, type=_Proof).tacit_export
            continue
        try:
            if raw.startswith(b'{"tacit_salts"'):
                salts.extend(msgspec.json.decode(raw, type=_Salts).tacit_salts)
                continue
            event = decode(raw)
            group = groups.setdefault(event.group_id, Group(event.group_id, 0))
            group.last_ts = parse_rfc3339(event.ts) or group.last_ts
            salt = salts.popleft() if salts else None
            entry = JournalEntry(
                event.seq,
                ids.raw(event.id) or b"",
                event.kind,
                raw,
                GONE if event.redacted is not None else bytes.fromhex(salt) if salt else None,
            )
            journal.stage(group, [entry], event.seq - 1)
        except (msgspec.DecodeError, ValueError, Stale, ConstraintError):
            raise Refused("bad_export", f"line {number} is no event that follows the one before it") from None
    return proof


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
