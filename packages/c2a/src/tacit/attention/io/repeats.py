"""A question that somebody else has asked before, and where its answer is (C2A-168).

The row forbids an agent to say the same twice to one question; a second person's question is another, and
its agent answers it. So that nobody waits for what stands there already, whoever asks what was just asked and
answered in the same channel is pointed to that answer at once. The texts are read where they are kept, and
compared as those of sends are; nothing of them is written down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.attention.send.similarity import nearest
from tacit.attention.state.records import Notice
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import OPEN, AuthorKind

if TYPE_CHECKING:
    from tacit.attention.io.state_store import PastMessages
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.state.fold import Attention
    from tacit.attention.state.person_questions import PersonQuestion
    from tacit.ledger.envelope import Event

RECENT: Final = 3_600 * SECOND
"""How long a question counts as just asked."""
ANSWERED_BEFORE: Final = "attention.answered_before"


def pointer(
    event: Event, parsed: ParsedMessage, attention: Attention, past: PastMessages, at: Moment
) -> Notice | None:
    """What tells a second asker where the answer is; None when it was not asked or not answered before."""
    text = event.data.get("text")
    if (
        event.kind != "chat.message"
        or parsed.private is not None
        or parsed.author.kind is not AuthorKind.HUMAN
        or parsed.intent not in OPEN
        or not isinstance(text, str)
    ):
        return None
    for earlier in reversed(attention.asking.questions.by_channel[parsed.conversation.id]):
        if earlier.by == parsed.author.id or earlier.event_id == event.id or at - earlier.at > RECENT:
            continue
        answer = _answer_to(earlier, attention)
        said = past.form(earlier.event_id) if answer else None
        words = said.data.get("text") if said is not None else None
        if isinstance(words, str) and nearest(text, [words]) >= attention.settings.similarity:
            return _told(answer, parsed.by)
    return None


def _answer_to(question: PersonQuestion, attention: Attention) -> str:
    """The newest answer of an agent, else the line of the person who answered first; empty without one."""
    latest = attention.versions.latest(question.event_id)
    if attention.versions.is_deleted(latest):
        return ""
    given = [
        answer.event_id
        for one in attention.obligations.of_event(latest)
        for answer in attention.answers[latest, one.session]
    ]
    found = given[-1] if given else question.answer
    return "" if found and attention.versions.is_deleted(found) else found


def _told(answer: str, to: str) -> Notice:
    return Notice(
        {
            "kind": ANSWERED_BEFORE,
            "priority": "normal",
            "title": "Somebody asked the same here, and it was answered.",
            "message": "The answer is where this points; whom you asked will answer you as well.",
            "related_event_id": answer,
        },
        to=to,
    )
