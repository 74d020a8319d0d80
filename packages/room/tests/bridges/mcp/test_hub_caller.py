"""The stdio door's way to its hub: what breaks on the way comes back as something to read."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from tacit.base.hub_proof import HubAccess
from tacit.bridges.mcp.io.hub_caller import HubCaller
from tacit.c2a.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def answering(*answers: tuple[int, bytes]) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Something that gives these answers in turn, the last for ever; and what it was asked."""
    asked: list[dict[str, Any]] = []
    left = list(answers)

    async def handle(request: web.Request) -> web.Response:
        asked.append(await request.json())
        status, body = left.pop(0) if len(left) > 1 else left[0]
        return web.Response(status=status, body=body)

    app = web.Application()
    app.router.add_post("/c2a", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


GREETED = (200, b'{"jsonrpc":"2.0","id":0,"result":{}}')
BUSY = {"code": "daemon_unavailable", "message": "not now", "details": {"row": "C2A-016"}}


@pytest.mark.spec("C2A-169")
@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, b'{"code":"permission_denied","message":"give a valid token"}', "permission_denied"),
        (429, b'{"code":"rate_limited","message":"slower","details":{"retry_after_s":1}}', "rate_limited"),
        (404, b"<html>not here</html>", "internal_error"),
        (502, b"<html>bad gateway</html>", "daemon_unavailable"),
        (200, b"[1]", "internal_error"),
        (200, b"{}", "internal_error"),
        (200, b'{"jsonrpc":"2.0","id":1,"error":{"code":-1}}', "internal_error"),
        (
            200,
            b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"data":{"code":"new_in_2031"}}}',
            "internal_error",
        ),
    ],
)
async def test_whatever_answers_becomes_a_refusal_that_the_model_can_read(
    status: int, body: bytes, code: str
) -> None:
    async with answering((status, body)) as (url, _), HubCaller(HubAccess(url, "t"), patience=0) as caller:
        refused = await caller.call("chat.list_events", {})
        assert isinstance(refused, Refusal)
        assert refused.code == code


@pytest.mark.spec("C2A-169")
async def test_a_hub_that_is_gone_is_said_to_be_gone_with_what_a_person_can_do() -> None:
    async with HubCaller(HubAccess("http://127.0.0.1:9", "t"), patience=0.1) as caller:
        refused = await caller.call("chat.list_events", {})
        assert isinstance(refused, Refusal)
        assert (refused.code, "tacit up" in refused.remedy) == ("daemon_unavailable", True)
    assert isinstance(
        await HubCaller(HubAccess("http://127.0.0.1:9", "t"), patience=0).call("chat.claim", {}), Refusal
    )


@pytest.mark.spec("C2A-171")
async def test_a_call_is_repeated_as_it_was_until_the_hub_has_time_and_the_greeting_is_said_once() -> None:
    busy = (503, json.dumps(BUSY).encode())
    done = (200, b'{"jsonrpc":"2.0","id":1,"result":{"ok":true,"eventId":"e1"}}')
    async with answering(GREETED, busy, busy, done) as (url, asked), HubCaller(HubAccess(url, "t")) as caller:
        arguments = {"content": "hello", "idempotencyKey": "k"}
        assert await caller.call("chat.send_message", arguments) == {"ok": True, "eventId": "e1"}
        assert await caller.call("chat.list_events", {}) == {"ok": True, "eventId": "e1"}
    assert [one["method"] for one in asked] == ["initialize", *["tools/call"] * 4]
    assert asked[1] == asked[2] == asked[3]
    assert asked[1]["params"] == {"name": "chat.send_message", "arguments": arguments}
