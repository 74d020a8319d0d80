"""Fuzz the hub's doors: random bytes and near-valid requests over HTTP, WebSocket and MCP, and as a stranger.

Two outcomes only: taken, or a documented error and nothing appended. `python -m fuzz.hub --seconds 60`.
The test suite runs a short, seeded stretch of the same (packages/room/tests/hub/test_fuzz.py).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from tacit.attention.send.tools import WRITING
from tacit.hub.config import HubConfig, Limits
from tacit.hub.doors.routes import OPERATIONS
from tacit.hub.doors.websocket import METHODS, OWN_METHODS
from tacit.hub.host.tools import READING
from tacit.hub.server import Server
from tacit.ledger.codes import CODES

KINDS = [
    "chat.message",
    "chat.ack",
    "chat.read",
    "chat.reaction",
    "system.notify",
    "system.notify_ack",
    "group.create",
    "group.update",
    "group.attach_scope",
    "actor.add",
    "actor.update",
    "actor.remove",
    "context.sync",
    "x.a.b",
    "vendor.a.b",
    "x.tacit.person.add",
    "x.c2a.claim",
    "chat.none",
    "assistant.x",
    "a",
    ".",
    "x..y",
]
MEMBERS = [
    "text",
    "format",
    "priority",
    "to",
    "reply_to",
    "quote_text",
    "src_group_id",
    "src_event_id",
    "dst_group_id",
    "attachments",
    "refs",
    "client_id",
    "conversation",
    "actor_id",
    "event_id",
    "emoji",
    "removed",
    "kind",
    "title",
    "message",
    "target_actor_id",
    "context",
    "requires_ack",
    "related_event_id",
    "notify_event_id",
    "url",
    "scope_key",
    "scopes",
    "role",
    "roles",
    "ops",
    "principal",
    "thread",
    "by",
    "v",
    "data",
]
WORDS = [
    "",
    " ",
    "x",
    "bob",
    "user",
    "@all",
    "@foreman",
    "@nobody",
    "system",
    "svc:x",
    "usr:x",
    "attention",
    "normal",
]
WORDS += [
    "markdown",
    "\0",
    "\n",
    "é",
    "\U0001f600",
    "\u2028",
    "'",
    '"',
    "a" * 300,
    "../..",
    "%00",
    "dm",
    "set",
    "foreman",
]
TRICKS = [
    "../../owner.token",
    "..%2f..%2fowner.token",
    "%2e%2e/owner.token",
    "/etc/passwd",
    "%00",
    "a" * 3000,
    "..",
    "%ff",
]


TOOLS = [
    *(name.replace(".", "_") for name in sorted({*READING, *WRITING})),
    "chat.send",
    "inbox",
    "",
    "../x",
]
REQUESTS = ["tools/list", "initialize", "ping", "prompts/get", "resources/list", "resources/read", "x"]
"""What `/mcp` is asked beside calls of tools."""
INTERNAL = -32603


class Finding(Exception):
    """Something that is neither taken nor a documented error."""


class Maker:
    """Random values from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.known: list[str] = []
        self._bags: dict[str, list[str]] = {}

    def turn(self, what: str, names: list[str]) -> str:
        """One name after the other, in an order of chance, so that each comes before any comes again."""
        bag = self._bags.setdefault(what, [])
        if not bag:
            bag += self.random.sample(names, len(names))
        return bag.pop()

    def again(self, what: str, name: str) -> None:
        """This name has not been heard: it has its turn once more."""
        self._bags[what].insert(0, name)

    def word(self) -> str:
        pool = self.random.random()
        if pool < 0.3 and self.known:
            return self.random.choice(self.known)
        if pool < 0.9:
            return self.random.choice(WORDS)
        return "".join(
            chr(self.random.choice([self.random.randrange(1, 0xD800), 0x10FFFF])) for _ in range(5)
        )

    def value(self, depth: int = 0) -> Any:
        roll = self.random.random()
        if roll < 0.45:
            return self.word()
        if roll < 0.6:
            return self.random.choice(
                [0, 1, -1, 2**31, 2**53, 2**63 - 1, 2**64 - 1, 1.5, -0.0, 1e308, True, False, None]
            )
        if depth > 3:
            return []
        if roll < 0.8:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return self.data(depth + 1)

    def data(self, depth: int = 0) -> dict[str, Any]:
        found = {self.random.choice(MEMBERS): self.value(depth) for _ in range(self.random.randrange(5))}
        if self.random.random() < 0.5:
            found["text"] = self.word() or "x"
        if self.random.random() < 0.4:
            found |= {"actor_id": self.random.choice(["bob", "user", "ann"]), "event_id": self.word()}
        return found

    def params(self, shape: Any, group: str) -> dict[str, Any]:
        given: dict[str, Any] = self.data() if self.random.random() < 0.2 else {}
        for name in shape.__struct_fields__:
            if self.random.random() < 0.75:
                given[name] = self.value()
        if "group_id" in shape.__struct_fields__ and self.random.random() < 0.9:
            given["group_id"] = group
        if "src_group_id" in shape.__struct_fields__ and self.random.random() < 0.8:
            given["src_group_id"] = group
        if "data" in shape.__struct_fields__ and self.random.random() < 0.9:
            given |= {"data": self.data(), "kind": self.random.choice(KINDS)}
            given.pop("scope_key", None)
            given.pop("by", None)
        return given

    def bytes_of(self, body: bytes) -> bytes:
        """The body, sometimes damaged."""
        roll = self.random.random()
        if roll < 0.6 or not body:
            return body
        damaged = bytearray(body)
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(damaged))
            match self.random.randrange(4):
                case 0:
                    damaged[at] = self.random.randrange(256)
                case 1:
                    del damaged[at : at + self.random.randrange(1, 20)]
                case 2:
                    damaged[at:at] = self.random.choice(
                        [b'"', b"{", b"NaN", b"1e999", b"\xff", b"\\ud800", b"[" * 100]
                    )
                case _:
                    damaged[at:at] = damaged[max(0, at - 20) : at]
            if not damaged:
                break
        return bytes(damaged)


class Fuzz:
    """One hub, one group, many requests."""

    def __init__(self, server: Server, session: aiohttp.ClientSession, seed: int) -> None:
        self.server = server
        self.session = session
        self.make = Maker(seed)
        self.headers = {"Authorization": f"Bearer {server.hub.owner_token}"}
        self.agent: dict[str, str] = {}
        self.group = ""
        self.counts: dict[str, int] = {}

    async def begin(self) -> None:
        self.group = (await self._ok("POST", "/v1/groups", {"title": "fuzz"}))["group_id"]
        base = f"/v1/groups/{self.group}"
        for name in ("bob", "ann"):
            added = await self._ok("POST", f"{base}/actors", {"actor_id": name, "role": "foreman"})
            self.agent = {"Authorization": f"Bearer {added['token']}"}
        body = {"kind": "chat.message", "data": {"text": "hello", "priority": "attention"}}
        event = await self._ok("POST", f"{base}/events", body)
        self.make.known += [event["id"], self.group, event["ts"]]

    async def _ok(self, method: str, path: str, body: Any) -> Any:
        async with self.session.request(
            method, self.server.url + path, json=body, headers=self.headers
        ) as answer:
            return await answer.json()

    def total(self) -> int:
        """How many events there are, over all groups."""
        rows = self.server.hub.store.read(lambda reader: [group.last_seq for group in reader.groups()])
        return sum(rows)

    def judge(self, what: str, status: int, body: Any, before: int, sent: object) -> None:
        after = self.total()
        if status < 400:
            self.counts["taken"] = self.counts.get("taken", 0) + 1
            return
        code = body.get("code") if isinstance(body, dict) else None
        self.counts[str(code)] = self.counts.get(str(code), 0) + 1
        if code not in CODES or code == "internal":
            raise Finding(f"{what}: status {status}, code {code}: {sent!r}")
        if after != before:
            raise Finding(f"{what}: refused with {code}, yet something was appended: {sent!r}")

    def counted(self, door: str, name: str, *, whole: bool) -> None:
        """What was asked at a door, by name; what was damaged on its way may not be heard by that name."""
        if whole:
            self.counts[f"{door}:{name}"] = self.counts.get(f"{door}:{name}", 0) + 1
        else:
            self.make.again(door, name)

    async def http(self) -> None:
        """One request to a known operation."""
        operation = self.make.random.choice(OPERATIONS)
        given = self.make.params(operation.params, self.group)
        path = operation.path
        for name in list(given):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", URL.build(path=f"/{given.pop(name)}").raw_path[1:] or "x")
        for name in ("group_id", "event_id", "actor_id", "token_id"):
            path = path.replace(f"{{{name}}}", "x")
        if "tok_owner" in path:
            return
        before = self.total()
        url = URL(self.server.url + path, encoded=True)
        if operation.method == "GET":
            url = url.with_query([(str(name), str(value)) for name, value in given.items()])
            body = None
        else:
            body = self.make.bytes_of(json.dumps(given).encode())
        async with self.session.request(operation.method, url, data=body, headers=self.headers) as answer:
            is_json = answer.content_type == "application/json"
            shown = json.loads(await answer.read()) if is_json else None
            self.judge(f"{operation.method} {operation.name}", answer.status, shown, before, (str(url), body))

    async def bytes_over_http(self) -> None:
        """Anything at all as a body, and tricks as paths."""
        raw = self.make.random.randbytes(self.make.random.randrange(200))
        before = self.total()
        path = self.make.random.choice([f"/v1/groups/{self.group}/events", "/v1/groups", "/v1/services"])
        async with self.session.post(self.server.url + path, data=raw, headers=self.headers) as answer:
            self.judge("bytes", answer.status, await answer.json(), before, raw)
        trick = self.make.random.choice(TRICKS)
        url = URL(f"{self.server.url}/v1/groups/{self.group}/blobs/{trick}", encoded=True)
        async with self.session.get(url, headers=self.headers) as answer:
            if answer.status != 404:
                raise Finding(f"blob path {trick!r} gave {answer.status}")
            self.judge("blob path", answer.status, await answer.json(), before, trick)

    async def socket(self, count: int) -> None:
        """Many frames on one connection, which must outlive them all."""
        async with self.session.ws_connect(
            self.server.url + "/v1/ws", headers=self.headers, max_msg_size=0
        ) as ws:
            for number in range(count):
                await self._frame(ws, number)

    async def _frame(self, ws: aiohttp.ClientWebSocketResponse, number: int) -> None:
        name = self.make.turn("ws", [*METHODS, *sorted(OWN_METHODS), "append", "append", "x"])
        shape = METHODS.get(name, METHODS["events"])[0]
        call = {
            "jsonrpc": "2.0",
            "id": f"c{number}",
            "method": name,
            "params": self.make.params(shape, self.group),
        }
        before = self.total()
        whole = json.dumps(call, ensure_ascii=self.make.random.random() < 0.5).encode()
        sent = self.make.bytes_of(whole)
        self.counted("ws", name, whole=sent == whole)
        await ws.send_bytes(sent)
        marker = f"marker-{number}"
        await ws.send_str(json.dumps({"jsonrpc": "2.0", "id": marker, "method": "capabilities"}))
        waiting = {marker, "answer"}
        try:
            async with asyncio.timeout(20):
                await self._answers(ws, marker, waiting, (name, sent, before))
        except TimeoutError as error:
            raise Finding(f"no answer ({waiting}): {sent!r}") from error

    async def _answers(
        self,
        ws: aiohttp.ClientWebSocketResponse,
        marker: str,
        waiting: set[str],
        asked: tuple[str, bytes, int],
    ) -> None:
        name, sent, before = asked
        while waiting:
            message = await ws.receive()
            if message.type is not aiohttp.WSMsgType.TEXT:
                raise Finding(f"the connection ended ({message.type}, {ws.close_code}): {sent!r}")
            body = json.loads(message.data)
            if body.get("id") == marker:
                waiting.discard(marker)
                if b'"id"' not in sent or not _has_id(sent):
                    waiting.discard("answer")  # damage made it a notification
            elif "method" not in body:
                waiting.discard("answer")
                self.judge(
                    name, 400 if "error" in body else 200, body.get("error", {}).get("data"), before, sent
                )

    async def mcp(self) -> None:
        """One message to `/mcp`, by an agent; a call leaves its audit record, so appending is no finding."""
        make = self.make
        name = make.turn("mcp", [*TOOLS, *TOOLS, *REQUESTS])
        method, params = name, make.data()
        if name in TOOLS:
            method, params = "tools/call", {"name": name, "arguments": make.data()}
        call = {
            "jsonrpc": "2.0",
            "id": make.random.choice([1, "a", None, 1.5]),
            "method": method,
            "params": params,
        }
        accept = make.random.choice(
            ["application/json, text/event-stream", "application/json", "*/*", "text/html"]
        )
        version = make.random.choice(["2025-06-18", "2025-03-26", "1999-01-01", ""])
        headers = {**self.agent, "Accept": accept, "Content-Type": "application/json"}
        headers |= {"MCP-Protocol-Version": version} if version else {}
        headers |= {"Content-Encoding": "gzip"} if make.random.random() < 0.05 else {}
        whole = json.dumps(call).encode()
        sent = make.bytes_of(whole)
        self.counted("mcp", name, whole=sent == whole and "Content-Encoding" not in headers)
        async with self.session.post(self.server.url + "/mcp", data=sent, headers=headers) as answer:
            raw = await answer.read()
            self.counts["mcp"] = self.counts.get("mcp", 0) + 1
            if answer.status >= 500:
                raise Finding(f"/mcp: status {answer.status}: {sent!r}")
            body = json.loads(raw) if raw and answer.content_type == "application/json" else {}
            error = body.get("error") if isinstance(body, dict) else None
            if isinstance(error, dict) and error.get("code") == INTERNAL:
                raise Finding(f"/mcp: internal error: {sent!r}")

    async def stranger(self, count: int) -> None:
        """Frames on a connection that nobody signs in at: refused by name, or the connection is cut."""
        before = self.total()
        async with self.session.ws_connect(self.server.url + "/v1/ws", max_msg_size=0) as ws:
            for number in range(count):
                given = self.make.params(OPERATIONS[0].params, self.group)
                method = self.make.random.choice(["append", "follow", "authenticate", "events", "away", "x"])
                call = {
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": method,
                    "params": {**given, **self.make.data()},
                }
                sent = self.make.bytes_of(json.dumps(call).encode())
                await ws.send_bytes(sent)
                if not _has_id(sent):
                    continue
                async with asyncio.timeout(60):
                    message = await ws.receive()
                if message.type is not aiohttp.WSMsgType.TEXT:
                    break
                body = json.loads(message.data)
                if "result" in body or body["error"]["data"]["code"] == "internal":
                    raise Finding(f"a stranger was answered: {sent!r}")
        self.counts["stranger"] = self.counts.get("stranger", 0) + 1
        if self.total() != before:
            raise Finding("a stranger appended something")


def _has_id(sent: bytes) -> bool:
    try:
        call = json.loads(sent)
    except (ValueError, RecursionError):
        return True
    return (
        not isinstance(call, dict)
        or "id" in call
        or call.get("jsonrpc") != "2.0"
        or not isinstance(call.get("method"), str)
    )


async def fuzz(
    folder: Path, *, seed: int, rounds: int | None = None, seconds: float | None = None
) -> dict[str, int]:
    """Run until the rounds or the seconds are used up; raises `Finding` at the first wrong outcome."""
    server = Server(HubConfig(folder, port=0, limits=Limits(failed_sign_ins_per_second=10_000)))
    await server.start()
    try:
        async with aiohttp.ClientSession() as session:
            run = Fuzz(server, session, seed)
            await run.begin()
            end = time.monotonic() + seconds if seconds is not None else float("inf")
            done = 0
            while time.monotonic() < end and (rounds is None or done < rounds):
                for _ in range(10):
                    await run.http()
                await run.bytes_over_http()
                await run.socket(15)
                for _ in range(5):
                    await run.mcp()
                await run.stranger(5)
                done += 1
            async with session.get(server.url + "/healthz") as answer:
                if answer.status != 200:
                    raise Finding("the hub is not healthy any more")
            return {**run.counts, "rounds": done}
    finally:
        await server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(
                json.dumps(asyncio.run(fuzz(Path(folder), seed=seed, seconds=given.seconds)), sort_keys=True)
            )
        except Finding as finding:
            print(f"FOUND {finding}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
