"""`tacit mcp` on standard input and output: the thin server, and behind it a thread that talks to the hub.

The main thread reads and answers what needs no hub; so the client has its list of tools before anything heavy
is imported. The thread (an event loop, the HTTP client) is started after the first answer, greets the hub,
and runs what needs it; its answers are written as they come, each as one line. The hub may come and go
meanwhile. The end of the input ends everything at once: whatever is still on its way, nobody waits for it.
"""

from __future__ import annotations

import logging
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tacit.bridges.mcp.front import Front, RequestWithdrawn, ResourceRead, ToolRun, is_greeting

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

    from tacit.base.hub_proof import HubAccess
    from tacit.bridges.mcp.front import Work
    from tacit.bridges.mcp.io.hub_caller import HubCaller

log: Final = logging.getLogger("tacit.mcp")


def serve(access: HubAccess, *, channel: bool = False) -> None:
    """Serve one client as the actor behind the token, until it closes our input."""
    stdin = sys.stdin.buffer
    first = stdin.readline()
    if first and not channel and not is_greeting(first):
        import asyncio

        asyncio.run(_serve_later_versions(access, first))
        return
    served = _Served(access, channel=channel)
    line = first
    while line:
        if line.strip():
            served.take(line)
        line = stdin.readline()
    served.end()


async def _serve_later_versions(access: HubAccess, first: bytes) -> None:
    """Serve a client of a later version of MCP, whose first line was this, by the SDK's server."""
    import asyncio

    from tacit.base.io.mcp_server import serve_stdio
    from tacit.base.io.time_service import TimeService
    from tacit.bridges.mcp.calls import room_surface
    from tacit.bridges.mcp.io.hub_caller import HubCaller

    async with HubCaller(access) as caller:
        greeting = asyncio.ensure_future(caller.greet())
        try:
            await serve_stdio(room_surface(TimeService()), caller, first)
        finally:
            greeting.cancel()
            await asyncio.wait({greeting})


class _Served:
    """One client, from its first line to its last."""

    def __init__(self, access: HubAccess, *, channel: bool) -> None:
        self._access = access
        self._channel = channel
        self._front = Front(channel=channel)
        self._writing = threading.Lock()
        self._hub: _HubThread | None = None
        self._running: dict[object, Future[None]] = {}

    def take(self, line: bytes) -> None:
        """One message of the client."""
        done = self._front.take(line)
        if isinstance(done, bytes):
            self.write(done)
        if self._hub is None:
            # After the first answer, and not before: its imports would delay it.
            self._hub = _HubThread(self._access, self if self._channel else None)
        if done is not None and not isinstance(done, bytes):
            self._work(self._hub, done)

    def _work(self, hub: _HubThread, work: Work) -> None:
        if isinstance(work, RequestWithdrawn):
            running = self._running.get(work.id)
            if running is not None:
                running.cancel()
            return
        running = hub.start(lambda caller: self._answer(caller, work))
        self._running[work.id] = running
        running.add_done_callback(lambda _done: self._running.pop(work.id, None))

    async def _answer(self, caller: HubCaller, work: ToolRun | ResourceRead) -> None:
        from tacit.base.io.time_service import TimeService
        from tacit.bridges.mcp import calls

        try:
            if isinstance(work, ToolRun):
                now = TimeService().now()
                shown = await calls.call_tool(caller, work.name, work.arguments, now)
                answer = self._front.called(work.id, shown)
            else:
                found = await calls.read_resource(caller, work.uri)
                answer = self._front.read(work.id, work.uri, found)
        except Exception:
            # The client is told that it failed, not how: the words may be somebody's.
            log.exception("an answer could not be made")
            answer = self._front.failed(work.id)
        self.write(answer)

    def write(self, data: bytes) -> None:
        """One line to the client."""
        with self._writing:
            sys.stdout.buffer.write(data + b"\n")
            sys.stdout.buffer.flush()

    def push(self, content: str, meta: dict[str, str]) -> None:
        """Something for a live session."""
        self.write(self._front.pushed(content, meta))

    def end(self) -> None:
        """The client is gone."""
        if self._hub is not None:
            self._hub.stop()


class _Opened(NamedTuple):
    """What the thread has made ready."""

    loop: asyncio.AbstractEventLoop
    caller: HubCaller
    over: asyncio.Event


class _HubThread:
    """An event loop of its own, with a caller on it that greets the hub."""

    def __init__(self, access: HubAccess, pushes: _Served | None) -> None:
        self._access = access
        self._pushes = pushes
        self._opened: Future[_Opened] = Future()
        self._thread = threading.Thread(target=self._run, name="tacit-mcp-hub", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        import asyncio

        try:
            asyncio.run(self._live())
        except BaseException as error:
            # Whoever waits for the thread hears of it; otherwise a call would never be answered.
            if self._opened.done():
                raise
            self._opened.set_exception(error)

    async def _live(self) -> None:
        import asyncio

        from tacit.bridges.mcp.io.hub_caller import HubCaller

        async with HubCaller(self._access) as caller:
            over = asyncio.Event()
            self._opened.set_result(_Opened(asyncio.get_running_loop(), caller, over))
            tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(caller.greet())]
            if self._pushes is not None:
                from tacit.bridges.mcp.io.channel import Channel

                channel = Channel(self._access, caller, self._pushes.push)
                tasks.append(asyncio.ensure_future(channel.run()))
            await over.wait()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def start(self, work: Callable[[HubCaller], Coroutine[Any, Any, None]]) -> Future[None]:
        """Run something with the caller on the loop; waits for the thread's imports, not for the hub."""
        import asyncio

        opened = self._opened.result()
        return asyncio.run_coroutine_threadsafe(work(opened.caller), opened.loop)

    def stop(self) -> None:
        """End the loop and the connections on it."""
        opened = self._opened.result()
        opened.loop.call_soon_threadsafe(opened.over.set)
        self._thread.join()
