"""What is known of a group: who coordinates, who takes part, how it is confirmed; as values of the fold.

A2ACP-153, A2ACP-173, A2ACP-174, A2ACP-175, A2ACP-182, A2ACP-184. The same value at the coordinator and at a
participant. Where a group stands is said by its threads (`threads.state`): at the coordinator a hub and one
leg for each participant, at a participant the one thread with the coordinator. `legs` says which thread a
packet of somebody belongs to, as all of them have one id on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from tacit.agent.groups import records as said
from tacit.agent.kernel.book import Part
from tacit.agent.kernel.records import Began
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.agent.kernel.book import Book
    from tacit.agent.kernel.records import Record

AWAITING: Final = "awaiting_response"
RECEIVED: Final = "context_received"
LEFT_OUT: Final = "left_out"
"""The coordinator's owner went on without it."""
WITHDRAWN: Final = "withdrawn"
"""It wants no part in it."""
GONE: Final = frozenset({LEFT_OUT, WITHDRAWN})
REMEMBERED_OUTINGS: Final = 10


class Group(msgspec.Struct, frozen=True, omit_defaults=True):
    """One group."""

    group_id: str
    coordinator: str
    members: dict[str, str]
    """Everybody, the coordinator too, in the order of the list; and what is known of each."""
    mode: str = "all"
    quorum: int = 0
    order: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    """Everybody, as the coordinator told it first; who was in it then and is not now has left."""
    parent: str = ""
    """The group that this one follows, with other people (A2ACP-165)."""
    asked: tuple[str, ...] = ()
    """Who was asked to bend, each once (A2ACP-178)."""
    waited: tuple[str, ...] = ()
    """Whom the owner chose to wait for once more (A2ACP-182)."""
    declined: dict[str, bool] = {}
    """Who has said no to what stands, and whether another time would do."""
    offered_to: str = ""
    """Who was offered the coordinator's role and has not answered."""
    offered_until: Moment | None = None
    overlap: str = ""
    """The last aggregation, in the vault."""

    @property
    def present(self) -> tuple[str, ...]:
        """Who still takes part, in the order of the list."""
        return tuple(name for name, status in self.members.items() if status not in GONE)


class Outing(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a group that met ended: who could not be there, and who was."""

    at: Moment
    missing: tuple[str, ...] = ()
    there: tuple[str, ...] = ()


class Early(msgspec.Struct, frozen=True, omit_defaults=True):
    """A packet of a member that may become the coordinator: it came before the word of the present one."""

    peer: str
    packet_id: str
    type: str
    ready: int


TABLES: Final[dict[str, tuple[Any, Any]]] = {
    "groups": (str, Group),
    "legs": (tuple[str, str], str),
    "outings": (str, Outing),
    "early": (str, Early),
}


ALWAYS_LOADED: Final = frozenset({"outings", "early"})


@dataclass(slots=True)
class GroupTables:
    """The groups' part of the state."""

    groups: MutableMapping[str, Group]
    legs: MutableMapping[tuple[str, str], str]
    outings: MutableMapping[str, Outing]
    early: MutableMapping[str, Early]


def thread_of(legs: MutableMapping[tuple[str, str], str], wire: str, peer: str) -> str:
    """The thread that a packet of a peer belongs to."""
    return legs.get((wire, peer), wire)


def due_name(group_id: str) -> str:
    """Under which the moment of a group's open offer stands among what is due."""
    return f"offer:{group_id}"


def offer_of(name: str) -> str:
    """The group whose offer a due name is about; empty when it is about something else."""
    return name.removeprefix("offer:") if name.startswith("offer:") else ""


def apply(book: Book, record: Record, at: Moment) -> None:
    """Move the groups past one record."""
    tables = book.part(GroupTables)
    match record:
        case Began() if record.group:
            # What comes from its counterpart belongs to this thread of the group.
            tables.legs[record.group, record.peer] = record.thread_id
        case said.Grouped():
            tables.groups[record.group_id] = Group(
                record.group_id,
                record.coordinator,
                {one: RECEIVED if one == record.coordinator else AWAITING for one in record.members},
                record.mode,
                record.quorum,
                record.order,
                record.members,
                record.parent,
            )
        case said.Regrouped():
            _change(tables, book.due, record)
        case said.Met():
            known = tables.groups.get(record.group_id)
            there = tuple(one for one in known.members if one not in record.missing) if known else ()
            tables.outings[record.group_id] = Outing(at, record.missing, there)
            by_age = sorted(tables.outings, key=lambda one: (tables.outings[one].at, one))
            for one in by_age[:-REMEMBERED_OUTINGS]:
                del tables.outings[one]
        case said.CameEarly():
            tables.early[record.packet_id] = Early(record.peer, record.packet_id, record.type, record.ready)
        case said.TakenUp():
            tables.early.pop(record.packet_id, None)
        case _:
            return


def _change(tables: GroupTables, due: MutableMapping[str, Moment], record: said.Regrouped) -> None:
    group = tables.groups[record.group_id]
    named = {name: getattr(record, name) for name in record.__struct_fields__}
    changes = {name: value for name, value in named.items() if value is not msgspec.UNSET}
    after = replace(group, **changes)
    tables.groups[record.group_id] = after
    name = due_name(record.group_id)
    if after.offered_to and after.offered_until is not None:
        due[name] = after.offered_until
    else:
        due.pop(name, None)


PART: Final = Part(said.KINDS, apply, GroupTables, TABLES, ALWAYS_LOADED)
