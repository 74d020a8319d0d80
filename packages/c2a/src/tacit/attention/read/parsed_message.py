"""A message as attention has read it, once for all agents."""

from __future__ import annotations

import msgspec

from tacit.attention.read.continuation import Follows
from tacit.attention.read.conversation import Conversation
from tacit.attention.read.mentions import NO_TARGET, Target
from tacit.c2a.messages import Author
from tacit.c2a.vocabulary import Directedness, Intent, Priority


class ParsedMessage(msgspec.Struct, frozen=True):
    """One event, understood as far as it goes without asking who listens."""

    kind: str
    author: Author
    by: str
    conversation: Conversation
    by_agent: bool
    target: Target = NO_TARGET
    intent: Intent = Intent.PLAIN
    intent_from: str = "text"
    priority: Priority = Priority.NORMAL
    attention: bool = False
    receipt_wanted: bool = False
    requires_ack: bool = False
    private: frozenset[str] | None = None
    """Who alone may read it; None means everyone in the group."""
    declared: Directedness | None = None
    signal: str | None = None
    supersedes: str | None = None
    has_task: bool = False
    asks_room: bool = False
    """Whether it puts a question to whoever knows: nobody named, "does anyone know …?"."""
    nearly: frozenset[str] = frozenset()
    """Who of those that are talking there is nearly called by name."""
    follows: Follows = ()
    """Whose dialogue it may go on with, when it names nobody and replies to nothing; the likeliest first."""
    only_agent: str | None = None
    """The one agent that can be meant, where its author and that agent are the only members of the group."""
