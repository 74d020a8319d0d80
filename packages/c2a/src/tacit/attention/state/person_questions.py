"""People's questions to agents that another person answers first (C2A-104, C2A-180).

Rooms do not wait for an agent. Bob knows it, says so, Ann thanks, and the agent's turn would tell her once
more what she has. So of each channel the last questions to agents are kept, with the person who seems to have
answered: whoever replied to it or spoke to its author by name, or the next one to say something plain there.
When its author then thanks, and thanks no agent, what is still open is called off. A plain line is weak
evidence: it counts only until a third person speaks, and never for somebody who was talking with another.

The same list tells that a question has been asked before by somebody else, and where the answer is. Folded
from what is said; no text is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.attention.state import records
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import AuthorKind, Directedness, Disposition, Intent
from tacit.ledger.ports import Lists, no_lists

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.state.last_talks import LastTalk
    from tacit.attention.state.obligations import Obligation
    from tacit.ledger.envelope import Event

KEPT: Final = 16
"""Questions of a channel that are remembered."""
PLAIN_ANSWER: Final = 5 * 60 * SECOND
"""How long after a question a plain line of somebody else may be the answer to it."""
TALKING: Final = 2 * 60 * SECOND
"""How long after a word between two a plain line of either surely goes on with it."""
ANSWERS: Final = frozenset({Intent.PLAIN, Intent.INFORM, Intent.RESULT, Intent.STATUS, Intent.ERROR})
"""What a person says that may be an answer; the rest asks, thanks or waits."""


@dataclass(frozen=True, slots=True)
class OpenLine:
    """A message that all may read, with what it replies to, as the folds of asking take it."""

    event: Event
    parsed: ParsedMessage
    above: ParsedMessage | None
    at: Moment
    by_name_only: bool = False
    """A line that names nobody answers nothing."""


class PersonQuestion(msgspec.Struct, frozen=True, array_like=True):
    """A person's question to agents, and the person who seems to have answered it."""

    event_id: str
    by: str
    at: Moment
    thread: str | None = None
    answered_by: str = ""
    answer: str = ""
    """The event that answers it."""
    plain: bool = False
    """Does only its place say that this is the answer?"""


class PersonQuestions:
    """By channel: the last questions that people put to agents."""

    __slots__ = ("by_channel",)

    def __init__(self, by_channel: Lists[str, PersonQuestion] | None = None) -> None:
        self.by_channel: Lists[str, PersonQuestion] = no_lists() if by_channel is None else by_channel
        """The oldest first."""

    def asked(self, event: Event, at: Moment, decisions: Decisions) -> None:
        """A message of a person's that obliges an agent, or is put up for a role, is such a question."""
        parsed = decisions.parsed
        if (
            parsed is None
            or event.kind != "chat.message"
            or parsed.author.kind is not AuthorKind.HUMAN
            or parsed.intent in {Intent.CANCELLATION, Intent.HOLD, Intent.LEAVE_REQUEST}
        ):
            return
        if any(
            one.obliges or (one.needs_claim and one.directedness is Directedness.TO_MY_ROLE)
            for one in decisions.exceptions.values()
        ):
            channel, thread = parsed.conversation.id, parsed.conversation.thread
            made = PersonQuestion(event.id, parsed.author.id, at, thread)
            self.by_channel[channel] = (*self.by_channel[channel], made)[-KEPT:]

    def said(self, line: OpenLine, talk: LastTalk | None) -> None:
        """Fold a person's line: it may be the answer. `talk` is its author's last one there, before it."""
        parsed, above = line.parsed, line.above
        known = self.by_channel[parsed.conversation.id]
        points = _points_at(known, line)
        may_be_plain = (
            not line.by_name_only
            and not parsed.target.is_aimed
            and above is None
            and parsed.conversation.thread is None
            and parsed.intent in ANSWERS
        )
        newest = next(
            (one for one in reversed(known) if one.thread is None and one.by != parsed.author.id), None
        )
        changed: list[PersonQuestion] = []
        for one in known:
            if one.by == parsed.author.id:
                changed.append(one)
            elif one.event_id in points and parsed.intent in ANSWERS:
                changed.append(_answered(one, line, plain=False))
            elif one is newest and not one.answered_by and may_be_plain and _is_free(one, line.at, talk):
                changed.append(_answered(one, line, plain=True))
            elif one.plain and parsed.author.id != one.answered_by and above is None:
                # A third one speaks: whom thanks are for can no longer be told.
                changed.append(msgspec.structs.replace(one, answered_by="", answer="", plain=False))
            else:
                changed.append(one)
        if tuple(changed) != known:
            self.by_channel[parsed.conversation.id] = tuple(changed)

    def settled(self, parsed: ParsedMessage, above: ParsedMessage | None) -> list[PersonQuestion]:
        """The author's questions that a person has answered and for which the author thanks."""
        target = parsed.target
        if target.agents or target.everyone or target.roles or (above is not None and above.by_agent):
            return []
        named, root = parsed.target.people, parsed.conversation.thread
        return [
            one
            for one in self.by_channel[parsed.conversation.id]
            if one.by == parsed.author.id
            and one.answered_by
            and (not named or one.answered_by in named)
            and (root is None or root in {one.thread, one.event_id, one.answer} or _is_by(above, one))
        ]


def _points_at(known: Iterable[PersonQuestion], line: OpenLine) -> frozenset[str]:
    """The questions that a line replies to, or whose author it names and nobody else."""
    target, root = line.parsed.target, line.parsed.conversation.thread
    if target.agents or target.roles or target.everyone:
        return frozenset()
    given = line.event.data.get("reply_to")
    return frozenset(
        one.event_id
        for one in known
        if one.event_id in {given, root}
        or one.by in target.people
        or (root is not None and root == one.thread and _is_by_author(line.above, one))
    )


def _is_by_author(above: ParsedMessage | None, question: PersonQuestion) -> bool:
    return above is not None and above.author.id == question.by


def _is_by(above: ParsedMessage | None, question: PersonQuestion) -> bool:
    return above is not None and above.author.id == question.answered_by


def _is_free(question: PersonQuestion, at: Moment, talk: LastTalk | None) -> bool:
    """Can a plain line of this moment be for the question, as its author is in no other talk?"""
    elsewhere = talk is not None and talk.who != question.by and at - talk.at <= TALKING
    return 0 <= at - question.at <= PLAIN_ANSWER and not elsewhere


def _answered(question: PersonQuestion, line: OpenLine, *, plain: bool) -> PersonQuestion:
    by, answer = line.parsed.author.id, line.event.id
    return msgspec.structs.replace(question, answered_by=by, answer=answer, plain=plain)


def called_back(obligations: Iterable[Obligation], by: str) -> list[records.Written]:
    """What is still open of these is called off, as somebody has answered."""
    return [
        records.DispositionRecord(
            event_id=one.event_id,
            session=one.session,
            disposition=Disposition.SUPERSEDED.value,
            closes=True,
            reason=f"Answered by {by}",
        )
        for one in obligations
        if not one.closed
    ]
