"""A running hub for tests: real sockets on 127.0.0.1, and callers that speak HTTP, WebSocket or SSE."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import aiohttp

from tacit.base.stream_plan import StreamPlan
from tacit.hub.config import HubConfig, Limits
from tacit.hub.server import Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from tacit.ledger.io.store import StoreOptions

WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, read to its end."""

    status: int
    body: Any
    headers: Mapping[str, str]
    raw: bytes = b""

    @property
    def code(self) -> str | None:
        return self.body.get("code") if isinstance(self.body, dict) else None


class Failed(Exception):
    """A JSON-RPC error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.rpc = error["code"]
        self.body = error["data"]
        self.code = error["data"]["code"]


class Room:
    """One hub, its owner, and shortcuts for what tests do most."""

    def __init__(self, server: Server, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session
        self.owner = server.hub.owner_token

    @property
    def url(self) -> str:
        return self.server.url

    async def call(
        self, method: str, path: str, *, token: str | None = "", headers: Any = None, **given: Any
    ) -> Answer:
        """One request; the owner's token unless another (or None) is given."""
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token or self.owner}")
        async with self.session.request(method, self.url + path, headers=sent, **given) as response:
            raw = await response.read()
            is_json = response.content_type == "application/json"
            return Answer(response.status, json.loads(raw) if is_json else None, response.headers, raw)

    async def get(self, path: str, **given: Any) -> Answer:
        return await self.call("GET", path, **given)

    async def post(self, path: str, body: Any = None, **given: Any) -> Answer:
        return await self.call("POST", path, json=body if body is not None else {}, **given)

    async def ok(self, method: str, path: str, **given: Any) -> Any:
        answer = await self.call(method, path, **given)
        assert answer.status in {200, 201}, (answer.status, answer.body)
        return answer.body

    async def group(self, title: str = "Room", **given: Any) -> str:
        return (await self.ok("POST", "/v1/groups", json={"title": title, **given}))["group_id"]

    async def actor(self, group: str, name: str, **given: Any) -> str:
        body = {"actor_id": name, **given}
        return (await self.ok("POST", f"/v1/groups/{group}/actors", json=body))["token"]

    async def service(self, name: str, groups: list[str] | None = None) -> str:
        body = {"name": name, "groups": groups}
        return (await self.ok("POST", "/v1/services", json=body))["token"]

    async def append(
        self, group: str, kind: str, data: dict[str, Any], token: str = "", **more: Any
    ) -> Answer:
        body = {"kind": kind, "data": data, **more}
        return await self.post(f"/v1/groups/{group}/events", body, token=token)

    async def say(self, group: str, text: str, token: str = "", **data: Any) -> dict[str, Any]:
        answer = await self.append(group, "chat.message", {"text": text, **data}, token)
        assert answer.status in {200, 201}, answer.body
        return answer.body

    async def events(self, group: str, token: str = "", **query: Any) -> list[dict[str, Any]]:
        query.setdefault("limit", 1000)
        return (await self.ok("GET", f"/v1/groups/{group}/events", params=query, token=token))["events"]

    async def last_seq(self, group: str) -> int:
        return (await self.ok("GET", f"/v1/groups/{group}"))["last_seq"]

    @asynccontextmanager
    async def socket(self, token: str | None = "", **given: Any) -> AsyncIterator[Socket]:
        headers = dict(given.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.owner}"
        async with (
            self.session.ws_connect(self.url + "/v1/ws", headers=headers, max_msg_size=0, **given) as ws,
            Socket(ws) as socket,
        ):
            yield socket

    @asynccontextmanager
    async def stream(
        self, group: str, token: str = "", *, headers: Any = None, **query: Any
    ) -> AsyncIterator[Sse]:
        sent = {
            "Authorization": f"Bearer {token or self.owner}",
            "Accept": "text/event-stream",
            **(headers or {}),
        }
        async with self.session.get(
            f"{self.url}/v1/groups/{group}/events",
            headers=sent,
            params=query,
            timeout=aiohttp.ClientTimeout(total=None),
        ) as response:
            yield Sse(response)


class Socket:
    """A pipelining JSON-RPC client: answers by id, notifications in order."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws
        self.notes: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.stray: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.closed: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._waiting: dict[object, asyncio.Future[dict[str, Any]]] = {}
        self._ids = itertools.count(1)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.ws.close()
        assert self._task is not None
        await asyncio.wait({self._task}, timeout=WAIT)

    async def _read(self) -> None:
        async for message in self.ws:
            body = json.loads(message.data)
            if "method" in body:
                self.notes.put_nowait(body)
            elif (waiting := self._waiting.pop(body["id"], None)) is not None:
                waiting.set_result(body)
            else:
                self.stray.put_nowait(body)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionResetError("closed"))
                waiting.exception()
        if not self.closed.done():
            self.closed.set_result(self.ws.close_code)

    def begin(self, method: str, params: dict[str, Any] | None = None) -> asyncio.Future[dict[str, Any]]:
        """Register a call; `send` has to carry it out."""
        number = next(self._ids)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        return future

    async def send(self, method: str, **params: Any) -> asyncio.Future[dict[str, Any]]:
        """Send a call; the answer comes later."""
        future = self.begin(method, params)
        await self.ws.send_str(json.dumps(self._frame))
        return future

    async def call(self, method: str, **params: Any) -> Any:
        async with asyncio.timeout(WAIT):
            body = await (await self.send(method, **params))
        if "error" in body:
            raise Failed(body["error"])
        return body["result"]

    async def note(self, method: str | None = None) -> dict[str, Any]:
        """The next notification (of a method)."""
        async with asyncio.timeout(WAIT):
            while True:
                note = await self.notes.get()
                if method in {None, note["method"]}:
                    return note

    async def event(self) -> dict[str, Any]:
        return (await self.note("event"))["params"]["event"]

    async def answer_to(self, text: str | bytes) -> dict[str, Any]:
        """Send a raw frame and wait for the answer that has no known id."""
        await (self.ws.send_bytes(text) if isinstance(text, bytes) else self.ws.send_str(text))
        async with asyncio.timeout(WAIT):
            return await self.stray.get()


class Sse:
    """A reader of server-sent events."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def block(self) -> dict[str, str]:
        """The next message that is more than a comment; empty at the end."""
        found: dict[str, str] = {}
        async with asyncio.timeout(WAIT):
            async for line in self.response.content:
                text = line.decode().rstrip("\n")
                if not text and found:
                    return found
                if text and not text.startswith(":"):
                    name, _, value = text.partition(": ")
                    found[name] = value
        return found

    async def event(self) -> dict[str, Any]:
        while True:
            block = await self.block()
            assert block, "the stream ended"
            if "event" not in block:
                event = json.loads(block["data"])
                assert int(block["id"]) == event["seq"]
                return event


def config(folder: Path, **given: Any) -> HubConfig:
    limits = given.pop("limits", None) or Limits()
    url = os.environ.get("TACIT_TEST_NATS")
    if url and not given.keys() & {"stream", "backups"}:
        # The same suite on the other journal: `TACIT_TEST_NATS=nats://127.0.0.1:4222 pytest tests/hub`.
        name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        given["stream"] = StreamPlan((url,), f"T{name}", 1)
    return HubConfig(folder, port=given.pop("port", 0), limits=limits, **given)


@asynccontextmanager
async def running(folder: Path, *, options: StoreOptions | None = None, **given: Any) -> AsyncIterator[Room]:
    """A hub on a folder, from start to graceful stop."""
    server = Server(config(folder, **given), options)
    await server.start()
    try:
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=False), timeout=aiohttp.ClientTimeout(total=WAIT)
        ) as session:
            yield Room(server, session)
    finally:
        await server.stop()
