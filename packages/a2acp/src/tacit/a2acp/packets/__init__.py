"""Packets: building, checking and reading them, without any agent (A2ACP-025, A2ACP-262, A2ACP-263)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import packet
from tacit.a2acp.packets.packet import Packet, read
from tacit.a2acp.packets.published import json_schema
from tacit.a2acp.packets.schemas import TYPES, check_out, normalised
from tacit.a2acp.packets.shapes import Fields, MalformedPacket
from tacit.base.moment import Moment, rfc3339
from tacit.wire import address, version

if TYPE_CHECKING:
    from tacit.base.ports import Entropy

__all__ = [
    "TYPES",
    "Fields",
    "MalformedPacket",
    "Packet",
    "build",
    "check_out",
    "identifier",
    "json_schema",
    "normalised",
    "read",
]

PROTOCOL: Final = f"a2acp/{version.SUPPORTED[-1]}"


def identifier(prefix: str, entropy: Entropy) -> str:
    """A new id: `pkt_` for a packet, `thr_` for a thread."""
    return packet.identifier(prefix, entropy.draw(17))


def build(
    packet_type: str, body: Fields, *, sender: str, to: str, thread_id: str, packet_id: str, at: Moment
) -> bytes:
    """A packet's bytes, its body held to the shape of what may be sent; `Refused` names what does not fit."""
    check_out(packet_type, body)
    header: Fields = {
        "protocol": PROTOCOL,
        "packet_id": packet_id,
        "thread_id": thread_id,
        "from": str(address.parse_typed(sender)),
        "to": str(address.parse_typed(to)),
        "timestamp": rfc3339(at),
        "type": packet_type,
    }
    return packet.compose({**header, **body})
