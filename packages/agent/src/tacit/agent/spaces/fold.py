"""The part of the fold that shared spaces are: what their records change (A2ACP-197, A2ACP-200, A2ACP-201).

Nothing is decided here: which version stands was decided before its record was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from tacit.agent.kernel.book import Part
from tacit.agent.kernel.records import Posted
from tacit.agent.spaces import records as said
from tacit.agent.spaces.state import HOUR, LEFT, Cell, Leaving, Member, Space

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from tacit.agent.kernel.book import Book
    from tacit.agent.kernel.records import Record
    from tacit.base.moment import Moment

TABLES: Final[dict[str, tuple[Any, Any]]] = {
    "spaces": (str, Space),
    "space_cells": (tuple[str, str], Cell),
    "space_packets": (str, Leaving),
}
"""Each table with the types of its keys and values; all of them are gone through."""


@dataclass(slots=True)
class SpaceTables:
    """The spaces' part of the state."""

    spaces: MutableMapping[str, Space]
    space_cells: MutableMapping[tuple[str, str], Cell]
    space_packets: MutableMapping[str, Leaving]


def apply(
    spaces: MutableMapping[str, Space],
    cells: MutableMapping[tuple[str, str], Cell],
    leaving: MutableMapping[str, Leaving],
    record: Record,
    at: Moment,
) -> None:
    """Move the spaces past one record of theirs."""
    match record:
        case said.SpaceBegan():
            spaces[record.space_id] = Space(
                record.space_id, record.creator, record.created, record.title, record.status, record.members
            )
        case said.SpaceJoined():
            spaces[record.space_id] = replace(spaces[record.space_id], status=record.status)
            gone = [key for space, key in cells if space == record.space_id] if record.status == LEFT else []
            _drop(cells, record.space_id, gone)
        case said.SpaceMember():
            _member(spaces, record.space_id, record.address, record.member)
        case said.SpaceWritten():
            _written(spaces, cells, record, at)
        case said.SpaceLost():
            _took(spaces, record.space_id, record.by, at)
            _entry(spaces, record.space_id, record.entry)
        case said.SpacePublished():
            for key in record.fields:
                cells[record.space_id, key] = replace(cells[record.space_id, key], pending=False)
        case said.SpaceDropped():
            _drop(cells, record.space_id, record.fields)
        case said.SpaceReleased() | said.SpaceSet():
            _owner(spaces, record)
        case said.SpaceSent():
            leaving[record.packet_id] = Leaving(record.peer, record.type, record.thread_id, at, record.mac)
        case Posted():
            leaving.pop(record.packet_id, None)
        case _:
            return


def _owner(spaces: MutableMapping[str, Space], record: said.SpaceReleased | said.SpaceSet) -> None:
    """What the owner has decided."""
    space = spaces[record.space_id]
    if isinstance(record, said.SpaceReleased):
        new = {
            one: tuple(dict.fromkeys((*space.released.get(one, ()), *record.names))) for one in record.members
        }
        spaces[record.space_id] = replace(space, released={**space.released, **new})
        return
    named = {"notify": record.notify, "seen": record.seen}
    changes = {name: value for name, value in named.items() if value is not UNSET}
    spaces[record.space_id] = replace(space, **changes)


def _member(spaces: MutableMapping[str, Space], space_id: str, address: str, member: Member) -> None:
    space = spaces[space_id]
    spaces[space_id] = replace(space, members={**space.members, address: member})


def _written(
    spaces: MutableMapping[str, Space],
    cells: MutableMapping[tuple[str, str], Cell],
    record: said.SpaceWritten,
    at: Moment,
) -> None:
    cells[record.space_id, record.field] = Cell(
        record.v,
        record.written,
        record.by,
        record.owner,
        record.deleted,
        record.mark,
        record.pending,
        record.since,
    )
    if not record.pending:
        _took(spaces, record.space_id, record.by, at)
    _entry(spaces, record.space_id, record.entry)


def _took(spaces: MutableMapping[str, Space], space_id: str, by: str, at: Moment) -> None:
    """One more change of a member's in this hour, whether it stands or lost: both are kept."""
    known = spaces[space_id].members.get(by)
    if known is not None:
        hour = at // HOUR
        taken = known.taken + 1 if known.hour == hour else 1
        _member(spaces, space_id, by, replace(known, hour=hour, taken=taken))


def _entry(spaces: MutableMapping[str, Space], space_id: str, entry: int) -> None:
    if entry:
        spaces[space_id] = replace(spaces[space_id], changes=entry)


def _drop(cells: MutableMapping[tuple[str, str], Cell], space_id: str, keys: Iterable[str]) -> None:
    for key in keys:
        cells.pop((space_id, key), None)


def folded(book: Book, record: Record, at: Moment) -> None:
    """Move the spaces' part of the state past a record."""
    tables = book.part(SpaceTables)
    apply(tables.spaces, tables.space_cells, tables.space_packets, record, at)


PART: Final = Part(said.KINDS, folded, SpaceTables, TABLES, frozenset(TABLES))
