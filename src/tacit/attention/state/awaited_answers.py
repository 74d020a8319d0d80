"""Awaited answers: whom an agent has asked something, and which line of theirs is the answer (C2A-070).

An agent that asks a person waits for a word of that person's, and the word comes as people give it: "@ada
yep", "ok", "sure", or just the next line, in the thread of the question or in the channel around it. So for
each person of a channel the questions are kept that agents put to them. Their next line that names nobody
answers the newest one that it can see, unless they have been talking with somebody else since; a line that
names the agent answers it at any time. Words that ask to wait answer nothing yet. Folded from what is said;
the moment is an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import AuthorKind, Intent

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.message import ParsedMessage
    from tacit.attention.state.last_talks import LastTalk
    from tacit.ledger.envelope import Event

ASKS: Final = frozenset({Intent.QUESTION, Intent.APPROVAL, Intent.REQUEST, Intent.BLOCKER})
"""What an agent says that wants a word back."""
NEXT_LINE: Final = 10 * 60 * SECOND
"""How long after the question a line without a name can be its answer."""
KEPT: Final = 4
"""Questions to one person in one channel; with a fifth the oldest is no longer waited for."""


class AwaitedAnswer(msgspec.Struct, frozen=True, array_like=True):
    """A question that an agent put to a person."""

    agent: str
    event_id: str
    at: Moment
    thread: str | None = None


class AwaitedAnswers:
    """By channel and person: what agents have asked that person and had no word on."""

    __slots__ = ("_asked",)

    def __init__(
        self, asked: MutableMapping[tuple[str, str], tuple[AwaitedAnswer, ...]] | None = None
    ) -> None:
        self._asked: MutableMapping[tuple[str, str], tuple[AwaitedAnswer, ...]] = (
            {} if asked is None else asked
        )

    def agents(self, channel: str, person: str) -> frozenset[str]:
        """The agents that wait for a word of this person's there."""
        return frozenset(one.agent for one in self._asked.get((channel, person), ()))

    def answered_by_a_line(
        self, where: Conversation, person: str, at: Moment, talk: LastTalk | None
    ) -> str | None:
        """The agent whose question a line answers that names nobody; `talk` is its author's last one there.

        In a thread it answers what was asked there; in the open flow what was asked anywhere in the channel.
        """
        for one in reversed(self._asked.get((where.id, person), ())):
            if where.thread is not None:
                if one.thread == where.thread:
                    return one.agent
            elif 0 <= at - one.at <= NEXT_LINE:
                elsewhere = talk is not None and talk.who != one.agent and talk.at > one.at
                return None if elsewhere else one.agent
        return None

    def said(
        self,
        event: Event,
        parsed: ParsedMessage,
        above: ParsedMessage | None,
        at: Moment,
        *,
        by_name_only: bool = False,
    ) -> None:
        """Fold a message: an agent's question is awaited from here, a person's word to it ends that.

        `above` is the message that it replies to; `by_name_only`: a line that names nobody answers nothing.
        """
        if parsed.by_agent:
            self._asked_by(event, parsed, above, at)
        elif parsed.author.kind is AuthorKind.HUMAN and parsed.intent is not Intent.HOLD:
            key = (parsed.conversation.id, parsed.author.id)
            known = self._asked.get(key, ())
            left = tuple(
                one for one in known if not _is_word_on(one, parsed, above, by_name_only=by_name_only)
            )
            if left != known:
                self._put(key, left)

    def _asked_by(self, event: Event, parsed: ParsedMessage, above: ParsedMessage | None, at: Moment) -> None:
        people = parsed.target.people
        if not people and above is not None and above.author.kind is AuthorKind.HUMAN:
            people = frozenset({above.author.id})
        where = parsed.conversation
        for person in sorted(people):
            key = (where.id, person)
            others = tuple(one for one in self._asked.get(key, ()) if one.agent != parsed.by)
            if parsed.intent in ASKS:
                self._put(key, (*others, AwaitedAnswer(parsed.by, event.id, at, where.thread))[-KEPT:])
            elif key in self._asked:
                self._put(key, others)

    def _put(self, key: tuple[str, str], asked: tuple[AwaitedAnswer, ...]) -> None:
        if asked:
            self._asked[key] = asked
        else:
            self._asked.pop(key, None)


def _is_word_on(
    asked: AwaitedAnswer, parsed: ParsedMessage, above: ParsedMessage | None, *, by_name_only: bool
) -> bool:
    """Is this the person's word on what they were asked?"""
    if parsed.target.anybody:
        return asked.agent in parsed.target.agents
    where = parsed.conversation
    if where.thread is None:
        return not by_name_only
    return where.thread == asked.thread or (above is not None and above.by == asked.agent)
