"""Asking: what agents and people have asked each other, and which line is the answer (C2A-070, C2A-180).

Three small folds that are moved by the same lines: with whom somebody last talked (`last_talks`), what agents
asked people (`awaited_answers`), and what people asked agents (`person_questions`). No text is kept in any.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.attention.read.conversation import author_of
from tacit.attention.state import records
from tacit.attention.state.awaited_answers import AwaitedAnswers
from tacit.attention.state.last_talks import LastTalks
from tacit.attention.state.person_questions import PersonQuestions
from tacit.c2a.vocabulary import AuthorKind, ConversationKind

if TYPE_CHECKING:
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.message import ParsedMessage
    from tacit.base.moment import Moment
    from tacit.ledger.envelope import Event


@dataclass(frozen=True, slots=True)
class Asking:
    """What stands between asking and answering in a group's open conversations."""

    talks: LastTalks = field(default_factory=LastTalks)
    awaited: AwaitedAnswers = field(default_factory=AwaitedAnswers)
    questions: PersonQuestions = field(default_factory=PersonQuestions)

    def answered_by_a_line(
        self, event: Event, conversation: Conversation, replied: ParsedMessage | None
    ) -> str | None:
        """The agent whose question a person's line answers; what replies to somebody's words is for those."""
        if event.kind != "chat.message" or replied is not None or conversation.kind is ConversationKind.DM:
            return None
        author = author_of(event)
        if author.kind is not AuthorKind.HUMAN:
            return None
        talk = self.talks.of(conversation.id, author.id)
        return self.awaited.answered_by_a_line(conversation, author.id, records.moment_of(event), talk)

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
