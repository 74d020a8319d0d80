"""Who calls, when a proxy stands in between: its headers count where the proxy is one that we trust.

From the right of `X-Forwarded-For` the first address that is no trusted proxy is the caller: everything left
of it is the caller's own word. `X-Forwarded-Proto` and `X-Forwarded-Host` say how the caller wrote the
address. Without trust in the one that connects nothing of this is read.
"""

from __future__ import annotations

import ipaddress
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web


@cache
def _networks(trusted: tuple[str, ...]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(one) for one in trusted)


def is_trusted(address: str, trusted: tuple[str, ...]) -> bool:
    """Is this one of the proxies? Whoever comes by the Unix socket is on this machine."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return not address
    mapped = getattr(found, "ipv4_mapped", None) or found
    return any(mapped in network for network in _networks(trusted))


def overrides(remote: str | None, headers: Mapping[str, str], trusted: tuple[str, ...]) -> dict[str, Any]:
    """What a request is, as its caller sees it; empty when nothing is to be changed."""
    if not trusted or not is_trusted(remote or "", trusted):
        return {}
    changed: dict[str, Any] = {}
    hops = [hop.strip() for hop in headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    for hop in reversed(hops):
        changed["remote"] = hop
        if not is_trusted(hop, trusted):
            break
    proto = headers.get("X-Forwarded-Proto", "").rpartition(",")[2].strip().lower()
    if proto in {"http", "https"}:
        changed["scheme"] = proto
    host = headers.get("X-Forwarded-Host", "").rpartition(",")[2].strip()
    if host:
        changed["host"] = host
    return changed


def as_called(request: web.Request, trusted: tuple[str, ...]) -> web.Request:
    """The request as its caller made it."""
    changed = overrides(request.remote, request.headers, trusted) if trusted else {}
    return request.clone(**changed) if changed else request
