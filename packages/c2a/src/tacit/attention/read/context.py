"""The state of one conversation as a decision needs it (C2A-048, C2A-050, C2A-190, C2A-198).

A value, cut out of the folds for one event: who takes part, who owns, who left, who waits for an answer,
whose exchange was stopped. "Takes part" means: wrote in the thread, was named in it, claimed it or owns it,
and has not left it. Knows nothing of how it was folded.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tacit.attention.read.conversation import Conversation
from tacit.attention.read.cues import Floor
from tacit.base.moment import Moment
from tacit.c2a.messages import Author
from tacit.c2a.vocabulary import Intent

_EMPTY: Final[frozenset[str]] = frozenset()


class ConversationState(msgspec.Struct, frozen=True):
    """What is so in a conversation just before an event."""

    conversation: Conversation | None = None
    """None: the conversation follows from the event alone."""
    participants: frozenset[str] = _EMPTY
    owners: frozenset[str] = _EMPTY
    """Agents that own the stream, the thread or a task that the event refers to."""
    replied_to: str | None = None
    """Who wrote the message that this one answers."""
    replied_root: bool = False
    """Is that message the thread's root, which every post of a thread may point at?"""
    readers: frozenset[str] | None = None
    """Who may read; None means everyone in the group."""
    left: frozenset[str] = _EMPTY
    subscribers: frozenset[str] = _EMPTY
    """Agents that get a digest of this stream or channel."""
    awaiting: frozenset[str] = _EMPTY
    """Agents that asked a question here and have had no word since."""
    stopped: frozenset[str] = _EMPTY
    """Agents of an exchange that was ended; only a person's message opens it again."""
    responded: frozenset[str] = _EMPTY
    """For an edit: agents that had answered the message before it was edited."""
    reacted: tuple[str, Intent] | None = None
    """For a reaction: author and intent of the message that it sits on."""
    floor: Floor = ()
    """The last lines of the channel, for a line in its open flow that replies to nothing."""
    at: Moment = Moment(0)
    """When the line was said."""
    author: Author | None = None
    """Who said it; None: that follows from the event alone."""
    adding: frozenset[str] = _EMPTY
    """Agents whom the author has just called, yet to answer: a line without a name adds to that."""
    adding_to: Intent | None = None
    """What that call was, when it asked for nothing."""
    asked: frozenset[str] = _EMPTY
    """For an author's reply to words of their own: the agents whom those named."""
    answers: str | None = None
    """The agent that had asked the author something to which a line without a name is the answer."""
    waits: frozenset[str] = _EMPTY
    """For a reaction: agents whose obligation or approval it settles."""


QUIET: Final = ConversationState()
