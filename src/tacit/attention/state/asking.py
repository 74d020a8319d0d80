"""Asking: what agents and people have asked each other, and which line is the answer (C2A-070, C2A-180).

Three small folds that are moved by the same lines: with whom somebody last talked (`last_talks`), what agents
asked people (`awaited_answers`), and what people asked agents (`person_questions`). No text is kept in any.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tacit.attention.read.conversation import author_of
from tacit.attention.state.awaited_answers import AwaitedAnswers
from tacit.attention.state.last_talks import LastTalks
from tacit.attention.state.person_questions import PersonQuestions
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import AuthorKind, ConversationKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.message import ParsedMessage
    from tacit.ledger.envelope import Event

STILL: Final = 3_600 * SECOND
"""How long an author can steer what they asked without naming anybody."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What stands between asking and answering in a group's open conversations."""

    talks: LastTalks = field(default_factory=LastTalks)
    awaited: AwaitedAnswers = field(default_factory=AwaitedAnswers)
    questions: PersonQuestions = field(default_factory=PersonQuestions)

    def answered_by_a_line(
        self, event: Event, at: Moment, conversation: Conversation, replied: ParsedMessage | None
    ) -> str | None:
        """The agent whose question a person's line answers; what replies to somebody's words is for those."""
        if event.kind != "chat.message" or replied is not None or conversation.kind is ConversationKind.DM:
            return None
        author = author_of(event)
        if author.kind is not AuthorKind.HUMAN:
            return None
        talk = self.talks.of(conversation.id, author.id)
        return self.awaited.answered_by_a_line(conversation, author.id, at, talk)

    def steered(
        self,
        event: Event,
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
        author = author_of(event)
        if by_name_only or event.kind != "chat.message" or author.kind is not AuthorKind.HUMAN:
            return frozenset()
        place = (author.id, where.thread)
        asked = [one for one in self.questions.of(where.id) if (one.by, one.thread) == place]
        if not asked or at - asked[-1].at > STILL:
            return frozenset()
        found, talk = owing(asked[-1].event_id), self.talks.of(where.id, author.id)
        turned = talk is not None and talk.at > asked[-1].at and talk.who not in found
        return frozenset() if turned else found

    def said(
        self,
        event: Event,
        parsed: ParsedMessage,
        above: ParsedMessage | None,
        at: Moment,
        *,
        by_name_only: bool,
    ) -> None:
        """Fold a message that all may read; `above` is what it replies to."""
        channel, author = parsed.conversation.id, parsed.author.id
        self.awaited.said(event, parsed, above, at, by_name_only=by_name_only)
        talk = self.talks.of(channel, author)
        self.questions.said(event, parsed, above, at, talk, by_name_only=by_name_only)
        to = parsed.target.agents | parsed.target.people
        if not to and above is not None:
            to = frozenset({above.author.id})
        self.talks.said(channel, author, to, at)
