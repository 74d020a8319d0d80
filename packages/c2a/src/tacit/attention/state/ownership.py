"""Ownership: which agent owns which stream, thread and task (C2A-047, C2A-048, C2A-101, C2A-227).

Tasks and streams are kept in the group's own stores (`context.sync`): a task's `owner` or `assignee`, and
under the context key `stream:<id>` an object with `owner`, `title` and `digest` (who gets the digest).
Channels likewise under `channel:<id>`. A thread belongs to whoever claimed it, else to the agent that
opened it. Folded; no rule of policy.

With whom somebody last talked in a channel, and when; of what was said nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.attention.read.conversation import Conversation, conversation_of, inherits, is_for_all
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import ConversationKind

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.ledger.envelope import Event


class LastTalk(msgspec.Struct, frozen=True, array_like=True):
    """The other side of somebody's newest exchange, empty for several at once, and when that was."""

    who: str
    at: Moment


class LastTalks:
    """By channel and principal."""

    __slots__ = ("_talks",)

    def __init__(self, talks: MutableMapping[tuple[str, str], LastTalk] | None = None) -> None:
        self._talks: MutableMapping[tuple[str, str], LastTalk] = {} if talks is None else talks

    def of(self, channel: str, principal: str) -> LastTalk | None:
        """With whom somebody last talked there."""
        return self._talks.get((channel, principal))

    def said(self, channel: str, author: str, to: frozenset[str], at: Moment) -> None:
        """Somebody spoke to these."""
        others = sorted(to - {author})
        for listener in others:
            self._talks[channel, listener] = LastTalk(author, at)
        if others:
            self._talks[channel, author] = LastTalk(others[0] if len(others) == 1 else "", at)


_EMPTY: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Stream:
    """A work stream or channel: who owns it, what it is called, who gets its digest."""

    owner: str | None = None
    title: str = ""
    digest: frozenset[str] = _EMPTY


NO_STREAM: Final = Stream()


class Ownership:
    """Who owns what in a group."""

    __slots__ = ("_streams", "_tasks")

    def __init__(self) -> None:
        self._streams: dict[str, Stream] = {}
        self._tasks: dict[str, str] = {}

    def synced(self, data: dict[str, Any]) -> None:
        """Fold a `context.sync`."""
        for op in cast("list[dict[str, Any]]", data.get("ops") or []):
            key, given = str(op.get("key", "")), op.get("value")
            value = (
                cast("dict[str, object]", given)
                if isinstance(given, dict) and op.get("op") == "set"
                else None
            )
            if op.get("store", "context") == "tasks":
                self._task(key, value)
            elif key.startswith(("stream:", "channel:")):
                self._stream(key, value)

    def _task(self, key: str, value: dict[str, object] | None) -> None:
        owner = (value or {}).get("owner") or (value or {}).get("assignee")
        if isinstance(owner, str):
            self._tasks[key] = owner
        else:
            self._tasks.pop(key, None)

    def _stream(self, key: str, value: dict[str, object] | None) -> None:
        if value is None:
            self._streams.pop(key, None)
            return
        owner, title, digest = value.get("owner"), value.get("title"), value.get("digest")
        readers = cast("list[object]", digest) if isinstance(digest, list) else []
        self._streams[key] = Stream(
            owner if isinstance(owner, str) else None,
            title if isinstance(title, str) else "",
            frozenset(one for one in readers if isinstance(one, str)),
        )

    def stream_of(self, conversation: Conversation) -> Stream:
        """The stream of a conversation, else its channel."""
        if not self._streams:
            return NO_STREAM
        if conversation.stream is not None and (found := self._streams.get(f"stream:{conversation.stream}")):
            return found
        return self._streams.get(f"channel:{conversation.id}", NO_STREAM)

    def knows_channel(self, name: str) -> bool:
        """Was a channel of this name described?"""
        return f"channel:{name}" in self._streams

    def owners(self, conversation: Conversation, tasks: Iterable[str]) -> frozenset[str]:
        """Who owns the stream or the tasks that an event belongs to."""
        return self.around(conversation, tasks)[1]

    def around(self, conversation: Conversation, tasks: Iterable[str]) -> tuple[Stream, frozenset[str]]:
        """The stream or channel of a conversation, and who owns that or one of these tasks."""
        found = {self._tasks[task] for task in tasks if task in self._tasks}
        stream = self.stream_of(conversation)
        if stream.owner is not None and conversation.stream is not None:
            found.add(stream.owner)
        return stream, frozenset(found) if found else _EMPTY

    def place_of(self, event: Event, above: str | None, replied: ParsedMessage | None) -> Conversation:
        """Where an event is said: `above` is the first form of what it replies to, `replied` its message."""
        root = above
        if replied is not None and above is not None:
            root = replied.conversation.thread or above
        found = conversation_of(event.data, event.by, root)
        if replied is not None and inherits(event.data):
            private = replied.conversation.kind is ConversationKind.DM and not is_for_all(event.data)
            kind = ConversationKind.DM if private else found.kind
            found = Conversation(
                replied.conversation.id, kind, root, replied.conversation.stream, replied.conversation.title
            )
        return self.titled(found)

    def titled(self, conversation: Conversation) -> Conversation:
        """The conversation with its stream's label, unless it brings a title of its own."""
        stream = self.stream_of(conversation)
        return (
            replace(conversation, title=stream.title)
            if stream.title and not conversation.title
            else conversation
        )
