"""The packet inside the seal: its header, its size, and what an agent says that it can do.

A2ACP-025, A2ACP-026, A2ACP-027, A2ACP-028, A2ACP-030, A2ACP-043, A2ACP-044, A2ACP-057, A2ACP-226, A2ACP-235,
A2ACP-236, A2ACP-241, A2ACP-242.

The shapes of the types are in `tacit.a2acp.packets.schemas`. Unknown fields and unknown types are never a
fault. Received bytes are kept. Knows nothing of threads, consent or sealing.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Final, cast

from tacit.a2acp.packets import schemas
from tacit.a2acp.packets.shapes import Fields, MalformedPacket
from tacit.base.errors import Refused
from tacit.base.strict_json import Malformed, canonical, parse
from tacit.wire import version

CONTEXT: Final = schemas.CONTEXT
CONTEXT_REQUEST: Final = schemas.CONTEXT_REQUEST
PROCESSING_ERROR: Final = schemas.PROCESSING_ERROR
THREAD_SYNC: Final = schemas.THREAD_SYNC
MAX_CONTEXT_BYTES: Final = 65_536
HEADER: Final = tuple(member.name for member in schemas.HEADER.members if member.needed)
LARGEST_NUMBER: Final = 2**53

NEEDS_FEATURE: Final = {
    THREAD_SYNC: version.THREAD_SYNC,
    schemas.THREAD_STATUS: version.THREAD_STATUS,
    schemas.COORDINATOR_TRANSFER_RESPONSE: version.MULTI_PARTY,
    schemas.SPACE_INVITE: version.SHARED_CONTEXT_SPACES,
    schemas.SPACE_INVITE_RESPONSE: version.SHARED_CONTEXT_SPACES,
    schemas.SPACE_UPDATE: version.SHARED_CONTEXT_SPACES,
}
"""Types beyond the draft: sent only to a peer that names the feature (A2ACP-057)."""

FEATURES: Final = (
    version.BLACKOUTS,
    version.CONTEXT_NEGOTIATION,
    version.MULTI_PARTY,
    version.RESOLUTION_WITH_ALTERNATIVES,
    version.SHARED_CONTEXT_SPACES,
    version.THREAD_FORKING,
    version.THREAD_STATUS,
    version.THREAD_SYNC,
)
"""What this agent answers to (A2ACP-236)."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet that passed its checks, with the bytes it came in."""

    protocol: str
    packet_id: str
    thread_id: str
    sender: str
    recipient: str
    timestamp: str
    type: str
    seq: int
    fields: Fields
    raw: bytes


def identifier(prefix: str, random: bytes) -> str:
    """`pkt_`, `thr_` or `spc_` and 26 base32 characters: an id that tells no topic (A2ACP-027)."""
    return prefix + base64.b32encode(random).decode("ascii").lower().rstrip("=")[:26]


def compose(fields: Fields) -> bytes:
    """The bytes to seal; `Refused` when the packet would be dropped at the other end (A2ACP-025)."""
    raw = canonical(fields)
    try:
        read(raw)
    except MalformedPacket as fault:
        raise Refused("bad_packet", str(fault), row="A2ACP-025") from None
    return raw


def read(raw: bytes) -> Packet:
    """The packet in `raw`, or `MalformedPacket`."""
    try:
        value = parse(raw)
    except Malformed as fault:
        raise MalformedPacket(str(fault)) from None
    if not isinstance(value, dict):
        raise MalformedPacket("a packet is one JSON object")
    fields = cast("Fields", value)
    schemas.check_header(fields)
    schemas.check_in(fields["type"], fields)
    if len(canonical(fields.get("context"))) > MAX_CONTEXT_BYTES:
        raise MalformedPacket("context is larger than we said we take")
    return Packet(
        protocol=fields["protocol"],
        packet_id=fields["packet_id"],
        thread_id=fields["thread_id"],
        sender=fields["from"],
        recipient=fields["to"],
        timestamp=fields["timestamp"],
        type=fields["type"],
        seq=fields.get("seq") or 0,
        fields=fields,
        raw=raw,
    )


def to_keep(inner: Packet) -> bytes:
    """A received packet as it is written to disk: as it came, without what nobody may know (A2ACP-148).

    A counterpart's real reason for a no, and its hints at why a field was refused, are gone before anything
    is stored (A2ACP-139).
    """
    fields = dict(inner.fields)
    unavailable: object = fields.get("context_unavailable")
    entries = cast("list[object]", unavailable) if isinstance(unavailable, list) else []
    hinted = any(isinstance(one, dict) and cast("Fields", one).get("hint") is not None for one in entries)
    if fields.get("actual_reason") is None and not hinted:
        return inner.raw
    if "actual_reason" in fields:
        fields["actual_reason"] = None
    if hinted:
        fields["context_unavailable"] = [
            {**cast("Fields", one), "hint": None} if isinstance(one, dict) else one for one in entries
        ]
    return canonical(fields)


def capabilities() -> Fields:
    """What this agent can do, for the first packet of a thread (A2ACP-235)."""
    return {
        "supported_versions": [*version.SUPPORTED],
        "features": [*FEATURES],
        "max_context_size_bytes": MAX_CONTEXT_BYTES,
        "supported_encryption": [version.STATELESS],
    }


def features_named(fields: Fields) -> frozenset[str]:
    """The features a peer's capabilities name; none for anything misshapen."""
    return frozenset(_named(fields, "features"))


def versions_named(fields: Fields) -> tuple[str, ...]:
    """The versions a peer's capabilities name; none for anything misshapen."""
    return tuple(_named(fields, "supported_versions"))


def context_limit(fields: Fields) -> int:
    """The most bytes that a `context` for this peer may have: the smaller of both maxima (A2ACP-043)."""
    offered: object = fields.get("capabilities")
    theirs: object = None
    if isinstance(offered, dict):
        theirs = cast("Fields", offered).get("max_context_size_bytes")
    known = isinstance(theirs, int) and not isinstance(theirs, bool) and theirs > 0
    return min(MAX_CONTEXT_BYTES, cast("int", theirs)) if known else MAX_CONTEXT_BYTES


def _named(fields: Fields, what: str) -> list[str]:
    offered: object = fields.get("capabilities")
    names: object = cast("Fields", offered).get(what) if isinstance(offered, dict) else None
    if not isinstance(names, list):
        return []
    return [name for name in cast("list[object]", names) if isinstance(name, str)]


def may_send(packet_type: str, peer_features: frozenset[str]) -> bool:
    """Whether a peer would understand the type, or take it for a `context` (A2ACP-057)."""
    feature = NEEDS_FEATURE.get(packet_type)
    return feature is None or feature in peer_features
