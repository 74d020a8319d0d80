"""The HTTP door: a request becomes typed parameters, an outcome becomes JSON with a fitting status.

How an operation that a door was asked for is carried out: in a process of its own where it only reads.

Bodies of requests, read under bounds of size, of time and of what they unpack to.

Nobody's body is read before its sender is known (the doors see to the order), and none is unpacked by the
server library: a gzip of a few bytes can hold any number. Here it is unpacked piece by piece, and the bound
counts what comes out. A body that stops coming is given up; each byte that comes buys time for the next, so
that a large file over a slow line arrives.
"""

from __future__ import annotations

import asyncio
import functools
import types
import typing
import zlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec
from aiohttp import hdrs, web

from tacit.base.errors import Refused, TacitError
from tacit.base.io.http_runner import as_called, leaving, proved
from tacit.hub.bounds.quotas import LARGE_BYTES, Caller, reading_for
from tacit.hub.config import is_loopback
from tacit.hub.doors.answers import failure, status_of
from tacit.hub.operations import room as operations
from tacit.hub.reader.reads import READS
from tacit.ledger.codes import invalid
from tacit.ledger.kinds import reason_and_place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp.typedefs import Middleware

    from tacit.hub.config import Limits
    from tacit.hub.doors.routes import Operation, Run
    from tacit.hub.hub import RunningHub
    from tacit.hub.people.credentials import Credential


JSON: Final = "application/json"
_encode: Final = msgspec.json.Encoder().encode


def json_answer(value: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """A JSON response."""
    return web.Response(body=_encode(value), status=status, content_type=JSON, headers=headers)


def error_answer(error: BaseException, status: int | None = None) -> web.Response:
    """An error as JSON."""
    answer = failure(error)
    headers: dict[str, str] = {}
    wait = _seconds_to_wait(answer.get("details") or {}) if answer["code"] == "rate_limited" else None
    if wait is not None:
        headers["Retry-After"] = str(max(1, round(wait)))
    return json_answer(answer, status or status_of(answer), headers)


def _seconds_to_wait(details: dict[str, Any]) -> float | None:
    """When to try again, where that is known; attention counts in milliseconds."""
    if "retryAfterMs" in details:
        return details["retryAfterMs"] / 1000
    return details.get("retry_after_s")


def unreadable(status: int) -> web.Response:
    """The answer to what is no request, or one whose line or headers are too long."""
    said = "the request cannot be read: its line or a header is malformed, or longer than 8 KiB"
    return error_answer(Refused("invalid_request", said), status)


class Unauthenticated(TacitError):
    """No credential, or one that proves nothing."""


def credential_of(hub: RunningHub, request: web.Request) -> Credential:
    """Who is asking; refuses and slows down those who guess."""
    header = request.headers.get(hdrs.AUTHORIZATION, "")
    scheme, _, token = header.partition(" ")
    now = asyncio.get_running_loop().time()
    if not header and hub.config.local_trust:
        trusted = hub.trusted(request.headers.get("X-Tacit-By"))
        know(request, trusted)
        return trusted
    credential = hub.browsers.known(token.strip()) if scheme.lower() == "bearer" else None
    if credential is None:
        hub.sign_in_rate.take_from(request.remote, now)
        raise Unauthenticated
    hub.rate.take(credential.token_id, now)
    know(request, credential)
    return credential


def know(request: web.Request, credential: Credential) -> None:
    """A connection is no guest's any more, and what is read from now on is read for its credential.

    Refuses a connection that is too many for it.
    """
    if not proved(request, credential.token_id):
        raise Refused(
            "rate_limited",
            "this credential has too many connections open; close some",
            details={"reason": "too_many_connections", "retry_after_s": 1},
        )
    reading_for(caller_of(request, credential))


def caller_of(request: web.Request, credential: Credential) -> Caller:
    """On whose behalf is read what a request asks for."""
    return Caller(credential.token_id, leaving(request))


def unauthenticated_answer() -> web.Response:
    """401: say how to come back."""
    body = {"code": "permission_denied", "message": "give a valid token: Authorization: Bearer TOKEN"}
    return json_answer(body, 401, {"WWW-Authenticate": "Bearer"})


class HttpDoor:
    """Handlers for the table of operations."""

    def __init__(self, hub: RunningHub) -> None:
        self._hub = hub

    def handler(self, operation: Operation) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """The aiohttp handler of one operation."""
        in_body = operation.method in {"POST", "PUT", "PATCH"}

        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                # Who asks comes before what is asked; only under local trust may the body itself say it.
                credential = credential_of(self._hub, request)
                await self._hub.door.turn(credential.token_id)
                if in_body:
                    given, kept = await self._body(request, operation, credential.token_id)
                else:
                    given, kept = query_of(request, operation.params), {}
                if isinstance(by := given.get("by"), str):
                    credential = self._hub.as_hinted(credential, by)
                given.update(dict(request.match_info))
                params = typed(given, operation.params, strict=in_body)
                result = await run(self._hub, operation.name, operation.run, credential, params, **kept)
            except Unauthenticated:
                return unauthenticated_answer()
            except (Refused, TacitError) as error:
                self._hub.metrics.refused.labels(failure(error)["code"]).inc()
                return error_answer(error)
            return json_answer(result, _status(operation, result))

        return handle

    async def _body(
        self, request: web.Request, operation: Operation, owner: str
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The body's members, and of an append its data as it was sent."""
        door, limits = self._hub.door, self._hub.config.limits
        read = _read_append if operation.name == "append" else _read_body
        if is_small(request, LARGE_BYTES):
            return read(await whole(request, limits))
        async with door.bodies.one(owner):
            raw = await whole(request, limits)
            return await door.read(owner, len(raw), lambda: read(raw))


def _read_body(raw: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    return operations.body_of(raw), {}


def _read_append(raw: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    operations.require_fitting(len(raw), lambda: operations.data_as_sent(raw))
    return operations.body_of(raw), {"raw": operations.data_as_sent(raw)}


def _status(operation: Operation, result: object) -> int:
    """A repeat is no new event: it comes back decoded and marked, and is answered with 200."""
    return 200 if operation.may_repeat and not isinstance(result, msgspec.Raw) else operation.status


def typed(given: dict[str, Any], params: type[Any], *, strict: bool) -> Any:
    """Parameters as their type, or a refusal that names the place."""
    try:
        return msgspec.convert(given, params, strict=strict)
    except msgspec.ValidationError as fault:
        reason, place = reason_and_place(fault)
        raise invalid(f"{reason} (at {place})", "CCCS-013", at=place) from None


def _is_list(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin in {types.UnionType, typing.Union}:
        return any(_is_list(part) for part in typing.get_args(hint))
    return origin is list


@functools.cache
def _lists(params: type[Any]) -> frozenset[str]:
    return frozenset(name for name, hint in typing.get_type_hints(params).items() if _is_list(hint))


def query_of(request: web.Request, params: type[Any]) -> dict[str, Any]:
    """The query as values; lists may be written `a,b` or repeated."""
    given: dict[str, Any] = {}
    for name in request.query:
        values = request.query.getall(name)
        if name in _lists(params):
            given[name] = [part for value in values for part in value.split(",") if part]
        elif len(values) > 1:
            raise invalid("a parameter is given more than once", "CCCS-104")
        elif name in params.__struct_fields__ or name == "by":
            given[name] = values[0]
    return given


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def guard(hub: RunningHub) -> Middleware:
    """The outermost step: unknown paths and methods, foreign pages, and faults nobody foresaw."""
    own = _own_origins(hub)

    @web.middleware
    async def step(request: web.Request, handler: Handler) -> web.StreamResponse:
        request = as_called(request, hub.config.trusted_proxies)
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is not None and not _same_origin(request, origin, own):
            return json_answer(
                {"code": "permission_denied", "message": "pages of other origins may not use this hub"}, 403
            )
        if origin is not None and request.method == hdrs.METH_OPTIONS:
            return web.Response(status=204, headers=_preflight(origin))
        if hub.config.local_trust and not _says_loopback(request):
            # A page whose name was pointed at this machine would be of its own origin: take no other name.
            return json_answer(
                {"code": "permission_denied", "message": "under local trust use 127.0.0.1 or localhost"}, 403
            )
        return await _answered(request, handler)

    return step


def allow_origin(hub: RunningHub) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Let an allowed page read every answer, streams and errors too."""
    own = _own_origins(hub)

    async def sign(request: web.Request, response: web.StreamResponse) -> None:
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is not None and _same_origin(request, origin, own):
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
            response.headers[hdrs.VARY] = "Origin"

    return sign


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The handler's answer, or an error object for whatever ended it (CCCS-111)."""
    try:
        return await handler(request)
    except web.HTTPMethodNotAllowed as error:
        body = {"code": "unknown_op", "message": "the hub does not know this operation"}
        return json_answer(body, 405, {"Allow": ", ".join(sorted(error.allowed_methods))})
    except web.HTTPNotFound:
        return json_answer({"code": "unknown_op", "message": "the hub does not know this operation"}, 404)
    except web.HTTPException as error:
        return json_answer({"code": "invalid_request", "message": error.reason}, error.status)
    except web.RequestPayloadError:
        response = error_answer(invalid("the body's transfer or content coding is broken", "CCCS-020"))
        response.force_close()
        return response
    except (ConnectionResetError, TimeoutError):
        raise
    except Exception as error:  # noqa: BLE001 - the last line: answered as `internal` and logged
        return error_answer(error)


def _preflight(origin: str) -> dict[str, str]:
    return {
        hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: origin,
        hdrs.ACCESS_CONTROL_ALLOW_METHODS: "GET, POST, DELETE",
        hdrs.ACCESS_CONTROL_ALLOW_HEADERS: "Authorization, Content-Type, Last-Event-ID",
        hdrs.ACCESS_CONTROL_MAX_AGE: "600",
        hdrs.VARY: "Origin",
    }


def _says_loopback(request: web.Request) -> bool:
    name = request.transport.get_extra_info("sockname") if request.transport is not None else None
    return not isinstance(name, tuple) or is_loopback(request.url.host or "")


def _own_origins(hub: RunningHub) -> tuple[str, ...]:
    """Whose pages are let in besides those that the hub itself serves under the name it was called by."""
    public = hub.config.public_url.rstrip("/").lower()
    return (*hub.config.allow_origins, *([public] if public else []))


def _same_origin(request: web.Request, origin: str, allowed: tuple[str, ...]) -> bool:
    return origin in allowed or origin == f"{request.scheme}://{request.host}"


def run(
    hub: RunningHub, name: str, operation: Run, credential: Credential, params: Any, **given: Any
) -> Awaitable[object]:
    """Carry out the operation of this name."""
    readers = hub.readers
    if readers is not None and name in READS:
        return hub.ledger.whole(lambda: readers.read(name, credential, params))
    return operation(hub, credential, params, **given)


PIECE: Final = 64 * 1024
SLOWEST_BYTES_PER_SECOND: Final = 16 * 1024
_WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


def _bad(message: str) -> Refused:
    return invalid(message, "CCCS-020", reason="bad_body")


def _too_large(most: int) -> Refused:
    return invalid(f"this body is at most {most} bytes", "CCCS-020", reason="too_large")


class _Unpacking:
    """A body on its way out of its wrapping."""

    def __init__(self, window: int) -> None:
        self._unpacker = zlib.decompressobj(wbits=window)

    def piece(self, packed: bytes) -> tuple[bytes, bytes]:
        """A piece of what was packed, and what has still to be unpacked."""
        try:
            piece = self._unpacker.decompress(packed, PIECE)
        except zlib.error as fault:
            raise _bad("the body is not what its headers say") from fault
        if self._unpacker.unused_data:
            raise _bad("something stands behind the end of the body")
        return piece, self._unpacker.unconsumed_tail

    def finish(self) -> None:
        """Refuse a body that ends before its time."""
        if not self._unpacker.eof:
            raise _bad("the body is not what its headers say")


def _unpacking(request: web.Request) -> _Unpacking | None:
    """What unpacks the body; None when it comes plain."""
    coding = request.headers.get(hdrs.CONTENT_ENCODING, "").strip().lower()
    if coding in {"", "identity"}:
        return None
    if coding not in _WINDOWS:
        raise _bad("a body is sent plain, or as gzip or deflate")
    return _Unpacking(_WINDOWS[coding])


def is_small(request: web.Request, bytes_: int) -> bool:
    """Does its head promise a body of fewer bytes than these, as it is?"""
    length = request.content_length
    return length is not None and length < bytes_ and hdrs.CONTENT_ENCODING not in request.headers


async def _received(request: web.Request, seconds: float) -> AsyncIterator[bytes]:
    """The bytes on the wire, as long as they keep coming."""
    until = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            async with asyncio.timeout_at(until):
                piece = await request.content.read(PIECE)
        except TimeoutError:
            raise invalid("the body came too slowly", "CCCS-020", reason="too_slow") from None
        except web.RequestPayloadError as fault:
            raise _bad("the body is not what its headers say") from fault
        if not piece:
            return
        until += len(piece) / SLOWEST_BYTES_PER_SECOND
        yield piece


async def pieces(request: web.Request, limits: Limits, most: int) -> AsyncIterator[bytes]:
    """The body, unpacked, in pieces; refuses it as soon as it is over `most` bytes."""
    if (request.content_length or 0) > most:
        raise _too_large(most)
    unpacking, size = _unpacking(request), 0
    async for received in _received(request, limits.body_seconds):
        rest = received
        while rest:
            piece, rest = rest, b""
            if unpacking is not None:
                piece, rest = unpacking.piece(piece)
                # What a small piece unpacks to may be large: others have their turn in between.
                await asyncio.sleep(0)
            size += len(piece)
            if size > most:
                raise _too_large(most)
            yield piece
    if unpacking is not None:
        unpacking.finish()


async def whole(request: web.Request, limits: Limits, most: int | None = None) -> bytes:
    """The whole body, unpacked."""
    found = bytearray()
    async for piece in pieces(request, limits, limits.body_bytes if most is None else most):
        found += piece
    return bytes(found)
