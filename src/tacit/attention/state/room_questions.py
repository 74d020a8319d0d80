"""Room questions: what a person asks the room, naming nobody, and nobody answers (C2A-077).

At first such a question lies in everybody's mailbox, as the row says. When it has been quiet for a while it
is offered to one agent that fits, then to the next, one at a time; when nobody is left, its author is told.
An answer ends that: a reply to it, a word to its author, a plain line of somebody else in the channel, a
claim on it, or its author's thanks or taking back. Folded from what is said and from `x.c2a.*` records; `now`
and the text are arguments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.decide.decision import Decision, Rule
from tacit.attention.decide.matrix import Situation
from tacit.attention.state import records
from tacit.attention.state.records import Notice
from tacit.attention.state.sends import answered_in
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import AuthorKind, ConversationKind, Directedness, Intent, Mode, Policy, Reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, MutableMapping

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.message import ParsedMessage
    from tacit.attention.read.roster import Roster
    from tacit.attention.settings import Settings
    from tacit.ledger.envelope import Event

MS: Final = 1000
MOST_OPEN: Final = 50
"""Questions of a group that are watched at once; the oldest goes without a word."""
OFFERED: Final = Rule("room.offered", "C2A-077", "nobody answered the room's question, and this agent fits")
FITS_BY_ROLE: Final = Rule("room.fits.role", "C2A-077", "the question speaks of a role that it holds")
FITS_BY_PLACE: Final = Rule("room.fits.place", "C2A-077", "what is said there is its to look after")
FITS_BY_TIME: Final = Rule("room.fits.time", "C2A-077", "it is there and has nothing else to answer")
UNANSWERED: Final = "room_unanswered"
_WORD: Final = re.compile(r"\w{2,}")
_ENDS: Final = frozenset({Intent.THANKS, Intent.CANCELLATION})
_ANSWERS: Final = frozenset({Intent.PLAIN, Intent.INFORM, Intent.RESULT, Intent.ERROR})


@dataclass(frozen=True, slots=True)
class RoomQuestion:
    """A question to the room: who asked it where, since when it is quiet, and who was offered it."""

    event_id: str
    by: str
    channel: str
    at: Moment
    offered: tuple[str, ...] = ()


class RoomQuestions:
    """Every question to the room that nobody has answered."""

    __slots__ = ("open",)

    def __init__(self, questions: MutableMapping[str, RoomQuestion] | None = None) -> None:
        self.open: MutableMapping[str, RoomQuestion] = {} if questions is None else questions
        """By event."""

    def __iter__(self) -> Iterator[RoomQuestion]:
        return iter(sorted(self.open.values(), key=lambda one: (one.at, one.event_id)))

    def asked(self, event: Event, at: Moment, decisions: Decisions) -> None:
        """A question to nobody in particular opens one."""
        parsed = decisions.parsed
        if (
            event.kind == "chat.message"
            and parsed is not None
            and parsed.author.kind is AuthorKind.HUMAN
            and parsed.private is None
            and parsed.conversation.kind is ConversationKind.CHANNEL
            and parsed.conversation.thread is None
            and decisions.common.situation is Situation.OPEN_REQUEST
        ):
            self.open[event.id] = RoomQuestion(event.id, parsed.by, parsed.conversation.id, at)
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

    def given(self, event_id: str, session: str, at: Moment) -> None:
        """One that is open was offered to one more."""
        known = self.open[event_id]
        self.open[event_id] = replace(known, at=at, offered=(*known.offered, session))

    def ended(self, event_id: str) -> None:
        """Somebody has it, or it is there no more."""
        self.open.pop(event_id, None)


def offer_at(question: RoomQuestion, settings: Settings) -> Moment | None:
    """When it is next offered to somebody; None when the group does not want that."""
    if not settings.room_silence_ms:
        return None
    return Moment(question.at + settings.room_silence_ms * MS)


def fits(
    agents: Collection[str], roster: Roster, owners: frozenset[str], load: Mapping[str, int], text: str
) -> list[str]:
    """Who could take it, the fittest first: by a role that it speaks of, by owning the place, by load."""

    def rank(agent: str) -> tuple[bool, bool, int, str]:
        return not _speaks_of(agent, roster, text), agent not in owners, load.get(agent, 0), agent

    return sorted(agents, key=rank)


def why_it_fits(agent: str, roster: Roster, owners: frozenset[str], text: str) -> Rule:
    """What spoke for the one that was chosen."""
    if _speaks_of(agent, roster, text):
        return FITS_BY_ROLE
    return FITS_BY_PLACE if agent in owners else FITS_BY_TIME


def _speaks_of(agent: str, roster: Roster, text: str) -> bool:
    roles = {part.casefold() for role in roster.agents[agent].roles for part in _WORD.findall(role)}
    return not roles.isdisjoint(word.casefold() for word in _WORD.findall(text))


def offered(decision: Decision, modes: frozenset[Mode], fits_by: Rule) -> Decision:
    """What an agent gets that is offered a question: a knock; it answers if it claims it."""
    return replace(
        decision,
        directedness=Directedness.TO_MY_ROLE,
        policy=Policy.MAY_RESPOND,
        mode=Mode.NOTIFY if Mode.NOTIFY in modes else Mode.BUFFERED,
        reason=Reason.ROLE_MENTION,
        needs_claim=True,
        because=(
            *((part, OFFERED) for part in ("directedness", "policy", "mode", "reason", "priority")),
            ("chosen", fits_by),
        ),
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


def unanswered(question: RoomQuestion) -> list[records.Audit | Notice]:
    """Nobody is left: whoever asked is told, once."""
    return [
        records.Audit(what=UNANSWERED, event_id=question.event_id, row="C2A-077"),
        Notice(
            {
                "kind": "attention.room_unanswered",
                "priority": "normal",
                "title": "Nobody here has answered your question.",
                "message": "No agent that is free took it up. Name one to have it asked.",
                "related_event_id": question.event_id,
            },
            to=question.by,
        ),
    ]
