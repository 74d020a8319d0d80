"""Who calls: the address that limits count by, also where proxies stand in between.

A proxy that the operator trusts says for whom it calls, in `X-Forwarded-For` or in `Forwarded`. Each proxy
adds at the right, so there, line by line and from right to left, the first address that is no trusted proxy
is the caller: whatever stands left of it is the caller's own word. A hop that is no address ends the search
at the proxy that wrote it. A proxy writes one of the two headers and hands the other on as it came: where
both are there and name different callers, neither is believed, and the proxy itself counts as the caller.

Who owns one address of an IPv6 network owns the whole /64, and often a /48 of them. So limits count by
bounds: an IPv4 address alone, or a /64 and beside it, more widely, its /48.

Pure. Names no request of a framework.
"""

from __future__ import annotations

import ipaddress
import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NETWORK: Final = 64
SITE: Final = 48
SITE_SHARE: Final = 16.0
"""So many times what one network may, all of a site may together."""
LOCAL: Final = "local"
"""Whoever comes by a Unix socket."""
_PAIR: Final = re.compile(r'\s*([A-Za-z0-9!#$%&\'*+.^_`|~-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;,"\s]*)\s*')
_HOSTED: Final = re.compile(r"\[([^\[\]]*)\](?::\w*)?|([^:]*)(?::\w*)?")


class _Headers(Protocol):
    """The headers of a request, of which a name may come several times."""

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """All lines of a name, in their order."""
        ...


class Bound(NamedTuple):
    """What a limit counts by, and its share of the limit."""

    key: str
    share: float


class Call(NamedTuple):
    """A request as its caller made it; empty where no proxy said anything else."""

    remote: str = ""
    scheme: str = ""
    host: str = ""


def address_of(text: str) -> Address | None:
    """The address in what a header or a socket names: without port, brackets and zone, IPv4 as such."""
    match = _HOSTED.fullmatch(text.strip()) if text.count(":") < 2 or "[" in text else None
    plain = (match[1] or match[2] or "") if match is not None else text.strip()
    try:
        address = ipaddress.ip_address(plain.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address


def network_of(remote: str) -> str:
    """What counts as one address; empty for this machine, which may be a proxy for many."""
    address = address_of(remote)
    if address is None or address.is_loopback:
        return ""
    return _network(address, NETWORK)


def bounds_of(remote: str | None) -> tuple[Bound, ...]:
    """By what a limit on the requests of one caller counts."""
    address = address_of(remote or "")
    if address is None:
        return (Bound(remote or LOCAL, 1.0),)
    own = Bound(_network(address, NETWORK), 1.0)
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return (own,)
    return (own, Bound(_network(address, SITE), SITE_SHARE))


def _network(address: Address, length: int) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, length), strict=False))


def check_networks(networks: tuple[str, ...], option: str) -> None:
    """Refuse what is neither an address nor a network."""
    try:
        _networks(networks)
    except ValueError:
        raise Refused("invalid_request", f"{option} takes an address or a network") from None


@cache
def _networks(trusted: tuple[str, ...]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(proxy) for proxy in trusted)


def is_trusted(remote: str | None, trusted: tuple[str, ...]) -> bool:
    """Is this one of the proxies? Whoever comes by the Unix socket is on this machine."""
    if not remote:
        return True
    address = address_of(remote)
    return address is not None and any(address in network for network in _networks(trusted))


def called(remote: str | None, headers: _Headers, trusted: tuple[str, ...]) -> Call:
    """A request as its caller made it, with the proxies that are trusted."""
    if not trusted or not is_trusted(remote, trusted):
        return Call()
    elements = list(_elements(headers))
    listed = [hop.strip() for hop in ",".join(headers.getall("X-Forwarded-For", [])).split(",")]
    named = [
        _caller([hop for hop in hops if hop], trusted)
        for hops in (listed, [element.get("for") or "unknown" for element in elements])
        if any(hops)
    ]
    last = elements[-1] if elements else {}
    scheme = (_last(headers, "X-Forwarded-Proto") or last.get("proto", "")).lower()
    host = _last(headers, "X-Forwarded-Host") or last.get("host", "")
    agreed = named[0] if named and len(set(named)) == 1 else ""
    return Call(agreed, scheme if scheme in {"http", "https"} else "", host)


def _last(headers: _Headers, name: str) -> str:
    return ",".join(headers.getall(name, [])).rpartition(",")[2].strip()


def _caller(hops: list[str], trusted: tuple[str, ...]) -> str:
    """The first hop from the right that is no trusted proxy, or the last proxy that could be read."""
    caller = ""
    for hop in reversed(hops):
        address = address_of(hop)
        if address is None:
            return caller
        caller = str(address)
        if not is_trusted(caller, trusted):
            return caller
    return caller


def _elements(headers: _Headers) -> Iterator[dict[str, str]]:
    """What each proxy said in `Forwarded`; nothing of a header that cannot be read to its end."""
    text = ",".join(headers.getall("Forwarded", []))
    elements: list[dict[str, str]] = [{}]
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is not None:
            value = pair[2]
            quoted = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
            elements[-1].setdefault(pair[1].lower(), quoted)
            at = pair.end()
        if at < len(text):
            if text[at] not in ",; ":
                # Whoever is meant cannot be known: an element that names nobody ends the search.
                yield {"for": "unreadable"}
                return
            if text[at] == ",":
                elements.append({})
            at += 1
    yield from (element for element in elements if element)
