"""The web page's built files as whoever serves them sends them, under one strict content security policy.

The page runs only its own scripts and styles, talks only to the server it came from, makes no HTML out of
text (Trusted Types), and may be framed by nobody. Files whose names carry a digest never change; the page
itself is asked for each time. Two serve it: the hub, and a personal agent without a hub (A2ACP-274). Knows
nothing of either.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from aiohttp import hdrs, web

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Built:
    """One built file, ready to send."""

    body: bytes
    packed: bytes
    mime_type: str
    tag: str


def built(body: bytes, name: str) -> Built:
    """A file as it is sent, by its name."""
    suffix = name[name.rfind(".") :]
    mime_type = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    tag = hashlib.sha256(body).hexdigest()[:32]
    return Built(body, gzip.compress(body, 9, mtime=0), mime_type, tag)


def _read(file: Traversable) -> Built:
    return built(file.read_bytes(), file.name)


@functools.cache
def built_files() -> dict[str, Built]:
    """Every built file by its path; the page itself has the empty one."""
    page = resources.files("tacit.base").joinpath("page")
    files = {"": _read(page.joinpath("index.html"))}
    for file in page.joinpath("assets").iterdir():
        files[f"assets/{file.name}"] = _read(file)
    return files


def send(request: web.Request, file: Built, caching: str) -> web.Response:
    """Answer with a file, or with that it has not changed."""
    headers = {**HEADERS, "Cache-Control": caching, "ETag": f'"{file.tag}"', "Vary": "Accept-Encoding"}
    if any(tag.value == file.tag for tag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    body = file.body
    if "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, ""):
        body = file.packed
        headers["Content-Encoding"] = "gzip"
    charset = "utf-8" if file.mime_type.startswith("text/") else None
    return web.Response(body=body, content_type=file.mime_type, charset=charset, headers=headers)


async def asset(request: web.Request) -> web.StreamResponse:
    """A script, a style, a picture of the page."""
    file = built_files().get(f"assets/{request.match_info['name']}")
    if file is None:
        raise web.HTTPNotFound
    return send(request, file, "public, max-age=31536000, immutable")
