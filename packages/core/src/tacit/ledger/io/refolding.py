"""Folding an event that is in the journal already: in a rebuild, and when a node catches up.

The live writer decides and then takes; here the decision is past, and the event is taken through the very
same step, so that what is rebuilt or caught up equals what was written live.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from tacit.base.errors import Corrupt, Refused
from tacit.base.moment import parse_rfc3339
from tacit.ledger.envelope import decode
from tacit.ledger.projection import body_of, project

if TYPE_CHECKING:
    from tacit.base.moment import Moment
    from tacit.ledger.envelope import Event, StoredEvent
    from tacit.ledger.ports import JournalEntry, Lookup
    from tacit.ledger.projection import Facts
    from tacit.ledger.state import Group


class RefoldingWriter(Protocol):
    """The step of the writer that an event of the past goes through."""

    def take(
        self,
        entry: JournalEntry,
        event_id: str,
        by: str,
        at: Moment,
        data: dict[str, Any],
        group: Group,
        facts: Facts,
    ) -> StoredEvent:
        """Stage one event's consequences."""
        ...

    def fold(self, group: Group, found: StoredEvent, at: Moment) -> None:
        """Let the engine move past an event."""
        ...


def refold(
    writer: RefoldingWriter, group: Group, entry: JournalEntry, view: Lookup
) -> tuple[Event, Facts, StoredEvent]:
    """Take one event of the past; what it said, what follows from it, and how it is stored."""
    try:
        event = decode(entry.raw)
        at = parse_rfc3339(event.ts) or group.last_ts
        body = body_of(entry.kind, event.data)
        facts = project(entry.kind, event.by, event.data, body, group, view)
    except (Refused, msgspec.DecodeError) as error:
        raise Corrupt(
            f"event {entry.seq} of group {group.group_id} cannot be folded",
            hint="run `tacit ledger verify`; nothing was changed",
        ) from error
    stored = writer.take(entry, event.id, event.by, at, event.data, group, facts)
    writer.fold(group, stored, at)
    return event, facts, stored
