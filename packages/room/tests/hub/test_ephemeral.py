"""Messages for whoever is there: their words are kept nowhere (C2A-217)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tacit.c2a.negotiation import CAPABILITIES

if TYPE_CHECKING:
    import aiohttp

    from tests.hub.room import Room

EVERYTHING = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}


async def joined(room: Room, group: str, name: str) -> aiohttp.ClientWebSocketResponse:
    token = await room.actor(group, name)
    socket = await room.session.ws_connect(room.url + "/c2a", headers={"Authorization": f"Bearer {token}"})
    info = {"name": "t", "version": "1"}
    params = {"protocolVersion": "2026-06-24", "clientInfo": info, "capabilities": EVERYTHING}
    await socket.send_json({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert "result" in await socket.receive_json(timeout=60)
    return socket


async def whisper(socket: aiohttp.ClientWebSocketResponse, text: str, key: str = "k1") -> dict[str, Any]:
    arguments = {
        "target": "channel:main",
        "content": text,
        "idempotencyKey": key,
        "visibility": "ephemeral",
        "directedness": "ambient",
    }
    call = {"name": "chat.send_message", "arguments": arguments}
    await socket.send_json({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    return await socket.receive_json(timeout=60)


@pytest.mark.spec("C2A-217", "C2A-150")
async def test_an_ephemeral_message_reaches_those_who_are_there_and_leaves_only_its_hash(room: Room) -> None:
    group = await room.group()
    ada, bob = await joined(room, group, "ada"), await joined(room, group, "bob")
    answer = await whisper(ada, "the marmalade is in the third drawer")
    assert answer["result"]["ephemeral"] is True
    heard = await bob.receive_json(timeout=60)
    assert heard["method"] == "notifications/ephemeral"
    assert heard["params"]["content"] == "the marmalade is in the third drawer"
    again = await whisper(ada, "the marmalade is in the third drawer")
    assert (again["result"]["duplicate"], again["result"]["eventId"]) == (True, answer["result"]["eventId"])
    other = await whisper(ada, "the marmalade is gone")
    assert other["error"]["code"] == -32018
    events = await room.events(group)
    (record,) = [event for event in events if event["kind"] == "x.c2a.ephemeral"]
    assert (record["data"]["length"], len(record["data"]["sha256"])) == (36, 64)
    assert "marmalade" not in json.dumps(events)
    kept = [path.read_bytes() for path in room.server.config.data.rglob("*") if path.is_file()]
    assert all(b"marmalade" not in content for content in kept)
