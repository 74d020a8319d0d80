"""The hub's operations, one method each, whatever carries them: written once for every client.

Each method is a coroutine that waits for `call` and for nothing else; so a client whose `call` blocks runs
them without an event loop (`tacit.client.socket_hub`). A failure is sorted here too: what time may heal is
tried again, what may have happened is said to be unknown. Knows no socket, and imports nothing heavy: the
command line starts with it.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.c2a.rpc import ConnectionLost
from tacit.client.results import (
    Appended,
    Inbox,
    Page,
    SearchPage,
    Source,
    SourceUnavailable,
    appended_of,
    event_of,
)
from tacit.client.steering import Steering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.ledger.envelope import Event


def passing(error: TacitError, method: str, *, repeatable: bool) -> TacitError:
    """The failure to report if time does not heal it; one that time cannot heal is raised at once."""
    if isinstance(error, ConnectionLost):
        if not repeatable:
            from tacit.c2a.retry import OutcomeUnknown

            raise OutcomeUnknown(f"the connection broke during {method}; it may have happened") from error
        return Unavailable("the connection to the hub broke")
    if isinstance(error, Unavailable) and error.unknown and not repeatable:
        from tacit.c2a.retry import OutcomeUnknown

        raise OutcomeUnknown(str(error)) from error
    if isinstance(error, Unavailable) or (isinstance(error, Refused) and error.code == "rate_limited"):
        return error
    raise error


class HubOperations(ABC):
    """A hub as one credential sees it; how calls travel is the subclass's."""

    def __init__(self) -> None:
        self._principal: str | None = None
        self._capabilities: dict[str, Any] | None = None
        self.skipped = 0

    @abstractmethod
    async def call(self, method: str, params: dict[str, Any], *, repeatable: bool = True) -> Any:
        """Any operation of the hub. `repeatable`: the hub would recognise, or not mind, a repeat."""

    # -- who and what

    async def whoami(self) -> str:
        """The principal that the credential stands for."""
        if self._principal is None:
            self._principal = str((await self.call("whoami", {}))["principal"])
        return self._principal

    async def capabilities(self) -> dict[str, Any]:
        """What the hub can do (CCCS-109); asked once."""
        if self._capabilities is None:
            self._capabilities = dict(await self.call("capabilities", {}))
        return self._capabilities

    # -- groups and who is in them

    async def create_group(self, title: str, scopes: Sequence[str] = ()) -> dict[str, Any]:
        """Open a group."""
        params = {"title": title, "scopes": list(scopes)}
        return await self.call("create_group", params, repeatable=False)

    async def groups(self) -> list[dict[str, Any]]:
        """The groups that the credential takes part in."""
        return (await self.call("groups", {}))["groups"]

    async def group(self, group_id: str) -> dict[str, Any]:
        """One group with its roster."""
        return await self.call("group", {"group_id": group_id})

    async def add_actor(
        self,
        group_id: str,
        actor_id: str,
        *,
        role: str | None = None,
        title: str | None = None,
        roles: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Add an actor; the answer's `token` is shown only now."""
        params = _given(group_id=group_id, actor_id=actor_id, role=role, title=title, roles=list(roles))
        return await self.call("add_actor", params, repeatable=False)

    async def add_person(
        self, group_id: str, principal: str, *, title: str | None = None, by_link: bool = False
    ) -> dict[str, Any]:
        """Add a further human; the answer's `token`, or the `code` of a sign-in link, is shown only now."""
        params = _given(group_id=group_id, principal=principal, title=title, by_link=by_link or None)
        return await self.call("add_person", params, repeatable=False)

    async def sign_in_link(
        self, group_id: str | None = None, principal: str | None = None, *, minutes: int = 15
    ) -> dict[str, Any]:
        """A link that signs the owner, or a person of a group, in once: `path` behind the hub's name."""
        params = _given(group_id=group_id, principal=principal, minutes=minutes)
        return await self.call("sign_in_link", params, repeatable=False)

    async def add_service(self, name: str, groups: Sequence[str] | None = None) -> dict[str, Any]:
        """Register a service; the answer's `token` is shown only now."""
        params = _given(name=name, groups=list(groups) if groups is not None else None)
        return await self.call("add_service", params, repeatable=False)

    async def issue_token(self, group_id: str, actor_id: str) -> dict[str, Any]:
        """A further token for an actor or person."""
        params = {"group_id": group_id, "actor_id": actor_id}
        return await self.call("issue_token", params, repeatable=False)

    async def tokens(self, group_id: str, actor_id: str) -> list[str]:
        """The public ids of an actor's live tokens."""
        return (await self.call("tokens", {"group_id": group_id, "actor_id": actor_id}))["tokens"]

    async def revoke_token(self, token_id: str) -> dict[str, Any]:
        """Make a token worthless, at once."""
        return await self.call("revoke_token", {"token_id": token_id}, repeatable=False)

    async def browsers(self) -> list[dict[str, Any]]:
        """The browsers that sign-in links let in, the one used last first."""
        return (await self.call("browsers", {}))["browsers"]

    async def sign_out(self) -> bool:
        """End this client's own token, if a sign-in link made it; False when it stays."""
        return bool((await self.call("sign_out", {}, repeatable=False))["revoked"])

    # -- writing

    async def append(
        self, group_id: str, kind: str, data: dict[str, Any], *, scope_key: str = ""
    ) -> Appended:
        """Append an event. A `client_id` is added when there is none, so that a retry is safe."""
        data = data if data.get("client_id") else {**data, "client_id": os.urandom(16).hex()}
        params = {"group_id": group_id, "kind": kind, "data": data, "scope_key": scope_key}
        return appended_of(await self.call("append", params))

    async def send(
        self,
        group_id: str,
        text: str,
        *,
        to: Sequence[str] = (),
        reply_to: str | None = None,
        attention: bool = False,
        attachments: Sequence[dict[str, Any]] = (),
        **more: Any,
    ) -> Appended:
        """Send a message."""
        data: dict[str, Any] = {"text": text, **more}
        if to:
            data["to"] = list(to)
        if reply_to is not None:
            data["reply_to"] = reply_to
        if attention:
            data["priority"] = "attention"
        if attachments:
            data["attachments"] = list(attachments)
        return await self.append(group_id, "chat.message", data)

    async def ack(self, group_id: str, event_id: str) -> Appended:
        """Acknowledge an attention message."""
        data = {"actor_id": await self.whoami(), "event_id": event_id}
        return await self.append(group_id, "chat.ack", data)

    async def read(
        self, group_id: str, event_id: str, *, actor_id: str | None = None, ack: bool = False
    ) -> Appended:
        """Move the read cursor. `ack` also acknowledges, as an event of its own (CCCS-066)."""
        reader = actor_id or await self.whoami()
        moved = await self.append(group_id, "chat.read", {"actor_id": reader, "event_id": event_id})
        if ack:
            await self.ack(group_id, event_id)
        return moved

    async def react(self, group_id: str, event_id: str, emoji: str, *, removed: bool = False) -> Appended:
        """React to a message, or take a reaction back."""
        data: dict[str, Any] = {"actor_id": await self.whoami(), "event_id": event_id, "emoji": emoji}
        return await self.append(group_id, "chat.reaction", {**data, "removed": True} if removed else data)

    async def relay(
        self,
        group_id: str,
        src_group_id: str,
        src_event_id: str,
        *,
        to: Sequence[str] | None = None,
        text: str | None = None,
        record: bool = True,
    ) -> Appended:
        """Bring a message from another group into this one."""
        params = _given(
            group_id=group_id,
            src_group_id=src_group_id,
            src_event_id=src_event_id,
            to=list(to) if to is not None else None,
            text=text,
            client_id=os.urandom(16).hex(),
        )
        return appended_of(await self.call("relay", {**params, "record": record}))

    async def speak(self, group_id: str, message: dict[str, Any]) -> Appended:
        """Append a CLowl message; its English becomes the text. Repeats are recognised by its `mid`."""
        return appended_of(await self.call("speak", {"group_id": group_id, "message": message}))

    async def trace(self, group_id: str, tid: str) -> dict[str, Any]:
        """A CLowl trace: `trace` (tree, tasks, who owes what) and `events`."""
        return await self.call("trace", {"group_id": group_id, "tid": tid})

    async def typing(self, group_id: str, conversation_id: str | None = None) -> None:
        """Signal that something is being written."""
        await self.call("typing", _given(group_id=group_id, conversation_id=conversation_id))

    async def presence(self, group_id: str) -> dict[str, list[str]]:
        """Who follows a group now: `online`, or `away` while nobody looks at any of their connections."""
        return await self.call("presence", {"group_id": group_id})

    # -- reading

    def known(self, values: Sequence[dict[str, Any]]) -> list[Event]:
        """Events of an envelope version that we know; others are skipped and reported (CCCS-014)."""
        events: list[Event] = []
        for value in values:
            event = event_of(value)
            if event is None:
                self.skipped += 1
                import logging

                log = logging.getLogger("tacit.client")
                log.warning("skipped an event of another envelope version", extra={"v": value.get("v")})
            else:
                events.append(event)
        return events

    async def events(self, group_id: str, **cursor: Any) -> Page:
        """One page of a ledger: `since_seq`, `since_event_id` or `since_ts`; `kinds`, `limit`."""
        page = await self.call("events", _given(group_id=group_id, **cursor))
        events = self.known(page["events"])
        last_seq = page.get("last_seq", page["next_cursor"])
        return Page(events, page["next_cursor"], last_seq, tuple(page.get("damaged", ())))

    async def event(self, group_id: str, event_id: str) -> Event:
        """One event."""
        answer = await self.call("event", {"group_id": group_id, "event_id": event_id})
        return self.known([answer["event"]])[0]

    async def thread(self, group_id: str, event_id: str, limit: int = 50) -> list[Event]:
        """A message and its newest replies, oldest first."""
        params = {"group_id": group_id, "event_id": event_id, "limit": limit}
        return self.known((await self.call("thread", params))["events"])

    async def window(self, group_id: str, *, before_seq: int | None = None, limit: int = 50) -> list[Event]:
        """The messages just before a position, oldest first."""
        params = _given(group_id=group_id, before_seq=before_seq, limit=limit)
        return self.known((await self.call("window", params))["events"])

    async def search(self, group_id: str, words: str, limit: int = 20) -> SearchPage:
        """Messages that contain every word, newest first."""
        answer = await self.call("search", {"group_id": group_id, "q": words, "limit": limit})
        page = SearchPage(self.known(answer["events"]))
        page.damaged = tuple(answer.get("damaged", ()))
        return page

    async def context(self, group_id: str) -> dict[str, Any]:
        """The shared context and the tasks."""
        return await self.call("context", {"group_id": group_id})

    async def inbox(self, group_id: str, actor_id: str | None = None, limit: int = 100) -> Inbox:
        """What waits for a principal; the hub counts (CCCS-071)."""
        answer = await self.call("inbox", _given(group_id=group_id, actor_id=actor_id, limit=limit))
        return Inbox(
            answer["actor_id"],
            self.known(answer["unread"]),
            answer["unread_count"],
            self.known(answer["attention"]),
            answer["attention_count"],
            self.known(answer["notices"]),
            answer["cursor"],
            tuple(answer.get("damaged", ())),
        )

    async def source_of(self, event: Event) -> Source | SourceUnavailable | None:
        """The original of a relayed message; None when the message was not relayed (CCCS-100)."""
        group_id, event_id = event.data.get("src_group_id"), event.data.get("src_event_id")
        if not isinstance(group_id, str) or not isinstance(event_id, str):
            return None
        try:
            return Source(await self.event(group_id, event_id))
        except Refused as refused:
            return SourceUnavailable(group_id, event_id, refused.code)

    @property
    def attention(self) -> Steering:
        """Who was asked, who stayed quiet, and why; edits, approvals and other steering."""
        return Steering(self)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
