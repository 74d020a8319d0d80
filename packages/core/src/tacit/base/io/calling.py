"""A request as its caller made it, where a proxy stands in between: `tacit.base.callers` for aiohttp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiohttp import web

from tacit.base.callers import called

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler, Middleware


def as_called(request: web.Request, trusted: tuple[str, ...]) -> web.Request:
    """The request with the address, scheme and host that its caller has."""
    call = called(request.remote, request.headers, trusted)
    changed: dict[str, Any] = {name: value for name, value in call._asdict().items() if value}
    return request.clone(**changed) if changed else request


def through_proxies(trusted: tuple[str, ...]) -> Middleware:
    """A step behind which every request is as its caller made it."""

    @web.middleware
    async def step(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await handler(as_called(request, trusted))

    return step
