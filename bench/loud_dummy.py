"""A server with the hub's paths and nothing behind them: it reads bodies, answers, and commits one row an append.

    python -m bench.loud_dummy FOLDER

What the same hostile programs cost a quiet member here is what this machine makes of them. Answers to reads are the
hub's own bytes, taken from FOLDER (`timeline.json`, `search.json`, `events.json`). Appends that wait while a commit
runs share the next one; the commit runs in a thread. Files are read to their end and dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop
from aiohttp import WSMsgType, web

from bench.spine.bare_server import EVENT
from bench.spine.processes import raise_open_files
from tacit.base.io.sqlite import Checkpointer, connect

MOST_BYTES: Final = 64 * 1024 * 1024
_decode: Final = msgspec.json.Decoder().decode


def answered(call_id: int, result: bytes) -> str:
    return (b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (call_id, result)).decode()


class Rows:
    """Committed rows, those of one moment together."""

    def __init__(self, folder: Path) -> None:
        path = folder / "rows.db"
        self._connection = connect(path)
        self._connection.execute("CREATE TABLE rows(number INTEGER PRIMARY KEY, raw BLOB)")
        self._checkpointer = Checkpointer(path)
        self._checkpointer.watch(self._connection)
        self._checkpointer.start()
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._there = asyncio.Event()
        self.task = asyncio.ensure_future(self._run())

    async def append(self, raw: bytes) -> None:
        committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((raw, committed))
        self._there.set()
        await committed

    def _commit(self, rows: list[bytes]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO rows(raw) VALUES(?)", [(raw,) for raw in rows])
        self._connection.execute("COMMIT")

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._there.wait()
            self._there.clear()
            waiting, self._waiting = self._waiting[:512], self._waiting[512:]
            if self._waiting:
                self._there.set()
            await loop.run_in_executor(self._thread, self._commit, [raw for raw, _ in waiting])
            for _, committed in waiting:
                if not committed.done():
                    committed.set_result(None)


class Dummy:
    """The handlers."""

    def __init__(self, folder: Path) -> None:
        self._rows = Rows(folder)
        self._answers = {
            name: (folder / f"{name}.json").read_bytes() for name in ("timeline", "search", "events")
        }

    async def append(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        try:
            _decode(body)
        except (msgspec.MsgspecError, RecursionError):
            return web.Response(body=b"{}", status=400, content_type="application/json")
        await self._rows.append(body)
        return web.Response(body=EVENT % b"{}", status=201, content_type="application/json")

    async def upload(self, request: web.Request) -> web.StreamResponse:
        with contextlib.suppress(ConnectionResetError):
            async for _piece in request.content.iter_chunked(64 * 1024):
                pass
        return web.Response(body=b"{}", status=201, content_type="application/json")

    async def read(self, request: web.Request) -> web.StreamResponse:
        name = request.path.rpartition("/")[2]
        if "text/event-stream" in request.headers.get("Accept", ""):
            return await self.stream(request)
        return web.Response(body=self._answers[name], content_type="application/json")

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """One page, then nothing: as much as a follower that does not read can make anybody send."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: " + self._answers["events"] + b"\n\n")
        await asyncio.sleep(600)
        return response

    async def socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(compress=False, max_msg_size=MOST_BYTES)
        await socket.prepare(request)
        with contextlib.suppress(ConnectionError):
            await self._serve(socket)
        return socket

    async def _serve(self, socket: web.WebSocketResponse) -> None:
        tasks: set[asyncio.Task[None]] = set()
        pushed = False
        async for message in socket:
            if message.type is not WSMsgType.TEXT:
                continue
            call: dict[str, Any] = _decode(message.data)
            if call["method"] == "append":
                task = asyncio.ensure_future(self._appended(socket, call["id"], message.data.encode()))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                if len(tasks) >= 1024:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            elif call["method"] == "follow":
                if not pushed:
                    pushed = True
                    await socket.send_str(self._answers["events"].decode())
            else:
                result = self._answers.get(call["method"], b"{}")
                await socket.send_str(answered(call["id"], result))

    async def _appended(self, socket: web.WebSocketResponse, call_id: int, raw: bytes) -> None:
        await self._rows.append(raw)
        with contextlib.suppress(ConnectionError):
            await socket.send_str(answered(call_id, EVENT % b"{}"))


async def main(folder: Path) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    dummy = Dummy(folder)
    app = web.Application(client_max_size=MOST_BYTES)
    base = "/v1/groups/{group}"
    app.router.add_get("/v1/ws", dummy.socket)
    app.router.add_post(f"{base}/events", dummy.append)
    app.router.add_post(f"{base}/blobs", dummy.upload)
    for name in ("timeline", "search", "events"):
        app.router.add_get(f"{base}/{name}", dummy.read)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await stop.wait()
    await runner.cleanup()


if __name__ == "__main__":
    raise_open_files()
    uvloop.run(main(Path(sys.argv[1])))
