"""Folding the events again: empty projections, every event through the very functions of the live writer.

What the folds keep has a version (`projection.VERSION` and the engine's own), kept as a fact in the file. A
ledger that another version folded is folded again when it is opened, once; so what is read is what this
program would have written, and a verification finds no difference that is none.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import TacitError
from tacit.base.io.sqlite import DAMAGED, FAILED
from tacit.ledger import projection
from tacit.ledger.io.refolding import refold
from tacit.ledger.io.schema import PROJECTIONS, SEQ_MASK, SHIFT
from tacit.ledger.ports import JournalEntry
from tacit.ledger.state import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from tacit.ledger.engine import Engine
    from tacit.ledger.io.writer import Writer

log: Final = logging.getLogger("tacit.ledger")
STEP: Final = 1000
FOLDED: Final = "folds"
"""The fact that says which version of the folds the projections are of."""
MOST_AT_START: Final = 100_000
"""Events that a start folds again; of a longer ledger an operator says when."""

_UNFOLDABLE: Final = (TacitError, msgspec.MsgspecError, ValueError, TypeError, LookupError)
"""What events that no rule expects bring about when they are folded; a start must not fail of them."""


def groups_on(connection: apsw.Connection) -> list[tuple[int, str, int, bytes]]:
    """Every group: number, id, last position, end of its chain."""
    rows = connection.execute("SELECT number, group_id, last_seq, chain FROM groups ORDER BY number")
    return [(row[0], row[1], row[2], bytes(row[3])) for row in rows]


def rows_on(
    connection: apsw.Connection, number: int, last: int = SEQ_MASK
) -> Iterator[tuple[int, bytes, str, bytes, bytes, bytes | None]]:
    """Event rows of a group up to `last`, in short reads so that the log of a running hub can move on."""
    at, end = number << SHIFT, number << SHIFT | last
    # A ledger that no newer hub has opened yet has no salts.
    salt = (
        "salt" if any(row[1] == "salt" for row in connection.execute("PRAGMA table_info(events)")) else "NULL"
    )
    while rows := connection.execute(
        f"SELECT pos, id, (SELECT name FROM kinds WHERE number=kind), chain, raw, {salt} FROM events "  # noqa: S608 - one of two names
        "WHERE pos>? AND pos<=? ORDER BY pos LIMIT ?",
        (at, end, STEP),
    ).fetchall():
        for pos, event_id, kind, chain, raw, salted in rows:
            yield pos & SEQ_MASK, bytes(event_id), kind, bytes(chain), bytes(raw), salted
        at = rows[-1][0]


def fold_all(connection: apsw.Connection, writer: Writer) -> int:
    """Empty the projections and fold every event again, in the open transaction."""
    count = 0
    for table in PROJECTIONS:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from our own list
    connection.execute("INSERT INTO search(search) VALUES('delete-all')")
    for number, group_id, _last, _chain in groups_on(connection):
        group = Group(group_id, number)
        for seq, event_id, kind, _link, raw, _salt in rows_on(connection, number):
            refold(writer, group, JournalEntry(seq, event_id, kind, raw), writer.views[group.number])
            count += 1
            if count % STEP == 0:
                writer.flush_model()
        writer.flush_model()
    return count


def fold_version(engine: Engine) -> str:
    """The version of what this program folds: of the ledger's own projections, and of the engine's folds."""
    return f"{projection.VERSION}.{engine.version}"


def folded_by(connection: apsw.Connection) -> str | None:
    """The version that folded this ledger; None for one from before versions, and for a new one."""
    row = connection.execute("SELECT value FROM facts WHERE name=?", (FOLDED,)).fetchone()
    return str(row[0]) if row is not None else None


def note_version(connection: apsw.Connection, engine: Engine) -> None:
    """Say by which version the ledger is folded."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES(?, ?)", (FOLDED, fold_version(engine)))


def bring_forward(connection: apsw.Connection, writer: Writer, engine: Engine) -> int:
    """Fold a ledger of another version again, in one transaction; returns how many events.

    Where that cannot be, for want of room or for damage, the ledger is served as it is, and a line says so.
    """
    if folded_by(connection) == fold_version(engine):
        return 0
    events = sum(last for _number, _name, last, _chain in groups_on(connection))
    if events > MOST_AT_START:
        log.warning("the ledger was folded by another version: stop the hub, run `tacit ledger rebuild`")
        return 0
    if events:
        log.warning("the ledger was folded by another version and is folded again", extra={"events": events})
    writer.attend(engine)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if events:
            fold_all(connection, writer)
        note_version(connection, engine)
        connection.execute("COMMIT")
    except (*FAILED, *DAMAGED, *_UNFOLDABLE) as error:
        log.warning(
            "the ledger could not be folded again and is served as it is: run `tacit ledger verify`",
            extra={"fault": type(error).__name__},
        )
        return 0
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return events
