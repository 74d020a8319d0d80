"""Sockets that reach public addresses only, for connections to where somebody else points us.

The address is looked at where the socket for it is made: whatever a name resolved to, and however often it is
resolved anew, nothing is sent to an address that was not looked at.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from tacit.base.public_addresses import may_reach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.base.public_addresses import Network

    AddrInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


class PrivateAddressError(OSError):
    """The address that was to be reached is not public."""


def public_sockets(allowed: Iterable[Network] = ()) -> Callable[[AddrInfo], socket.socket]:
    """For aiohttp's connector: makes a socket for an address that may be reached; else nothing is sent."""
    networks = tuple(allowed)

    def open_socket(place: AddrInfo) -> socket.socket:
        family, kind, protocol, _, target = place
        if not may_reach(str(target[0]), networks):
            raise PrivateAddressError("the address is not public")
        return socket.socket(family, kind, protocol)

    return open_socket
