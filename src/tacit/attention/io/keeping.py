"""The fold of one group on its shelves, and the past as the ledger remembers it (C2A-027, C2A-214).

A message is remembered by the ledger itself: what was said is heard again when somebody refers to it. The
same object serves the writer and, on a read-only connection, every view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from tacit.attention import records
from tacit.attention.approvals import Approvals, Asked
from tacit.attention.claims import Claims, Held
from tacit.attention.conversation import Conversation, conversation_of, inherits
from tacit.attention.dispositions import Duties, Duty
from tacit.attention.edits import Versions, edited
from tacit.attention.fold import Attention, Said
from tacit.attention.heard import Heard, hear
from tacit.attention.leaving import Absence, Absences
from tacit.attention.loops import Exchange, Exchanges
from tacit.attention.notes import Answer, Aside, Attended, Decided, Gathered, Offer, Sending, Spent
from tacit.attention.roster import ALL_MODES, Agent, Person, Roster
from tacit.attention.settings import DEFAULTS, with_values
from tacit.attention.state import ConversationState
from tacit.attention.values import ConversationKind
from tacit.base.moment import Moment
from tacit.ledger.envelope import Event, decode
from tacit.ledger.projection import before

if TYPE_CHECKING:
    import apsw

    from tacit.attention.io.shelf import Books
    from tacit.ledger.ports import Found
    from tacit.ledger.state import Group

REMEMBERED: Final = 10_000
_PLACE: Final = tuple[str, str | None]
_PAIR: Final = tuple[str, str]
SAID: Final = frozenset({"chat.message", "x.c2a.edit", "system.notify", "chat.reaction"})


class Events(Protocol):
    """Where events of one group are looked up."""

    def event(self, event_id: str) -> Found | None:
        """The event with this id, in this group."""
        ...

    def at(self, seq: int) -> Found | None:
        """The event at this position, in this group."""
        ...


def _always(_value: object) -> bool:
    return True


def _live(duty: Duty) -> bool:
    return duty.live


def attention_on(books: Books) -> Attention:
    """The fold of a group on its shelves."""
    shelf = books.shelf
    rules = shelf("rules", str, Any, _always)
    attention = Attention(
        settings=with_values(DEFAULTS, dict(rules.items())),
        past={},
        claims=Claims(shelf("claim", str, Held, _always)),
        duties=Duties(shelf("duty", _PAIR, Duty, _live), shelf("duties", str, tuple[str, ...])),
        absences=Absences(shelf("absence", str, Absence, _always)),
        exchanges=Exchanges(shelf("exchange", _PLACE, Exchange, _always)),
        versions=Versions(
            shelf("edited", str, str), shelf("deleted", str, bool), shelf("first_form", str, str)
        ),
        approvals=Approvals(shelf("approval", _PAIR, Asked, _always)),
        threads=shelf("thread", str, frozenset[str]),
        thread_owner=shelf("thread_owner", str, str),
        awaiting=shelf("awaiting", _PLACE, frozenset[str]),
        sessions=shelf("session", str, Attended, _always),
        rules=rules,
        decided=shelf("decided", str, Decided),
        offers=shelf("offer", str, Offer, _always),
        sent=shelf("sent", str, tuple[Sending, ...]),
        answers=shelf("answers", _PAIR, tuple[Answer, ...]),
        looked=shelf("looked", _PAIR, Moment),
        gathered=shelf("gathered", str, Gathered, _always),
        confided=shelf("confided", str, tuple[str, ...]),
        spent=shelf("spent", str, Spent, _always),
        asides=shelf("aside", _PAIR, Aside),
        progress=shelf("progress", str, records.Progress, _always),
        recalled=shelf("recalled", str, tuple[str, ...]),
    )
    _load_ownership(attention, books.connection, books.number)
    return attention


def _load_ownership(attention: Attention, connection: apsw.Connection, number: int) -> None:
    rows = connection.execute(
        "SELECT store, key, value FROM context WHERE group_no=? AND "
        "(store='tasks' OR key LIKE 'stream:%' OR key LIKE 'channel:%')",
        (number,),
    )
    ops = [
        {"op": "set", "store": store, "key": key, "value": msgspec.json.decode(bytes(value))}
        for store, key, value in rows
    ]
    attention.ownership.synced({"ops": ops})


class Remembered:
    """What was said, heard again from the ledger when it is referred to (the `Past` port).

    Always heard again, also what was said a moment ago: a name or a setting that came in between counts in
    the same way for a hub that runs on, one that was restarted, and a rebuild.
    """

    def __init__(self, attention: Attention) -> None:
        self._attention = attention
        self._cache: dict[str, Said | None] = {}
        self.events: Events | None = None
        self.roster = Roster()

    def get(self, event_id: str, /) -> Said | None:
        """What was said, if anything was."""
        found = self._cache.get(event_id)
        if found is None and (event := self.form(event_id)) is not None:
            heard = self.heard(event)
            if heard is not None:
                found = Said(
                    heard.by,
                    heard.by_agent,
                    heard.conversation,
                    heard.intent,
                    heard.target.agents,
                    heard.private,
                )
                if len(self._cache) >= REMEMBERED:
                    self._cache.clear()
                self._cache[event_id] = found
        return found

    def __setitem__(self, event_id: str, said: Said, /) -> None:
        """Nothing to do: the ledger has it."""

    def forget(self) -> None:
        """Hear everything anew: names, settings or owners have changed."""
        self._cache.clear()

    def form(self, event_id: str) -> Event | None:
        """A message as it stands under this id: an edit has its original's address and its own text."""
        found = self.events.event(event_id) if self.events is not None else None
        return self.form_of(found) if found is not None else None

    def form_of(self, found: Found) -> Event | None:
        """The same for an event that is at hand; None for what is not said to anybody."""
        event = decode(found.raw)
        if event.kind != "x.c2a.edit":
            return event if event.kind in SAID else None
        first = self.events.event(self.original(event.id)) if self.events is not None else None
        return edited(decode(first.raw), event) if first is not None and first.kind in SAID else None

    def original(self, event_id: str) -> str:
        """The id of a message's first form: what the fold knows, or the edit itself says."""
        found = self.events.event(event_id) if self.events is not None else None
        while found is not None and found.kind == "x.c2a.edit" and self.events is not None:
            first = self._attention.versions.first(event_id)
            event_id = first if first != event_id else before(found.data)
            found = self.events.event(event_id)
        return event_id

    def heard(self, event: Event) -> Heard | None:
        """The event as it was heard, with its conversation taken from the root of its thread."""
        if event.kind == "chat.reaction":
            return hear(event, self.roster, self._attention.state_for(event), self._attention.settings)
        state = ConversationState(*self._place(event))
        return hear(event, self.roster, state, self._attention.settings)

    def _place(self, event: Event) -> tuple[Any, ...]:
        """Conversation, and (as the sixth member of a state) who alone may read."""
        first = self.events.event(self.original(event.id)) if self.events is not None else None
        root = self.events.at(first.root) if first is not None and first.root and self.events else None
        found = conversation_of(event.data, event.by, root.event_id if root is not None else None)
        if root is not None and inherits(event.data):
            above = conversation_of(decode(root.raw).data, root.by)
            kind = ConversationKind.DM if first is not None and first.private else found.kind
            found = Conversation(above.id, kind, root.event_id, above.stream, above.title)
        found = self._attention.ownership.titled(found)
        readers = first.parties() if first is not None and first.private and root is not None else None
        return found, frozenset[str](), frozenset[str](), None, False, readers


def roster_for(group: Group, attention: Attention, online: frozenset[str] | None = None) -> Roster:
    """The roster of a group with what each harness agreed to; without word of it all count as online."""
    sessions = attention.sessions
    agents = [
        Agent(
            actor.actor_id,
            names=(actor.title,) if actor.title else (),
            role=actor.role,
            roles=frozenset(actor.roles),
            modes=known.modes if (known := sessions.get(actor.actor_id)) is not None else ALL_MODES,
            online=online is None or actor.actor_id in online,
        )
        for actor in group.present()
    ]
    people = [Person(one.principal, (one.title,) if one.title else ()) for one in group.people.values()]
    return Roster.of(agents, people)
