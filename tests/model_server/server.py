"""The server: one port, three formats, one script."""

import asyncio
import json
import zlib
from collections.abc import Callable
from contextlib import suppress

from aiohttp import web

from .dialects import DIALECTS, error
from .documented import DOCUMENTED, SIGN_OF_LIFE
from .replies import Cut, Held, Reply, Rubbish, Say, Status, Tokens
from .seen import Seen
from .steps import Hush, Step

PATHS = {"/v1/responses": "responses", "/v1/chat/completions": "chat", "/v1/messages": "messages"}


class ModelServer:
    """A model on loopback. `url` has no `/v1`; `calls` are the model calls that followed the script, in order.

    `asides` are calls that an agent makes for its own housekeeping (titles, warm-ups): they get a short text and do
    not use up the script. `others` are requests for anything else, which a test may demand to be empty.
    """

    def __init__(self, is_aside: Callable[[Seen], bool] = lambda seen: False):
        self.calls: list[Seen] = []
        self.asides: list[Seen] = []
        self.others: list[str] = []
        self._is_aside = is_aside
        self._script: list[Reply] | Callable[[Seen], Reply] = []
        self._arrival = asyncio.Condition()
        self._number = 0
        self._open: list[Held | Hush] = []

    async def __aenter__(self):
        app = web.Application(client_max_size=64 * 2**20)
        for path in PATHS:
            app.router.add_post(path, self._answer)
        app.router.add_post("/v1/messages/count_tokens", self._count)
        app.router.add_get("/v1/models", self._models)
        app.router.add_route("*", "/{rest:.*}", self._other)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *exc) -> None:
        for held in self._open:
            held.release()
        await self._runner.cleanup()

    def script(self, *replies: Reply) -> None:
        """Answer the next calls with these, in order, and forget what was seen and planned before."""
        self.follow(list(replies))

    def follow(self, script: list[Reply] | Callable[[Seen], Reply]) -> None:
        """Answer by a list, or by a function of the call."""
        self._script = script
        self.calls.clear()
        self.asides.clear()
        self.others.clear()

    async def came(self, count: int = 1) -> Seen:
        """Wait until `count` calls came; the last of them."""
        async with self._arrival:
            await self._arrival.wait_for(lambda: len(self.calls) >= count)
        return self.calls[count - 1]

    def _next(self, seen: Seen) -> Reply:
        if callable(self._script):
            return self._script(seen)
        return self._script.pop(0) if self._script else Status(400, kind="script_ended")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        seen = Seen(PATHS[request.path], json.loads(await _body(request)), dict(request.headers))
        self._number += 1
        if self._is_aside(seen):
            self.asides.append(seen)
            return await self._give(request, seen, Say("aside"))
        reply = self._next(seen)
        self.calls.append(seen)
        async with self._arrival:
            self._arrival.notify_all()
        return await self._give(request, seen, reply)

    async def _give(self, request: web.Request, seen: Seen, reply: Reply) -> web.StreamResponse:
        if isinstance(reply, Held) and not (reply.begun and seen.body.get("stream")):
            self._open.append(reply)
            await reply.wait()
            return await self._give(request, seen, reply.then)
        if isinstance(reply, Status):
            headers = {"Retry-After": str(reply.retry_after)} if reply.retry_after is not None else {}
            return web.json_response(
                error(seen.dialect, reply.status, reply.kind), status=reply.status, headers=headers
            )
        if isinstance(reply, Step):
            return await self._perform(request, seen, reply)
        speaker = DIALECTS[seen.dialect](seen, self._number)
        if not seen.body.get("stream"):
            if isinstance(reply, Rubbish):
                return web.Response(text="<html>certainly not an answer", content_type="text/html")
            if isinstance(reply, Cut):
                request.transport.close()
                return web.Response()
            return web.json_response(speaker.plain(reply))
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        with suppress(ConnectionError):  # whoever asked has hung up: a cancelled turn
            await self._stream(request, response, speaker, reply)
        return response

    async def _perform(self, request: web.Request, seen: Seen, step: Step) -> web.StreamResponse:
        """A step of the second script, in the formats as they are documented."""
        speaker = DOCUMENTED[seen.dialect](seen, self._number)
        self._open += step.of(Hush)
        if not seen.body.get("stream"):
            for hush in step.of(Hush):
                await hush.wait()
            return web.json_response(speaker.plain(step))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        with suppress(ConnectionError):  # whoever asked has hung up: a cancelled turn
            await response.prepare(request)
            for frame in _chopped(speaker.stream(step), step.chop):
                if isinstance(frame, Hush):
                    await response.write(SIGN_OF_LIFE)
                    await frame.wait()
                else:
                    await response.write(frame)
            await response.write_eof()
        return response

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, speaker, reply: Reply
    ) -> None:
        await response.prepare(request)
        if isinstance(reply, Rubbish):
            await response.write(b'data: {"certainly": [not an answer\n\nevent: what\ndata: 7\n\n')
            return
        for part in speaker.opening(_tokens(reply)):
            await response.write(part)
        if isinstance(reply, Held):
            self._open.append(reply)
            for part in speaker.some(" "):
                await response.write(part)
            await reply.wait()
            reply = reply.then
        if isinstance(reply, Cut):
            for part in speaker.some(reply.text):
                await response.write(part)
            request.transport.close()
            return
        for part in speaker.rest(reply):
            await response.write(part)
        await response.write_eof()

    async def _count(self, request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"input_tokens": 42})

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    async def _other(self, request: web.Request) -> web.Response:
        self.others.append(f"{request.method} {request.path}")
        return web.json_response({"error": {"message": "not here", "type": "not_found_error"}}, status=404)


async def _body(request: web.Request) -> bytes:
    raw = await request.read()
    return zlib.decompress(raw, 31) if raw[:2] == b"\x1f\x8b" else raw


def _tokens(reply: Reply) -> Tokens:
    while isinstance(reply, Held):
        reply = reply.then
    return getattr(reply, "tokens", Tokens())


def _chopped(frames: list[bytes | Hush], size: int) -> list[bytes | Hush]:
    """The same bytes in other pieces; a silence begins after all that was said before it."""
    if not size:
        return frames
    found: list[bytes | Hush] = []
    joined = b""
    for frame in [*frames, b""]:
        if isinstance(frame, bytes):
            joined += frame
        if isinstance(frame, Hush) or not frame:
            found += [joined[at : at + size] for at in range(0, len(joined), size)]
            joined = b""
        if isinstance(frame, Hush):
            found.append(frame)
    return found
