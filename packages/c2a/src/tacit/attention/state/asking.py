"""Asking: what agents and people have asked each other, and which line is the answer (C2A-070, C2A-180).

Three small folds that are moved by the same lines: with whom somebody last talked, what agents asked people,
and what people asked agents (`person_questions`). No text is kept in any.

What a plain line of a person's is about depends on whom they are talking with. Of talks only what is certain
counts: by name, or as a reply; what a line without a name goes on with is for `attention.read`. An agent that
asks a person waits for a word of that person's, and the word comes as people give it: "@ada yep", "ok",
"sure", or just the next line, in the thread of the question or in the channel around it. So for each person
of a channel the questions are kept that agents put to them. Their next line that names nobody answers the
newest one that it can see, unless they have been talking with somebody else since; a line that names the
agent answers it at any time. Words that ask to wait answer nothing yet. The moment is an argument.

People's questions to agents that another person answers first (C2A-104, C2A-180).

Rooms do not wait for an agent. Bob knows it, says so, Ann thanks, and the agent's turn would tell her once
more what she has. So of each channel the last questions to agents are kept, with the person who seems to have
answered: whoever replied to it or spoke to its author by name, or the next one to say something plain there.
When its author then thanks, and thanks no agent, what is still open is called off. A plain line is weak
evidence: it counts only until a third person speaks, and never for somebody who was talking with another.

The same list tells that a question has been asked before by somebody else, and where the answer is. Folded
from what is said; no text is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.attention.state import records
from tacit.attention.state.ownership import LastTalk, LastTalks
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import AuthorKind, ConversationKind, Directedness, Disposition, Intent
from tacit.ledger.ports import Lists, no_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tacit.attention.decide.decide import Decisions
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.state.obligations import Obligation
    from tacit.attention.state.ownership import LastTalk
    from tacit.c2a.messages import Author
    from tacit.ledger.envelope import Event


REMEMBERED: Final = 16
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
            self.by_channel[channel] = (*self.by_channel[channel], made)[-REMEMBERED:]

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


ASKS: Final = frozenset({Intent.QUESTION, Intent.APPROVAL, Intent.REQUEST, Intent.BLOCKER})
"""What an agent says that wants a word back."""
NEXT_LINE: Final = 10 * 60 * SECOND
"""How long after the question a line without a name can be its answer."""
KEPT: Final = 4
"""Questions to one person in one channel; with a fifth the oldest is no longer waited for."""
STILL: Final = 3_600 * SECOND
"""How long an author can steer what they asked without naming anybody."""


class AwaitedAnswer(msgspec.Struct, frozen=True, array_like=True):
    """A question that an agent put to a person."""

    agent: str
    event_id: str
    at: Moment
    thread: str | None = None


class AwaitedAnswers:
    """By channel and person: what agents have asked that person and had no word on."""

    __slots__ = ("_asked",)

    def __init__(self, asked: Lists[tuple[str, str], AwaitedAnswer] | None = None) -> None:
        self._asked: Lists[tuple[str, str], AwaitedAnswer] = no_lists() if asked is None else asked

    def of(self, channel: str, person: str) -> tuple[AwaitedAnswer, ...]:
        """What agents have asked this person there, the oldest first."""
        return self._asked[channel, person]

    def said(self, line: OpenLine) -> None:
        """Fold a message: an agent's question is awaited from here, a person's word to it ends that."""
        parsed = line.parsed
        if parsed.by_agent:
            self._asked_by(line)
        elif parsed.author.kind is AuthorKind.HUMAN and parsed.intent is not Intent.HOLD:
            key = (parsed.conversation.id, parsed.author.id)
            known = self._asked[key]
            left = tuple(one for one in known if not _is_word_on(one, line))
            if left != known:
                self._asked[key] = left

    def _asked_by(self, line: OpenLine) -> None:
        parsed, above = line.parsed, line.above
        people = parsed.target.people
        if not people and above is not None and above.author.kind is AuthorKind.HUMAN:
            people = frozenset({above.author.id})
        where = parsed.conversation
        for person in sorted(people):
            key = (where.id, person)
            known = self._asked[key]
            left = tuple(one for one in known if one.agent != parsed.by)
            if parsed.intent in ASKS:
                left = (*left, AwaitedAnswer(parsed.by, line.event.id, line.at, where.thread))[-KEPT:]
            if left != known:
                self._asked[key] = left


def _answered_by_a_line(
    asked: Sequence[AwaitedAnswer], where: Conversation, at: Moment, talk: LastTalk | None
) -> str | None:
    """The agent whose question a line answers that names nobody; `talk` is its author's last one there.

    In a thread it answers what was asked there; in the open flow what was asked anywhere in the channel.
    """
    for one in reversed(asked):
        if where.thread is not None:
            if one.thread == where.thread:
                return one.agent
        elif 0 <= at - one.at <= NEXT_LINE:
            elsewhere = talk is not None and talk.who != one.agent and talk.at > one.at
            return None if elsewhere else one.agent
    return None


def _is_word_on(asked: AwaitedAnswer, line: OpenLine) -> bool:
    """Is this the person's word on what they were asked?"""
    parsed, above = line.parsed, line.above
    if parsed.target.is_aimed:
        return asked.agent in parsed.target.agents
    where = parsed.conversation
    if where.thread is None:
        return not line.by_name_only
    return where.thread == asked.thread or (above is not None and above.by == asked.agent)


@dataclass(frozen=True, slots=True)
class Asking:
    """What stands between asking and answering in a group's open conversations."""

    talks: LastTalks = field(default_factory=LastTalks)
    awaited: AwaitedAnswers = field(default_factory=AwaitedAnswers)
    questions: PersonQuestions = field(default_factory=PersonQuestions)

    def awaited_of(
        self,
        event: Event,
        author: Author,
        at: Moment,
        conversation: Conversation,
        replied: ParsedMessage | None,
    ) -> tuple[frozenset[str], str | None]:
        """The agents that wait for a word of the author's there, and whose question a person's line answers.

        What replies to somebody's words (`replied`) is for those.
        """
        asked = self.awaited.of(conversation.id, author.id)
        if not asked:
            return frozenset(), None
        waiting = frozenset(one.agent for one in asked)
        if event.kind != "chat.message" or replied is not None or conversation.kind is ConversationKind.DM:
            return waiting, None
        if author.kind is not AuthorKind.HUMAN:
            return waiting, None
        talk = self.talks.of(conversation.id, author.id)
        return waiting, _answered_by_a_line(asked, conversation, at, talk)

    def steered(
        self,
        event: Event,
        author: Author,
        at: Moment,
        where: Conversation,
        replied: ParsedMessage | None,
        owing: Callable[[str], frozenset[str]],
        *,
        by_name_only: bool,
    ) -> frozenset[str]:
        """The agents to which an author may say "never mind" or "wait" without a name.

        By a reply to words of their own, those whom these named; else those that owe (`owing`) an answer to
        their newest question there, as long as they have turned to nobody else since.
        """
        if replied is not None:
            return replied.target.agents if replied.by == event.by else frozenset()
        if by_name_only or event.kind != "chat.message" or author.kind is not AuthorKind.HUMAN:
            return frozenset()
        place = (author.id, where.thread)
        asked = [one for one in self.questions.by_channel[where.id] if (one.by, one.thread) == place]
        if not asked or at - asked[-1].at > STILL:
            return frozenset()
        found, talk = owing(asked[-1].event_id), self.talks.of(where.id, author.id)
        turned = talk is not None and talk.at > asked[-1].at and talk.who not in found
        return frozenset() if turned else found

    def said(self, line: OpenLine) -> None:
        """Fold a message that all may read."""
        parsed = line.parsed
        channel, author = parsed.conversation.id, parsed.author.id
        self.awaited.said(line)
        if parsed.author.kind is AuthorKind.HUMAN and self.questions.by_channel[channel]:
            self.questions.said(line, self.talks.of(channel, author))
        to = parsed.target.agents | parsed.target.people
        if not to and line.above is not None:
            to = frozenset({line.above.author.id})
        self.talks.said(channel, author, to, line.at)
