"""The web room as the hub serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.base.io.built_page import built_files, send

if TYPE_CHECKING:
    from aiohttp import web


async def front_page(request: web.Request) -> web.StreamResponse:
    """What the sign-in link opens."""
    return send(request, built_files()[""], "no-cache")
