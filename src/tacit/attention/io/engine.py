"""The engine: follows every event in the writer, decides, and answers with what the house has to say.

Runs in the writer thread alone, inside the transaction of the event it follows: an obligation is durable
when the message that made it is. Rows: C2A-003, 008, 027, 116, 206, 212, 214. Keeps no rule of its own; the
rules are the pure modules it calls.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.attention.decide import digest
from tacit.attention.decide.rates import MINUTE
from tacit.attention.io.archive import Archive
from tacit.attention.io.deliveries import Draft, drafted
from tacit.attention.io.state_store import SAID, GroupFolds, PastMessages, attention_on, roster_for
from tacit.attention.read.roster import Roster
from tacit.attention.state import consequences, records, timers
from tacit.attention.state.claims import event_target
from tacit.attention.state.consequences import Around, Notice, Written
from tacit.base.moment import Moment
from tacit.ledger.admission import Submission
from tacit.ledger.envelope import Event, decode
from tacit.ledger.principal import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.state.fold import Attention
    from tacit.ledger.io.writer import Snapshot
    from tacit.ledger.ports import Lookup, StoredEvent
    from tacit.ledger.state import Group

ROSTER_KINDS: Final = frozenset(
    {"actor.add", "actor.update", "actor.remove", "x.tacit.person.add", "x.c2a.session"}
)
HEARING_KINDS: Final = ROSTER_KINDS | {"x.c2a.rules", "context.sync"}
"""After these the same words may mean something else."""
LOOK_BACK: Final = 1_000
"""How many events before its own start attention reads, and a new session is held to."""


@dataclass(slots=True)
class GroupAttention:
    """One group as the engine holds it."""

    attention: Attention
    folds: GroupFolds
    past: PastMessages
    pushed: defaultdict[str, deque[Moment]] = field(default_factory=lambda: defaultdict(deque))
    roster: Roster | None = None


def submitted(group_id: str, written: Iterable[Written], user: str = "user") -> list[Submission]:
    """Records and notices as events of the house's own."""
    found: list[Submission] = []
    for one in written:
        if isinstance(one, Notice):
            kind, data = "system.notify", {**one.data, "target_actor_id": user}
        else:
            kind, data = records.kind_of(one), records.data_of(one)
        found.append(Submission(group_id, SYSTEM, kind, data, msgspec.json.encode(data)))
    return found


def _nobody(_group_id: str) -> frozenset[str]:
    return frozenset()


class AttentionEngine:
    """Attention for every group of one ledger."""

    def __init__(
        self, connection: apsw.Connection, online: Callable[[str], frozenset[str]] | None = None
    ) -> None:
        self._connection = connection
        self._online: Callable[[str], frozenset[str]] = online or _nobody
        self._rooms: dict[str, GroupAttention] = {}
        self._touched: dict[str, GroupAttention] = {}
        self._due: list[tuple[Moment, str]] = []
        self.drafts: dict[str, Draft] = {}
        """By delivery, from its commit until it is sent; whoever finds none here reads the ledger."""
        self.woken: Callable[[], None] = lambda: None

    def room(self, group: Group, lookup: Lookup) -> GroupAttention:
        """A group's attention, ready for look-ups in the open batch."""
        room = self._rooms.get(group.group_id)
        if room is None:
            folds = GroupFolds(self._connection, group.number)
            attention = attention_on(folds)
            room = self._rooms[group.group_id] = GroupAttention(attention, folds, PastMessages(attention))
            attention.past = room.past
        self._touched[group.group_id] = room
        room.past.events = lookup
        if room.roster is None:
            room.roster = room.past.roster = roster_for(group, room.attention)
        return room

    def around(self, room: GroupAttention, group: Group, now: Moment) -> Around:
        """What is known beside the fold at this moment."""
        roster = roster_for(group, room.attention, self._online(group.group_id))
        return Around(roster, now, room.pushed)

    # -- following the ledger

    def committed(self, group: Group, found: StoredEvent, at: Moment, lookup: Lookup) -> Sequence[Submission]:
        """Move past an event; what the house itself has to say because of it."""
        room = self.room(group, lookup)
        if found.kind not in SAID:
            return self._recorded(room, group, found, at, lookup)
        if not room.attention.sessions:
            self._before_attention(room, found)
            return ()
        decided = self._take(room, found)
        if decided is None:
            return ()
        event, decisions, stopped = decided
        around = Around(room.roster or Roster(), at, room.pushed)
        if any(one.escalate for one in decisions.exceptions.values()):
            around = self.around(room, group, at)
        written = consequences.consequences(event, decisions, room.attention, around, stopped=stopped)
        self._schedule_notes(room, group, event)
        return submitted(group.group_id, written)

    def folded(self, group: Group, found: StoredEvent, at: Moment, lookup: Lookup) -> None:
        """Move past an event of the past, in a rebuild."""
        room = self.room(group, lookup)
        del at
        if found.kind not in SAID:
            self._fold(room, group, found, lookup)
        elif room.attention.sessions:
            self._take(room, found)
        else:
            self._before_attention(room, found)

    def _before_attention(self, room: GroupAttention, found: StoredEvent) -> None:
        """No harness is here yet: nothing is decided, but views must know what was edited."""
        if found.kind == "x.c2a.edit":
            room.attention.apply(decode(found.raw))

    def _take(self, room: GroupAttention, found: StoredEvent) -> tuple[Event, Decisions, bool] | None:
        event = room.past.form_of(found)
        if event is None:
            return None
        decisions, stopped = room.attention.take(event, room.roster or Roster())
        return event, decisions, stopped

    def _fold(self, room: GroupAttention, group: Group, found: StoredEvent, lookup: Lookup) -> None:
        attention = room.attention
        if found.kind == "x.c2a.session" and not attention.sessions:
            self._look_back(room, found.seq, lookup)
        if found.kind.startswith("x.c2a.") or found.kind == "context.sync":
            attention.apply(decode(found.raw))
        if found.kind in ROSTER_KINDS:
            room.roster = room.past.roster = roster_for(group, attention)
        if found.kind in HEARING_KINDS:
            room.past.forget()

    def _look_back(self, room: GroupAttention, before: int, lookup: Lookup) -> None:
        """Attention begins with the first harness: it reads what was said lately and offers none of it."""
        for seq in range(max(1, before - LOOK_BACK), before):
            found = lookup.at(seq)
            if found is not None and found.kind in SAID:
                self._take(room, found)
        for notes in (room.attention.offers, room.attention.pending_digests):
            for key in list(notes):
                del notes[key]

    def _missed(self, room: GroupAttention, session: str, before: int, lookup: Lookup) -> list[Written]:
        """What a session that is new here owes already: nobody loses a question by connecting late."""
        attention = room.attention
        found: list[Written] = []
        for seq in range(max(1, before - LOOK_BACK), before):
            event = lookup.at(seq)
            note = attention.decided.get(event.event_id) if event is not None else None
            if event is None or note is None or attention.versions.is_superseded(event.event_id):
                continue
            decision = note.decision(session, attention.settings)
            if decision.obliges and not attention.answers.get((event.event_id, session)):
                said = room.past.form(event.event_id)
                parsed = room.past.parsed(said) if said is not None else None
                found.append(consequences.delivery(event.event_id, session, decision, parsed))
        return found

    def _recorded(
        self, room: GroupAttention, group: Group, found: StoredEvent, at: Moment, lookup: Lookup
    ) -> Sequence[Submission]:
        session = str(found.data["session"]) if found.kind == "x.c2a.session" else None
        is_new = session is not None and session not in room.attention.sessions
        self._fold(room, group, found, lookup)
        if session is not None and is_new:
            return submitted(group.group_id, self._missed(room, session, found.seq, lookup))
        attention, data = room.attention, found.data if found.kind.startswith("x.c2a.") else {}
        match found.kind:
            case "x.c2a.delivery":
                self._pushed(room, str(data["session"]), at)
                self._draft(room, group, found, lookup)
                self._schedule(group, timers.due_of(attention, str(data["event_id"]), str(data["session"])))
            case "x.c2a.disposition":
                self._schedule(group, timers.due_of(attention, str(data["event_id"]), str(data["session"])))
                return self._acknowledged(group, data, lookup)
            case "x.c2a.claim":
                self._schedule(group, Moment(data["expires_at"]) if data.get("expires_at") else at)
                self._schedule_offer(room, group, str(data["target"]))
            case "x.c2a.digest" if data["text"]:
                record = records.Delivery(
                    event_id=found.event_id,
                    session=str(data["session"]),
                    policy=str(data["policy"]),
                    mode="digest",
                    directedness="ambient",
                    reason="digest",
                )
                return submitted(group.group_id, [record])
            case "x.c2a.delete":
                return submitted(group.group_id, consequences.deleted(str(data["event_id"]), attention))
            case _:
                pass
        return ()

    def _draft(self, room: GroupAttention, group: Group, found: StoredEvent, lookup: Lookup) -> None:
        """Make what goes out to a session that is there: everything it takes is at hand here (C2A-006)."""
        session = str(found.data["session"])
        if session not in self._online(group.group_id):
            return
        obligation = room.attention.obligations.get(str(found.data["event_id"]), session)
        archive = Archive(room.attention, room.past, lookup, room.past.roster)
        draft = drafted(archive, obligation) if obligation is not None else None
        if draft is not None:
            self.drafts[found.event_id] = draft

    def _acknowledged(self, group: Group, data: dict[str, object], lookup: Lookup) -> list[Submission]:
        """Answering or agreeing also acknowledges, as an event of its own; having seen does not (C2A-212)."""
        settles = data.get("disposition") in {"responded", "acknowledged"} and data.get("signal") != "seen"
        session, event_id = str(data["session"]), str(data["event_id"])
        found = lookup.event(event_id) if settles else None
        if found is None or found.kind != "chat.message" or not lookup.owes(session, found.seq):
            return []
        ack = {"actor_id": session, "event_id": event_id}
        return [Submission(group.group_id, session, "chat.ack", ack, msgspec.json.encode(ack))]

    def _pushed(self, room: GroupAttention, session: str, at: Moment) -> None:
        recent = room.pushed[session]
        recent.append(at)
        while recent[0] <= at - MINUTE:
            recent.popleft()

    # -- time

    def _schedule(self, group: Group, at: Moment | None) -> None:
        if at is not None:
            heapq.heappush(self._due, (at, group.group_id))
            self.woken()

    def _schedule_notes(self, room: GroupAttention, group: Group, event: Event) -> None:
        self._schedule_offer(room, group, event_target(event.id))
        for session in room.attention.pending_digests:
            since = room.attention.pending_digests[session].since
            self._schedule(group, digest.next_at(since, room.attention.settings))

    def _schedule_offer(self, room: GroupAttention, group: Group, target: str) -> None:
        for offer in room.attention.offered(target):
            if not offer.held:
                self._schedule(group, timers.assign_at(offer.at, room.attention.settings))

    @property
    def next_due(self) -> Moment | None:
        """When time next brings something to any group; may be read from another thread."""
        due = self._due
        return due[0][0] if due else None

    def due_groups(self, now: Moment) -> list[str]:
        """The groups to which time has brought something, each once."""
        found: dict[str, None] = {}
        while self._due and self._due[0][0] <= now:
            found[heapq.heappop(self._due)[1]] = None
        return list(found)

    def remind(self, groups: Iterable[str], at: Moment) -> None:
        """Time could not be kept there now: it is due still."""
        for group_id in groups:
            heapq.heappush(self._due, (at, group_id))

    def wake(self, groups: Iterable[Group]) -> None:
        """After a start: what time will bring to each group."""
        for group in groups:
            attention = attention_on(GroupFolds(self._connection, group.number))
            if attention.sessions:
                self._schedule(group, timers.next_due(attention))

    def tick(self, snapshot: Snapshot) -> list[Submission]:
        """The next thing that is due in a group; nothing when all is done. Ask again until then."""
        room = self.room(snapshot.group, snapshot.lookup)
        around = self.around(room, snapshot.group, snapshot.now)
        for written in timers.steps(room.attention, around, lambda event_id: self._item(room, event_id)):
            if written:
                return submitted(snapshot.group.group_id, written)
        self._schedule(snapshot.group, timers.next_due(room.attention))
        return []

    def _item(self, room: GroupAttention, event_id: str) -> digest.Item | None:
        event = room.past.form(event_id)
        parsed = room.past.parsed(event) if event is not None else None
        if event is None or parsed is None or room.attention.versions.is_superseded(event_id):
            return None
        text = event.data.get("text")
        scope = digest.scope_of(parsed.conversation.id, parsed.conversation.stream)
        return timers.item_of(
            event_id, scope, parsed.author.display_name, parsed.intent, text if isinstance(text, str) else ""
        )

    # -- the transaction

    def flush(self) -> None:
        """Write what changed into the open transaction."""
        for room in self._touched.values():
            room.folds.flush()
        self._touched.clear()

    def forget(self) -> None:
        """Drop what belonged to a transaction that did not commit."""
        self._rooms.clear()
        self._touched.clear()
        self.drafts.clear()
