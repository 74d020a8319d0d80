"""The fold: a group's attention state, moved on by one event at a time.

Rows: C2A-027, C2A-048, C2A-116, C2A-159, C2A-214.

Theory of operation
===================

What state there is. `Attention` is everything that attention knows of one group between two events. It is
made of small folds, each with its own module and its own rule (claims, obligations, absences, exchanges,
versions, ownership, approvals, progress, work), and of plain mappings for what has no rule of its own: who
takes part in a thread and who owns it, who waits for an answer where, what each session sent lately, which
questions stand open, what a digest will tell. `settings` follows from `rules`. Of messages nothing is kept
here: `past` reads them again from the ledger when a later event refers to them.

What moves it. Events, in the order of the ledger, and nothing else. There are two ways in:

    said by somebody      take:   state_for -> decide -> apply -> _keep
    written by the house  apply:  one branch for each kind of record

`state_for` cuts out of the state what `decide` needs, as it was *before* the event; `apply` moves past it.
The order matters. If the event were folded first, an agent would take part in a thread because of the very
message that is being decided, a reply would wake an exchange that it should have found stopped, and whoever
asked would no longer be waiting when the answer comes. What follows from an event (deliveries, claims given
back, dispositions) is computed from the state *after* it, by `consequences`, and comes back here as records
of its own, each folded in its turn before the next event is looked at.

Records are whole. A record says what became so, with every number that a rule or a clock gave it: a claim its
end, a delivery its policy and deadline. So `apply` needs no clock, no presence and no settings to fold them,
and a record means the same in ten years. What is known only in the moment (who is online, what reached each
model in the last minute) lives in the engine and may be lost: it decides what is written, never what was
written.

Where it lives. Each mapping is a table of the ledger's file (`io/state_store.py`), written in the transaction
of the event that changed it: the state is never ahead of the ledger and never behind it. A rebuild folds
every event again through this very code, and must give the same rows; tests compare them byte for byte.

What can go wrong, and what guards it:

- A rule here reads something that is not in the events: the live state and a rebuilt one part. Hence no
  clock, no randomness and no set order in what is kept; the restart and rebuild machines of
  `tests/attention/io` act at random, restart, rebuild and compare.
- The same record is folded twice, after a retry. Claims follow a table of transitions in which a pair that is
  not there changes nothing; dispositions and memberships say the new state. A second delivery does count, as
  a second attempt: a ledger's event is folded once, and what must not be written twice carries a key.
- State grows with the group's history. What is listed is cut (`KEPT_*`), and only what is *open* can be found
  by iterating: obligations that are live, claims in force, offers, pending digests. Iterating a mapping whose
  rows are not marked open finds nothing after a restart; such a mapping is asked by key alone.
- The transaction fails. The engine drops the whole object and reads it again from the file; so nothing
  outside may hold on to a part of it.
- Names, settings or owners change and old messages would read differently. They do, deliberately: `past`
  parses again by today's names, in the same way live, restarted and rebuilt. What was *decided* stays as it
  was: it is written down in `decided` when reading the event again would not tell it.
- Nobody is attended yet. Until a first harness says hello nothing is decided and only edits and records are
  folded; then the last events are read once, and none of them is offered to anybody.

Why one object and not one fold a process: every send and every decision asks several of the folds at once,
about the same moment. Apart they would need versions to agree on; here the writer's transaction is the
moment.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from tacit.attention.decide.decide import Decisions, EventDecision, decide, kept_of
from tacit.attention.decide.digest import PendingDigest
from tacit.attention.read import bursts
from tacit.attention.read.bursts import Burst
from tacit.attention.read.context import ConversationState
from tacit.attention.read.conversation import Conversation, author_of, is_for_all
from tacit.attention.read.dialogue import heard
from tacit.attention.read.message import had_files, task_ids
from tacit.attention.read.parsed_message import ParsedMessage
from tacit.attention.settings import DEFAULTS, Settings, with_values
from tacit.attention.state import loops, records, room_questions
from tacit.attention.state.absences import Absences, Place
from tacit.attention.state.acts import RESOLVED
from tacit.attention.state.approvals import Approvals
from tacit.attention.state.asking import ASKS, Asking, OpenLine
from tacit.attention.state.claims import Claims, OpenOffer
from tacit.attention.state.escalation import MOOT_WHEN_ANSWERED
from tacit.attention.state.obligations import Obligations
from tacit.attention.state.ownership import Ownership
from tacit.attention.state.progress import ProgressReports
from tacit.attention.state.room_questions import RoomQuestions
from tacit.attention.state.sessions import SessionAgreement, SessionSpending, spending
from tacit.attention.state.versions import (
    KEPT_SENDS,
    EphemeralSend,
    Sending,
    SentAnswer,
    Versions,
    answered_by,
    answered_in,
)
from tacit.attention.state.work import PERSON, Works
from tacit.base.moment import Moment
from tacit.c2a.signals import signal_of
from tacit.c2a.vocabulary import ConversationKind, Directedness, Intent, Mode, Reason
from tacit.ledger.ports import Lists, no_lists
from tacit.ledger.principal import SYSTEM

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.attention.read.cues import Floor, SaidLine
    from tacit.attention.read.roster import Roster
    from tacit.ledger.envelope import Event


VERSION: Final = 7
"""Of what is folded and how. Raise it with any change of what a row of `folds` holds."""
_EMPTY: Final[frozenset[str]] = frozenset()
_GOES_ON: Final = frozenset({Reason.THREAD_QUESTION, Reason.THREAD_PARTICIPATION, Reason.DIRECT_MESSAGE})
KEPT_ITEMS: Final = 500
KEPT_RECALLED: Final = 20
KEPT_TURNS: Final = 3


class MessageHistory(Protocol):
    """Where messages are found again that somebody refers to; a hub looks them up in its read model."""

    def get(self, event_id: str, /) -> ParsedMessage | None:
        """The message under this id, if there is one."""
        ...

    def __setitem__(self, event_id: str, message: ParsedMessage, /) -> None:
        """It was just read."""
        ...


@dataclass(slots=True)
class Attention:
    """Everything that attention knows of a group between two events."""

    settings: Settings = DEFAULTS
    past: MessageHistory = field(default_factory=dict[str, ParsedMessage])
    claims: Claims = field(default_factory=Claims)
    obligations: Obligations = field(default_factory=Obligations)
    absences: Absences = field(default_factory=Absences)
    exchanges: loops.Exchanges = field(default_factory=loops.Exchanges)
    versions: Versions = field(default_factory=Versions)
    ownership: Ownership = field(default_factory=Ownership)
    approvals: Approvals = field(default_factory=Approvals)
    threads: MutableMapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    thread_owner: MutableMapping[str, str] = field(default_factory=dict[str, str])
    awaiting: MutableMapping[Place, frozenset[str]] = field(default_factory=dict[Place, frozenset[str]])
    sessions: MutableMapping[str, SessionAgreement] = field(default_factory=dict[str, SessionAgreement])
    rules: MutableMapping[str, Any] = field(default_factory=dict[str, Any])
    decided: MutableMapping[str, EventDecision] = field(default_factory=dict[str, EventDecision])
    offers: MutableMapping[str, OpenOffer] = field(default_factory=dict[str, OpenOffer])
    room_questions: RoomQuestions = field(default_factory=RoomQuestions)
    sent: Lists[str, Sending] = field(default_factory=no_lists)
    answers: Lists[tuple[str, str], SentAnswer] = field(default_factory=no_lists)
    looked: MutableMapping[tuple[str, str], Moment] = field(default_factory=dict[tuple[str, str], Moment])
    pending_digests: MutableMapping[str, PendingDigest] = field(default_factory=dict[str, PendingDigest])
    spent: MutableMapping[str, SessionSpending] = field(default_factory=dict[str, SessionSpending])
    ephemeral_sends: MutableMapping[tuple[str, str], EphemeralSend] = field(
        default_factory=dict[tuple[str, str], EphemeralSend]
    )
    progress: ProgressReports = field(default_factory=ProgressReports)
    recalled: Lists[str, str] = field(default_factory=no_lists)
    work: Works = field(default_factory=Works)
    notices: Lists[str, str] = field(default_factory=no_lists)
    """By event: what people were told because nobody answers it."""
    turns: Lists[tuple[str, str], records.TurnRecord] = field(default_factory=no_lists)
    """What a session did about an event: its last turns."""
    floors: Lists[str, SaidLine] = field(default_factory=no_lists)
    """By channel: its last lines, as who spoke to whom."""
    bursts: MutableMapping[tuple[str, str], Burst] = field(default_factory=dict[tuple[str, str], Burst])
    """By place and person: whom the question calls that is just being written there."""
    asking: Asking = field(default_factory=Asking)

    def take(self, event: Event, at: Moment, roster: Roster) -> tuple[Decisions, bool]:
        """Decide an event against the state before it, and move past it; True when it stopped an exchange."""
        decisions = decide(event, roster, self.state_for(event, at), self.settings)
        stopped = self.apply(event, at, decisions.parsed)
        if decisions.parsed is not None:
            self._keep(event, at, decisions, roster)
        return decisions, stopped

    def state_for(self, event: Event, at: Moment) -> ConversationState:
        """What is so in the event's conversation just before it, at the moment at which it was said."""
        if event.kind == "chat.reaction":
            return self.state_for_reaction(event)
        data = event.data
        given = data.get("reply_to")
        replied = self.past.get(given) if isinstance(given, str) else None
        # A reply to an edit is in the thread of the message that was edited.
        above = self.versions.first(given) if isinstance(given, str) else None
        conversation = self.ownership.place_of(event, above, replied)
        place = conversation.key
        left = self.absences.leavers(conversation)
        root = conversation.thread
        owner = self.owner_of(root) if root is not None else None
        stream, owners = self.ownership.around(conversation, task_ids(data) if "refs" in data else ())
        if owner is not None:
            owners |= {owner}
        awaiting = self.awaiting.get(place, _EMPTY)
        if replied is not None and replied.by_agent and replied.intent in ASKS:
            awaiting |= {replied.by}
        author = author_of(event)
        awaited, answers = self.asking.awaited_of(
            event, author, at, conversation, None if above == root else replied
        )
        awaiting |= awaited
        supersedes = data.get("supersedes")
        inside = conversation.kind is not ConversationKind.CHANNEL and not is_for_all(data)
        before = self.obligations.of_event(supersedes) if isinstance(supersedes, str) else ()
        floor = self._floor(event, conversation) if replied is None else ()
        dialogue = self.settings.dialogue
        burst = bursts.running(self.bursts, event, author.id, conversation, at) if dialogue else None
        return ConversationState(
            conversation=conversation,
            participants=(self.participants(root) if root is not None else _EMPTY) - left,
            owners=owners - left,
            replied_to=replied.by if replied is not None else None,
            replied_root=above == root,
            readers=replied.private if replied is not None and inside else None,
            left=left,
            subscribers=stream.digest,
            awaiting=awaiting,
            stopped=self.exchanges.stopped(place),
            responded=answered_by(before) if before else _EMPTY,
            floor=floor,
            at=at,
            author=author,
            adding=frozenset(burst.to) if burst is not None else _EMPTY,
            adding_to=burst.small_talk if burst is not None else None,
            asked=self.asking.steered(
                event, author, at, conversation, replied, self._owing, by_name_only=not dialogue
            ),
            answers=answers if self.settings.dialogue else None,
        )

    def _floor(self, event: Event, conversation: Conversation) -> Floor:
        """The lines before an event that is said in the open flow of a channel."""
        if event.kind != "chat.message" or conversation.thread or not self.settings.dialogue:
            return ()
        return self.floors[conversation.id] if conversation.kind is ConversationKind.CHANNEL else ()

    def _owing(self, event_id: str) -> frozenset[str]:
        obligations = self.obligations.of_event(self.versions.latest(event_id))
        return frozenset(one.session for one in obligations if one.owed)

    def state_for_reaction(self, event: Event) -> ConversationState:
        """The same for a reaction: it has the place of the message that it sits on."""
        on = event.data.get("event_id")
        message = self.past.get(on) if isinstance(on, str) else None
        if message is None:
            return ConversationState()
        signal = signal_of(event.data)
        settles = (
            message.by_agent and message.intent is Intent.APPROVAL and signal in {"agree", "declined", "done"}
        )
        return ConversationState(
            message.conversation,
            readers=message.private,
            reacted=(message.by, message.intent),
            waits=frozenset({message.by}) if settles else _EMPTY,
        )

    def apply(self, event: Event, at: Moment, parsed: ParsedMessage | None = None) -> bool:
        """Move past an event; `parsed` is what `decide` read in it. True when it stopped an exchange."""
        if event.kind == "chat.message" or (event.kind == "x.c2a.edit" and parsed is not None):
            stopped = self._said(event, at, parsed) if parsed is not None else False
            if event.kind == "x.c2a.edit":
                self.room_questions.ended(str(event.data.get("supersedes", "")))
                self.versions.edited(str(event.data.get("supersedes", "")), event.id)
            return stopped
        if event.kind == "chat.reaction":
            self._reacted(event)
        elif event.kind == "system.notify":
            self._told(event)
        elif event.kind == "context.sync":
            self.ownership.synced(event.data)
        elif event.kind.startswith("x.c2a."):
            self._recorded(event, at)
        return False

    def _keep(self, event: Event, at: Moment, decisions: Decisions, roster: Roster) -> None:
        """Write down what reading the event again would not tell."""
        found = kept_of(decisions)
        if found is not None:
            self.decided[event.id] = found
        if self.settings.room_silence_ms:
            times = room_questions.offer_times(self.settings, self.rules, roster, event.by)
            self.room_questions.asked(event, at, decisions, times)
        called = [
            agent
            for agent, one in (decisions if decisions.common.needs_claim else decisions.exceptions).items()
            if one.needs_claim and one.directedness is Directedness.TO_MY_ROLE
        ]
        self.asking.questions.asked(event, at, decisions)
        if called:
            self.offers[event.id] = OpenOffer(event.id, tuple(sorted(called)), at)
        if decisions.parsed is not None and event.kind == "chat.message":
            read = {agent: one for agent, one in decisions.exceptions.items() if one.mode is Mode.BUFFERED}
            went_on = [agent for agent, one in read.items() if one.reason in _GOES_ON]
            if went_on:
                bursts.went_on(self.bursts, decisions.parsed, went_on, at)
        for agent, one in decisions.exceptions.items():
            if one.mode is Mode.DIGEST:
                known = self.pending_digests.get(agent, PendingDigest(since=at))
                self.pending_digests[agent] = replace(
                    known, event_ids=(*known.event_ids, event.id)[-KEPT_ITEMS:]
                )

    def _said(self, event: Event, at: Moment, parsed: ParsedMessage) -> bool:
        conversation, agent = parsed.conversation, parsed.by_agent
        place = conversation.key
        self.past[event.id] = parsed
        if self.room_questions.open:
            self.room_questions.said(event, parsed)
        if agent and event.kind == "chat.message":
            self._sent(event, at, conversation)
        if conversation.thread is not None:
            self._joined(conversation.thread, parsed)
        if agent:
            self.absences.posted(parsed.by, conversation)
            asks = parsed.intent in ASKS
            self.awaiting[place] = self.awaiting.get(place, _EMPTY) | {parsed.by} if asks else _EMPTY
        else:
            self.awaiting.pop(place, None)
        if event.kind == "chat.message" and parsed.private is None:
            answers = answered_in(event) or event.data.get("reply_to")
            above = self.past.get(answers) if isinstance(answers, str) else None
            channel = conversation.id
            self.floors[channel] = heard(self.floors[channel], parsed, above, at)
            bursts.said(self.bursts, parsed, above.author.id if above is not None else None, at)
            self.asking.said(OpenLine(event, parsed, above, at, by_name_only=not self.settings.dialogue))
        return self._exchanged(event, parsed, place)

    def _sent(self, event: Event, at: Moment, conversation: Conversation) -> None:
        """Remember a session's own words, and which event they answer."""
        sending = Sending(at, conversation.place, event.id)
        kept = max(KEPT_SENDS, self.settings.sends_per_minute, self.settings.sends_per_conversation)
        self.sent[event.by] = (*self.sent[event.by], sending)[-kept:]
        answered = answered_in(event)
        if answered is not None:
            given = event.data.get("c2a")
            declared = cast("dict[str, object]", given) if isinstance(given, dict) else {}
            turn, attempt = declared.get("turn"), declared.get("attempt")
            answer = SentAnswer(
                event.id, turn if isinstance(turn, str) else "", attempt if isinstance(attempt, int) else 1
            )
            key = (answered, event.by)
            self.answers[key] = (*self.answers[key], answer)
            self.offers.pop(answered, None)
            if self.obligations.get(answered, event.by) is None:
                self.work.answered(answered, event.by, sending.at)

    def participants(self, root: str) -> frozenset[str]:
        """The agents that take part in a thread; before its first reply those whom its opener concerns."""
        known = self.threads.get(root)
        opener = self.past.get(root) if known is None else None
        if opener is not None:
            named = opener.target.agents
            return named | {opener.by} if opener.by_agent else named
        return known or _EMPTY

    def owner_of(self, root: str) -> str | None:
        """The agent that opened or claimed a thread."""
        owner = self.thread_owner.get(root)
        opener = self.past.get(root) if owner is None and root not in self.threads else None
        return opener.by if opener is not None and opener.by_agent else owner

    def _begun(self, root: str) -> frozenset[str]:
        """Who takes part so far; the first time, an agent that opened it becomes its owner for good."""
        known = self.participants(root)
        if root not in self.threads and (owner := self.owner_of(root)) is not None:
            self.thread_owner[root] = owner
        return known

    def _joined(self, root: str, parsed: ParsedMessage) -> None:
        """Who takes part in a thread now: its opener, whoever wrote, whoever was named."""
        known = self._begun(root)
        if parsed.by_agent:
            known |= {parsed.by}
        self.threads[root] = known | parsed.target.agents

    def _exchanged(self, event: Event, parsed: ParsedMessage, place: Place) -> bool:
        if not parsed.by_agent:
            self.exchanges.person_spoke(place)
            return False
        before = self.exchanges.at(place)
        now = loops.progressed(before) if had_files(event) else before
        aimed = bool(parsed.target.agents or parsed.target.members) or place[1] is not None
        if not aimed and parsed.conversation.kind is not ConversationKind.DM:
            return self.exchanges.put(place, before, now)
        spoke = loops.agent_spoke(now, parsed.by, event.id, self.settings)
        return self.exchanges.put(place, before, spoke)

    def _reacted(self, event: Event) -> None:
        on = event.data.get("event_id")
        message = self.past.get(on) if isinstance(on, str) else None
        if message is not None and signal_of(event.data) == "done" and not event.data.get("removed"):
            self.exchanges.progressed(message.conversation.key)

    def _recorded(self, event: Event, at: Moment) -> None:
        record = records.record_of(event)
        match record:
            case records.ClaimRecord():
                self.claims.apply(record, at)
                self._claimed(record, at)
                self._work_claimed(record, at)
            case records.DeliveryRecord():
                self._delivered(record, event.id, at)
            case records.AcceptedRecord():
                for event_id in record.event_ids:
                    self.obligations.accepted(event_id, record.session)
            case records.DispositionRecord():
                self.obligations.disposed(record)
                self.room_questions.disposed(record, at)
                if record.signal == "working":
                    self.obligations.alive(record.event_id, record.session, at)
                self.work.disposed(record, at)
                self._resolved(record)
            case records.MembershipRecord():
                self.absences.apply(record)
            case records.EditRecord():
                self.versions.edited(record.supersedes, event.id)
            case records.DeleteRecord():
                self.versions.deleted(record.event_id)
                self.room_questions.ended(record.event_id)
            case records.ApprovalRecord():
                self.approvals.apply(record, at)
                self.obligations.all_alive(self.approvals.held_up_by(record), record.session, at)
            case None:
                pass
            case _:
                self._reported(record, event.id, at, event.ts[:10])

    def _reported(
        self,
        record: records.AuditRecord
        | records.SessionRecord
        | records.RulesRecord
        | records.DigestRecord
        | records.UsageRecord
        | records.EphemeralRecord
        | records.ProgressRecord
        | records.WorkRecord
        | records.WithdrawalRecord
        | records.TurnRecord,
        event_id: str,
        at: Moment,
        day: str,
    ) -> None:
        match record:
            case records.AuditRecord():
                self._audited(record, at)
            case records.SessionRecord():
                modes = frozenset(Mode(mode) for mode in record.modes)
                self.sessions[record.session] = SessionAgreement(
                    record.session, record.version, modes, record.client, record.interrupt, record.transport
                )
            case records.RulesRecord():
                self.rules.update(record.values)
                self.settings = with_values(self.settings, record.values)
            case records.EphemeralRecord():
                self.ephemeral_sends[record.session, record.key] = EphemeralSend(
                    event_id, record.sha256, record.where
                )
                sending = Sending(at, record.where, event_id)
                self.sent[record.session] = (*self.sent[record.session], sending)[-KEPT_SENDS:]
            case records.DigestRecord():
                self.pending_digests[record.session] = PendingDigest(since=at)
            case records.UsageRecord():
                self.claims.end_leases(record.session, record.event_ids)
                self.spent[record.session] = spending(
                    self.spent.get(record.session, SessionSpending()), record, day
                )
                self.work.used(record)
            case records.ProgressRecord():
                self.progress.apply(record)
                if record.event_id is not None:
                    self.obligations.alive(record.event_id, record.session, at)
                    self.work.progressed(record.event_id, record.session, at)
            case records.WorkRecord():
                alive = Moment(record.alive_at) if record.alive_at else at
                self.obligations.alive(record.event_id, record.session, alive)
                self.work.reported(record, at)
            case records.WithdrawalRecord():
                self.notices[record.event_id] = ()
            case records.TurnRecord():
                key = (record.event_id, record.session)
                self.turns[key] = (*self.turns[key], record)[-KEPT_TURNS:]

    def _delivered(self, record: records.DeliveryRecord, record_id: str, at: Moment) -> None:
        created_at = Moment(record.created_at) if record.created_at else at
        held = self.obligations.delivered(record, created_at, record_id)
        if record.event_id in self.room_questions.open:
            self._offered(record, at)
        owing = ""
        if held.held and not held.owed:
            holders = (one.session for one in self.obligations.of_event(record.event_id) if one.owed)
            owing = next(holders, PERSON)
        self.work.delivered(record, at, owing)

    def _offered(self, record: records.DeliveryRecord, at: Moment) -> None:
        """A question to the room is put before somebody: what its author adds to it is for them."""
        question, asked = self.room_questions.open[record.event_id], self.past.get(record.event_id)
        self.room_questions.given(record, at)
        if asked is not None and not question.among_people:
            bursts.offered(self.bursts, self.floors[question.channel], asked, record.session, question.at)

    def _work_claimed(self, record: records.ClaimRecord, at: Moment) -> None:
        event_id = record.target.partition(":")[2]
        obligation = self.obligations.get(event_id, record.session)
        if obligation is None or not obligation.closed:
            self.work.claimed(record, at, owed=obligation is not None and obligation.owed)

    def _told(self, event: Event) -> None:
        """A person was told of a message that nobody answers."""
        about = event.data.get("related_event_id")
        if event.by == SYSTEM and isinstance(about, str) and event.data.get("kind") in MOOT_WHEN_ANSWERED:
            self.notices[about] = (*self.notices[about], event.id)
            self.work.told(about)

    def _claimed(self, record: records.ClaimRecord, at: Moment) -> None:
        self.room_questions.claimed(record, at)
        if record.action in {"take", "assign", "release", "expire"}:
            held = record.action in {"take", "assign"}
            for offer in self.offered(record.target):
                since, assigned = (offer.at, offer.assigned) if held else (at, False)
                self.offers[offer.event_id] = replace(offer, held=held, at=since, assigned=assigned)
        root = record.target.removeprefix("thread:") if record.target.startswith("thread:") else record.thread
        if root is None:
            return
        if record.action in {"take", "assign"}:
            self.threads[root] = self._begun(root) | {record.session}
            if record.target.startswith("thread:"):
                self.thread_owner[root] = record.session
        ended = record.action in {"release", "expire"} and record.target.startswith("thread:")
        if ended and self.thread_owner.get(root) == record.session:
            del self.thread_owner[root]

    def offered(self, target: str) -> list[OpenOffer]:
        """The open questions that a claim on this event or thread covers."""
        kind, _, name = target.partition(":")
        if kind == "event":
            offer = self.offers.get(name)
            return [offer] if offer is not None else []
        return [
            offer
            for offer in self.offers.values()
            if offer.event_id == name
            or (
                (message := self.past.get(offer.event_id)) is not None and message.conversation.thread == name
            )
        ]

    def _resolved(self, record: records.DispositionRecord) -> None:
        if record.disposition == "responded" and record.closes:
            self.offers.pop(record.event_id, None)
        if record.disposition == "superseded" and record.closes:
            self._recalled(record)
        message = self.past.get(record.event_id)
        if (
            message is not None
            and record.closes
            and record.disposition == "responded"
            and record.reason == RESOLVED
        ):
            self.exchanges.progressed(message.conversation.key)

    def _recalled(self, record: records.DispositionRecord) -> None:
        """One copy is gone; a question to several stays open for the others, if it still stands."""
        offer = self.offers.get(record.event_id)
        if offer is not None:
            left = tuple(one for one in offer.members if one != record.session)
            obligations = [self.obligations.get(record.event_id, one) for one in left]
            if any(obligation is not None and obligation.live for obligation in obligations):
                self.offers[record.event_id] = replace(offer, members=left)
            else:
                del self.offers[record.event_id]
        obligation = self.obligations.get(record.event_id, record.session)
        if obligation is not None and obligation.accepted and not record.reported:
            known = self.recalled[record.session]
            self.recalled[record.session] = (*known, record.event_id)[-KEPT_RECALLED:]

    def _audited(self, record: records.AuditRecord, at: Moment) -> None:
        """A refused near-duplicate counts towards the end of an exchange (C2A-200).

        A look at a thread is remembered, since a late answer needs one (C2A-174).
        """
        if record.what == "unassigned" and (offer := self.offers.get(record.event_id or "")) is not None:
            self.offers[offer.event_id] = replace(offer, assigned=True)
        self.room_questions.audited(record)
        if record.what == "chat.read_thread" and record.session is not None and record.code is None:
            thread = record.details.get("thread")
            if isinstance(thread, str):
                self.looked[record.session, thread] = at
        if record.code == "no_new_information" and record.session is not None:
            thread = record.details.get("thread")
            place = (str(record.details.get("conversation", "")), thread if isinstance(thread, str) else None)
            before = self.exchanges.at(place)
            self.exchanges.put(place, before, loops.duplicate_refused(before, record.session, self.settings))
