"""One harness, three ways to the hub: a WebSocket, HTTP with a webhook, and lines on standard input and output."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import os
import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.hub.c2a.stage import GREETING, Stage
from tests.hub.room import WAIT

if TYPE_CHECKING:
    import aiohttp

TACIT = "from tacit.base.commands.main import main; main()"


class Harness(ABC):
    """A harness that does only what a test says; `accepting` tells whether it takes deliveries in."""

    def __init__(self, stage: Stage, name: str, version: str) -> None:
        self.stage = stage
        self.name = name
        self.version = version
        self.accepting = True
        self.seen: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self.stray: list[dict[str, Any]] = []
        self._ids = itertools.count(1)
        self._changed = asyncio.Condition()

    async def initialize(self, **more: Any) -> dict[str, Any]:
        return await self.request("initialize", **{**GREETING, "protocolVersion": self.version, **more})

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer to a request."""
        message = {"jsonrpc": "2.0", "id": f"r{next(self._ids)}", "method": method, "params": params}
        return await self.exchange(json.dumps(message))

    async def tool(self, tool_name: str, **arguments: Any) -> dict[str, Any]:
        return await self.request("tools/call", name=tool_name, arguments=arguments)

    async def took(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """A message from the hub; the answer, if there is one to give now."""
        async with self._changed:
            (self.seen if message["method"] == "chat/deliver" else self.notes).append(message)
            self._changed.notify_all()
        if "id" in message and self.accepting:
            return {"accepted": True, "eventId": message["params"]["eventId"], "duplicate": False}
        return None

    async def until(self, condition: Any) -> Any:
        async with asyncio.timeout(WAIT), self._changed:
            await self._changed.wait_for(condition)
        return condition()

    async def delivery(self, event: dict[str, Any], attempt: int = 1) -> dict[str, Any]:
        """The delivery of an event, at this attempt or a later one."""

        def found() -> list[dict[str, Any]]:
            return [
                one for one in self.seen
                if one["params"]["eventId"] == event["id"] and one["params"]["reliability"]["attempt"] >= attempt
            ]  # fmt: skip

        await self.until(found)
        return found()[0]

    @abstractmethod
    async def open(self) -> None: ...

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def exchange(self, text: str) -> dict[str, Any]:
        """Send a text and wait for what is answered."""

    @abstractmethod
    async def tell(self, text: str) -> dict[str, Any] | None:
        """Send what must not be answered; whatever came back at once."""


class _Lined(Harness):
    """A connection on which everything travels as one message a line or frame."""

    _answers: asyncio.Queue[dict[str, Any]]
    _reading: asyncio.Task[None] | None = None

    async def exchange(self, text: str) -> dict[str, Any]:
        await self.write(text)
        async with asyncio.timeout(WAIT):
            return await self._answers.get()

    async def tell(self, text: str) -> dict[str, Any] | None:
        await self.write(text)
        await self.exchange(json.dumps({"jsonrpc": "2.0", "id": "after", "method": "ping"}))
        return None if self._answers.empty() else self._answers.get_nowait()

    async def heard(self, text: str) -> None:
        message = json.loads(text)
        if "method" not in message:
            self._answers.put_nowait(message)
            return
        answer = await self.took(message)
        if answer is not None:
            await self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}))

    @abstractmethod
    async def write(self, text: str) -> None: ...


class OverWebSocket(_Lined):
    """`WS /c2a`."""

    _ws: aiohttp.ClientWebSocketResponse

    async def open(self) -> None:
        self._answers = asyncio.Queue()
        headers = {"Authorization": f"Bearer {self.stage.tokens[self.name]}"}
        self._ws = await self.stage.session.ws_connect(self.stage.url + "/c2a", headers=headers)
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._ws:
            await self.heard(message.data)

    async def write(self, text: str) -> None:
        await self._ws.send_str(text)

    async def close(self) -> None:
        await self._ws.close()
        assert self._reading is not None
        await asyncio.wait({self._reading}, timeout=WAIT)


class OverStdio(_Lined):
    """`tacit c2a` in a process of its own."""

    _process: asyncio.subprocess.Process

    async def open(self) -> None:
        self._answers = asyncio.Queue()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", TACIT, "--url", self.stage.url, "c2a",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "TACIT_TOKEN": self.stage.tokens[self.name]},
        )  # fmt: skip
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            await self.heard(line.decode())

    async def write(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode() + b"\n")
        await self._process.stdin.drain()

    async def close(self) -> None:
        assert self._process.stdin is not None
        assert self._reading is not None
        self._process.stdin.close()
        async with asyncio.timeout(WAIT):
            await self._reading
            assert await self._process.wait() == 0


class OverWebhook(Harness):
    """Deliveries as signed posts to a little server of ours, everything else as `POST /c2a`."""

    secret = ""
    checked = 0
    _runner: web.AppRunner | None = None
    _port = 0

    async def open(self) -> None:
        app = web.Application()
        app.router.add_post("/hook", self._hooked)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = site._server.sockets[0].getsockname()[1]
        if not self.secret:
            path = f"/v1/groups/{self.stage.group_id}/actors/{self.name}/webhook"
            body = {"url": f"http://127.0.0.1:{self._port}/hook", "version": self.version}
            self.secret = (await self.stage.post(path, body)).body["secret"]

    async def _hooked(self, request: web.Request) -> web.Response:
        body = await request.read()
        parts = dict(part.split("=", 1) for part in request.headers["Tacit-Signature"].split(","))
        expected = hmac.new(
            self.secret.encode(), parts["t"].encode() + b"." + body, hashlib.sha256
        ).hexdigest()
        assert hmac.compare_digest(parts["v1"], expected)
        self.checked += 1
        answer = await self.took(json.loads(body))
        return web.json_response(answer) if answer is not None else web.Response(status=503)

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def exchange(self, text: str) -> dict[str, Any]:
        answer = await self._post(text)
        assert answer is not None
        return answer

    async def tell(self, text: str) -> dict[str, Any] | None:
        return await self._post(text)

    async def _post(self, text: str) -> dict[str, Any] | None:
        headers = {"Authorization": f"Bearer {self.stage.tokens[self.name]}"}
        async with self.stage.session.post(self.stage.url + "/c2a", data=text, headers=headers) as response:
            if response.status == 202:
                return None
            assert response.status == 200
            return json.loads(await response.read())


TRANSPORTS = {"websocket": OverWebSocket, "webhook": OverWebhook, "stdio": OverStdio}
