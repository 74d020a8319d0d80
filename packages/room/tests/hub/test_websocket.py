"""The WebSocket door: pipelining, malformed frames, notifications (CCCS-111)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.websocket import text_frame
from tacit.c2a.errors import INVALID_PARAMS, NOT_A_REQUEST, PARSE_ERROR
from tacit.hub.config import Limits
from tests.hub.room import WAIT, Failed, Room, running
from tests.hub.test_readers import until, with_processes

if TYPE_CHECKING:
    from pathlib import Path

SEVERAL = 512
"""Frames of 64 KiB: more than the sockets of a connection hold."""


def call(method: str = "groups", params: Any = None, **more: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": "q", "method": method, "params": params or {}, **more})


async def test_a_connection_follows_a_group_so_often_and_no_more(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(subscriptions=3)) as room:
        group, other = await room.group(), await room.group()
        async with room.socket() as socket:
            calls = [socket.call("follow", group_id=group) for _ in range(5)]
            answers = await asyncio.gather(*calls, return_exceptions=True)
            refused = [one for one in answers if isinstance(one, Failed)]
            assert [(one.code, one.body["details"]["limit"]) for one in refused] == [
                ("invalid_request", 3)
            ] * 2
            first = next(one for one in answers if isinstance(one, dict))
            assert await socket.call("follow", group_id=other)
            await socket.call("unfollow", **first)
            assert await socket.call("follow", group_id=group)
            with pytest.raises(Failed):
                await socket.call("follow", group_id=group)


async def test_two_hundred_requests_in_flight_are_all_answered_under_their_ids(room: Room) -> None:
    group = await room.group()
    async with room.socket() as socket:
        waiting = []
        for n in range(200):
            if n % 4:
                said = {"kind": "chat.message", "data": {"text": f"m{n}"}}
                waiting.append((n, await socket.send("append", group_id=group, **said)))
            else:
                waiting.append((n, await socket.send("events", group_id=group, limit=1)))
        async with asyncio.timeout(WAIT):
            for n, future in waiting:
                result = (await future)["result"]
                if n % 4:
                    assert result["data"]["text"] == f"m{n}"
                else:
                    assert result["events"][0]["seq"] == 1
        assert socket.stray.empty()
    texts = [event["data"]["text"] for event in await room.events(group, since_seq=1)]
    assert texts == [f"m{n}" for n in range(200) if n % 4]


async def test_more_requests_than_may_be_in_flight_wait_their_turn(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(in_flight=4)) as room:
        group = await room.group()
        async with room.socket() as socket:
            waiting = [await socket.send("window", group_id=group) for _ in range(50)]
            said = {"kind": "chat.message", "data": {"text": "x"}}
            waiting += [await socket.send("append", group_id=group, **said) for _ in range(50)]
            async with asyncio.timeout(WAIT):
                answers = await asyncio.gather(*waiting)
            assert all("result" in answer for answer in answers)


@pytest.mark.spec("CCCS-111")
@pytest.mark.parametrize(
    "frame",
    [
        "",
        "hello",
        "{",
        '{"jsonrpc":"2.0","id":1,"id":2,"method":"groups"}',
        '{"jsonrpc":"2.0","id":NaN,"method":"groups"}',
        '{"jsonrpc":"2.0","id":Infinity,"method":"groups"}',
        '{"jsonrpc":"2.0","id":1e999,"method":"groups"}',
        '{"jsonrpc":"2.0","id":' + "9" * 400 + ',"method":"groups"}',
        '{"jsonrpc":"2.0","id":"\\ud800","method":"groups"}',
        "[" * 5000 + "]" * 5000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        "[]",
        "[" + call() + "]",
        "null",
        "true",
        '"text"',
        "7",
        json.dumps({"id": 1, "method": "groups"}),
        json.dumps({"jsonrpc": "1.0", "id": 1, "method": "groups"}),
        json.dumps({"jsonrpc": 2.0, "id": 1, "method": "groups"}),
        json.dumps({"jsonrpc": "2.0", "id": 1}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": 5}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "groups", "params": []}),
        json.dumps({"jsonrpc": "2.0", "id": {}, "method": "groups"}),
        "\ufeff" + call(),
        call("groups") + call("groups"),
        b"\xff\xfe\xfd",
        b'{"jsonrpc":"2.0","id":"\xff","method":"groups"}',
        b"\x00\x01\x02",
    ],
    ids=lambda frame: repr(frame[:40]),
)
async def test_a_malformed_frame_gets_a_documented_error_and_the_connection_lives(
    room: Room, frame: str | bytes
) -> None:
    async with room.socket() as socket:
        answer = await socket.answer_to(frame)
        assert answer["jsonrpc"] == "2.0"
        assert answer["id"] is None
        assert answer["error"]["data"]["code"] == "invalid_request"
        assert answer["error"]["code"] in {PARSE_ERROR, NOT_A_REQUEST, INVALID_PARAMS}
        assert await socket.call("groups") == {"groups": []}


async def test_invalid_utf8_is_never_stored_as_something_else(room: Room) -> None:
    group = await room.group()
    said = call("append", {"group_id": group, "kind": "chat.message", "data": {"text": "MARK"}})
    async with room.socket() as socket:
        answer = await socket.answer_to(said.encode().replace(b"MARK", b"\xff\xfe"))
        assert answer["error"]["data"]["code"] == "invalid_request"
    # In a text frame the protocol itself demands that the connection fails.
    async with room.socket() as socket:
        await socket.ws._writer.send_frame(said.encode().replace(b"MARK", b"\xff\xfe"), 1)
        assert await asyncio.wait_for(socket.closed, WAIT) == 1007
    assert await room.last_seq(group) == 1


async def test_a_binary_frame_with_json_is_taken_like_text(room: Room) -> None:
    async with room.socket() as socket:
        answer = await socket.answer_to(call().encode())
        assert answer == {"jsonrpc": "2.0", "id": "q", "result": {"groups": []}}


@pytest.mark.parametrize("call_id", ["text", "", 0, -1, 2**63, 1.5, None])
async def test_any_legal_id_comes_back_as_it_was(room: Room, call_id: object) -> None:
    group = await room.group()
    async with room.socket() as socket:
        assert (await socket.answer_to(call(id=call_id)))["id"] == call_id
        said = {"group_id": group, "kind": "chat.message", "data": {"text": "x"}}
        answer = await socket.answer_to(call("append", said, id=call_id))
        assert (answer["id"], answer["result"]["seq"]) == (call_id, 2)
        answer = await socket.answer_to(call("append", {**said, "kind": ""}, id=call_id))
        assert (answer["id"], answer["error"]["data"]["code"]) == (call_id, "invalid_request")


async def test_a_notification_is_carried_out_without_an_answer(room: Room) -> None:
    group = await room.group()
    async with room.socket() as socket:
        for method, params in (
            ("append", {"group_id": group, "kind": "chat.message", "data": {"text": "quiet"}}),
            ("append", {"group_id": group, "kind": "chat.message", "data": {}}),
            ("append", {"group_id": group}),
            ("groups", {}),
            ("nonsense", {}),
            ("typing", {"group_id": group}),
        ):
            await socket.ws.send_str(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))
        await socket.call("groups")
        last = await socket.call("append", group_id=group, kind="chat.message", data={"text": "loud"})
        assert last["seq"] == 3
        assert socket.stray.empty()
        assert socket.notes.empty()


@pytest.mark.spec("CCCS-022")
async def test_data_is_stored_as_it_was_written_but_for_white_space(room: Room) -> None:
    group = await room.group()
    data = '{ "text" : "\\u00e9 \\/ é",  "n": 1.10, "big": 12345678901234567890, "e": 1E2, "z": -0.0 }'
    frame = '{"jsonrpc":"2.0","id":"q","method":"append","params":{"group_id":"%s","kind":"chat.message","data":%s}}'
    async with room.socket() as socket:
        await socket.answer_to(frame % (group, data))
    page = await room.get(f"/v1/groups/{group}/events", params={"since_seq": 1})
    stored = '{"text":"\\u00e9 \\/ é","n":1.10,"big":12345678901234567890,"e":1E2,"z":-0.0}'
    assert stored.encode() in page.raw
    body = f'{{"kind":"chat.message","data":{data}}}'.encode()
    answer = await room.call("POST", f"/v1/groups/{group}/events", data=body)
    assert stored.encode() in answer.raw


async def test_an_outlet_is_drained_when_its_client_has_read(room: Room) -> None:
    headers = {"Authorization": f"Bearer {room.owner}"}
    async with room.session.ws_connect(room.url + "/v1/ws", headers=headers, max_msg_size=0) as client:
        await client.send_str(call())
        await client.receive()
        # Every connection listens to the owner's agent: so it is found.
        (connection,) = (listener.__self__ for listener in room.server.hub.on_agent)

        async def tell() -> None:
            for _ in range(SEVERAL):
                connection.push(text_frame(b"x" * 65_536))
            await connection.drained()

        waiting = asyncio.ensure_future(tell())
        assert (await room.get("/v1/groups")).status == 200
        assert not waiting.done(), "more was sent than the sockets hold, and nobody reads"
        async with asyncio.timeout(WAIT):
            for _ in range(SEVERAL):
                await client.receive()
            await waiting


async def test_who_asks_much_on_a_socket_holds_no_more_than_its_place_either(tmp_path: Path) -> None:
    async with with_processes(tmp_path) as (room, pool):
        group = await room.group()
        greedy = await room.actor(group, "greedy")
        path = f"/v1/groups/{group}/timeline"
        assert (await room.get(path)).status == 200
        stuck = pool._free[-1].process_id
        assert stuck is not None
        os.kill(stuck, signal.SIGSTOP)
        async with room.socket(None) as socket:
            await socket.call("authenticate", token=greedy)
            for _ in range(8):
                await socket.send("timeline", group_id=group)
            await until(lambda: pool.turns.waiting == 7)
            assert (await room.get(path)).status == 200
        await until(lambda: len(pool._free) == 2 and not pool.turns.waiting)
