"""The packet inside the seal: seven header fields, and the shape of the types that are known.

A2ACP-025, A2ACP-026, A2ACP-027, A2ACP-028, A2ACP-030, A2ACP-033, A2ACP-034, A2ACP-035, A2ACP-044,
A2ACP-057, A2ACP-226, A2ACP-241, A2ACP-242.

Unknown fields and unknown types are never a fault. `context` may hold anything; only that it is an object is
checked. Received bytes are kept. Knows nothing of threads, consent or sealing.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import PeerFault, Refused
from tacit.base.strict_json import Malformed, canonical, parse
from tacit.wire import address
from tacit.wire.envelope import timestamp_of
from tacit.wire.version import SINCE, is_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

CONTEXT: Final = "context"
CONTEXT_REQUEST: Final = "context_request"
PROCESSING_ERROR: Final = "processing_error"
THREAD_SYNC: Final = "thread_sync"
MAX_CONTEXT_BYTES: Final = 65_536
LARGEST_NUMBER: Final = 2**53
HEADER: Final = ("protocol", "packet_id", "thread_id", "from", "to", "timestamp", "type")

NEEDS_FEATURE: Final = {
    THREAD_SYNC: THREAD_SYNC,
    "thread_status": "thread_status",
    "coordinator_transfer_response": "multi_party",
    "space_invite": "shared_context_spaces",
    "space_invite_response": "shared_context_spaces",
    "space_update": "shared_context_spaces",
}
"""Types beyond the draft: sent only to a peer that names the feature (A2ACP-057)."""

_PACKET_ID: Final = re.compile(r"pkt_[A-Za-z0-9_-]{4,64}", re.ASCII)
_THREAD_ID: Final = re.compile(r"thr_[A-Za-z0-9_-]{4,64}", re.ASCII)
_ERROR_CODES: Final = frozenset({"generation_failed", "model_unavailable", "no_common_version"})

Fields = dict[str, Any]


class MalformedPacket(PeerFault):
    """A packet that must be dropped; the text names the field, never its value."""


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
    _check_header(fields)
    _check_common(fields)
    check = _CHECKS.get(fields["type"])
    if check is not None:
        check(fields)
    return Packet(
        protocol=fields["protocol"],
        packet_id=fields["packet_id"],
        thread_id=fields["thread_id"],
        sender=fields["from"],
        recipient=fields["to"],
        timestamp=fields["timestamp"],
        type=fields["type"],
        seq=fields.get("seq", 0),
        fields=fields,
        raw=raw,
    )


def _check_header(fields: Fields) -> None:
    for name in HEADER:
        if not isinstance(fields.get(name), str) or not fields[name]:
            raise MalformedPacket(f"{name} is missing or is no text")
    if not is_protocol(fields["protocol"]):
        raise MalformedPacket("protocol has the form a2acp/<major>.<minor>")
    if _PACKET_ID.fullmatch(fields["packet_id"]) is None or _THREAD_ID.fullmatch(fields["thread_id"]) is None:
        raise MalformedPacket("packet_id or thread_id has no valid form")
    if timestamp_of(fields["timestamp"]) is None:
        raise MalformedPacket("timestamp is ISO 8601 in UTC with a trailing Z")
    for name in ("from", "to"):
        try:
            address.parse(fields[name])
        except Refused:
            raise MalformedPacket(f"{name} is no agent address") from None
    seq = fields.get("seq", 0)
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq < LARGEST_NUMBER:
        raise MalformedPacket("seq is a number from 1 that every reader can hold")


def _check_common(fields: Fields) -> None:
    if "needs" in fields:
        check_needs(fields["needs"])
    context = fields.get("context", {})
    if not isinstance(context, dict):
        raise MalformedPacket("context is an object")
    if len(canonical(cast("Fields", context))) > MAX_CONTEXT_BYTES:
        raise MalformedPacket("context is larger than we said we take")


def check_needs(needs: object) -> None:
    """`field`, a non-empty `reason`, a priority (A2ACP-035).

    No priority is a fault for not being known; what an unknown one means is for whoever answers the need.
    """
    if not isinstance(needs, list):
        raise MalformedPacket("needs is a list")
    for need in cast("list[object]", needs):
        if not isinstance(need, dict):
            raise MalformedPacket("a need is an object")
        entry = cast("Fields", need)
        for name in ("field", "reason"):
            if not isinstance(entry.get(name), str) or not entry[name].strip():
                raise MalformedPacket(f"a need lacks its {name}")
        if not isinstance(entry.get("priority", ""), str):
            raise MalformedPacket("a need's priority is a word")


def check_intent(intent: object) -> None:
    """`category`, `summary` and `urgency`; any category is as good as another (A2ACP-033)."""
    if not isinstance(intent, dict):
        raise MalformedPacket("intent is an object")
    entry = cast("Fields", intent)
    for name in ("category", "summary"):
        if not isinstance(entry.get(name), str):
            raise MalformedPacket(f"intent lacks its {name}")
    if not isinstance(entry.get("urgency", "normal"), str):
        raise MalformedPacket("intent's urgency is a word")


def _check_context(fields: Fields) -> None:
    if "context" not in fields:
        raise MalformedPacket("context is missing")
    check_intent(fields.get("intent"))


def _check_request(fields: Fields) -> None:
    needs: object = fields.get("needs")
    if not isinstance(needs, list) or not 1 <= len(cast("list[object]", needs)) <= 5:
        raise MalformedPacket("a context_request has one to five needs")


def _check_error(fields: Fields) -> None:
    code = fields.get("code")
    if not isinstance(code, str) or code not in _ERROR_CODES:
        raise MalformedPacket("processing_error lacks a known code")


def _check_sync(fields: Fields) -> None:
    for name in ("sent_ids", "received_ids"):
        ids: object = fields.get(name)
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in cast("list[object]", ids)):
            raise MalformedPacket(f"thread_sync lacks {name}")
    if not isinstance(fields.get("state"), str):
        raise MalformedPacket("thread_sync lacks its state")


_CHECKS: Final[dict[str, Callable[[Fields], None]]] = {
    CONTEXT: _check_context,
    CONTEXT_REQUEST: _check_request,
    PROCESSING_ERROR: _check_error,
    THREAD_SYNC: _check_sync,
}


def capabilities() -> Fields:
    """What this agent can do, for the first packet of a thread."""
    return {
        "supported_versions": ["0.1", "0.2"],
        "features": sorted(SINCE),
        "max_context_size_bytes": MAX_CONTEXT_BYTES,
        "supported_encryption": ["x25519-xchacha20-poly1305"],
    }


def features_named(fields: Fields) -> frozenset[str]:
    """The features a peer's capabilities name; none for anything misshapen."""
    return frozenset(_named(fields, "features"))


def versions_named(fields: Fields) -> tuple[str, ...]:
    """The versions a peer's capabilities name; none for anything misshapen."""
    return tuple(_named(fields, "supported_versions"))


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
