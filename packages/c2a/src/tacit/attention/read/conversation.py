"""Conversations: where a message is said, and the thread it belongs to.

Rows: C2A-032, C2A-209, C2A-210, C2A-215. A ledger has no conversations; they follow from `data.conversation`,
`to` and `reply_to`. `data.thread` is neither read nor written. Knows nothing of who is obliged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.c2a.messages import Author
from tacit.c2a.vocabulary import AuthorKind, ConversationKind
from tacit.ledger.principal import USER, PrincipalKind, kind_of
from tacit.ledger.state import is_concrete

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.ledger.envelope import Event

MAIN: Final = "main"
"""The id of a group's one channel when a message names no conversation."""
_KINDS: Final = {kind.value: kind for kind in ConversationKind}


@dataclass(frozen=True, slots=True)
class Conversation:
    """A dm, a channel, or a thread in one of them."""

    id: str = MAIN
    kind: ConversationKind = ConversationKind.CHANNEL
    thread: str | None = None
    stream: str | None = None
    title: str = ""
    key: tuple[str, str | None] = field(init=False, compare=False, repr=False)
    """A conversation and, inside it, a thread; a dm is one place, however its messages hang together."""

    def __post_init__(self) -> None:
        thread = None if self.kind is ConversationKind.DM else self.thread
        object.__setattr__(self, "key", (self.id, thread))

    @property
    def place(self) -> str:
        """The narrowest name of the place: the thread if there is one."""
        return f"thread:{self.thread}" if self.thread else f"{self.kind}:{self.id}"


CHANNEL: Final = Conversation()


def conversation_of(data: Mapping[str, Any], by: str, root: str | None = None) -> Conversation:
    """The conversation of a message; `root` is the id at the root of its `reply_to` chain, if it replies."""
    if "conversation" not in data and "reply_to" not in data and not data.get("to"):
        return CHANNEL
    given: object = data.get("conversation")
    said = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    kind = _KINDS.get(str(said.get("kind", "")))
    to = recipients(data)
    replies = data.get("reply_to") is not None
    if kind is None:
        alone = len(to) == 1 and is_concrete(to[0])
        if replies:
            kind = ConversationKind.THREAD
        else:
            kind = ConversationKind.DM if alone else ConversationKind.CHANNEL
    stream, title = said.get("stream_id"), said.get("title")
    return Conversation(
        _name(said.get("id"), kind, to, by),
        kind,
        root if replies else None,
        stream if isinstance(stream, str) else None,
        title if isinstance(title, str) else "",
    )


def inherits(data: Mapping[str, Any]) -> bool:
    """Is a reply where its parent is? Yes, when it names no place, or is a dm to nobody but the parties."""
    if "conversation" not in data:
        return True
    given: object = data["conversation"]
    kind = cast("dict[str, object]", given).get("kind") if isinstance(given, dict) else None
    return kind == "dm" and not data.get("to")


def recipients(data: Mapping[str, Any]) -> Sequence[str]:
    """The recipient tokens of a message."""
    given: object = data.get("to")
    if not isinstance(given, list):
        return ()
    return [token for token in cast("list[object]", given) if isinstance(token, str)]


def is_for_all(data: Mapping[str, Any]) -> bool:
    """Is it for everyone, whatever it replies to?"""
    return "@all" in recipients(data)


def _name(given: object, kind: ConversationKind, to: Sequence[str], by: str) -> str:
    """A conversation's id. That of a dm says who its parties are, so that nobody speaks in another one's.

    Only the owner, who reads every dm, may name one and so speak up in it (C2A-199).
    """
    name = given if isinstance(given, str) and given else None
    if kind is not ConversationKind.DM:
        return name if name is not None and not is_dm(name) else MAIN
    return name if name is not None and is_dm(name) and by == USER else _dm_name(to, by)


def is_dm(name: str) -> bool:
    """Is this the id of a dm? No other conversation may have such an id."""
    return name.startswith("dm:")


def _dm_name(to: Sequence[str], by: str) -> str:
    return "dm:" + "+".join(sorted({by, *(token.removeprefix("@") for token in to)}))


def author_of(event: Event) -> Author:
    """The author: behind a bridge the person it names in `data.author`, otherwise the principal itself."""
    plain = _principal(event.by)
    given = event.data.get("author") if plain.kind is AuthorKind.TOOL else None
    if isinstance(given, dict):
        said = cast("dict[str, object]", given)
        name, kind = said.get("id"), said.get("kind")
        if isinstance(name, str) and name and kind in {"human", "agent", "system", "tool"}:
            shown = said.get("displayName", said.get("display_name", name))
            return Author(name, AuthorKind(str(kind)), str(shown))
    return plain


@lru_cache(maxsize=4096)
def _principal(by: str) -> Author:
    kind = kind_of(by)
    if kind is PrincipalKind.ACTOR:
        return Author(by, AuthorKind.AGENT, by)
    if kind is PrincipalKind.SYSTEM:
        return Author(by, AuthorKind.SYSTEM, by)
    return Author(by, AuthorKind.HUMAN if kind is not None and kind.is_human else AuthorKind.TOOL, by)
