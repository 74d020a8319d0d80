"""What calls return, typed.

Structs, not dataclasses: a class of those takes a millisecond to make, and every command waits for it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tacit.ledger.envelope import VERSION, Event


class Appended(msgspec.Struct, frozen=True):
    """An event that is in the ledger; `duplicate` when it was there before (CCCS-056, CCCS-057)."""

    event: Event
    duplicate: bool = False

    @property
    def id(self) -> str:
        """The event's id."""
        return self.event.id

    @property
    def seq(self) -> int:
        """The event's position."""
        return self.event.seq


class Page(msgspec.Struct, frozen=True):
    """A stretch of a ledger; hand `next_cursor` back untouched (CCCS-106)."""

    events: list[Event]
    next_cursor: int
    last_seq: int
    damaged: tuple[int, ...] = ()
    """Positions whose events are damaged on the hub's disk, and were left out."""


class SearchPage(list[Event]):
    """Messages that were found, the newest first."""

    damaged: tuple[int, ...] = ()
    """Positions of messages that would be here and are damaged on the hub's disk."""


class Inbox(msgspec.Struct, frozen=True):
    """What waits for one principal."""

    actor_id: str
    unread: list[Event]
    unread_count: int
    attention: list[Event]
    attention_count: int
    notices: list[Event]
    cursor: int
    damaged: tuple[int, ...] = ()
    """Positions whose events are damaged on the hub's disk, and were left out."""


class Source(msgspec.Struct, frozen=True):
    """The original of a relayed message."""

    event: Event


class SourceUnavailable(msgspec.Struct, frozen=True):
    """The original cannot be shown; a state of its own, never an empty result (CCCS-100)."""

    group_id: str
    event_id: str
    reason: str

    def __str__(self) -> str:
        return f"source unavailable ({self.reason})"


def event_of(value: dict[str, Any]) -> Event | None:
    """An event as received; None for an envelope version that this client does not know (CCCS-014)."""
    if value.get("v") != VERSION:
        return None
    return msgspec.convert(value, Event)


def appended_of(value: dict[str, Any]) -> Appended:
    """The answer to an append."""
    return Appended(msgspec.convert(value, Event), bool(value.get("duplicate")))
