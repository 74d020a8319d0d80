"""The asyncio client: one connection for calls, one for each follow, both renewed by themselves.

A call that the hub would recognise as a repeat is retried until `retry_for` seconds have passed. A follow
goes on from the last position it saw: no gap, no repeat. Order is the stream's alone; times and ids are never
compared (CCCS-026, CCCS-027, CCCS-106).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import TYPE_CHECKING, Any, Final, Self

import aiohttp

from tacit.base.errors import Refused, Unavailable
from tacit.c2a.retry import OutcomeUnknown
from tacit.c2a.rpc import ConnectionLost
from tacit.client.files import Files
from tacit.client.following import Following
from tacit.client.looking import Looking
from tacit.client.results import (
    Appended,
    Inbox,
    Page,
    Source,
    SourceUnavailable,
    appended_of,
    event_of,
)
from tacit.client.rpc_connection import RpcConnection, pause
from tacit.client.steering import Steering

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tacit.ledger.envelope import Event

log: Final = logging.getLogger("tacit.client")


class Hub:
    """A hub as one credential sees it."""

    def __init__(self, url: str, token: str | None = None, *, retry_for: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._retry_for = retry_for
        self._session: aiohttp.ClientSession | None = None
        self._connection: RpcConnection | None = None
        self._opening = asyncio.Lock()
        self._principal: str | None = None
        self._capabilities: dict[str, Any] | None = None
        self.skipped = 0
        self.looking = Looking()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of all connections."""
        if self._connection is not None:
            await self._connection.close()
        if self._session is not None:
            await self._session.close()

    def session(self) -> aiohttp.ClientSession:
        """The HTTP session behind everything."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, connect=10))
        return self._session

    @property
    def token(self) -> str | None:
        """The credential."""
        return self._token

    async def _connected(self) -> RpcConnection:
        async with self._opening:
            if self._connection is None or not self._connection.is_open:
                if self._connection is not None:
                    await self._connection.close()
                self._connection = await RpcConnection.open(self.session(), self.url, self._token)
            return self._connection

    async def call(self, method: str, params: dict[str, Any], *, repeatable: bool = True) -> Any:
        """Any operation of the hub. `repeatable`: the hub would recognise, or not mind, a repeat."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._retry_for
        attempt = 0
        while True:
            try:
                connection = await self._connected()
                return await connection.call(method, params)
            except ConnectionLost as lost:
                if not repeatable:
                    raise OutcomeUnknown(
                        f"the connection broke during {method}; it may have happened"
                    ) from lost
                problem: Exception = Unavailable("the connection to the hub broke")
            except Unavailable as unavailable:
                problem = unavailable
            except Refused as refused:
                if refused.code != "rate_limited":
                    raise
                problem = refused
            wait = pause(attempt)
            attempt += 1
            if loop.time() + wait > deadline:
                raise problem
            await asyncio.sleep(wait)

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

    async def add_person(self, group_id: str, principal: str, *, title: str | None = None) -> dict[str, Any]:
        """Add a further human; the answer's `token` is shown only now."""
        params = _given(group_id=group_id, principal=principal, title=title)
        return await self.call("add_person", params, repeatable=False)

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

    # -- writing

    async def append(
        self, group_id: str, kind: str, data: dict[str, Any], *, scope_key: str = ""
    ) -> Appended:
        """Append an event. A `client_id` is added when there is none, so that a retry is safe."""
        data = data if data.get("client_id") else {**data, "client_id": str(uuid.uuid4())}
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
            client_id=str(uuid.uuid4()),
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

    async def away(self, *, away: bool = True) -> None:
        """Say that nobody looks at what this client follows, or that somebody does again; kept nowhere."""
        await self.looking.turn(away=away)

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
                log.warning("skipped an event of another envelope version", extra={"v": value.get("v")})
            else:
                events.append(event)
        return events

    async def events(self, group_id: str, **cursor: Any) -> Page:
        """One page of a ledger: `since_seq`, `since_event_id` or `since_ts`; `kinds`, `limit`."""
        page = await self.call("events", _given(group_id=group_id, **cursor))
        events = self.known(page["events"])
        return Page(events, page["next_cursor"], page.get("last_seq", page["next_cursor"]))

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

    async def search(self, group_id: str, words: str, limit: int = 20) -> list[Event]:
        """Messages that contain every word, newest first."""
        params = {"group_id": group_id, "q": words, "limit": limit}
        return self.known((await self.call("search", params))["events"])

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

    def follow(
        self, group_id: str, *, since_seq: int = 0, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Event]:
        """Every event after a position, then live, for ever; survives restarts of the hub."""
        return Following(self, group_id, since_seq, tuple(kinds or ())).events()

    @property
    def attention(self) -> Steering:
        """Who was asked, who stayed quiet, and why; edits, approvals and other steering."""
        return Steering(self)

    @property
    def files(self) -> Files:
        """Upload and download of attachments."""
        return Files(self)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
