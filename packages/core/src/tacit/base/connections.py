"""Who is connected to a server: how many may wait unknown, and for how long.

A *guest* is a connection that has proved nothing yet. There are at most so many of them, in all and from one
address; for one more, the one that has waited longest goes, at the address that has the most: whoever comes
to sign in is through in a moment, whoever only holds the line loses it. A guest has little time between two
requests and for the whole of one, a connection that is known has more between two; one that does not read
what it is sent is cut either way. An address of this machine may be a proxy that stands for many, so only the
bound in all counts there; the addresses of one IPv6 network of the usual size are one.

Time is an argument, and connections are whatever the caller has for them. Nothing here touches a socket.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tacit.base.callers import network_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

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
