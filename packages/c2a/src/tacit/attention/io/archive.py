"""The archive: what a session may look up in the ledger (the `Archive` port of `send`; C2A-203, C2A-213).

Serves the writer and, on a read-only connection, every view. What a session may not read does not exist for
it. A decision that was not kept is decided again from the event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from tacit.attention.decide.decide import EventDecision, decide, derived
from tacit.attention.io.state_store import EventsOfGroup, PastMessages, attention_on, roster_for
from tacit.attention.read.context import ConversationState
from tacit.ledger.envelope import Event, decode
from tacit.ledger.io.fold_tables import GroupFolds

if TYPE_CHECKING:
    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.read.roster import Roster
    from tacit.attention.state.fold import Attention
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.ports import EarlierSubmission
    from tacit.ledger.state import Group
    from tacit.ledger.stored_event import StoredEvent


CONSEQUENCES_AT_MOST: Final = 200
"""How far behind a message its own consequences are looked for."""


class Keyed(EventsOfGroup, Protocol):
    """Events, also by idempotency key."""

    def submission(self, by: str, client_id: str) -> EarlierSubmission | None:
        """The last submission under this idempotency key."""
        ...


class Archive:
    """One group's past, as one session may see it."""

    def __init__(self, attention: Attention, past: PastMessages, events: Keyed, roster: Roster) -> None:
        self.attention = attention
        self.past = past
        self.roster = roster
        self._events = events

    @classmethod
    def on(cls, reader: Reader, group: Group, online: frozenset[str] | None = None) -> Archive:
        """The archive on a reader's connection."""
        attention = attention_on(GroupFolds(reader.connection, group.number))
        past = PastMessages(attention)
        attention.past = past
        past.roster = roster_for(group, attention, online)
        past.events = reader.glance(group)
        return cls(attention, past, reader.glance(group), past.roster)

    def found(self, event_id: str) -> StoredEvent | None:
        """An event by its id, whoever asks."""
        return self._events.event(event_id)

    def readable(self, event_id: str, session: str) -> Event | None:
        """A message in its form under this id, if the session may read it."""
        found = self._events.event(event_id)
        return self.form_for(found, session) if found is not None else None

    def form_for(self, found: StoredEvent, session: str) -> Event | None:
        """The same for an event that is at hand."""
        if not found.visible_to(session):
            return None
        event = self.past.form_of(found)
        if event is not None and self.attention.versions.is_deleted(found.event_id):
            event.data.pop("attachments", None)
            event.data["text"] = ""
        return event

    def original(self, event_id: str) -> str:
        """The id of a message's first form."""
        return self.past.original(event_id)

    def keyed(self, session: str, key: str) -> Event | None:
        """The session's message under this idempotency key, however old."""
        earlier = self._events.submission(session, key)
        found = self._events.at(earlier.seq) if earlier is not None else None
        return decode(found.raw) if found is not None and found.kind == "chat.message" else None

    def decided(self, event: Event, parsed: ParsedMessage | None = None) -> EventDecision:
        """How everyone stood to an event; who has it parsed already says so."""
        kept = self.attention.decided.get(event.id)
        if kept is not None:
            return kept
        parsed = parsed or self.past.parsed(event)
        state = ConversationState(parsed.conversation if parsed is not None else None)
        if event.kind == "chat.reaction":
            state = self.attention.state_for_reaction(event)
        return derived(decide(event, self.roster, state, self.attention.settings))

    def stopped_an_exchange(self, event_id: str) -> bool:
        """Was this the message at which an exchange between agents was stopped (C2A-198)?

        The record of it stands close behind, among the consequences of the message.
        """
        found = self._events.event(event_id)
        for step in range(1, CONSEQUENCES_AT_MOST):
            behind = self._events.at(found.seq + step) if found is not None else None
            if behind is None or not behind.kind.startswith("x.c2a."):
                return False
            if behind.kind == "x.c2a.audit":
                data = decode(behind.raw).data
                if data.get("what") == "loop_stopped" and data.get("event_id") == event_id:
                    return True
        return False

    def decision(self, event: Event, session: str, parsed: ParsedMessage | None = None) -> Decision:
        """What the session got for this event, as it was decided then."""
        return self.decided(event, parsed).decision(session, self.attention.settings)
