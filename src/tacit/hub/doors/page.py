"""What the sign-in link opens: one static page, under a strict content security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import resources
from typing import Final

from aiohttp import web

_HTML: Final = resources.files("tacit.hub.doors").joinpath("page.html").read_text(encoding="utf-8")


def _hashes(tag: str) -> str:
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", _HTML, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in found)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


_POLICY: Final = (
    f"default-src 'none'; script-src {_hashes('script')}; style-src {_hashes('style')}; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


async def front_page(_request: web.Request) -> web.StreamResponse:
    """The page."""
    return web.Response(
        text=_HTML,
        content_type="text/html",
        headers={
            "Content-Security-Policy": _POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-cache",
        },
    )
