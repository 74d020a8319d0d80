"""The twin of `Hub` for programs without an event loop: the same calls, blocking.

One background thread runs the asyncio client. Every method here is the async one, waited for.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tacit.client.hub import Hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
    from pathlib import Path

    from tacit.client.results import Appended, Inbox, Page, Source, SourceUnavailable
    from tacit.ledger.envelope import Event

T = TypeVar("T")


class SyncHub:
    """A hub as one credential sees it, blocking."""

    def __init__(self, url: str, token: str | None = None, *, retry_for: float = 30.0) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tacit-client", daemon=True)
        self._thread.start()
        self._hub = self._wait(self._make(url, token, retry_for))

    async def _make(self, url: str, token: str | None, retry_for: float) -> Hub:
        return Hub(url, token, retry_for=retry_for)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections and of the thread."""
        self._wait(self._hub.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, method: str, params: dict[str, Any], *, repeatable: bool = True) -> Any:
        """Any operation of the hub."""
        return self._wait(self._hub.call(method, params, repeatable=repeatable))

    def whoami(self) -> str:
        """The principal that the credential stands for."""
        return self._wait(self._hub.whoami())

    def capabilities(self) -> dict[str, Any]:
        """What the hub can do."""
        return self._wait(self._hub.capabilities())

    def create_group(self, title: str, scopes: Sequence[str] = ()) -> dict[str, Any]:
        """Open a group."""
        return self._wait(self._hub.create_group(title, scopes))

    def groups(self) -> list[dict[str, Any]]:
        """The groups that the credential takes part in."""
        return self._wait(self._hub.groups())

    def group(self, group_id: str) -> dict[str, Any]:
        """One group with its roster."""
        return self._wait(self._hub.group(group_id))

    def add_actor(self, group_id: str, actor_id: str, **more: Any) -> dict[str, Any]:
        """Add an actor: `role`, `title`, `roles`."""
        return self._wait(self._hub.add_actor(group_id, actor_id, **more))

    def add_person(self, group_id: str, principal: str, *, title: str | None = None) -> dict[str, Any]:
        """Add a further human."""
        return self._wait(self._hub.add_person(group_id, principal, title=title))

    def add_service(self, name: str, groups: Sequence[str] | None = None) -> dict[str, Any]:
        """Register a service."""
        return self._wait(self._hub.add_service(name, groups))

    def issue_token(self, group_id: str, actor_id: str) -> dict[str, Any]:
        """A further token for an actor or person."""
        return self._wait(self._hub.issue_token(group_id, actor_id))

    def tokens(self, group_id: str, actor_id: str) -> list[str]:
        """The public ids of an actor's live tokens."""
        return self._wait(self._hub.tokens(group_id, actor_id))

    def revoke_token(self, token_id: str) -> dict[str, Any]:
        """Make a token worthless, at once."""
        return self._wait(self._hub.revoke_token(token_id))

    def append(self, group_id: str, kind: str, data: dict[str, Any], *, scope_key: str = "") -> Appended:
        """Append an event."""
        return self._wait(self._hub.append(group_id, kind, data, scope_key=scope_key))

    def send(self, group_id: str, text: str, **more: Any) -> Appended:
        """Send a message: `to`, `reply_to`, `attention`, `attachments`."""
        return self._wait(self._hub.send(group_id, text, **more))

    def ack(self, group_id: str, event_id: str) -> Appended:
        """Acknowledge an attention message."""
        return self._wait(self._hub.ack(group_id, event_id))

    def read(self, group_id: str, event_id: str, **more: Any) -> Appended:
        """Move the read cursor: `actor_id`, `ack`."""
        return self._wait(self._hub.read(group_id, event_id, **more))

    def react(self, group_id: str, event_id: str, emoji: str, *, removed: bool = False) -> Appended:
        """React to a message, or take a reaction back."""
        return self._wait(self._hub.react(group_id, event_id, emoji, removed=removed))

    def relay(self, group_id: str, src_group_id: str, src_event_id: str, **more: Any) -> Appended:
        """Bring a message from another group into this one: `to`, `text`, `record`."""
        return self._wait(self._hub.relay(group_id, src_group_id, src_event_id, **more))

    def speak(self, group_id: str, message: dict[str, Any]) -> Appended:
        """Append a CLowl message."""
        return self._wait(self._hub.speak(group_id, message))

    def trace(self, group_id: str, tid: str) -> dict[str, Any]:
        """A CLowl trace."""
        return self._wait(self._hub.trace(group_id, tid))

    def typing(self, group_id: str, conversation_id: str | None = None) -> None:
        """Signal that something is being written."""
        self._wait(self._hub.typing(group_id, conversation_id))

    def away(self, *, away: bool = True) -> None:
        """Say that nobody looks at what this client follows, or that somebody does again."""
        self._wait(self._hub.away(away=away))

    def presence(self, group_id: str) -> dict[str, list[str]]:
        """Who follows a group now: `online` or `away`."""
        return self._wait(self._hub.presence(group_id))

    def events(self, group_id: str, **cursor: Any) -> Page:
        """One page of a ledger."""
        return self._wait(self._hub.events(group_id, **cursor))

    def event(self, group_id: str, event_id: str) -> Event:
        """One event."""
        return self._wait(self._hub.event(group_id, event_id))

    def thread(self, group_id: str, event_id: str, limit: int = 50) -> list[Event]:
        """A message and its newest replies."""
        return self._wait(self._hub.thread(group_id, event_id, limit))

    def window(self, group_id: str, *, before_seq: int | None = None, limit: int = 50) -> list[Event]:
        """The messages just before a position."""
        return self._wait(self._hub.window(group_id, before_seq=before_seq, limit=limit))

    def search(self, group_id: str, words: str, limit: int = 20) -> list[Event]:
        """Messages that contain every word."""
        return self._wait(self._hub.search(group_id, words, limit))

    def work(self, group_id: str, **wanted: Any) -> list[dict[str, Any]]:
        """Which agent is at which question and how it stands: `agent`, `state`, `ended`."""
        return self._wait(self._hub.attention.work(group_id, **wanted))

    def context(self, group_id: str) -> dict[str, Any]:
        """The shared context and the tasks."""
        return self._wait(self._hub.context(group_id))

    def inbox(self, group_id: str, actor_id: str | None = None, limit: int = 100) -> Inbox:
        """What waits for a principal."""
        return self._wait(self._hub.inbox(group_id, actor_id, limit))

    def source_of(self, event: Event) -> Source | SourceUnavailable | None:
        """The original of a relayed message."""
        return self._wait(self._hub.source_of(event))

    def follow(
        self, group_id: str, *, since_seq: int = 0, kinds: Sequence[str] | None = None
    ) -> Iterator[Event]:
        """Every event after a position, then live, for ever."""
        stream: AsyncIterator[Event] = self._hub.follow(group_id, since_seq=since_seq, kinds=kinds)
        try:
            while True:
                yield self._wait(_next(stream))
        finally:
            self._wait(_end(stream))

    def upload(self, group_id: str, path: Path) -> dict[str, Any]:
        """Store a file; returns the attachment to send with a message."""
        return self._wait(self._hub.files.upload(group_id, path))

    def download(self, group_id: str, path: str) -> bytes:
        """A blob's bytes, checked against its name."""
        return self._wait(self._hub.files.download(group_id, path))


async def _next(stream: AsyncIterator[T]) -> T:
    return await anext(stream)


async def _end(stream: Any) -> None:
    await stream.aclose()
