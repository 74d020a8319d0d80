"""Damage in what is derived from the events: which tables it is in, and that a rebuild mends it.

A page that cannot be trusted says only that it is damaged. Whoever meets one looks once through the read
model, table by table, and names what is hurt; reads that need none of it are served. The journal itself is
no business of this module: its events are read past damage one by one (`salvage`), and no rebuild brings
them back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import apsw

from tacit.base.errors import Corrupt
from tacit.base.io.sqlite import is_damage
from tacit.ledger.io.schema import PROJECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

SEARCH: Final = ("search_data", "search_idx", "search_config")
"""Where the full-text index keeps its pages."""
INDEXES: Final = ("events_id", "events_kind")
REBUILD: Final = "stop the hub, run `tacit ledger rebuild`, start it again; no event is lost by it"


def damaged(connection: apsw.Connection) -> tuple[str, ...]:
    """The tables of the read model, the full-text index and the indexes of events that are damaged."""
    found = [table for table in PROJECTIONS if not _is_sound(connection, _checked(table))]
    if not all(_is_sound(connection, _checked(table)) for table in SEARCH):
        found.append("search")
    found += [
        index
        for index in INDEXES
        if not _is_sound(connection, f"SELECT count(id) FROM events INDEXED BY {index} WHERE {_USED[index]}")  # noqa: S608 - our own names
    ]
    return tuple(found)


_USED: Final = {"events_id": "id>=x''", "events_kind": "kind>=0"}


def _checked(table: str) -> str:
    return f"PRAGMA integrity_check('{table}')"


def _is_sound(connection: apsw.Connection, query: str) -> bool:
    try:
        rows = connection.execute(query).fetchall()
    except apsw.Error as error:
        if is_damage(error):
            return False
        raise
    return not query.startswith("PRAGMA") or [row[0] for row in rows] == ["ok"]


def is_derived(name: str, table: str) -> bool:
    """Is this table, or index of a table, made from the events, so that a rebuild makes it anew?"""
    return table in PROJECTIONS or table in SEARCH or name in INDEXES


def fault(tables: Iterable[str]) -> Corrupt:
    """What is said of it."""
    names = tuple(tables)
    return Corrupt(f"the ledger's {', '.join(names)} cannot be read: damaged", hint=REBUILD, damaged=names)
