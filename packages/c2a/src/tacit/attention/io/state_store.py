"""Where a group's attention is kept: the fold's mappings as rows of the ledger's own file (C2A-027, C2A-214).

One row a key in `folds`, read when it is asked for and written before the commit, in the transaction of the
event that changed it. What is marked open (live claims, unmet obligations) can be found without its key;
everything else costs nothing until somebody names it, so that a group's history does not have to fit into
memory. Messages are remembered by the ledger itself: what was said is parsed again when somebody refers to
it. The same objects serve the writer and, on a read-only connection, every view.

The archive: what a session may look up in the ledger (the `Archive` port of `send`; C2A-203, C2A-213).

Serves the writer and, on a read-only connection, every view. What a session may not read does not exist for
it. A decision that was not kept is decided again from the event.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from tacit.attention.decide.decide import EventDecision, decide, derived
from tacit.attention.decide.digest import PendingDigest
from tacit.attention.read.bursts import Burst
from tacit.attention.read.context import ConversationState
from tacit.attention.read.conversation import Conversation, conversation_of, inherits
from tacit.attention.read.cues import SaidLine
from tacit.attention.read.message import parse_message
from tacit.attention.read.roster import ALL_MODES, Roster, RosterAgent, RosterPerson
from tacit.attention.settings import DEFAULTS, with_values
from tacit.attention.state import records
from tacit.attention.state.absences import Absence, Absences
from tacit.attention.state.approvals import ApprovalRequest, Approvals
from tacit.attention.state.asking import (
    Asking,
    AwaitedAnswer,
    AwaitedAnswers,
    PersonQuestion,
    PersonQuestions,
)
from tacit.attention.state.claims import Claims, HeldClaim, OpenOffer
from tacit.attention.state.fold import Attention
from tacit.attention.state.loops import Exchange, Exchanges
from tacit.attention.state.obligations import Obligation, Obligations
from tacit.attention.state.ownership import LastTalk, LastTalks
from tacit.attention.state.progress import ProgressReports
from tacit.attention.state.room_questions import RoomQuestion, RoomQuestions
from tacit.attention.state.sessions import SessionAgreement, SessionSpending
from tacit.attention.state.versions import EphemeralSend, MessageForm, Sending, SentAnswer, Versions, edited
from tacit.attention.state.work import PieceOfWork, Works
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import ConversationKind
from tacit.ledger.envelope import Event, decode
from tacit.ledger.io.fold_tables import GroupFolds
from tacit.ledger.io.schema import SHIFT
from tacit.ledger.projection import before

if TYPE_CHECKING:
    import apsw

    from tacit.attention.decide.decision import Decision
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.ports import EarlierSubmission
    from tacit.ledger.state import Group


REMEMBERED: Final = 10_000
_PLACE: Final = tuple[str, str | None]
_PAIR: Final = tuple[str, str]
_WHOLE: Final[dict[str, tuple[Any, Any]]] = {
    "rules": (str, Any),
    "claim": (str, HeldClaim),
    "absence": (str, Absence),
    "exchange": (_PLACE, Exchange),
    "session": (str, SessionAgreement),
    "offer": (str, OpenOffer),
    "room_question": (str, RoomQuestion),
    "pending_digest": (str, PendingDigest),
    "spent": (str, SessionSpending),
}
"""Small tables that are gone through, with the types of their keys and values; others are asked by key."""
SAID: Final = frozenset({"chat.message", "x.c2a.edit", "system.notify", "chat.reaction"})


class EventsOfGroup(Protocol):
    """Where events of one group are looked up."""

    def event(self, event_id: str) -> StoredEvent | None:
        """The event with this id, in this group."""
        ...

    def at(self, seq: int) -> StoredEvent | None:
        """The event at this position, in this group."""
        ...


def attention_on(folds: GroupFolds) -> Attention:
    """The fold of a group on its tables."""
    table, lists, whole = folds.table, folds.lists, folds.whole(_WHOLE)
    attention = Attention(
        settings=with_values(DEFAULTS, whole["rules"]),
        past={},
        claims=Claims(whole["claim"]),
        obligations=Obligations(
            table("obligation", _PAIR, Obligation, attrgetter("live")),
            lists("obligations", str, str),
        ),
        absences=Absences(whole["absence"]),
        exchanges=Exchanges(whole["exchange"]),
        versions=Versions(table("message_form", str, MessageForm)),
        approvals=Approvals(table("approval", _PAIR, ApprovalRequest, attrgetter("holds"))),
        threads=table("thread", str, frozenset[str]),
        thread_owner=table("thread_owner", str, str),
        awaiting=table("awaiting", _PLACE, frozenset[str]),
        sessions=whole["session"],
        rules=whole["rules"],
        decided=table("decided", str, EventDecision),
        offers=whole["offer"],
        room_questions=RoomQuestions(whole["room_question"]),
        sent=lists("sent", str, Sending),
        answers=lists("answers", _PAIR, SentAnswer),
        looked=table("looked", _PAIR, Moment),
        pending_digests=whole["pending_digest"],
        spent=whole["spent"],
        ephemeral_sends=table("ephemeral_send", _PAIR, EphemeralSend),
        progress=ProgressReports(
            table("progress", _PAIR, records.ProgressRecord), lists("progress_moved", str, str)
        ),
        recalled=lists("recalled", str, str),
        work=Works(
            table("work", _PAIR, PieceOfWork, attrgetter("is_open")),
            lists("work_of", str, str),
            lists("work_ended", str, str),
        ),
        notices=lists("notices", str, str),
        turns=lists("turns", _PAIR, records.TurnRecord),
        floors=lists("floor", str, SaidLine),
        bursts=table("burst", _PAIR, Burst),
        asking=Asking(
            LastTalks(table("last_talk", _PAIR, LastTalk)),
            AwaitedAnswers(lists("awaited_answer", _PAIR, AwaitedAnswer)),
            PersonQuestions(lists("person_question", str, PersonQuestion)),
        ),
    )
    _load_ownership(attention, folds.connection, folds.number)
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


class PastMessages:
    """Messages, parsed again from the ledger when somebody refers to them (the `Past` port).

    What was parsed is held until a name, a setting or an owner changes: then it counts in the same way for a
    hub that runs on, one that was restarted, and a rebuild.
    """

    def __init__(self, attention: Attention) -> None:
        self._attention = attention
        self._cache: dict[str, ParsedMessage] = {}
        self._followed: Event | None = None
        self._first: StoredEvent | None = None
        self.events: EventsOfGroup | None = None
        self.roster = Roster()

    def get(self, event_id: str, /) -> ParsedMessage | None:
        """The message under this id, if there is one."""
        found = self._cache.get(event_id)
        if found is None and (event := self.form(event_id)) is not None:
            found = self.parsed(event)
            if found is not None:
                self._hold(event_id, found)
        return found

    def __setitem__(self, event_id: str, message: ParsedMessage, /) -> None:
        """It was just read, to decide it. The place of a reply is read again, from the root of its thread."""
        if message.conversation.thread is None:
            self._hold(event_id, message)

    def _hold(self, event_id: str, message: ParsedMessage) -> None:
        if len(self._cache) >= REMEMBERED:
            self._cache.clear()
        self._cache[event_id] = message

    def forget(self) -> None:
        """Parse everything anew: names, settings or owners have changed."""
        self._cache.clear()

    def follow(self, found: StoredEvent) -> Event | None:
        """The form of an event that is followed now: what comes of it asks for it again."""
        self._followed = self.form_of(found)
        self._first = found if found.kind != "x.c2a.edit" else None
        return self._followed

    def form(self, event_id: str) -> Event | None:
        """A message as it stands under this id: an edit has its original's address and its own text."""
        if self._followed is not None and self._followed.id == event_id:
            return self._followed
        found = self.events.event(event_id) if self.events is not None else None
        return self.form_of(found) if found is not None else None

    def form_of(self, found: StoredEvent) -> Event | None:
        """The same for an event that is at hand; None for what is not said to anybody."""
        event = decode(found.raw)
        if event.kind != "x.c2a.edit":
            return event if event.kind in SAID else None
        first = self.first(event.id)
        return edited(decode(first.raw), event) if first is not None and first.kind in SAID else None

    def original(self, event_id: str) -> str:
        """The id of a message's first form: what the fold knows, or the edit itself says."""
        return self._traced(event_id)[0]

    def first(self, event_id: str) -> StoredEvent | None:
        """The first form of a message."""
        return self._traced(event_id)[1]

    def _traced(self, event_id: str) -> tuple[str, StoredEvent | None]:
        if self._first is not None and self._first.event_id == event_id:
            return event_id, self._first
        found = self.events.event(event_id) if self.events is not None else None
        while found is not None and found.kind == "x.c2a.edit" and self.events is not None:
            first = self._attention.versions.first(event_id)
            event_id = first if first != event_id else before(found.data)
            found = self.events.event(event_id)
        return event_id, found

    def under(self, event_id: str) -> tuple[Event, ParsedMessage | None] | None:
        """What is said under this id: its form, and how it reads."""
        form = self.form(event_id)
        return (form, self.get(event_id)) if form is not None else None

    def said(self, found: StoredEvent) -> tuple[Event, ParsedMessage] | None:
        """A message that is at hand, which is no edit: its form, and how it reads."""
        form = self.form_of(found)
        parsed = self._cache.get(found.event_id)
        if form is not None and parsed is None and (parsed := self.parsed(form, found)) is not None:
            self._hold(found.event_id, parsed)
        return (form, parsed) if form is not None and parsed is not None else None

    def parsed(self, event: Event, first: StoredEvent | None = None) -> ParsedMessage | None:
        """The event as `decide` read it, with its conversation taken from the root of its thread.

        `first` is the first form of the message, where that is at hand.
        """
        if event.kind == "chat.reaction":
            return parse_message(
                event, self.roster, self._attention.state_for_reaction(event), self._attention.settings
            )
        return parse_message(event, self.roster, self._where(event, first), self._attention.settings)

    def place(self, event: Event, first: StoredEvent | None = None) -> Conversation | None:
        """The conversation of a message, without reading its text."""
        return self._where(event, first).conversation

    def _where(self, event: Event, first: StoredEvent | None) -> ConversationState:
        """As much of the state as reading takes: the conversation, and who alone may read there."""
        if first is None:
            first = self.first(event.id)
        root = self.events.at(first.root) if first is not None and first.root and self.events else None
        found = conversation_of(event.data, event.by, root.event_id if root is not None else None)
        if root is not None and inherits(event.data):
            above = conversation_of(decode(root.raw).data, root.by)
            kind = ConversationKind.DM if first is not None and first.private else found.kind
            found = Conversation(above.id, kind, root.event_id, above.stream, above.title)
        found = self._attention.ownership.titled(found)
        readers = first.parties() if first is not None and first.private and root is not None else None
        return ConversationState(conversation=found, readers=readers)


def roster_for(group: Group, attention: Attention, online: frozenset[str] | None = None) -> Roster:
    """The roster of a group with what each harness agreed to; without word of it all count as online."""
    sessions = attention.sessions
    agents = [
        RosterAgent(
            actor.actor_id,
            names=(actor.title,) if actor.title else (),
            role=actor.role,
            roles=frozenset(actor.roles),
            modes=known.modes if (known := sessions.get(actor.actor_id)) is not None else ALL_MODES,
            online=online is None or actor.actor_id in online,
        )
        for actor in group.present()
    ]
    people = [RosterPerson(one.principal, (one.title,) if one.title else ()) for one in group.people.values()]
    return Roster.of(agents, people)


_NAMING: Final = """
SELECT raw FROM events WHERE pos>? AND pos<? AND kind IN
  (SELECT number FROM kinds WHERE name IN ('actor.add', 'actor.update', 'x.tacit.person.add'))
"""


def roster_ever(connection: apsw.Connection, number: int) -> Roster:
    """Everybody who ever was in a group, by every name and with every role that they had.

    Whom a text names is looked up by the names of the day; what stays of a text must hold all that could be.
    """
    agents: dict[str, RosterAgent] = {}
    people: dict[str, RosterPerson] = {}
    for (raw,) in connection.execute(_NAMING, (number << SHIFT, (number + 1) << SHIFT)):
        data = decode(bytes(raw)).data
        names = (str(data["title"]),) if data.get("title") else ()
        if (principal := data.get("principal")) is not None:
            known = people.get(principal, RosterPerson(principal))
            people[principal] = RosterPerson(principal, (*known.names, *names))
            continue
        actor = str(data["actor_id"])
        before_it = agents.get(actor, RosterAgent(actor))
        agents[actor] = RosterAgent(
            actor,
            (*before_it.names, *names),
            data.get("role") or before_it.role,
            before_it.roles | frozenset(data.get("roles") or ()),
        )
    return Roster.of(agents.values(), people.values())


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
