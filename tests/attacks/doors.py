"""Every door of one hub as every kind of caller finds it: who there is, what they ask, and what they are told.

What is asked is made from the hub's own tables (operations, methods, tools), by the names and types of their
parameters. An answer is read as one word: `ok`, `-` for somebody unknown, or the code of the refusal.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import types
import typing
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import msgspec

from tacit.bridges.mcp.tools import tool_named
from tacit.hub.doors.routes import OPERATIONS
from tacit.hub.doors.websocket import METHODS
from tests.hub.room import WAIT, Answer, Failed, Room

if TYPE_CHECKING:
    from tests.hub.room import Socket

OPEN: Final = "zebra"
"""A word that stands in all that the group says openly."""
PRIVATE: Final = "quagga"
"""A word that only the parties of a private conversation, and the owner, may ever be told."""
ROLES: Final = (
    "nobody",
    "revoked",
    "removed",
    "outsider",
    "stranger",
    "agent",
    "service",
    "guest",
    "member",
    "owner",
)
PRINCIPALS: Final = {
    **dict.fromkeys(("nobody", "owner"), "user"),
    "revoked": "eve",
    "removed": "rex",
    "outsider": "otto",
    "stranger": "svc:x.there",
    "agent": "ann",
    "service": "svc:x.here",
    "guest": "usr:gus",
    "member": "usr:mia",
}
UNKNOWN: Final = frozenset({"nobody", "revoked", "removed"})
ELSEWHERE: Final = frozenset({"outsider", "stranger"})
"""An agent of another group, a service that has a part in that group alone."""
PARTIES: Final = frozenset({"member", "owner"})
"""Of people and agents who are asked here: who may read what is private."""

ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
_numbers = itertools.count(1)
_paths = {operation.name: operation for operation in OPERATIONS}


@dataclass
class Stage:
    """A group with people, agents and services, one of each kind, and another group beside it."""

    room: Room
    group: str
    other: str
    tokens: dict[str, str | None]
    bea: str
    blobs: dict[str, str]
    tid: str
    foreign_event: str
    sockets: dict[str, Socket] = field(default_factory=dict)
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def said(self, *, private: bool = False) -> str:
        """A new message of the member's: to all, or to one agent alone."""
        to = {"to": ["bea"], "conversation": {"kind": "dm"}} if private else {}
        text = f"{PRIVATE if private else OPEN} number {next(_numbers)}"
        token = self.tokens["member"]
        assert token is not None
        return (await self.room.say(self.group, text, token, **to))["id"]

    async def last_seq(self) -> int:
        """Where the group's ledger ends."""
        found = await self.room.server.hub.ledger.read(lambda reader: reader.group(self.group))
        return found.last_seq

    async def socket(self, role: str) -> Socket:
        """The connection of a role that is known."""
        if role not in self.sockets:
            self.sockets[role] = await self.stack.enter_async_context(self.room.socket(self.tokens[role]))
        return self.sockets[role]


async def _blob(room: Room, group: str, token: str, text: str, **said: Any) -> str:
    stored = await room.ok("POST", f"/v1/groups/{group}/blobs", data=text.encode(), token=token)
    await room.say(group, f"{text} attached", token, attachments=[{"path": stored["path"]}], **said)
    return stored["path"]


async def staged(room: Room) -> Stage:
    """Everybody in their place."""
    group, other = await room.group(f"{OPEN} room"), await room.group("Beside")
    people = {}
    for name in ("mia", "gus"):
        body = {"principal": f"usr:{name}", "title": f"{OPEN} {name}"}
        people[name] = (await room.ok("POST", f"/v1/groups/{group}/people", json=body))["token"]
    ann, bea, rex, eve = [await room.actor(group, name) for name in ("ann", "bea", "rex", "eve")]
    await room.append(group, "actor.remove", {"actor_id": "rex"})
    (eve_id,) = (await room.ok("GET", f"/v1/groups/{group}/actors/eve/tokens"))["tokens"]
    await room.ok("DELETE", f"/v1/tokens/{eve_id}")
    tokens = {
        "nobody": None,
        "revoked": eve,
        "removed": rex,
        "outsider": await room.actor(other, "otto"),
        "stranger": await room.service("svc:x.there", [other]),
        "agent": ann,
        "service": await room.service("svc:x.here", [group]),
        "guest": people["gus"],
        "member": people["mia"],
        "owner": room.owner,
    }
    private = {"to": ["bea"], "conversation": {"kind": "dm"}}
    blobs = {
        OPEN: await _blob(room, group, people["mia"], OPEN),
        PRIVATE: await _blob(room, group, people["mia"], PRIVATE, **private),
    }
    tid = "t-known"
    message = _clowl("agent", tid)
    await room.ok("POST", f"/v1/groups/{group}/clowl", json={"message": message}, token=ann)
    foreign = (await room.say(other, "from beside"))["id"]
    return Stage(room, group, other, tokens, bea, blobs, tid, foreign)


def _words(number: int) -> str:
    """A text unlike every other: who repeats is told so, and that is not the question here."""
    return " ".join(hashlib.sha256(b"%d %d" % (number, part)).hexdigest()[:8] for part in range(6))


def _clowl(role: str, tid: str | None = None) -> dict[str, Any]:
    number = next(_numbers)
    return {
        "clowl": "0.2", "mid": f"m{number}", "ts": 1768298400, "p": "INF", "from": PRINCIPALS[role], "to": "bea",
        "cid": f"c{number}", "tid": tid or f"t{number}", "body": {"t": _words(number), "d": {}},
    }  # fmt: skip


# -- what is asked


async def _fresh_token(stage: Stage) -> str:
    path = f"/v1/groups/{stage.group}/actors/bea/tokens"
    before = set((await stage.room.ok("GET", path))["tokens"])
    await stage.room.ok("POST", path, json={})
    (made,) = set((await stage.room.ok("GET", path))["tokens"]) - before
    return made


async def _fresh_actor(stage: Stage) -> str:
    name = f"kit{next(_numbers)}"
    await stage.room.actor(stage.group, name)
    return name


async def _members(stage: Stage, role: str, operation: str, variant: str) -> dict[str, Any]:
    """What an operation is given beyond what the names of its parameters say."""
    number = next(_numbers)
    match operation, variant:
        case "create_group", _:
            return {"title": f"made {number}"}
        case "add_actor" | "crew_add" | "crew_invite", _:
            return {"actor_id": f"new{number}"}
        case "add_person", _:
            return {"principal": f"usr:new{number}"}
        case "add_service", _:
            return {"name": f"svc:x.new{number}"}
        case "revoke_token", _:
            return {"token_id": await _fresh_token(stage)}
        case "sign_in_link", "person":
            return {"group_id": stage.group, "principal": "usr:gus"}
        case "append", "remove":
            return {"kind": "actor.remove", "data": {"actor_id": await _fresh_actor(stage)}}
        case "append", "add":
            return {"kind": "actor.add", "data": {"actor_id": f"new{number}"}}
        case "append", "person":
            return {"kind": "x.tacit.person.add", "data": {"principal": f"usr:new{number}"}}
        case "append", "record":
            return {"kind": "x.c2a.disposition", "data": {"session": "bea", "event_ids": []}}
        case "append", "private":
            return {
                "kind": "chat.message",
                "data": {"text": _words(number), "reply_to": await stage.said(private=True)},
            }
        case "append", _:
            return {"kind": "chat.message", "data": {"text": _words(number)}}
        case "speak", _:
            return {"message": _clowl(role)}
        case "relay", "out":
            return {
                "group_id": stage.other,
                "src_group_id": stage.group,
                "src_event_id": await stage.said(),
                "text": f"[Summarized] {number}",
            }
        case "relay", _:
            return {
                "src_group_id": stage.other,
                "src_event_id": stage.foreign_event,
                "text": f"[Summarized] {number}",
            }
        case "preview", "private":
            return {"data": {"text": "hello", "reply_to": await stage.said(private=True)}}
        case "preview", _:
            return {"data": {"text": "hello"}}
        case "steer", "cancel":
            return {"op": "cancel", "event_id": await stage.said()}
        case "steer", _:
            return {"op": "return", "agent": "bea"}
        case "search", "private":
            return {"q": PRIVATE}
        case "timeline", "private":
            return {"parties": ["bea", "usr:mia"]}
        case "inbox", "other":
            return {"actor_id": "bea"}
        case "blob", "private":
            return {"path": stage.blobs[PRIVATE]}
        case "activity", "forget":
            return {"forget": True}
        case "set_webhook" | "drop_webhook", "own":
            return {"actor_id": "ann"}
        case _:
            return {}


def _value(stage: Stage, name: str, hint: Any) -> Any:
    """A value for a parameter that must be given: by its name, else by its type."""
    known: dict[str, Any] = {
        "group_id": stage.group,
        "actor_id": "bea",
        "principal": "usr:gus",
        "tid": stage.tid,
        "q": OPEN,
        "path": stage.blobs[OPEN],
        "driver": "command",
        "url": "https://hooks.example.org/x",
        "settings": {},
        "text": f"other words {next(_numbers)}",
    }
    if name in known:
        return known[name]
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return typing.get_args(hint)[0]
    if origin in {types.UnionType, typing.Union}:
        return _value(stage, "", typing.get_args(hint)[0])
    return {str: "x", int: 1, float: 1.0, bool: False, list: [], dict: {}, Any: "x"}[origin or hint]


async def asked(stage: Stage, role: str, operation: str, variant: str) -> dict[str, Any]:
    """The parameters of one call."""
    shape, _run = METHODS[operation]
    given = await _members(stage, role, operation, variant)
    hints = typing.get_type_hints(shape, include_extras=True)
    for one in msgspec.structs.fields(shape):
        if one.name in given or not one.required:
            continue
        if one.name == "event_id":
            given[one.name] = await stage.said(private=variant == "private")
        else:
            given[one.name] = _value(stage, one.name, hints[one.name])
    return given


# -- what is told


@dataclass(frozen=True, slots=True)
class Told:
    """An answer: one word, and all of it."""

    word: str
    whole: str


def from_http(answer: Answer) -> Told:
    whole = answer.raw.decode("utf-8", "replace")
    if answer.status < 400:
        return Told("ok", whole)
    return Told("-" if answer.status == 401 else _short(answer.code or str(answer.status)), whole)


def _short(code: str) -> str:
    return "denied" if code == "permission_denied" else code


async def by_http(stage: Stage, role: str, operation: str, params: dict[str, Any]) -> Told:
    row = _paths[operation]
    rest, path = dict(params), row.path
    for name in [one for one in params if f"{{{one}}}" in path]:
        path = path.replace(f"{{{name}}}", str(rest.pop(name)))
    given: dict[str, Any] = (
        {"json": rest} if row.method == "POST" else {"params": {name: _query(rest[name]) for name in rest}}
    )
    return from_http(await stage.room.call(row.method, path, token=stage.tokens[role], **given))


def _query(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value


async def by_socket(stage: Stage, role: str, method: str, params: dict[str, Any]) -> Told:
    if role not in UNKNOWN:
        return await _called(await stage.socket(role), role, method, params)
    # Whoever has not signed in may not stay: each call has a connection of its own.
    async with stage.room.socket(None) as socket:
        return await _called(socket, role, method, params)


async def _called(socket: Socket, role: str, method: str, params: dict[str, Any]) -> Told:
    try:
        return Told("ok", json.dumps(await socket.call(method, **params)))
    except Failed as failed:
        is_unknown = role in UNKNOWN and "authenticate first" in failed.body["message"]
        return Told("-" if is_unknown else _short(failed.code), json.dumps(failed.body))


async def by_stream(stage: Stage, role: str, last: str) -> Told:
    """The live stream of the group, up to its last open message."""
    token = stage.tokens[role]
    headers = {"Accept": "text/event-stream"} | ({"Authorization": f"Bearer {token}"} if token else {})
    url = f"{stage.room.url}/v1/groups/{stage.group}/events"
    async with asyncio.timeout(WAIT), stage.room.session.get(url, headers=headers) as response:
        if response.status >= 400:
            raw = await response.read()
            return from_http(Answer(response.status, json.loads(raw), response.headers, raw))
        whole = ""
        while last not in whole:
            whole += (await response.content.readany()).decode()
        return Told("ok", whole)


async def on_connection(stage: Stage, role: str, method: str) -> Told:
    """What only a connection can be asked."""
    params: dict[str, Any] = {
        "authenticate": {"token": stage.tokens[role]},
        "follow": {"group_id": stage.group},
        "unfollow": {"subscription": 1},
        "away": {"away": True},
    }[method]
    return await by_socket(stage, role, method, params)


# -- agents' doors


async def tool_arguments(stage: Stage, tool: str, variant: str) -> dict[str, Any]:
    """What a tool, or a request beside the tools, is given: about a message of this group."""
    number = next(_numbers)
    event = await stage.said(private=variant == "private")
    sends = {
        "content": _words(number),
        "idempotencyKey": f"key-{number}",
        "directedness": "ambient",
    }
    match tool, variant:
        case "chat.list_events" | "chat.members" | "tools/list" | "ping", _:
            return {}
        case "chat.read_channel", "private":
            return {"conversationId": "dm:bea+usr:mia"}
        case "chat.read_channel", _:
            return {}
        case "chat.send_message", "thread" | "private":
            return {**sends, "target": f"thread:{event}", "visibility": "thread", "inReplyTo": event}
        case "chat.send_message", "dm":
            return {**sends, "target": "dm:usr:mia", "visibility": "dm", "directedness": "to_me"}
        case "chat.send_message", _:
            return {**sends, "target": "channel:main", "visibility": "channel"}
        case "chat.react", _:
            return {"inReplyTo": event, "signal": "seen"}
        case "chat.search", _:
            return {"query": PRIVATE if variant == "private" else OPEN}
        case "chat.defer", _:
            return {"eventId": event, "reason": "later"}
        case "chat.read_thread" | "chat.leave", _:
            return {"threadId": event}
        case "chat.progress", _:
            return {"eventId": event, "progress": 1}
        case "chat/disposition", _:
            return {"eventId": event, "disposition": "ignored"}
        case "chat/permission", _:
            return {"eventId": event, "key": f"key-{number}", "action": "run tests"}
        case _ if tool.startswith("notifications/"):
            return {
                "eventId": event, "requestId": event, "turn": event, "progressToken": event, "progress": 1,
                "conversationId": "dm:bea+usr:mia", "status": "busy", "level": "info", "message": "x",
            }  # fmt: skip
        case _:
            return {"eventId": event}


def _from_rpc(answer: Answer) -> Told:
    """A JSON-RPC answer over HTTP; a refusal at the door itself is plain."""
    told = from_http(answer)
    error = answer.body.get("error") if isinstance(answer.body, dict) else None
    return told if error is None else Told(_short(error["data"]["code"]), told.whole)


async def by_c2a(stage: Stage, role: str, tool: str, arguments: dict[str, Any]) -> Told:
    """A request or a notification to `POST /c2a`."""
    named = tool.startswith("chat.")
    method, params = ("tools/call", {"name": tool, "arguments": arguments}) if named else (tool, arguments)
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    body |= {} if tool.startswith("notifications/") else {"id": 1}
    return _from_rpc(await stage.room.post("/c2a", body, token=stage.tokens[role]))


async def by_mcp(stage: Stage, role: str, tool: str, arguments: dict[str, Any]) -> Told:
    """A tool call to `POST /mcp`."""
    params = {"name": tool_named(tool).name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = await stage.room.post("/mcp", body, token=stage.tokens[role], headers=ACCEPT)
    result = answer.body.get("result") if isinstance(answer.body, dict) else None
    if isinstance(result, dict) and result.get("isError"):
        return Told(_short(result["structuredContent"]["error"]["code"]), answer.raw.decode())
    return _from_rpc(answer)


# -- what is no operation: a route of its own

Route = tuple[str, str]


async def by_route(stage: Stage, role: str, route: Route, variant: str) -> Told:
    """A request to a route that stands beside the table of operations."""
    method, path = route
    token, blob = stage.tokens[role], stage.blobs[PRIVATE if variant == "private" else OPEN]
    path = path.replace("{group_id}", stage.group).replace("{path}", blob).replace("{name}", "missing.js")
    given: dict[str, Any] = {}
    if path in {"/v1/ws", "/c2a"} and method == "GET":
        return await _upgraded(stage, token, path)
    if path == "/mcp":
        given = {"json": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, "headers": ACCEPT}
    elif path == "/c2a":
        given = {"json": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
    elif path in {"/v1/redeem", "/v1/sign-in"}:
        given = {"json": {"code": "guessed"}}
    elif method == "POST":
        given = {"data": b"some bytes"}
    return from_http(await stage.room.call(method, path, token=token, **given))


async def _upgraded(stage: Stage, token: str | None, path: str) -> Told:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with stage.room.session.ws_connect(stage.room.url + path, headers=headers):
            return Told("ok", "")
    except aiohttp.WSServerHandshakeError as refused:
        return Told({401: "-", 403: "denied"}.get(refused.status, str(refused.status)), "")
