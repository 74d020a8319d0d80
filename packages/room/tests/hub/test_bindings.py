"""One suite over four bindings: in-process, a Unix socket, HTTP and WebSocket behave alike (CCCS-003)."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol

import aiohttp
import msgspec
import pytest

from tacit.base.errors import TacitError
from tacit.hub.doors.answers import failure
from tacit.hub.doors.http import typed
from tacit.hub.doors.routes import OPERATIONS
from tacit.hub.doors.websocket import METHODS
from tests.hub.room import Failed, Room, Socket, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Refusal(Exception):
    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body)
        self.body = body
        self.code = body["code"]


class Binding(Protocol):
    async def do(self, token: str, name: str, **params: Any) -> Any: ...


class InProcess:
    """The operations called as functions; no transport at all."""

    def __init__(self, room: Room) -> None:
        self._hub = room.server.hub

    async def do(self, token: str, name: str, **params: Any) -> Any:
        shape, run = METHODS[name]
        credential = self._hub.registry.find(token)
        assert credential is not None
        try:
            result = await run(self._hub, credential, typed(params, shape, strict=True))
        except TacitError as error:
            raise Refusal(failure(error)) from error
        return msgspec.json.decode(msgspec.json.encode(result))


class OverHttp:
    """The HTTP door, on TCP or on a Unix socket."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url
        self._table = {operation.name: operation for operation in OPERATIONS}

    async def do(self, token: str, name: str, **params: Any) -> Any:
        operation = self._table[name]
        path = operation.path
        for key in list(params):
            if f"{{{key}}}" in path:
                path = path.replace(f"{{{key}}}", params.pop(key))
        given = {"params": flat(params)} if operation.method == "GET" else {"json": params}
        async with self._session.request(
            operation.method, self._url + path, headers={"Authorization": f"Bearer {token}"}, **given
        ) as response:
            body = await response.json()
            if response.status >= 400:
                raise Refusal(body)
            return body


def flat(params: dict[str, Any]) -> dict[str, Any]:
    return {name: ",".join(value) if isinstance(value, list) else value for name, value in params.items()}


class OverWebSocket:
    """The WebSocket door, one connection a token."""

    def __init__(self, room: Room, stack: AsyncExitStack) -> None:
        self._room = room
        self._stack = stack
        self._open: dict[str, Socket] = {}

    async def do(self, token: str, name: str, **params: Any) -> Any:
        if token not in self._open:
            self._open[token] = await self._stack.enter_async_context(self._room.socket(token))
        try:
            return await self._open[token].call(name, **params)
        except Failed as failed:
            raise Refusal(failed.body) from failed


@pytest.fixture(params=["in_process", "unix_socket", "http", "websocket"])
async def bound(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Room, Binding]]:
    socket = tmp_path / "hub.sock"
    async with running(tmp_path / "data", socket=socket) as room, AsyncExitStack() as stack:
        if request.param == "in_process":
            yield room, InProcess(room)
        elif request.param == "websocket":
            yield room, OverWebSocket(room, stack)
        elif request.param == "http":
            yield room, OverHttp(room.session, room.url)
        else:
            connector = aiohttp.UnixConnector(str(socket))
            session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
            yield room, OverHttp(session, "http://hub")


@pytest.mark.spec("CCCS-003", "CCCS-013", "CCCS-014", "CCCS-041")
async def test_an_event_gets_the_same_envelope_over_every_binding(bound: tuple[Room, Binding]) -> None:
    room, binding = bound
    group = await room.group()
    bob = await room.actor(group, "bob")
    event = await binding.do(bob, "append", group_id=group, kind="chat.message", data={"text": "hello"})
    assert list(event) == ["v", "id", "ts", "seq", "kind", "group_id", "scope_key", "by", "data"]
    assert (event["v"], event["by"], event["seq"], event["scope_key"]) == (1, "bob", 3, "")
    page = await binding.do(bob, "events", group_id=group, since_seq=2)
    assert page == {"events": [event], "next_cursor": 3, "last_seq": 3}


@pytest.mark.spec("CCCS-003", "CCCS-111", "CCCS-112")
@pytest.mark.parametrize(
    ("name", "params", "code"),
    [
        ("append", {"kind": "chat.message", "data": {}}, "invalid_request"),
        ("append", {"kind": "chat.message", "data": {"text": ""}}, "invalid_request"),
        ("append", {"kind": "", "data": {}}, "invalid_request"),
        ("append", {"kind": "chat.message", "data": {"text": "x", "to": ["nobody"]}}, "actor_not_found"),
        ("append", {"kind": "chat.message", "data": {"text": "x", "reply_to": "none"}}, "event_not_found"),
        ("append", {"kind": "group.update", "data": {"title": "mine"}}, "permission_denied"),
        ("append", {"kind": "chat.message", "data": {"text": "x"}, "by": "user"}, "permission_denied"),
        ("append", {"kind": "chat.message", "data": {"text": "x"}, "scope_key": "s_1"}, "invalid_request"),
        ("events", {"since_event_id": "00000000-0000-7000-8000-000000000000"}, "event_not_found"),
        ("events", {"since_seq": 1, "since_ts": "2026-01-13T10:00:00Z"}, "invalid_request"),
        ("events", {"limit": 1001}, "invalid_request"),
        ("event", {"event_id": "00000000-0000-7000-8000-000000000000"}, "event_not_found"),
        ("inbox", {"actor_id": "carl"}, "permission_denied"),
    ],
)
async def test_a_refusal_has_the_same_code_over_every_binding_and_appends_nothing(
    bound: tuple[Room, Binding], name: str, params: dict[str, Any], code: str
) -> None:
    room, binding = bound
    group = await room.group()
    bob = await room.actor(group, "bob")
    with pytest.raises(Refusal) as refused:
        await binding.do(bob, name, group_id=group, **params)
    assert refused.value.code == code
    assert set(refused.value.body) <= {"code", "message", "details"}
    assert await room.last_seq(group) == 2


@pytest.mark.spec("CCCS-003", "CCCS-050", "CCCS-056", "CCCS-057", "CCCS-058", "CCCS-061")
async def test_attention_repeats_and_acks_work_over_every_binding(bound: tuple[Room, Binding]) -> None:
    room, binding = bound
    group = await room.group()
    bob = await room.actor(group, "bob")
    said = {"text": "look", "priority": "attention", "to": ["bob"], "client_id": "c1"}
    first = await binding.do(room.owner, "append", group_id=group, kind="chat.message", data=said)
    again = await binding.do(room.owner, "append", group_id=group, kind="chat.message", data=said)
    assert (again["event_id"], again["duplicate"]) == (first["id"], True)
    other = {**said, "text": "another"}
    with pytest.raises(Refusal) as failed:
        await binding.do(room.owner, "append", group_id=group, kind="chat.message", data=other)
    assert failed.value.code == "idempotency_conflict"
    assert [one["id"] for one in (await binding.do(bob, "inbox", group_id=group))["attention"]] == [
        first["id"]
    ]
    ack = {"actor_id": "bob", "event_id": first["id"]}
    done = await binding.do(bob, "append", group_id=group, kind="chat.ack", data=ack)
    assert (await binding.do(bob, "append", group_id=group, kind="chat.ack", data=ack))["event_id"] == done[
        "id"
    ]
    assert (await binding.do(bob, "inbox", group_id=group))["attention"] == []
    shown = await binding.do(bob, "event", group_id=group, event_id=first["id"])
    assert (shown["acknowledged"], shown["owing"]) == (["bob"], [])
    assert await room.last_seq(group) == 4


@pytest.mark.spec("CCCS-003", "CCCS-119")
async def test_an_unknown_operation_is_unknown_on_both_transports(room: Room) -> None:
    answer = await room.get("/v1/nonsense")
    assert (answer.status, answer.code) == (404, "unknown_op")
    async with room.socket() as socket:
        with pytest.raises(Failed) as failed:
            await socket.call("nonsense")
    assert (failed.value.rpc, failed.value.code) == (-32601, "unknown_op")
