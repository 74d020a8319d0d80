"""Room questions: what a person asks the room, naming nobody (C2A-077).

Such a question lies in everybody's mailbox, and a mailbox that nobody opens answers nobody. So it is offered
to one agent that fits. Where there is no other person, that happens at once; where there is, the question is
the people's for a few seconds first. One agent at a time has the offer: whoever does not take it in time,
declines it or gives it back passes it on, and its own offer is over. When nobody is left, the author is told:
at once when no person can answer either, else when people have had their time too. An owner who has set
`room_silence_ms` gets that time before every offer.

An answer ends that: a reply to it, a word to its author, a plain line of somebody else in the channel, or its
author's thanks or taking back. Whoever has claimed it keeps it for as long as the claim lasts. Folded from
what is said and from `x.c2a.*` records, with every time in it, so that a hub that was stopped goes on; `now`
and the text are arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.matrix import Situation
from tacit.attention.state import records
from tacit.attention.state.records import Notice
from tacit.attention.state.versions import answered_in
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import (
    AuthorKind,
    ConversationKind,
    Disposition,
    Intent,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, MutableMapping

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.read.roster import Roster
    from tacit.attention.settings import Settings
    from tacit.ledger.envelope import Event

MS: Final = 1000
MOST_OPEN: Final = 50
"""Questions of a group that are watched at once; the oldest goes without a word."""
TO_TAKE_MS: Final = 5_000
"""How long an agent has to take what it was offered, before the next is offered it."""
TO_ANSWER_MS: Final = 120_000
"""How long the people of a room have to answer, before its author is told that nobody does."""
UNANSWERED: Final = "room_unanswered"
_NOBODY_TOOK: Final = "No agent here has taken your question."
_NOBODY_FITS: Final = "No agent is here to take your question."
LEFT_TO_PEOPLE: Final = "room_left_to_people"
"""What is written down when no agent fits and people may yet answer."""
_ENDS: Final = frozenset({Intent.THANKS, Intent.CANCELLATION})
_ANSWERS: Final = frozenset({Intent.PLAIN, Intent.INFORM, Intent.RESULT, Intent.ERROR})


@dataclass(frozen=True, slots=True)
class RoomQuestion:
    """A question to the room: who asked it where, who was offered it, and when the next one is."""

    event_id: str
    by: str
    channel: str
    at: Moment
    due: Moment
    """When it is next offered to somebody, while nobody holds it."""
    told_at: Moment
    """Until when its author is not told that nobody answers."""
    wait_ms: int = TO_TAKE_MS
    """How long each has to take it."""
    among_people: bool = True
    """Is there another person who may answer?"""
    offered: tuple[str, ...] = ()
    held: str = ""
    """Who has claimed it; empty while nobody has."""

    @property
    def holder(self) -> str:
        """Whose turn it is: who has claimed it, else who was offered it last; empty when nobody was."""
        return self.held or (self.offered[-1] if self.offered else "")


class RoomQuestions:
    """Every question to the room that nobody has answered."""

    __slots__ = ("open",)

    def __init__(self, questions: MutableMapping[str, RoomQuestion] | None = None) -> None:
        self.open: MutableMapping[str, RoomQuestion] = {} if questions is None else questions
        """By event."""

    def __iter__(self) -> Iterator[RoomQuestion]:
        return iter(sorted(self.open.values(), key=lambda one: (one.at, one.event_id)))

    def asked(self, event: Event, at: Moment, decisions: Decisions, times: OfferTimes) -> None:
        """A question to nobody in particular opens one."""
        parsed = decisions.parsed
        if parsed is not None and is_one(event, decisions):
            self.open[event.id] = RoomQuestion(
                event.id,
                parsed.by,
                parsed.conversation.id,
                at,
                due=Moment(at + times.first_ms * MS),
                told_at=Moment(at + times.people_ms * MS),
                wait_ms=times.next_ms,
                among_people=times.among_people,
            )
            for oldest in list(self)[: max(0, len(self.open) - MOST_OPEN)]:
                del self.open[oldest.event_id]

    def said(self, event: Event, parsed: ParsedMessage) -> None:
        """A later line may answer what is open, or take it back."""
        above = answered_in(event) or event.data.get("reply_to")
        for one in list(self.open.values()):
            if above == one.event_id:
                ends = parsed.by != one.by or parsed.intent in _ENDS
            elif parsed.conversation.id != one.channel or isinstance(above, str):
                ends = False
            elif parsed.by == one.by:
                ends = parsed.intent in _ENDS
            else:
                named = parsed.target.people | parsed.target.agents
                ends = one.by in named or (parsed.intent in _ANSWERS and not parsed.target.is_aimed)
            if ends:
                del self.open[one.event_id]

    def given(self, record: records.DeliveryRecord, at: Moment) -> None:
        """One that is open was offered to one more; or somebody has it before them in another way."""
        known = self.open[record.event_id]
        if not record.needs_claim:
            self.ended(record.event_id)
            return
        due = Moment(at + known.wait_ms * MS)
        self.open[record.event_id] = replace(known, due=due, offered=(*known.offered, record.session))

    def claimed(self, record: records.ClaimRecord, at: Moment) -> None:
        """Somebody has taken one on; or has it no more, and the next is due."""
        known = self.open.get(record.target.partition(":")[2])
        if known is None:
            return
        if record.action in {"take", "assign"}:
            self.open[known.event_id] = replace(known, held=record.session)
        elif record.action in {"release", "expire"} and record.session == known.held:
            self.open[known.event_id] = replace(known, held="", due=at)

    def disposed(self, record: records.DispositionRecord, at: Moment) -> None:
        """Whose turn it is has answered it, or will not: then the next is due."""
        known = self.open.get(record.event_id)
        if known is None or not record.closes:
            return
        if record.disposition in {Disposition.RESPONDED.value, Disposition.ACKNOWLEDGED.value}:
            self.ended(record.event_id)
        elif record.session == known.holder:
            self.open[known.event_id] = replace(known, held="", due=at)

    def audited(self, record: records.AuditRecord) -> None:
        """No agent fits: its author was told, or it is looked at again when people have had their time."""
        known = self.open.get(record.event_id or "")
        if known is not None and record.what == UNANSWERED:
            self.ended(known.event_id)
        elif known is not None and record.what == LEFT_TO_PEOPLE:
            self.open[known.event_id] = replace(known, due=known.told_at)

    def ended(self, event_id: str) -> None:
        """Somebody has it, or it is there no more."""
        self.open.pop(event_id, None)


@dataclass(frozen=True, slots=True)
class OfferTimes:
    """The times of one question, in milliseconds: before the first offer, for each taker, for people."""

    first_ms: int
    next_ms: int
    people_ms: int
    among_people: bool


def offer_times(settings: Settings, rules: Container[str], roster: Roster, author: str) -> OfferTimes:
    """How soon a question of this author's is offered; `rules` are the settings that an owner has chosen."""
    silence, among_people = settings.room_silence_ms, roster.has_other_people(author)
    if "room_silence_ms" in rules:
        return OfferTimes(silence, silence, 0, among_people)
    if among_people:
        return OfferTimes(silence, TO_TAKE_MS, TO_ANSWER_MS, among_people)
    return OfferTimes(0, TO_TAKE_MS, 0, among_people)


def offer_at(question: RoomQuestion, settings: Settings) -> Moment | None:
    """When it is next offered to somebody; None while somebody has it, or when the group wants no offers."""
    return question.due if settings.room_silence_ms and not question.held else None


def is_one(event: Event, decisions: Decisions) -> bool:
    """Is this a person's question to the room, said in its open flow?"""
    parsed = decisions.parsed
    return (
        event.kind == "chat.message"
        and parsed is not None
        and parsed.author.kind is AuthorKind.HUMAN
        and parsed.private is None
        and parsed.conversation.kind is ConversationKind.CHANNEL
        and parsed.conversation.thread is None
        and parsed.only_agent is None
        and decisions.common.situation is Situation.OPEN_REQUEST
    )


def nobody_there(event_id: str, by: str) -> Notice:
    """Whoever calls a name or a role that nobody here has is told at once."""
    return Notice(
        {
            "kind": "attention.nobody_there",
            "priority": "normal",
            "title": "Nobody here has the name or the role that you call.",
            "message": "It is in the room, and nobody was asked in particular. Name somebody who is here.",
            "related_event_id": event_id,
        },
        to=by,
    )


def unanswered(question: RoomQuestion) -> list[records.AuditRecord | Notice]:
    """Nobody is left: whoever asked is told, once."""
    return [
        records.AuditRecord(what=UNANSWERED, event_id=question.event_id, row="C2A-077"),
        Notice(
            {
                "kind": "attention.room_unanswered",
                "priority": "normal",
                "title": _NOBODY_TOOK if question.offered else _NOBODY_FITS,
                "message": "Your question is in the room. Name an agent to have it asked.",
                "related_event_id": question.event_id,
            },
            to=question.by,
        ),
    ]
