"""The MCP door: `POST /mcp`, streamable HTTP, one request and one JSON answer at a time.

The SDK's own transport speaks the protocol, in all its versions, as an ASGI application; here a request of
ours becomes one of its, and its answer one of ours. No sessions: the token says for each request whose tools
are called; the owner's own reaches the owner's personal agent, where the hub runs one (A2ACP-264). There
is nothing to push, so there is no stream to open (`GET`) and none to end (`DELETE`): both are 405, as the
protocol asks. The SDK is heavy and optional; the first request loads it, off the loop.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from tacit.base.errors import TacitError, Unavailable
from tacit.base.install_hint import install_hint
from tacit.base.tool_results import CALLER
from tacit.bridges.mcp.talk import GREETING, outcome_of, tool_request
from tacit.c2a.errors import Refusal
from tacit.hub.beside import agent_surface
from tacit.hub.bounds.quotas import caller, reading_for
from tacit.hub.doors.c2a import answer_to, session_of
from tacit.hub.doors.http import Unauthenticated, credential_of, error_answer, unauthenticated_answer, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from tacit.bridges.mcp.port import ToolCaller
    from tacit.hub.beside import PersonalAgentCaller
    from tacit.hub.hub import RunningHub

ROOM: Final = "room"
AGENT: Final = "agent"


class HubTools:
    """The hub's own tools, for one session: the same way in as a plain request to `/c2a`."""

    def __init__(self, hub: RunningHub, group_id: str, session: str) -> None:
        self._hub = hub
        self._caller = caller()
        self.group_id = group_id
        self.session = session

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | Refusal:
        """Run one tool; the SDK does so in a task of its own."""
        reading_for(self._caller)
        message = tool_request(name, arguments)
        return outcome_of(await answer_to(self._hub, self.group_id, self.session, message))


class HubAgent:
    """The owner's personal agent beside the hub."""

    def __init__(self, hub: RunningHub) -> None:
        self._hub = hub

    async def ask(self, command: str, arguments: dict[str, Any]) -> Any:
        """Have it carry out a command."""
        return await self._hub.agent.call(command, arguments)


class McpDoor:
    """The SDK's transport behind a route of ours."""

    def __init__(self, hub: RunningHub) -> None:
        self._hub = hub
        self._managers: dict[str, asyncio.Future[StreamableHTTPSessionManager]] = {}
        self._greeted: set[tuple[str, str]] = set()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one message."""
        try:
            credential = credential_of(self._hub, request)
            caller: ToolCaller | PersonalAgentCaller
            if credential.is_owners_token and self._hub.agent.is_on:
                name, caller = AGENT, HubAgent(self._hub)
            else:
                group_id, session = session_of(credential)
                name, caller = ROOM, HubTools(self._hub, group_id, session)
            await self._hub.door.turn(credential.token_id)
            body = await whole(request, self._hub.config.limits)
            manager = await self._opened(name)
            if isinstance(caller, HubTools):
                await self._greet(caller.group_id, caller.session)
        except Unauthenticated:
            return unauthenticated_answer()
        except TacitError as error:
            return error_answer(error)
        exchange = _Exchange(request, body, caller)
        await manager.handle_request(exchange.scope, exchange.receive, exchange.send)
        return exchange.answer()

    async def _greet(self, group_id: str, session: str) -> None:
        """The first time that an agent is here, the host hears of it and finds what waits for it."""
        if (group_id, session) not in self._greeted:
            greeted = outcome_of(await answer_to(self._hub, group_id, session, GREETING))
            if not isinstance(greeted, Refusal):
                self._greeted.add((group_id, session))

    async def _opened(self, name: str) -> StreamableHTTPSessionManager:
        """The transport of a server, running; whoever comes first starts it."""
        if name not in self._managers:
            self._managers[name] = asyncio.get_running_loop().create_future()
            self._hub.host.spawn(self._run(name, self._managers[name]))
        return await asyncio.shield(self._managers[name])

    async def _run(self, name: str, opened: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        why = "the MCP door is closing"
        try:
            manager = await asyncio.to_thread(self._made, name)
            async with manager.run():
                opened.set_result(manager)
                # Until the hub stops: the host cancels what it has spawned.
                await asyncio.get_running_loop().create_future()
        except ImportError:
            why = (
                f"MCP is not installed at this hub; its operator adds it with: {install_hint('room', 'mcp')}"
            )
        finally:
            # Whatever ended it, nobody is left waiting, and the next request tries anew.
            self._managers.pop(name, None)
            if not opened.done():
                opened.set_exception(Unavailable(why))

    def _made(self, name: str) -> StreamableHTTPSessionManager:
        from tacit.base.io.mcp_server import http_transport
        from tacit.bridges.mcp.calls import room_surface

        surface = agent_surface() if name == AGENT else room_surface(self._hub.store.options.clock)
        return http_transport(surface, most_bytes=self._hub.config.limits.body_bytes)


class _Exchange:
    """One request and its answer, in ASGI's terms."""

    def __init__(self, request: web.Request, body: bytes, caller: ToolCaller | PersonalAgentCaller) -> None:
        self._body: bytes | None = body
        self._status = 500
        self._headers: list[tuple[str, str]] = []
        self._pieces: list[bytes] = []
        self._answered = asyncio.Event()
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": f"{request.version.major}.{request.version.minor}",
            "method": request.method,
            "scheme": request.scheme,
            "path": request.path,
            "raw_path": request.raw_path.partition("?")[0].encode(),
            "query_string": request.query_string.encode(),
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.raw_headers],
            "client": None,
            "server": None,
            CALLER: caller,
        }

    async def receive(self) -> dict[str, Any]:
        """The body, once; afterwards nothing comes until the answer is whole."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._answered.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        """Keep a part of the answer."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]
            ]
        elif message["type"] == "http.response.body":
            self._pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                self._answered.set()

    def answer(self) -> web.Response:
        """The whole answer; an empty one claims no type."""
        body = b"".join(self._pieces)
        dropped = {"content-length"} if body else {"content-length", "content-type"}
        kept = [(name, value) for name, value in self._headers if name.lower() not in dropped]
        return web.Response(status=self._status, headers=kept, body=body or None)
