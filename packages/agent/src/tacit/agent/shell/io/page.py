"""The agent's own page: where its owner is asked and looks around without any hub (A2ACP-274).

Theory of operation. A server on the loopback interface gives out the built page, which holds nobody's data,
and answers three POSTs: `/agent/open` makes a session of a link, `/agent/call` carries out one command of an
explicit table, `/agent/changes` is a line of JSON for each change. Loopback is no wall: every web page that
the owner visits, and every program, can reach it. So before any work a request must name this server as its
host (a foreign name that was pointed here is refused), must come from this page (Origin, which a page
cannot forge) and must bring the session's token in a header, which no form can send. A GET changes nothing:
a link that something else fetched first is not used up by that. The token is held by the page for its tab;
a cookie would be sent to every other port of this machine too.

Which answers a page may give is not decided here; that it was given on the page is.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from aiohttp import hdrs, web

from tacit.agent.shell.io import calls
from tacit.agent.shell.io.sign_in import SignIn
from tacit.base.errors import Bug, Corrupt, PeerFault, Refused, TacitError, Unavailable
from tacit.base.io.built_page import HEADERS, Built, asset, built, built_files, send
from tacit.base.io.http_runner import Runner, proved

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from tacit.agent.shell.io.agent import Agent
    from tacit.base.ports import Entropy

HOST: Final = "127.0.0.1"
PORT: Final = 7435
"""Asked for first, so that a page that is open finds the agent again after a restart."""
NAMES: Final = (HOST, "localhost")
LARGEST: Final = 256 * 1024
MOST_FOLLOWERS: Final = 32
PULSE: Final = 20.0
_STATUS: Final = {
    "foreign_host": 403,
    "foreign_origin": 403,
    "unknown_token": 401,
    "expired_token": 401,
    "unknown_command": 404,
    "not_found": 404,
    "stale_question": 409,
    "too_large": 413,
    "too_many": 429,
}
_log: Final = logging.getLogger("tacit.agent.page")


class _Call(msgspec.Struct, frozen=True):
    """What the page asks for."""

    command: str
    arguments: Mapping[str, object] = {}


class Page:
    """One agent's page while it is served."""

    def __init__(self, agent: Agent, entropy: Entropy) -> None:
        self._agent = agent
        self._sign_in = SignIn(entropy)
        self._followers = 0
        self._closing = asyncio.Event()
        self.port = 0

    @property
    def address(self) -> str:
        """Where it is; opens nothing by itself."""
        return f"http://{HOST}:{self.port}/"

    def link(self, question_id: str = "") -> str:
        """A link that signs its owner in, once; it opens at one question when it names one."""
        return f"{self.address}q/{self._sign_in.link(self._agent.clock.now(), question_id)}"

    def application(self) -> web.Application:
        """All the page's server answers."""
        app = web.Application(middlewares=[self._guard], client_max_size=LARGEST)
        app.router.add_get("/", self._front)
        app.router.add_get("/q/{link}", self._arrival)
        app.router.add_get("/assets/{name}", asset)
        app.router.add_post("/agent/open", self._open)
        app.router.add_post("/agent/call", self._call)
        app.router.add_post("/agent/changes", self._changes)
        return app

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        try:
            self._admit(request)
            return await handler(request)
        except TacitError as fault:
            return _fault(fault)
        except web.HTTPRequestEntityTooLarge:
            return _fault(Refused("too_large", f"the page says at most {LARGEST} bytes at once"))
        except web.HTTPException as error:
            return _fault(Refused("not_found", "the agent's page has nothing there"), error.status)
        except (ConnectionResetError, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - answered without its words, which may be the owner's
            _log.error("a request has failed: %s", type(error).__name__)
            return _fault(Bug("the agent could not carry this out"))

    def _admit(self, request: web.Request) -> None:
        """Who asks, before anything is read or done."""
        hosts = {f"{name}:{self.port}" for name in NAMES}
        if request.headers.getall(hdrs.HOST, []) not in [[host] for host in hosts]:
            raise Refused("foreign_host", f"this page is at {HOST}:{self.port} alone")
        if request.method in {hdrs.METH_GET, hdrs.METH_HEAD}:
            return
        if request.headers.getall(hdrs.ORIGIN, []) != [f"http://{request.headers[hdrs.HOST]}"]:
            raise Refused("foreign_origin", "only the agent's own page may ask here")
        if request.content_type != "application/json":
            raise Refused("bad_command", "a command is sent as application/json")
        if request.path != "/agent/open":
            scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
            self._sign_in.check(token if scheme == "Bearer" else "", self._agent.clock.now())
            proved(request, "owner")

    async def _front(self, request: web.Request) -> web.StreamResponse:
        return send(request, _front_file(), "no-cache")

    async def _arrival(self, request: web.Request) -> web.StreamResponse:
        """The link is handed to the page behind `#`, which no server and no log sees; the page uses it."""
        place = f"/#open={request.match_info['link']}"
        return web.Response(status=303, headers={**HEADERS, "Location": place, "Cache-Control": "no-store"})

    async def _open(self, request: web.Request) -> web.StreamResponse:
        given = await _body(request)
        opened = self._sign_in.open(str(given.get("link") or ""), self._agent.clock.now())
        return _answer({"token": opened.token, "question_id": opened.question_id or None})

    async def _call(self, request: web.Request) -> web.StreamResponse:
        given = await _body(request)
        try:
            call = msgspec.convert(given, _Call)
        except msgspec.ValidationError:
            raise Refused("bad_command", "a call is {command, arguments}") from None
        answer = await calls.call_from_page(self._agent, call.command, call.arguments)
        return _answer({"ok": answer})

    async def _changes(self, request: web.Request) -> web.StreamResponse:
        """A line for each change until either end hangs up; an empty one shows that the line stands."""
        if self._followers >= MOST_FOLLOWERS:
            raise Refused("too_many", "the agent's page is open too often; close some")
        response = web.StreamResponse(headers={**HEADERS, "Cache-Control": "no-store"})
        response.content_type = "application/x-ndjson"
        self._followers += 1
        try:
            with self._agent.changes.followed() as follower:
                await response.prepare(request)
                await response.write(json.dumps({"following": self._agent.me}).encode() + b"\n")
                await self._tell(follower.next, response)
        finally:
            self._followers -= 1
        return response

    async def _tell(
        self, following: Callable[[], Awaitable[dict[str, Any]]], response: web.StreamResponse
    ) -> None:
        closing = asyncio.ensure_future(self._closing.wait())
        coming = asyncio.ensure_future(following())
        try:
            while not closing.done():
                await asyncio.wait({closing, coming}, timeout=PULSE, return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    await response.write(json.dumps(coming.result()).encode() + b"\n")
                    coming = asyncio.ensure_future(following())
                else:
                    await response.write(b"\n")
        finally:
            for one in (closing, coming):
                one.cancel()
            await asyncio.gather(closing, coming, return_exceptions=True)

    def close(self) -> None:
        """Let go of whoever follows."""
        self._closing.set()


@contextlib.asynccontextmanager
async def served(agent: Agent, port: int | None = None) -> AsyncGenerator[Page]:
    """Serve the page while the block runs: at this port, or at the usual one, or at any that is free."""
    page = Page(agent, agent.entropy)
    runner = Runner(page.application(), _unreadable, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        page.port = await _listen(runner, port)
        agent.page = page
        yield page
    finally:
        agent.page = None
        page.close()
        await runner.cleanup()


async def _listen(runner: Runner, port: int | None) -> int:
    for wanted in (PORT, 0) if port is None else (port,):
        site = web.TCPSite(runner, HOST, wanted)
        try:
            await site.start()
        except OSError as error:
            if wanted and port is None:
                continue
            raise Unavailable(f"the page cannot be served at port {wanted}: {error.strerror}") from None
        server = cast("asyncio.Server", site._server)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        return server.sockets[0].getsockname()[1]
    raise Unavailable("no port is free for the page")


@functools.cache
def _front_file() -> Built:
    """The page, told what it is a face of."""
    page = built_files()[""].body
    return built(page.replace(b"<html ", b'<html data-face="agent" ', 1), "index.html")


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        given = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise Refused("bad_command", "the body is one JSON object") from None
    if not isinstance(given, dict):
        raise Refused("bad_command", "the body is one JSON object")
    return cast("dict[str, Any]", given)


def _answer(value: object, status: int = 200) -> web.Response:
    headers = {**HEADERS, "Cache-Control": "no-store"}
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return web.Response(body=body, status=status, content_type="application/json", headers=headers)


def _fault(fault: TacitError, status: int | None = None) -> web.Response:
    match fault:
        case Refused():
            said = {"code": fault.code, "message": fault.message, "row": fault.row}
            return _answer({"error": said}, status or _STATUS.get(fault.code, 400))
        case Unavailable():
            return _answer({"error": {"code": "unavailable", "message": str(fault)}}, 503)
        case PeerFault():
            return _answer({"error": {"code": "peer_fault", "message": str(fault)}}, 502)
        case Corrupt():
            return _answer({"error": {"code": "corrupt", "message": fault.message, "hint": fault.hint}}, 500)
        case _:
            return _answer({"error": {"code": "internal", "message": str(fault)}}, 500)


def _unreadable(status: int) -> web.Response:
    return _answer({"error": {"code": "bad_request", "message": "the request could not be read"}}, status)
