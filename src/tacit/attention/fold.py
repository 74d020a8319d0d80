"""The fold: a group's attention state, moved on by one event at a time.

Rows: C2A-027, C2A-048, C2A-116, C2A-159, C2A-214. Composes the small folds (claims, duties, absences,
exchanges, versions, ownership, approvals) and remembers who said what where. `state_for` cuts out what
`decide` needs, just before an event; `apply` moves past it. Applying the same events again gives the same
state; nothing that matters lives anywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from tacit.attention import loops, records
from tacit.attention.approvals import Approvals
from tacit.attention.claims import Claims
from tacit.attention.conversation import Conversation, conversation_of
from tacit.attention.dispositions import Duties
from tacit.attention.edits import Versions, answered_by
from tacit.attention.leaving import Absences, place_of
from tacit.attention.loops import Exchanges
from tacit.attention.ownership import Ownership, task_ids
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.signals import signal_of
from tacit.attention.state import ConversationState
from tacit.attention.values import ConversationKind, Intent
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from tacit.attention.heard import Heard
    from tacit.attention.leaving import Place
    from tacit.ledger.envelope import Event

_EMPTY: Final[frozenset[str]] = frozenset()
_ASKS: Final = frozenset({Intent.QUESTION, Intent.APPROVAL, Intent.REQUEST, Intent.BLOCKER})


@dataclass(frozen=True, slots=True)
class Said:
    """What is remembered of a message: enough to answer it, nothing of its text."""

    author: str
    by_agent: bool
    conversation: Conversation
    intent: Intent
    named: frozenset[str] = _EMPTY
    readers: frozenset[str] | None = None


class Past(Protocol):
    """Where messages are remembered; a hub looks them up in its read model."""

    def get(self, event_id: str, /) -> Said | None:
        """What was said, if anything was."""
        ...

    def __setitem__(self, event_id: str, said: Said, /) -> None:
        """Remember it."""
        ...


@dataclass(slots=True)
class Attention:
    """Everything that attention knows of a group between two events."""

    settings: Settings = DEFAULTS
    past: Past = field(default_factory=dict[str, Said])
    claims: Claims = field(default_factory=Claims)
    duties: Duties = field(default_factory=Duties)
    absences: Absences = field(default_factory=Absences)
    exchanges: Exchanges = field(default_factory=Exchanges)
    versions: Versions = field(default_factory=Versions)
    ownership: Ownership = field(default_factory=Ownership)
    approvals: Approvals = field(default_factory=Approvals)
    threads: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    thread_owner: dict[str, str] = field(default_factory=dict[str, str])
    awaiting: dict[tuple[str, str | None], frozenset[str]] = field(
        default_factory=dict[tuple[str, str | None], frozenset[str]]
    )

    def state_for(self, event: Event) -> ConversationState:
        """What is so in the event's conversation just before it."""
        if event.kind == "chat.reaction":
            return self._state_for_reaction(event)
        data = event.data
        above = data.get("reply_to")
        replied = self.past.get(above) if isinstance(above, str) else None
        conversation = self._conversation(event, above if isinstance(above, str) else None, replied)
        place = place_of(conversation)
        stream = self.ownership.stream_of(conversation)
        left = self.absences.leavers(conversation)
        root = conversation.thread
        owner = self.thread_owner.get(root) if root is not None else None
        owners = self.ownership.owners(conversation, task_ids(data) if "refs" in data else ())
        if owner is not None:
            owners |= {owner}
        awaiting = self.awaiting.get(place, _EMPTY)
        if replied is not None and replied.by_agent and replied.intent in _ASKS:
            awaiting |= {replied.author}
        supersedes = data.get("supersedes")
        return ConversationState(
            conversation,
            (self.threads.get(root, _EMPTY) if root is not None else _EMPTY) - left,
            owners - left,
            replied.author if replied is not None else None,
            above == root,
            replied.readers
            if replied is not None and conversation.kind is not ConversationKind.CHANNEL
            else None,
            left,
            stream.digest,
            awaiting,
            self.exchanges.stopped(place),
            answered_by(self.duties.of_event(supersedes)) if isinstance(supersedes, str) else _EMPTY,
        )

    def _conversation(self, event: Event, above: str | None, replied: Said | None) -> Conversation:
        root = above
        if replied is not None and above is not None:
            root = replied.conversation.thread or above
        found = conversation_of(event.data, event.by, root)
        inherits = replied is not None and "conversation" not in event.data
        if replied is not None and inherits:
            private = replied.conversation.kind is ConversationKind.DM
            kind = ConversationKind.DM if private else found.kind
            found = Conversation(
                replied.conversation.id, kind, root, replied.conversation.stream, replied.conversation.title
            )
        return self.ownership.titled(found)

    def _state_for_reaction(self, event: Event) -> ConversationState:
        on = event.data.get("event_id")
        said = self.past.get(on) if isinstance(on, str) else None
        if said is None:
            return ConversationState()
        signal = signal_of(event.data)
        settles = said.by_agent and said.intent is Intent.APPROVAL and signal in {"agree", "declined", "done"}
        return ConversationState(
            said.conversation,
            readers=said.readers,
            reacted=(said.author, said.intent),
            waits=frozenset({said.author}) if settles else _EMPTY,
        )

    def apply(self, event: Event, heard: Heard | None = None) -> bool:
        """Move past an event; `heard` is what `decide` made of it. True when it stopped an exchange."""
        if event.kind == "chat.message" or (event.kind == "x.c2a.edit" and heard is not None):
            stopped = self._said(event, heard) if heard is not None else False
            if event.kind == "x.c2a.edit":
                self.versions.edited(str(event.data.get("supersedes", "")), event.id)
            return stopped
        if event.kind == "chat.reaction":
            self._reacted(event)
        elif event.kind == "context.sync":
            self.ownership.synced(event.data)
        else:
            self._recorded(event)
        return False

    def _said(self, event: Event, heard: Heard) -> bool:
        conversation, agent = heard.conversation, heard.by_agent
        place, target = place_of(conversation), heard.target
        self.past[event.id] = Said(heard.by, agent, conversation, heard.intent, target.agents, heard.private)
        if conversation.thread is not None:
            self._joined(conversation.thread, heard)
        if agent:
            self.absences.posted(heard.by, conversation)
            asks = heard.intent in _ASKS
            self.awaiting[place] = self.awaiting.get(place, _EMPTY) | {heard.by} if asks else _EMPTY
        else:
            self.awaiting.pop(place, None)
        return self._exchanged(event, heard, place)

    def _joined(self, root: str, heard: Heard) -> None:
        """Who takes part in a thread now: its opener, whoever wrote, whoever was named."""
        known = self.threads.get(root)
        if known is None:
            opener = self.past.get(root)
            known = _EMPTY if opener is None else opener.named
            if opener is not None and opener.by_agent:
                known |= {opener.author}
                self.thread_owner.setdefault(root, opener.author)
        if heard.by_agent:
            known |= {heard.by}
        self.threads[root] = known | heard.target.agents

    def _exchanged(self, event: Event, heard: Heard, place: Place) -> bool:
        before = self.exchanges.at(place)
        if not heard.by_agent:
            return self.exchanges.put(place, loops.person_spoke(before))
        if event.data.get("attachments"):
            before = loops.progressed(before)
        aimed = bool(heard.target.agents or heard.target.members) or place[1] is not None
        if not aimed and heard.conversation.kind is not ConversationKind.DM:
            return self.exchanges.put(place, before)
        return self.exchanges.put(place, loops.agent_spoke(before, heard.by, event.id, self.settings))

    def _reacted(self, event: Event) -> None:
        on = event.data.get("event_id")
        said = self.past.get(on) if isinstance(on, str) else None
        if said is not None and signal_of(event.data) == "done" and not event.data.get("removed"):
            place = place_of(said.conversation)
            self.exchanges.put(place, loops.progressed(self.exchanges.at(place)))

    def _recorded(self, event: Event) -> None:
        record = records.record_of(event)
        at = records.moment_of(event)
        match record:
            case records.Claim():
                self.claims.apply(record, at)
                self._claimed(record)
            case records.Delivery():
                self.duties.delivered(record, Moment(record.created_at) if record.created_at else at)
            case records.Disposition():
                self.duties.disposed(record)
                self._resolved(record)
            case records.Membership():
                self.absences.apply(record)
            case records.Edit():
                self.versions.edited(record.supersedes, event.id)
            case records.Delete():
                self.versions.deleted(record.event_id)
            case records.Approval():
                self.approvals.apply(record)
            case records.Audit():
                self._audited(record)
            case _:
                pass

    def _claimed(self, record: records.Claim) -> None:
        root = record.target.removeprefix("thread:") if record.target.startswith("thread:") else record.thread
        if root is None:
            return
        if record.action in {"take", "assign"}:
            self.threads[root] = self.threads.get(root, _EMPTY) | {record.session}
            if record.target.startswith("thread:"):
                self.thread_owner[root] = record.session
        elif record.action in {"release", "expire"} and self.thread_owner.get(root) == record.session:
            del self.thread_owner[root]

    def _resolved(self, record: records.Disposition) -> None:
        said = self.past.get(record.event_id)
        if (
            said is not None
            and record.closes
            and record.disposition == "responded"
            and record.reason == "resolved"
        ):
            place = place_of(said.conversation)
            self.exchanges.put(place, loops.progressed(self.exchanges.at(place)))

    def _audited(self, record: records.Audit) -> None:
        """A refused near-duplicate counts towards the end of an exchange (C2A-200)."""
        if record.code == "no_new_information" and record.session is not None:
            thread = record.details.get("thread")
            place = (str(record.details.get("conversation", "")), thread if isinstance(thread, str) else None)
            self.exchanges.put(
                place, loops.duplicate_refused(self.exchanges.at(place), record.session, self.settings)
            )
