"""How values look on the wire. The bytes of events are passed on as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tacit.ledger.commands import Duplicate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tacit.ledger.commands import Committed
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import EventPage, InboxContents, Reader
    from tacit.ledger.state import Actor, Group


def raw(event: StoredEvent) -> msgspec.Raw:
    """An event's own bytes, inside a larger answer."""
    return msgspec.Raw(event.raw)


def events(found: Iterable[StoredEvent]) -> list[msgspec.Raw]:
    """Many events' own bytes."""
    return [raw(event) for event in found]


def appended(outcome: Committed | Duplicate) -> object:
    """The event; for a repeat the first one, marked (CCCS-056, CCCS-057)."""
    if isinstance(outcome, Duplicate):
        first: dict[str, Any] = msgspec.json.decode(outcome.event.raw)
        return {**first, "event_id": outcome.event.event_id, "duplicate": True}
    return raw(outcome.event)


def page(read: EventPage) -> dict[str, Any]:
    """A stretch of a ledger and where to go on; events that are damaged are named and left out."""
    shown = {"events": events(read.events), "next_cursor": read.next_seq, "last_seq": read.last_seq}
    return {**shown, "damaged": list(read.damaged)} if read.damaged else shown


def naming_damage(query: Callable[[Reader], dict[str, Any]]) -> Callable[[Reader], dict[str, Any]]:
    """The query, whose answer names by their positions the events that are damaged and so left out of it."""

    def look(reader: Reader) -> dict[str, Any]:
        reader.begin()
        answer = query(reader)
        return {**answer, "damaged": list(reader.left_out)} if reader.left_out else answer

    return look


def actor(one: Actor) -> dict[str, Any]:
    """An actor of the roster."""
    return {
        "actor_id": one.actor_id,
        "role": one.role,
        "title": one.title,
        "roles": list(one.roles),
        "joined_seq": one.joined,
    }


def group(one: Group) -> dict[str, Any]:
    """A group and its roster."""
    return {
        "group_id": one.group_id,
        "title": one.title,
        "created": one.created,
        "last_seq": one.last_seq,
        "scopes": [{"scope_key": key, "url": url} for key, url in one.scopes.items()],
        "actors": [actor(present) for present in one.present()],
        "people": [{"principal": person.principal, "title": person.title} for person in one.people.values()],
    }


def inbox(
    read: InboxContents, principal: str, shown: Callable[[list[StoredEvent]], Sequence[object]]
) -> dict[str, Any]:
    """What waits, with counts; `shown` makes messages as they stand now."""
    return {
        "actor_id": principal,
        "unread": shown(read.unread),
        "unread_count": read.unread_count,
        "attention": shown(read.attention),
        "attention_count": read.attention_count,
        "notices": events(read.notices),
        "cursor": read.cursor,
    }
