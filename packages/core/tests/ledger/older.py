"""Ledgers as earlier versions left them: the steps of the schema, taken back."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from tacit.base.io.sqlite import connect
from tacit.ledger.io.journal import FIRST_LINK, link

if TYPE_CHECKING:
    from pathlib import Path


def before_salts(path: Path) -> None:
    """No event has a salt, the chain covers their bytes, what is freed is not overwritten."""
    with closing(connect(path)) as connection:
        connection.execute(
            "DROP TRIGGER events_stay; DROP TABLE erasures; ALTER TABLE events DROP COLUMN salt; "
            "ALTER TABLE credentials DROP COLUMN browser; ALTER TABLE credentials DROP COLUMN used; "
            "DELETE FROM facts WHERE name='overwritten'; INSERT INTO search(search, rank) VALUES('secure-delete', 0)"
        )
        for (number,) in connection.execute("SELECT number FROM groups").fetchall():
            chain = FIRST_LINK
            rows = connection.execute(
                "SELECT pos, raw FROM events WHERE pos>>40=? ORDER BY pos", (number,)
            ).fetchall()
            for pos, raw in rows:
                chain = link(chain, bytes(raw), None)
                connection.execute("UPDATE events SET chain=? WHERE pos=?", (chain, pos))
            connection.execute("UPDATE groups SET chain=? WHERE number=?", (chain, number))
        connection.execute(
            "CREATE TRIGGER events_stay BEFORE UPDATE ON events "
            "BEGIN SELECT RAISE(ABORT, 'events never change'); END; PRAGMA user_version=4"
        )
