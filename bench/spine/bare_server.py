"""What stands beside the hub's doors: the same aiohttp on the same loop, with nothing behind it.

`/echo` returns each message. `/broadcast` passes what its writer sends to every follower: encoded once, one
write a tick for each. `POST /events` decodes the body and answers with an event of the usual size.
"""

from __future__ import annotations

import asyncio
import json
import signal

import msgspec
import uvloop
from aiohttp import WSMsgType, web

from bench.spine.processes import raise_open_files
from tacit.base.websocket import text_frame

EVENT = (
    b'{"v":1,"id":"01920000-0000-7000-8000-000000000000","ts":"2026-01-01T00:00:00.000000Z","seq":1000,'
    b'"kind":"chat.message","group_id":"g_019200000000000000000000","scope_key":"","by":"a0","data":%b}'
)


async def echo(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse(compress=False)
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(message.data)
    return socket


class Broadcast:
    """All followers, and what goes to them with the next tick."""

    def __init__(self) -> None:
        self._followers: set[asyncio.Transport] = set()
        self._waiting: list[bytes] = []

    async def follow(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        assert request.transport is not None
        self._followers.add(request.transport)
        async for _message in socket:
            pass
        self._followers.discard(request.transport)
        return socket

    async def write(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(compress=False)
        await socket.prepare(request)
        transport = request.transport
        assert transport is not None
        loop = asyncio.get_running_loop()
        async for message in socket:
            data = message.data.encode()
            if not self._waiting:
                loop.call_soon(self._flush, transport)
            self._waiting.append(data)
        return socket

    def _flush(self, writer: asyncio.Transport) -> None:
        events = [EVENT % data for data in self._waiting]
        self._waiting.clear()
        head = b'{"jsonrpc":"2.0","method":"event","params":{"subscription":1,"event":'
        batch = b"".join(text_frame(head + event + b"}}") for event in events)
        for follower in self._followers:
            follower.write(batch)
        answer = b'{"jsonrpc":"2.0","id":1,"result":'
        writer.write(b"".join(text_frame(answer + event + b"}") for event in events))


async def post(request: web.Request) -> web.StreamResponse:
    body = msgspec.json.decode(await request.read())
    answer = EVENT % msgspec.json.encode(body["data"])
    return web.Response(body=answer, status=201, content_type="application/json")


async def main() -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    broadcast = Broadcast()
    app = web.Application()
    app.router.add_get("/echo", echo)
    app.router.add_get("/follow", broadcast.follow)
    app.router.add_get("/write", broadcast.write)
    app.router.add_post("/events", post)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await stop.wait()
    await runner.cleanup()


if __name__ == "__main__":
    raise_open_files()
    uvloop.run(main())
