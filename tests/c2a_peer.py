"""A host of C2A that does what a test tells it: loses answers, breaks lines, repeats, refuses.

Speaks the wire over a real WebSocket. For what a well-behaved hub does, tests use the hub.
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

from tacit.base.io.time_service import TimeService
from tacit.base.moment import rfc3339

WAIT = 60.0
WRITTEN = "2026-01-13T10:00:00.000000Z"
TOOLS = {
    "chat.list_events": (True, True),
    "chat.read_thread": (True, True),
    "chat.send_message": (False, True),
    "chat.react": (False, True),
    "chat.claim": (False, True),
    "chat.defer": (False, True),
    "chat.resolve": (False, True),
    "x.launch": (False, False),
}


def delivery(event_id: str = "e1", text: str = "What is the plan?", **more: Any) -> dict[str, Any]:
    """The params of a `chat/deliver`; members of the nested objects are given with `__` (`injection__mode`)."""
    params: dict[str, Any] = {
        "eventId": event_id,
        "source": {"platform": "cccs", "workspaceId": "g1"},
        "conversation": {"id": "g1", "kind": "channel"},
        "author": {"id": "user", "kind": "human", "displayName": "Ann"},
        "target": {"mentions": ["agent:ada"], "directedness": "to_me"},
        "addressedToMe": True,
        "policy": "must_respond",
        "timing": {"createdAt": WRITTEN, "sequence": 1},
        "attention": {
            "policy": "must_respond",
            "reason": "direct_mention",
            "priority": "normal",
            "deadlineMs": 300_000,
        },
        "injection": {"mode": "buffered", "context": "none", "role": "user"},
        "reliability": {"attempt": 1, "idempotencyKey": f"{event_id}:ada"},
        "content": text,
        "replyTarget": f"thread:{event_id}",
    }
    for name, value in more.items():
        place, _, member = name.partition("__")
        if value is None:
            params.pop(place, None)
        elif member:
            params[place] = {**params[place], member: value}
        else:
            params[place] = value
    if "attention__policy" in more:
        params["policy"] = more["attention__policy"]
    return params


class Peer:
    """The hub's side of `/c2a`."""

    def __init__(self) -> None:
        self.port = 0
        self.busy = 0
        """How many connections it does not take before it takes one."""
        self.socket: web.WebSocketResponse | None = None
        self.hasty: list[dict[str, Any]] = []
        """What it delivers just before it answers the next greeting."""
        self.greetings: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.raw: list[str] = []
        self.told: list[dict[str, Any]] = []
        self.answers: dict[str, dict[str, Any]] = {}
        self.script: list[Any] = []
        self.added: list[dict[str, Any]] = []
        """What to do with the next tool calls: an error object, "break" (lose the line), "lose" the answer
        after the call happened, or a result."""
        self.reports: list[Any] = []
        """The same for the next requests that are no tool calls."""
        self.settings: dict[str, Any] = {}
        self.hears: list[str] = []
        self.schemas: dict[str, dict[str, Any]] = {}
        """What it says in its greeting that it makes sense of."""
        self.tells: list[str] = []
        """What it says in its greeting that it tells by itself."""
        self.looks = 0
        """How often it was asked what an author added."""
        self.changed = asyncio.Condition()
        self._ids = itertools.count(1)
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/c2a", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        await self.cut()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def cut(self) -> None:
        """Break the line."""
        socket, self.socket = self.socket, None
        if socket is not None:
            await socket.close()

    async def until(self, condition: Any) -> Any:
        async with asyncio.timeout(WAIT), self.changed:
            await self.changed.wait_for(condition)
        return condition()

    async def deliver(self, params: dict[str, Any], request_id: str | None = None) -> str:
        """Send a delivery; gives its JSON-RPC id."""
        await self.until(lambda: self.socket is not None and self.greetings)
        if params.get("timing", {}).get("createdAt") == WRITTEN:
            params["timing"] = {**params["timing"], "createdAt": rfc3339(TimeService().now())}
        number = request_id or f"d{next(self._ids)}"
        await self._say({"id": number, "method": "chat/deliver", "params": params})
        return number

    async def answer_to(self, request_id: str) -> dict[str, Any]:
        await self.until(lambda: request_id in self.answers)
        return self.answers[request_id]

    async def accepted(self, params: dict[str, Any]) -> str:
        """Deliver and wait for the acknowledgement."""
        number = await self.deliver(params)
        assert (await self.answer_to(number))["result"]["accepted"] is True
        return number

    async def notify(self, method: str, **params: Any) -> None:
        await self._say({"method": method, "params": params})

    def tool_calls(self, name: str) -> list[dict[str, Any]]:
        """The arguments of the calls of one tool that the hub has taken, in order."""
        return [
            params["arguments"]
            for method, params in self.calls
            if method == "tools/call" and params["name"] == name
        ]

    @property
    def sends(self) -> list[dict[str, Any]]:
        return self.tool_calls("chat.send_message")

    @property
    def dispositions(self) -> dict[str, str]:
        return {
            params["eventId"]: params["disposition"]
            for method, params in self.calls
            if method == "chat/disposition"
        }

    async def _say(self, message: dict[str, Any]) -> None:
        assert self.socket is not None
        await self.socket.send_str(msgspec.json.encode({"jsonrpc": "2.0", **message}).decode())

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") == "Bearer wrong":
            return web.Response(status=401)
        if self.busy:
            self.busy -= 1
            return web.Response(status=503)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.socket = socket
        async for frame in socket:
            if frame.type is WSMsgType.TEXT:
                await self._take(socket, frame.data)
        async with self.changed:
            self.changed.notify_all()
        return socket

    async def _take(self, socket: web.WebSocketResponse, text: str) -> None:
        message = msgspec.json.decode(text)
        assert message["jsonrpc"] == "2.0"
        if "method" not in message:
            self.answers[message["id"]] = message
        elif "id" not in message:
            self.told.append(message)
        else:
            await self._answer(socket, message, text)
        async with self.changed:
            self.changed.notify_all()

    async def _answer(self, socket: web.WebSocketResponse, message: dict[str, Any], text: str) -> None:
        method, params = message["method"], message["params"]
        body: dict[str, Any]
        if method == "initialize":
            while self.hasty:
                await self._say({"id": "hasty", "method": "chat/deliver", "params": self.hasty.pop(0)})
            body = {"result": self._greeting(params)}
        elif method == "tools/list":
            body = {
                "result": {
                    "tools": [
                        {
                            "name": name,
                            "description": name,
                            "inputSchema": self.schemas.get(name, {"type": "object"}),
                            "annotations": {"readOnly": reads, "idempotent": safe},
                        }
                        for name, (reads, safe) in TOOLS.items()
                    ]
                }
            }
        elif "after" in params.get("arguments", {}):
            # The look for what an author added before a turn is nothing that a script is about.
            self.looks += 1
            body = {"result": {"ok": True, "events": self.added}}
        else:
            script = self.script if method == "tools/call" else self.reports
            step = script.pop(0) if script else None
            if step == "break":
                await socket.close()
                return
            if isinstance(step, dict) and "code" in step:
                body = {"error": {"code": -32000, "message": "no", "data": step}}
                self.raw.append(text)
            else:
                self.calls.append((method, params))
                self.raw.append(text)
                if step == "lose":
                    await socket.close()
                    return
                result = step if isinstance(step, dict) else self._result(params)
                body = {"result": result}
        await socket.send_str(msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], **body}).decode())

    def _greeting(self, params: dict[str, Any]) -> dict[str, Any]:
        self.greetings.append(params)
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": params["capabilities"],
            "serverInfo": {"name": "peer", "version": "1"},
            "session": {
                "id": "ada",
                "group_id": "g1",
                "names": ["ada"],
                "settings": self.settings,
                "hears": self.hears,
                "tells": self.tells,
            },
        }

    def _result(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"ok": True, "eventId": f"m{len(self.calls)}", "status": "delivered", "duplicate": False}


@asynccontextmanager
async def peering():
    """A running peer."""
    peer = Peer()
    await peer.start()
    try:
        yield peer
    finally:
        await peer.stop()
