"""The engine of attention: follows every event in the writer, decides, and answers with what follows from it.

Runs in the writer alone, inside the transaction of the event it follows: an obligation is durable when the
message that made it is. Rows: C2A-003, C2A-008, C2A-027, C2A-116, C2A-206, C2A-212, C2A-214. Keeps no rule of
its own; the rules are the pure modules it calls. What it remembers between two transactions is a cache of the
folds and who is connected; both may be lost at any time. When time will bring something it says so as an
effect, and remembers nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.attention.commands import AuthorContinued, RunDueTimers, SetPresence, TimerDue, TimersRun
from tacit.attention.decide import digest
from tacit.attention.decide.decision import PUSHED
from tacit.attention.io import interpreter, recent_lines
from tacit.attention.io.deliveries import drafted
from tacit.attention.io.recent_lines import LineSource, Pushes, RecentLines, push, pushes_of
from tacit.attention.io.state_store import SAID, Archive, PastMessages, attention_on, roster_ever, roster_for
from tacit.attention.read import bursts
from tacit.attention.read.calls import worded
from tacit.attention.read.message import remains_of
from tacit.attention.read.roster import Roster
from tacit.attention.send.appended import refused
from tacit.attention.send.draft import CallingSession
from tacit.attention.state import consequences, fold, records, timers
from tacit.attention.state.consequences import Around
from tacit.attention.state.obligations import next_step
from tacit.attention.state.records import Written, submitted
from tacit.attention.state.room_questions import offer_at
from tacit.attention.state.work import Lives
from tacit.base.errors import Refused
from tacit.base.moment import Moment, rfc3339
from tacit.c2a.vocabulary import Intent
from tacit.ledger.engine import NO_CONSEQUENCES, Consequences, Plan
from tacit.ledger.envelope import NOTHING_MORE, QUOTING, Event, Remains, decode
from tacit.ledger.io.fold_tables import GroupFolds
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.settings import Settings
    from tacit.attention.state.absences import Place
    from tacit.attention.state.claims import OpenOffer
    from tacit.attention.state.fold import Attention
    from tacit.attention.state.obligations import Obligation
    from tacit.ledger.commands import GroupCommand
    from tacit.ledger.engine import GroupSnapshot
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.ports import Lookup
    from tacit.ledger.state import Group

_OF_A_DIGEST: Final = frozenset({"session", "scope", "policy", "event_ids", "for"})
MEMBER_KINDS: Final = frozenset({"actor.add", "actor.update", "actor.remove", "x.tacit.person.add"})
HEARING_KINDS: Final = MEMBER_KINDS | {"x.c2a.session", "x.c2a.rules", "context.sync"}
"""After these the same words may mean something else."""
JUDGED: Final = frozenset({"chat.message", "chat.reaction"})
"""What an agent may append by itself and attention has rules for."""
LOOKED_THROUGH: Final = 16
"""How many messages before a call are looked through for lines that belong to it."""
LOOK_BACK: Final = 1_000
"""How many events before its own start attention reads, and a new session is held to."""


@dataclass(slots=True)
class GroupAttention:
    """One group as the engine holds it."""

    attention: Attention
    folds: GroupFolds
    past: PastMessages
    pushed: Pushes | None = None
    """What was delivered in the last minute; None until somebody asks."""
    roster: Roster | None = None
    lines: RecentLines = field(default_factory=RecentLines)
    unanswered: dict[tuple[str, Place], dict[tuple[str, str], None]] | None = None
    """By author and place: the (session, event) pairs that are open there; None until somebody asks."""


class AttentionEngine:
    """Attention for every group of one ledger."""

    version: int = fold.VERSION

    def __init__(self, connection: apsw.Connection) -> None:
        worded()  # so that no room's first message waits for the languages to be read
        self._connection = connection
        self._groups: dict[str, GroupAttention] = {}
        self._touched: dict[str, GroupAttention] = {}
        self._present: dict[str, frozenset[str]] = {}
        self._effects: list[Any] = []

    def online(self, group_id: str) -> frozenset[str]:
        """Who is connected, as far as the writer was told."""
        return self._present.get(group_id, frozenset())

    def group(self, group: Group, lookup: Lookup, *, reads: bool = True) -> GroupAttention:
        """A group's attention, ready for look-ups in the open batch; `reads`: who is in it matters."""
        state = self._groups.get(group.group_id)
        if state is None:
            folds = GroupFolds(self._connection, group.number)
            attention = attention_on(folds)
            state = self._groups[group.group_id] = GroupAttention(attention, folds, PastMessages(attention))
            attention.past = state.past
        self._touched[group.group_id] = state
        state.past.events = lookup
        if state.roster is None and reads:
            state.roster = state.past.roster = roster_for(group, state.attention)
        return state

    def around(self, state: GroupAttention, group: Group, lookup: Lookup, now: Moment) -> Around:
        """What is known beside the fold at this moment."""
        roster = roster_for(group, state.attention, self.online(group.group_id))
        return Around(roster, now, self._pushes(state, group, lookup, now))

    # -- what agents append by themselves

    def judge(self, submission: Submission, snapshot: GroupSnapshot) -> None:
        """Hold an agent to the rules of the tools, whatever door it comes by, once attention has begun."""
        if submission.kind not in JUDGED:
            return
        state = self.group(snapshot.group, snapshot.lookup)
        if not state.attention.sessions:
            return
        roster = roster_for(snapshot.group, state.attention, self.online(submission.group_id))
        archive = Archive(state.attention, state.past, snapshot.lookup, roster)
        event = Event(
            v=1, id="", ts=rfc3339(snapshot.now), seq=snapshot.group.last_seq + 1, kind=submission.kind,
            group_id=submission.group_id, scope_key="", by=submission.by, data=submission.data,
        )  # fmt: skip
        refusal = refused(
            event, CallingSession(submission.by, state.attention, archive, roster, snapshot.now)
        )
        if refusal is not None:
            remedy = {"remedy": refusal.remedy} if refusal.remedy else {}
            raise Refused(
                refusal.code, refusal.message, row=refusal.row, details={**refusal.details, **remedy}
            )

    # -- following the ledger

    def committed(self, group: Group, event: StoredEvent, at: Moment, lookup: Lookup) -> Consequences:
        """Move past an event; what follows from it."""
        submissions = self._follow(group, event, at, lookup)
        if not submissions and not self._effects:
            return NO_CONSEQUENCES
        effects = tuple(self._effects)
        self._effects.clear()
        return Consequences(submissions, effects)

    def _follow(self, group: Group, found: StoredEvent, at: Moment, lookup: Lookup) -> Sequence[Submission]:
        state = self.group(group, lookup, reads=found.kind not in MEMBER_KINDS)
        if found.kind not in SAID:
            return self._recorded(state, group, found, at, lookup)
        if not state.attention.sessions:
            self._before_attention(state, found, at)
            return ()
        decided = self._take(state, found, at)
        if decided is None:
            return ()
        event, decisions, stopped = decided
        state.lines.said(found, event)
        around = Around(state.roster or Roster(), at, self._pushes(state, group, lookup, at))
        if any(one.escalate for one in decisions.exceptions.values()):
            around = self.around(state, group, lookup, at)
        written = consequences.consequences(event, decisions, state.attention, around, stopped=stopped)
        written = self._whole(state, event, decisions, written, at, lookup)
        if decisions.parsed is not None:
            told = recent_lines.pointer(event, decisions.parsed, state.attention, state.past, at)
            written += [told] if told is not None else []
        self._schedule_notes(state, event)
        if event.kind == "chat.message":
            self._continued(state, group, decisions)
        return records.submitted_to(group, written)

    def folded(self, group: Group, event: StoredEvent, at: Moment, lookup: Lookup) -> None:
        """Move past an event of the past, in a rebuild, or of another node's."""
        state = self.group(group, lookup, reads=event.kind not in MEMBER_KINDS)
        # What is remembered beside the folds is found again when it is asked for.
        state.unanswered, state.lines = None, RecentLines()
        if event.kind not in SAID:
            data = self._fold(state, group, event, at, lookup)
            if event.kind == "x.c2a.delivery":
                self._pushed(state, str(data["session"]), at)
        elif state.attention.sessions:
            self._take(state, event, at)
        else:
            self._before_attention(state, event, at)

    def _before_attention(self, state: GroupAttention, found: StoredEvent, at: Moment) -> None:
        """No harness is here yet: nothing is decided, but views must know what was edited."""
        if found.kind == "x.c2a.edit":
            state.attention.apply(decode(found.raw), at)

    def _take(
        self, state: GroupAttention, found: StoredEvent, at: Moment
    ) -> tuple[Event, Decisions, bool] | None:
        event = state.past.follow(found)
        if event is None:
            return None
        decisions, stopped = state.attention.take(event, at, state.roster or Roster())
        return event, decisions, stopped

    def _fold(
        self, state: GroupAttention, group: Group, found: StoredEvent, at: Moment, lookup: Lookup
    ) -> dict[str, Any]:
        """Fold what nobody said; the data of a record of attention's own."""
        attention = state.attention
        if found.kind == "x.c2a.session" and not attention.sessions:
            self._look_back(state, found.seq, lookup)
        data: dict[str, Any] = {}
        if found.kind.startswith("x.c2a.") or found.kind == "context.sync":
            event = decode(found.raw)
            data = event.data
            attention.apply(event, at)
        if found.kind in MEMBER_KINDS:
            # Made anew when somebody next says something: a thousand who are added cost a thousand steps.
            state.roster = None
        elif found.kind == "x.c2a.session":
            state.roster = state.past.roster = roster_for(group, attention)
        if found.kind in HEARING_KINDS:
            state.past.forget()
        return data

    def _look_back(self, state: GroupAttention, before: int, lookup: Lookup) -> None:
        """Attention begins with the first harness: it reads what was said lately and offers none of it."""
        for seq in range(max(1, before - LOOK_BACK), before):
            found = lookup.at(seq)
            if found is not None and found.kind in SAID:
                self._take(state, found, records.moment_of(decode(found.raw)))
        for notes in (state.attention.offers, state.attention.pending_digests):
            for key in list(notes):
                del notes[key]
        for question in list(state.attention.room_questions):
            state.attention.room_questions.ended(question.event_id)

    def _missed(self, state: GroupAttention, session: str, before: int, lookup: Lookup) -> list[Written]:
        """What a session that is new here owes already: nobody loses a question by connecting late."""
        attention = state.attention
        found: list[Written] = []
        for seq in range(max(1, before - LOOK_BACK), before):
            event = lookup.at(seq)
            note = attention.decided.get(event.event_id) if event is not None else None
            if event is None or note is None or attention.versions.is_superseded(event.event_id):
                continue
            decision = note.decision(session, attention.settings)
            if decision.obliges and not attention.answers[event.event_id, session]:
                said = state.past.form(event.event_id)
                parsed = state.past.parsed(said) if said is not None else None
                found.append(consequences.delivery(event.event_id, session, decision, parsed))
        return found

    def _recorded(
        self, state: GroupAttention, group: Group, found: StoredEvent, at: Moment, lookup: Lookup
    ) -> Sequence[Submission]:
        session = str(found.data["session"]) if found.kind == "x.c2a.session" else None
        is_new = session is not None and session not in state.attention.sessions
        data = self._fold(state, group, found, at, lookup)
        if session is not None and is_new:
            return submitted(group.group_id, self._missed(state, session, found.seq, lookup))
        attention = state.attention
        match found.kind:
            case "x.c2a.delivery":
                obligation = attention.obligations.get(str(data["event_id"]), str(data["session"]))
                self._pushed(state, str(data["session"]), at)
                self._awaits(state, str(data["event_id"]), str(data["session"]))
                if obligation is not None:
                    self._draft(state, group, obligation, lookup)
                    self._schedule_step(obligation, attention.settings)
                self._schedule_offer(state, str(data["event_id"]))
            case "x.c2a.disposition":
                obligation = attention.obligations.get(str(data["event_id"]), str(data["session"]))
                if data.get("closes"):
                    self._awaits(state, str(data["event_id"]), str(data["session"]), ended=True)
                    self._schedule_offer(state, str(data["event_id"]))
                if obligation is not None:
                    self._schedule_step(obligation, attention.settings)
                return [*self._acknowledged(group, data, lookup), *self._answered(state, group, data)]
            case "x.c2a.work" | "x.c2a.approval":
                self._time_moved(attention, data)
            case "x.c2a.claim":
                self._schedule(Moment(data["expires_at"]) if data.get("expires_at") else at)
                self._schedule_offers(state, attention.offered(str(data["target"])))
                self._schedule_offer(state, str(data["target"]).partition(":")[2])
            case "x.c2a.digest" if data["text"]:
                record = records.DeliveryRecord(
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

    def _draft(self, state: GroupAttention, group: Group, obligation: Obligation, lookup: Lookup) -> None:
        """Make what goes out to a session that is there: everything it takes is at hand here (C2A-006)."""
        if obligation.session not in self.online(group.group_id):
            return
        archive = Archive(state.attention, state.past, lookup, state.past.roster)
        draft = drafted(LineSource(archive, lookup), obligation, state.lines)
        if draft is not None:
            self._effects.append(draft)

    def _acknowledged(self, group: Group, data: dict[str, object], lookup: Lookup) -> list[Submission]:
        """Answering or agreeing also acknowledges, as an event of its own; having seen does not (C2A-212)."""
        settles = data.get("disposition") in {"responded", "acknowledged"} and data.get("signal") != "seen"
        session, event_id = str(data["session"]), str(data["event_id"])
        found = lookup.event(event_id) if settles else None
        if found is None or found.kind != "chat.message" or not lookup.owes(session, found.seq):
            return []
        ack = {"actor_id": session, "event_id": event_id}
        return [Submission(group.group_id, session, "chat.ack", ack, msgspec.json.encode(ack))]

    def _answered(self, state: GroupAttention, group: Group, data: dict[str, object]) -> list[Submission]:
        """Whoever answered did it for all who held the same duty (C2A-177)."""
        if not data.get("closes") or data.get("disposition") not in {"responded", "acknowledged"}:
            return []
        event_id, session = str(data["event_id"]), str(data["session"])
        return submitted(group.group_id, consequences.withdrawn_copies(event_id, session, state.attention))

    def _pushed(self, state: GroupAttention, session: str, at: Moment) -> None:
        if state.pushed is not None:
            push(state.pushed, session, at)

    def _pushes(self, state: GroupAttention, group: Group, lookup: Lookup, now: Moment) -> Pushes:
        if state.pushed is None:
            state.pushed = pushes_of(lookup, group.last_seq, now)
        return state.pushed

    # -- going on

    def _unanswered(self, state: GroupAttention) -> dict[tuple[str, Place], dict[tuple[str, str], None]]:
        if state.unanswered is None:
            state.unanswered = {}
            for one in state.attention.obligations:
                if one.live:
                    self._awaits(state, one.event_id, one.session)
        return state.unanswered

    def _awaits(self, state: GroupAttention, event_id: str, session: str, *, ended: bool = False) -> None:
        """A session has an event of somebody's before it, or is done with it."""
        said = state.past.get(event_id)
        if said is None or said.by_agent:
            return
        key = (said.by, said.conversation.key)
        known = self._unanswered(state).setdefault(key, {})
        if ended:
            known.pop((session, event_id), None)
        else:
            known[session, event_id] = None
        if not known:
            del self._unanswered(state)[key]

    def _continued(self, state: GroupAttention, group: Group, decisions: Decisions) -> None:
        """A person goes on where somebody still owes them a word: whoever it is should look (C2A-083).

        Who asks to wait does not go on.
        """
        online, said = self.online(group.group_id), decisions.parsed
        if said is None or said.by_agent or said.intent is Intent.HOLD:
            return
        for session, event_id in self._unanswered(state).get((said.by, said.conversation.key), ()):
            # Whom it names, or adds to the question of, gets it anyway.
            gets = session in decisions and decisions[session].mode in PUSHED
            if session in online and session not in said.target.agents and not gets:
                self._effects.append(AuthorContinued(session, event_id))

    def _whole(
        self,
        state: GroupAttention,
        event: Event,
        decisions: Decisions,
        written: list[Written],
        at: Moment,
        lookup: Lookup,
    ) -> list[Written]:
        """A call with what its author had said to nobody just before it: that goes first (C2A-083)."""
        said, attention = decisions.parsed, state.attention
        if said is None or not attention.settings.dialogue:
            return written
        if not bursts.may_have_begun(attention.floors[said.conversation.id], said, at):
            return written
        calls = [one for one in written if consequences.is_call(one, event.id, said)]
        if not calls:
            return written
        earlier = bursts.before(said, at, self._lines_before(state, event.seq, lookup))
        found: list[Written] = []
        for one in earlier:
            found += consequences.pieces(one, calls, attention)
        return [*found, *written]

    def _lines_before(
        self, state: GroupAttention, seq: int, lookup: Lookup
    ) -> Iterator[tuple[str, Moment, ParsedMessage]]:
        """What was said before a position and stands, the newest first."""
        for found in reversed(lookup.messages(LOOKED_THROUGH)):
            if found.seq >= seq or state.attention.versions.is_deleted(found.event_id):
                continue
            read = state.past.said(found)
            if read is not None:
                form, parsed = read
                yield found.event_id, records.moment_of(form), parsed

    # -- time

    def _schedule(self, at: Moment | None) -> None:
        if at is not None:
            self._effects.append(TimerDue(at))

    def _time_moved(self, attention: Attention, data: dict[str, Any]) -> None:
        """A session is at work on something, or a person was asked or has answered: its time has moved."""
        session = str(data["session"])
        asked = attention.approvals.of(session, str(data.get("what", "")))
        for event_id in asked.holds_up if asked is not None else (str(data.get("event_id", "")),):
            obligation = attention.obligations.get(event_id, session)
            if obligation is not None:
                self._schedule_step(obligation, attention.settings)

    def _schedule_step(self, obligation: Obligation, settings: Settings) -> None:
        due = next_step(obligation, settings)
        self._schedule(due.at if due is not None else None)

    def _schedule_notes(self, state: GroupAttention, event: Event) -> None:
        self._schedule_offers(state, [state.attention.offers.get(event.id)])
        self._schedule_offer(state, event.id)
        for session in state.attention.pending_digests:
            since = state.attention.pending_digests[session].since
            self._schedule(digest.next_at(since, state.attention.settings))

    def _schedule_offer(self, state: GroupAttention, event_id: str) -> None:
        question = state.attention.room_questions.open.get(event_id)
        self._schedule(None if question is None else offer_at(question, state.attention.settings))

    def _schedule_offers(self, state: GroupAttention, offers: Sequence[OpenOffer | None]) -> None:
        for offer in offers:
            if offer is not None and not offer.held:
                self._schedule(timers.assign_at(offer.at, state.attention.settings))

    # -- commands

    def plan(self, command: GroupCommand, snapshot: GroupSnapshot) -> Plan:
        """Decide a command against the group as it stands."""
        if isinstance(command, SetPresence):
            self._present[command.group_id] = frozenset(command.sessions)
            return Plan()
        if isinstance(command, RunDueTimers):
            return self._step(command, snapshot)
        state = self.group(snapshot.group, snapshot.lookup)
        roster = roster_for(snapshot.group, state.attention, self.online(command.group_id))
        archive = Archive(state.attention, state.past, snapshot.lookup, roster)
        return interpreter.plan(interpreter.CommandCase(command, snapshot, archive))

    def _step(self, command: RunDueTimers, snapshot: GroupSnapshot) -> Plan:
        """The next thing that is due in a group, in a transaction of its own; none when all is done."""
        state = self.group(snapshot.group, snapshot.lookup)
        sessions = {life.session: life for life in command.lives}
        lives = Lives(command.since, sessions, is_unsure=command.is_unsure)
        around = replace(self.around(state, snapshot.group, snapshot.lookup, snapshot.now), lives=lives)
        for written in timers.steps(state.attention, around, lambda event_id: self._item(state, event_id)):
            if written:
                submissions = records.submitted_to(snapshot.group, written)
                return Plan(submissions, lambda _outcomes: TimersRun(stepped=True))
        next_due = timers.next_due(state.attention, lives)
        return Plan((), lambda _outcomes: TimersRun(stepped=False, next_due=next_due))

    def _item(self, state: GroupAttention, event_id: str) -> digest.DigestItem | None:
        event = state.past.form(event_id)
        parsed = state.past.parsed(event) if event is not None else None
        if event is None or parsed is None or state.attention.versions.is_superseded(event_id):
            return None
        if parsed.private is not None:
            return None  # a digest is read beside any work: what is private is told in its own place
        text = event.data.get("text")
        scope = digest.scope_of(parsed.conversation.id, parsed.conversation.stream)
        return timers.item_of(
            event_id, scope, parsed.author.display_name, parsed.intent, text if isinstance(text, str) else ""
        )

    # -- what goes

    def remains(self, group: Group, event: StoredEvent, lookup: Lookup) -> Remains:
        """What must stay of an event whose words go, so that a rebuild folds the same."""
        if event.kind == QUOTING:
            kept = {name: value for name, value in event.data.items() if name in _OF_A_DIGEST}
            return Remains(kept)
        state = self.group(group, lookup)
        form = state.past.form_of(event)
        if form is None:
            return NOTHING_MORE
        return remains_of(form, roster_ever(self._connection, group.number), state.attention.settings)

    # -- the transaction

    def flush(self) -> None:
        """Write what changed into the open transaction."""
        for state in self._touched.values():
            state.folds.flush()
        self._touched.clear()

    def forget(self) -> None:
        """Drop what belonged to a transaction that did not commit."""
        self._groups.clear()
        self._touched.clear()
        self._effects.clear()
