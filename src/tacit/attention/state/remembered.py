"""What is remembered of a message once it has been decided (C2A-048, C2A-210).

Enough to answer it: who wrote it, where, to whom, and who alone may read it; nothing of its text. Knows
nothing of how messages are kept: that is the `Past` port.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.message import ParsedMessage
    from tacit.c2a.vocabulary import Intent

_EMPTY: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class RememberedMessage:
    """One message, as far as what comes after it needs to know."""

    author: str
    by_agent: bool
    conversation: Conversation
    intent: Intent
    named: frozenset[str] = _EMPTY
    readers: frozenset[str] | None = None
    """Who alone may read it; None means everyone in the group."""

    @classmethod
    def of(cls, parsed: ParsedMessage) -> RememberedMessage:
        """What is kept of a message that was read."""
        return cls(
            author=parsed.by,
            by_agent=parsed.by_agent,
            conversation=parsed.conversation,
            intent=parsed.intent,
            named=parsed.target.agents,
            readers=parsed.private,
        )


class Past(Protocol):
    """Where messages are remembered; a hub looks them up in its read model."""

    def get(self, event_id: str, /) -> RememberedMessage | None:
        """The message under this id, if there is one."""
        ...

    def __setitem__(self, event_id: str, message: RememberedMessage, /) -> None:
        """Remember it."""
        ...
