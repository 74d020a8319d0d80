"""A ledger's file made anew, from what cannot be had again: the journal, and records of the hub's own.

Where a page of the read model is damaged, its tables cannot be emptied in place: SQLite would have to read
that page. So what is no projection is copied into a file beside it, page by checked page, the events are
folded there, and that file takes the place of the old one. Damage in what is copied ends it, and nothing has
changed.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from apsw import SQLITE_CHECKPOINT_TRUNCATE

from tacit.base.errors import Unavailable
from tacit.base.io.sqlite import connect, is_checked
from tacit.ledger.io.schema import PROJECTIONS, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import apsw

_KEPT = """
SELECT name, sql FROM old.sqlite_master WHERE type='table' AND sql NOT LIKE 'CREATE VIRTUAL%'
  AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search_%' ORDER BY rowid
"""


def renew(path: Path, fold: Callable[[apsw.Connection], int]) -> int:
    """Copy, fold in one transaction, and put the new file in the place of the old; what `fold` returned."""
    fresh = path.with_name(path.name + ".new")
    _remove(fresh)
    try:
        with closing(connect(path)) as old:
            old.wal_checkpoint(mode=SQLITE_CHECKPOINT_TRUNCATE)
        with closing(connect(fresh, checked=is_checked(path), overwrites=True)) as connection:
            SCHEMA.migrate(connection, fresh)
            _copy(connection, path)
            connection.execute("BEGIN IMMEDIATE")
            count = fold(connection)
            connection.execute("COMMIT")
        _put(fresh, path)
    finally:
        _remove(fresh)
    return count


def _copy(connection: apsw.Connection, path: Path) -> None:
    connection.execute("ATTACH ? AS old", (str(path),))
    version = connection.execute("PRAGMA old.user_version").get
    if version != len(SCHEMA.steps):
        raise Unavailable("this ledger is of an older version: start a hub on it once, then try again")
    connection.execute("BEGIN IMMEDIATE")
    for table, made in connection.execute(_KEPT).fetchall():
        if table in PROJECTIONS:
            continue
        if connection.execute("SELECT 1 FROM main.sqlite_master WHERE name=?", (table,)).fetchone() is None:
            connection.execute(made)
        # Row by row, and not by an index: that may be what is damaged, and is made anew here.
        rows = f'SELECT * FROM old."{table}" NOT INDEXED WHERE true'  # noqa: S608 - a name of the file's own
        connection.execute(f'INSERT OR REPLACE INTO main."{table}" {rows}')
    connection.execute("COMMIT")
    connection.execute("DETACH old")


def _put(fresh: Path, path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        # A log that stayed would be replayed into the new file.
        raise Unavailable("somebody else has this ledger open; end it, then try again")
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove(fresh: Path) -> None:
    for end in ("", "-wal", "-shm"):
        fresh.with_name(fresh.name + end).unlink(missing_ok=True)
