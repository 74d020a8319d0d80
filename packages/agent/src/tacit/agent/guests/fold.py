"""The guests' part of the fold: who is asked by a link, and which answer counts (A2ACP-277).

Three tables: `guests` by id; `open_guests`, those of whom anything may still come; `asked_guests`, those who
were asked about a proposal of a group. Of a guest nothing else is kept: no tally, no completion, no approval,
no hint; so nothing can be remembered of one or learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from tacit.agent.guests import records as guest_records
from tacit.agent.kernel.book import Part
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.agent.kernel.book import Book
    from tacit.agent.kernel.records import Record

BY_LINK: Final = "link"
BY_OWNER: Final = "relayed_by_user"
"""The owner pasted it: its owner vouches for it, also when the link was taken back."""
REVOKED: Final = "revoked"
EXPIRED: Final = "expired"


class GuestSaid(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer."""

    answer: str
    source: str
    choice: str
    at: Moment
    mac: str
    readable: bool = True


class Guest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One person who is asked one thing, by a link."""

    guest_id: str
    thread_id: str
    packet_id: str
    content: str
    secret: str
    asked_at: Moment
    until: Moment
    kept: bool = False
    revoked: bool = False
    ended: str = ""
    number: int = 0
    """Up to which of the relay's numbers answers were taken."""
    heard: tuple[GuestSaid, ...] = ()
    mailed: int = 0
    hub: str = ""
    about: str = ""

    @property
    def address(self) -> str:
        """What stands where an agent's address would."""
        return f"guest:{self.guest_id}"

    @property
    def counted(self) -> GuestSaid | None:
        """The one answer that counts: the last that can be read; of a revoked link only the owner's word."""
        found = [one for one in self.heard if one.readable and (not self.revoked or one.source == BY_OWNER)]
        return found[-1] if found else None


class Voices(msgspec.Struct, frozen=True):
    """The guests who were asked about one proposal of a group, by `guest:<id>`."""

    asked: tuple[str, ...] = ()
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()


def voices(
    guests: MutableMapping[str, Guest], asked: MutableMapping[str, tuple[str, ...]], about: str
) -> Voices:
    """Who of them counts toward a quorum: who said yes or no, and who still can (A2ACP-277)."""
    found = [guests[name] for name in asked.get(about, ())]
    said = {one.address: one.counted.choice for one in found if one.counted is not None}
    can = [one.address for one in found if one.address in said or not (one.revoked or one.ended)]
    return Voices(
        tuple(can),
        tuple(one for one in can if said.get(one) == "confirm"),
        tuple(one for one in can if said.get(one) == "decline"),
    )


@dataclass(slots=True)
class GuestTables:
    """The guests' part of the state."""

    guests: MutableMapping[str, Guest]
    open_guests: MutableMapping[str, Moment]
    asked_guests: MutableMapping[str, tuple[str, ...]]


TABLES: Final[dict[str, tuple[Any, Any]]] = {
    "guests": (str, Guest),
    "open_guests": (str, Moment),
    "asked_guests": (str, tuple[str, ...]),
}
ALWAYS_LOADED: Final = frozenset({"open_guests"})


def apply(
    guests: MutableMapping[str, Guest],
    still: MutableMapping[str, Moment],
    asked: MutableMapping[str, tuple[str, ...]],
    record: Record,
    at: Moment,
) -> None:
    """Move past a record that is about a guest; every other is passed over."""
    match record:
        case guest_records.GuestAsked():
            guest = Guest(
                record.guest_id, record.thread_id, record.packet_id, record.content, record.secret, at,
                record.until, hub=record.hub, about=record.about,
            )  # fmt: skip
            if record.about:
                asked[record.about] = (*asked.get(record.about, ()), record.guest_id)
            still[record.guest_id] = record.until
        case guest_records.GuestKept():
            guest = replace(guests[record.guest_id], kept=True)
        case guest_records.GuestHeard():
            guest = guests[record.guest_id]
            one = GuestSaid(record.answer, record.source, record.choice, at, record.mac, record.readable)
            guest = replace(guest, heard=(*guest.heard, one), number=max(guest.number, record.number))
        case guest_records.GuestPassed():
            guest = guests[record.guest_id]
            guest = replace(guest, number=max(guest.number, record.number))
        case guest_records.GuestMailed():
            guest = guests[record.guest_id]
            guest = replace(guest, mailed=guest.mailed + 1)
        case guest_records.GuestRevoked():
            guest = replace(guests[record.guest_id], revoked=True)
        case guest_records.GuestEnded():
            guest = replace(guests[record.guest_id], ended=record.reason)
            still.pop(record.guest_id, None)
        case _:
            return
    guests[guest.guest_id] = guest


def folded(book: Book, record: Record, at: Moment) -> None:
    """Move the guests' part of the state past a record."""
    tables = book.part(GuestTables)
    apply(tables.guests, tables.open_guests, tables.asked_guests, record, at)


PART: Final = Part(guest_records.KINDS, folded, GuestTables, TABLES, ALWAYS_LOADED)
