"""The hub's operations for programs without an event loop: every method is the async one, waited for.

How it is waited for is the subclass's: by a loop in a thread (`SyncHub`), or not at all, since the call
itself blocks (`SocketHub`). Knows no socket, and imports nothing heavy: the command line starts with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence
    from pathlib import Path

    from tacit.client.operations import HubOperations
    from tacit.client.results import Appended, Inbox, Page, SearchPage, Source, SourceUnavailable
    from tacit.ledger.envelope import Event

T = TypeVar("T")


class BlockingHub(ABC):
    """A hub as one credential sees it, blocking."""

    _operations: HubOperations

    @abstractmethod
    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of an operation."""

    @abstractmethod
    def close(self) -> None:
        """Let go of all connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what is more than one call and its answer

    @abstractmethod
    def away(self, *, away: bool = True) -> None:
        """Say that nobody looks at what this client follows, or that somebody does again."""

    @abstractmethod
    def follow(
        self, group_id: str, *, since_seq: int = 0, kinds: Sequence[str] | None = None
    ) -> Iterator[Event]:
        """Every event after a position, then live, for ever."""

    @abstractmethod
    def upload(self, group_id: str, path: Path) -> dict[str, Any]:
        """Store a file; returns the attachment to send with a message."""

    @abstractmethod
    def download(self, group_id: str, path: str) -> bytes:
        """A blob's bytes, checked against its name."""

    # -- one call and its answer

    def call(self, method: str, params: dict[str, Any], *, repeatable: bool = True) -> Any:
        """Any operation of the hub."""
        return self._wait(self._operations.call(method, params, repeatable=repeatable))

    def whoami(self) -> str:
        """The principal that the credential stands for."""
        return self._wait(self._operations.whoami())

    def capabilities(self) -> dict[str, Any]:
        """What the hub can do."""
        return self._wait(self._operations.capabilities())

    def create_group(self, title: str, scopes: Sequence[str] = ()) -> dict[str, Any]:
        """Open a group."""
        return self._wait(self._operations.create_group(title, scopes))

    def groups(self) -> list[dict[str, Any]]:
        """The groups that the credential takes part in."""
        return self._wait(self._operations.groups())

    def group(self, group_id: str) -> dict[str, Any]:
        """One group with its roster."""
        return self._wait(self._operations.group(group_id))

    def add_actor(self, group_id: str, actor_id: str, **more: Any) -> dict[str, Any]:
        """Add an actor: `role`, `title`, `roles`."""
        return self._wait(self._operations.add_actor(group_id, actor_id, **more))

    def add_person(
        self, group_id: str, principal: str, *, title: str | None = None, by_link: bool = False
    ) -> dict[str, Any]:
        """Add a further human."""
        return self._wait(self._operations.add_person(group_id, principal, title=title, by_link=by_link))

    def sign_in_link(
        self, group_id: str | None = None, principal: str | None = None, *, minutes: int = 15
    ) -> dict[str, Any]:
        """A link that signs the owner, or a person of a group, in once."""
        return self._wait(self._operations.sign_in_link(group_id, principal, minutes=minutes))

    def add_service(self, name: str, groups: Sequence[str] | None = None) -> dict[str, Any]:
        """Register a service."""
        return self._wait(self._operations.add_service(name, groups))

    def issue_token(self, group_id: str, actor_id: str) -> dict[str, Any]:
        """A further token for an actor or person."""
        return self._wait(self._operations.issue_token(group_id, actor_id))

    def tokens(self, group_id: str, actor_id: str) -> list[str]:
        """The public ids of an actor's live tokens."""
        return self._wait(self._operations.tokens(group_id, actor_id))

    def revoke_token(self, token_id: str) -> dict[str, Any]:
        """Make a token worthless, at once."""
        return self._wait(self._operations.revoke_token(token_id))

    def browsers(self) -> list[dict[str, Any]]:
        """The browsers that sign-in links let in, the one used last first."""
        return self._wait(self._operations.browsers())

    def sign_out(self) -> bool:
        """End this client's own token, if a sign-in link made it; False when it stays."""
        return self._wait(self._operations.sign_out())

    def append(self, group_id: str, kind: str, data: dict[str, Any], *, scope_key: str = "") -> Appended:
        """Append an event."""
        return self._wait(self._operations.append(group_id, kind, data, scope_key=scope_key))

    def send(self, group_id: str, text: str, **more: Any) -> Appended:
        """Send a message: `to`, `reply_to`, `attention`, `attachments`."""
        return self._wait(self._operations.send(group_id, text, **more))

    def ack(self, group_id: str, event_id: str) -> Appended:
        """Acknowledge an attention message."""
        return self._wait(self._operations.ack(group_id, event_id))

    def read(self, group_id: str, event_id: str, **more: Any) -> Appended:
        """Move the read cursor: `actor_id`, `ack`."""
        return self._wait(self._operations.read(group_id, event_id, **more))

    def react(self, group_id: str, event_id: str, emoji: str, *, removed: bool = False) -> Appended:
        """React to a message, or take a reaction back."""
        return self._wait(self._operations.react(group_id, event_id, emoji, removed=removed))

    def relay(self, group_id: str, src_group_id: str, src_event_id: str, **more: Any) -> Appended:
        """Bring a message from another group into this one: `to`, `text`, `record`."""
        return self._wait(self._operations.relay(group_id, src_group_id, src_event_id, **more))

    def speak(self, group_id: str, message: dict[str, Any]) -> Appended:
        """Append a CLowl message."""
        return self._wait(self._operations.speak(group_id, message))

    def trace(self, group_id: str, tid: str) -> dict[str, Any]:
        """A CLowl trace."""
        return self._wait(self._operations.trace(group_id, tid))

    def typing(self, group_id: str, conversation_id: str | None = None) -> None:
        """Signal that something is being written."""
        self._wait(self._operations.typing(group_id, conversation_id))

    def presence(self, group_id: str) -> dict[str, list[str]]:
        """Who follows a group now: `online` or `away`."""
        return self._wait(self._operations.presence(group_id))

    def events(self, group_id: str, **cursor: Any) -> Page:
        """One page of a ledger."""
        return self._wait(self._operations.events(group_id, **cursor))

    def event(self, group_id: str, event_id: str) -> Event:
        """One event."""
        return self._wait(self._operations.event(group_id, event_id))

    def thread(self, group_id: str, event_id: str, limit: int = 50) -> list[Event]:
        """A message and its newest replies."""
        return self._wait(self._operations.thread(group_id, event_id, limit))

    def window(self, group_id: str, *, before_seq: int | None = None, limit: int = 50) -> list[Event]:
        """The messages just before a position."""
        return self._wait(self._operations.window(group_id, before_seq=before_seq, limit=limit))

    def search(self, group_id: str, words: str, limit: int = 20) -> SearchPage:
        """Messages that contain every word."""
        return self._wait(self._operations.search(group_id, words, limit))

    def work(self, group_id: str, **wanted: Any) -> list[dict[str, Any]]:
        """Which agent is at which question and how it stands: `agent`, `state`, `ended`."""
        return self._wait(self._operations.attention.work(group_id, **wanted))

    def context(self, group_id: str) -> dict[str, Any]:
        """The shared context and the tasks."""
        return self._wait(self._operations.context(group_id))

    def inbox(self, group_id: str, actor_id: str | None = None, limit: int = 100) -> Inbox:
        """What waits for a principal."""
        return self._wait(self._operations.inbox(group_id, actor_id, limit))

    def source_of(self, event: Event) -> Source | SourceUnavailable | None:
        """The original of a relayed message."""
        return self._wait(self._operations.source_of(event))
