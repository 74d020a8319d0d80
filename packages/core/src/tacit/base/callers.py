"""Who calls: the address that limits count by, also where proxies stand in between.

A proxy that the operator trusts says for whom it calls, in `X-Forwarded-For` or in `Forwarded`. Each proxy
adds at the right, so there, line by line and from right to left, the first address that is no trusted proxy
is the caller: whatever stands left of it is the caller's own word. A hop that is no address ends the search
at the proxy that wrote it. A proxy writes one of the two headers and hands the other on as it came: where
both are there and name different callers, neither is believed, and the proxy itself counts as the caller.

Who owns one address of an IPv6 network owns the whole /64, and often a /48 of them. So limits count by
bounds: an IPv4 address alone, or a /64 and beside it, more widely, its /48.

Pure. Names no request of a framework.

Who is connected to a server: how many may wait unknown, and for how long.

A *guest* is a connection that has proved nothing yet. There are at most so many of them, in all and from one
address; for one more, the one that has waited longest goes, at the address that has the most: whoever comes
to sign in is through in a moment, whoever only holds the line loses it. A guest has little time between two
requests and for the whole of one, a connection that is known has more between two; one that does not read
what it is sent is cut either way. An address of this machine may be a proxy that stands for many, so only the
bound in all counts there; the addresses of one IPv6 network of the usual size are one.

Time is an argument, and connections are whatever the caller has for them. Nothing here touches a socket.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator


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


C = TypeVar("C", bound="Hashable")


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """What a server grants the connections to it; times in seconds."""

    guests: int = 1024
    """Connections that have not proved who they are."""
    guests_per_address: int = 64
    """The same from one address."""
    guest_seconds: float = 15.0
    """For a guest: from its coming, or from its last request, to the whole head of the next."""
    guest_request_seconds: float = 60.0
    """For a guest: for one request, its answer read."""
    guest_bytes: int = 64 * 1024
    """The longest head of a guest's request; and all that a guest may say on a WebSocket."""
    idle_seconds: float = 150.0
    """From the end of a known caller's request to the whole head of the next; more than proxies wait."""
    stalled_seconds: float = 60.0
    """How long something may wait to be read without any of it being read."""
    connections_per_credential: int = 2048
    """Connections of one credential."""
    bytes_per_credential: int = 64 * 1024 * 1024
    """What may wait to be read on all connections of one credential together."""
    look_seconds: float = 1.0
    """How often connections are looked at."""


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """How a connection looks from outside: how many requests began, whether one runs, bytes not yet sent."""

    requests: int
    busy: bool
    unsent: int


@dataclass(slots=True)
class _Entry:
    address: str
    since: float
    owner: str | None = None
    requests: int = 0
    unsent: int = 0
    unread_since: float | None = None


class Connections(Generic[C]):
    """All connections of one server."""

    def __init__(self, limits: SocketLimits) -> None:
        self.limits = limits
        self._entries: dict[C, _Entry] = {}
        self._guests: dict[str, dict[C, None]] = {}
        self._waiting = 0
        self._owned: Counter[str] = Counter()
        self.cut = 0
        """How many were cut for waiting, stalling, or as one too many."""

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def guests(self) -> int:
        """How many have proved nothing yet."""
        return self._waiting

    def enter(self, connection: C, address: str, now: float) -> C | None:
        """Somebody came; answers who has to go for it."""
        network = network_of(address)
        self._entries[connection] = _Entry(network, now)
        mine = self._guests.setdefault(network, {})
        mine[connection] = None
        self._waiting += 1
        if network and len(mine) > self.limits.guests_per_address:
            return self._oldest(mine)
        if self._waiting > self.limits.guests:
            return self._oldest(max(self._guests.values(), key=len))
        return None

    def _oldest(self, among: dict[C, None]) -> C:
        self.cut += 1
        return next(iter(among))

    def proved(self, connection: C, owner: str) -> bool:
        """A connection is known by now; False when its owner has too many."""
        entry = self._entries.get(connection)
        if entry is None or entry.owner == owner:
            return True
        if self._owned[owner] >= self.limits.connections_per_credential:
            return False
        self._release(connection, entry)
        entry.owner = owner
        self._owned[owner] += 1
        return True

    def leave(self, connection: C) -> None:
        """A connection is over; safe to call twice."""
        entry = self._entries.pop(connection, None)
        if entry is not None:
            self._release(connection, entry)

    def _release(self, connection: C, entry: _Entry) -> None:
        if entry.owner is not None:
            self._owned[entry.owner] -= 1
            if not self._owned[entry.owner]:
                del self._owned[entry.owner]
            return
        mine = self._guests[entry.address]
        del mine[connection]
        if not mine:
            del self._guests[entry.address]
        self._waiting -= 1

    def overdue(self, now: float, look: Callable[[C], ConnectionView]) -> list[C]:
        """Who has waited too long or reads nothing, or has too much unread with others of its credential."""
        held: Counter[str] = Counter()
        found: list[C] = []
        for connection, entry in self._entries.items():
            overdue = self._is_overdue(entry, look(connection), now)
            if entry.owner is not None and entry.unsent and not overdue:
                held[entry.owner] += entry.unsent
                overdue = held[entry.owner] > self.limits.bytes_per_credential
            if overdue:
                found.append(connection)
        self.cut += len(found)
        return found

    def _is_overdue(self, entry: _Entry, seen: ConnectionView, now: float) -> bool:
        reads = seen.unsent < entry.unsent or not seen.unsent
        if reads:
            entry.unread_since = None
        elif entry.unread_since is None:
            entry.unread_since = now
        known = entry.owner is not None
        moved = seen.requests != entry.requests or (seen.unsent and reads) or (known and seen.busy)
        entry.requests, entry.unsent = seen.requests, seen.unsent
        if moved:
            entry.since = now
        patience = self.limits.guest_request_seconds if seen.busy else self.limits.guest_seconds
        patience = self.limits.idle_seconds if known else patience
        stalls = entry.unread_since is not None and now - entry.unread_since > self.limits.stalled_seconds
        return stalls or now - entry.since > patience
