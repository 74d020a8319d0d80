"""JSON over HTTP: bodies in, answers out, and every error of the house as `{code, message, details?}`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from aiohttp import web

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.strict_json import Malformed, parse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp import StreamReader

_PATIENCE: Final = 60.0
_STATUS: Final = {
    "not_found": 404,
    "rate_limited": 429,
    "not_signed_in": 401,
    "username_taken": 409,
    "stale_record": 409,
    "last_passkey": 409,
    "bad_signature": 401,
    "federation_failed": 403,
    "too_large": 413,
    "too_many_answers": 429,
}
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}


async def bounded(stream: StreamReader, most: int) -> bytes:
    """All of a body, or `Refused` once it is longer than `most`."""
    parts: list[bytes] = []
    size = 0
    async for part in stream.iter_any():
        size += len(part)
        if size > most:
            raise Refused("too_large", "the body is too large")
        parts.append(part)
    return b"".join(parts)


def json_reply(value: object, status: int = 200) -> web.Response:
    """A JSON answer."""
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


async def json_body(request: web.Request) -> dict[str, Any]:
    """The request's JSON object. Only JSON is taken, so no other site's form can send it."""
    if request.content_type != "application/json":
        raise Refused("bad_request", "send application/json")
    try:
        value = parse(await request.read())
    except Malformed as error:
        raise Refused("bad_request", str(error)) from None
    if not isinstance(value, dict):
        raise Refused("bad_request", "send a JSON object")
    return cast("dict[str, Any]", value)


def text_field(body: dict[str, Any], name: str) -> str:
    """A text field of bounded length."""
    value = body.get(name)
    if not isinstance(value, str) or len(value) > 1_000:
        raise Refused("bad_request", f"{name} is missing or is no short text")
    return value


def unreadable(status: int) -> web.Response:
    """The answer to what is no request, or one whose line or headers are too long."""
    response = json_reply({"code": "bad_request", "message": "the request cannot be read"}, status)
    response.headers.update(_HEADERS)
    return response


@web.middleware
async def errors_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Every refusal with a fitting status, every answer with strict headers."""
    try:
        # A socket lives as long as it likes; anything else must be told to the end in time.
        async with asyncio.timeout(None if request.path == "/a2acp" else _PATIENCE):
            response = await handler(request)
    except TimeoutError:
        response = json_reply({"code": "too_slow", "message": "the request took too long"}, 408)
    except Refused as refused:
        body: dict[str, object] = {"code": refused.code, "message": refused.message}
        if refused.details:
            body["details"] = refused.details
        response = json_reply(body, _STATUS.get(refused.code, 400))
    except PeerFault:
        response = json_reply({"code": "bad_request", "message": "the request does not hold"}, 400)
    except Unavailable:
        response = json_reply({"code": "unavailable", "message": "try again later"}, 503)
    if not response.prepared:
        response.headers.update(_HEADERS)
    return response
