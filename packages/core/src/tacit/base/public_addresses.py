"""Public addresses: whether somebody else may have us connect to an address of a machine.

Only to one that anybody could reach: none of this machine, of a network behind it, of multicast, or kept for
a purpose of its own. An IPv6 address that stands for an IPv4 one (mapped, 6to4, NAT64) is judged as that one.
An operator may list networks besides. What a name resolves to is looked at when the connection is opened
(`base.io.public_sockets`): a name that was looked at before may lead elsewhere by then.

Pure.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

from tacit.base.callers import address_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.base.callers import Address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")


def may_reach(text: str, allowed: Iterable[Network] = ()) -> bool:
    """Whether an address is public, or inside a network that the operator has listed."""
    address = address_of(text)
    if address is None:
        return False
    if any(address in network for network in allowed if network.version == address.version):
        return True
    return _is_public(address)


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    embedded = _embedded(address)
    if embedded is not None:
        return _is_public(embedded)
    return address in _UNICAST and address.is_global


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.sixtofour
