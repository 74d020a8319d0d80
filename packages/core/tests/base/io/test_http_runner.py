"""What is no request gets an answer in the house's own form, and the log keeps where it came from to itself."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from tacit.base.io.http_runner import Runner
from tacit.hub.doors.http import unreadable as at_the_hub
from tacit.relay.io.replies import unreadable as at_the_relay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

LONG = b"GET /secret-" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"
WIDE = b"GET / HTTP/1.1\r\nHost: a\r\nSecret: " + b"y" * 9000 + b"\r\n\r\n"
RUBBISH = b"\x16\x03\x01 secret\r\n\r\n"
FINE = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def listening(answer: Callable[[int], web.Response]) -> AsyncIterator[int]:
    async def greet(_request: web.Request) -> web.Response:
        return web.Response(text="here")

    app = web.Application()
    app.router.add_get("/", greet)
    runner = Runner(app, answer, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def said_to(port: int, request: bytes) -> tuple[bytes, bytes]:
    """The head and the body of the answer, read until the server hangs up."""
    async with asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body


@pytest.mark.parametrize("request_", [LONG, WIDE, RUBBISH], ids=["long line", "wide header", "rubbish"])
@pytest.mark.parametrize(
    ("answer", "code"), [(at_the_hub, "invalid_request"), (at_the_relay, "bad_request")], ids=["hub", "relay"]
)
async def test_what_cannot_be_read_is_refused_with_a_code(answer, code, request_, caplog):
    caplog.set_level(logging.DEBUG)
    async with listening(answer) as port:
        head, body = await said_to(port, request_)
        fine = await said_to(port, FINE)
    assert b" 400 " in head.splitlines()[0]
    assert b"application/json" in head
    assert json.loads(body)["code"] == code
    assert fine[1] == b"here"
    assert "could not be read" in caplog.text
    assert "secret" not in caplog.text
    assert "127.0.0.1" not in "".join(record.getMessage() for record in caplog.records)


async def test_what_is_packed_stays_packed():
    """A few bytes may unpack to very many: who wants that does it within bounds of its own."""
    packed = gzip.compress(b"many " * 1000)

    async def size(request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.read())))

    app = web.Application()
    app.router.add_post("/", size)
    runner = Runner(app, at_the_hub, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    _, body = await said_to(runner.addresses[0][1], head % len(packed) + packed)
    await runner.cleanup()
    assert int(body) == len(packed)
