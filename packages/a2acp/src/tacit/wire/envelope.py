"""The outer envelope: the only part of a packet that stands in the open.

A2ACP-025, A2ACP-026, A2ACP-027, A2ACP-028, A2ACP-244.

An envelope travels in canonical bytes. The signature stands beside it and covers exactly the bytes that were
received; nothing is ever encoded again to be verified or forwarded. In place of the thread id stands an
opaque queue tag. Type, thread, intent and all else are inside `body`. Unknown fields are kept and ignored.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final, cast

import msgspec

from tacit.base.errors import Refused
from tacit.base.moment import Moment, parse_rfc3339
from tacit.wire import address, buckets, codes
from tacit.wire.encoding import canonical, canonical_object, is_base64url
from tacit.wire.version import is_protocol

MAX_BYTES: Final = 262_144
MOST_MEMBERS: Final = 1_000
SIGNATURE_LABEL: Final = b"a2acp-packet-v1\n"
REPLACE_QUEUE: Final = "replace_queue"

_PACKET_ID: Final = re.compile(r"pkt_[A-Za-z0-9_-]{4,64}", re.ASCII)
_QUEUE_TAG: Final = re.compile(r"q_[A-Za-z0-9_-]{22}", re.ASCII)
_BODY: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_FLAG: Final = re.compile(r"[a-z_]{1,32}", re.ASCII)
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)
_BEFORE_BODY: Final = b'{"body":"'
_AFTER_BODY: Final = re.compile(
    r'","from":"([a-z0-9:@._-]+)","packet_id":"(pkt_[A-Za-z0-9_-]{4,64})"'
    r',"protocol":"(a2acp/(?:0|[1-9]\d{0,3})\.(?:0|[1-9]\d{0,3}))","queue_tag":"(q_[A-Za-z0-9_-]{22})"'
    r',"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)","to":"([a-z0-9:@._-]+)"\}',
    re.ASCII,
)
_REQUIRED: Final = ("protocol", "packet_id", "queue_tag", "from", "to", "timestamp", "body")


class Envelope(msgspec.Struct, frozen=True):
    """What a relay reads of a packet, with the bytes it was read from."""

    protocol: str
    packet_id: str
    queue_tag: str
    sender: str
    recipient: str
    timestamp: str
    flags: tuple[str, ...]
    body: str
    raw: bytes

    @property
    def replaces_queue(self) -> bool:
        """Whether the sender's stored packets of this tag make room for this one (A2ACP-221)."""
        return REPLACE_QUEUE in self.flags


def visible_header(
    *,
    protocol: str,
    packet_id: str,
    queue_tag: str,
    sender: str,
    recipient: str,
    timestamp: str,
    flags: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The envelope's fields without its body: what sealing binds as associated data."""
    header: dict[str, Any] = {
        "protocol": protocol,
        "packet_id": packet_id,
        "queue_tag": queue_tag,
        "from": sender,
        "to": recipient,
        "timestamp": timestamp,
    }
    if flags:
        header["flags"] = sorted(flags)
    return header


def associated_data(header: dict[str, Any]) -> bytes:
    """The bytes of every visible field except the body, unknown ones included."""
    return canonical({key: value for key, value in header.items() if key != "body"})


def compose(header: dict[str, Any], body: str) -> bytes:
    """The canonical bytes of an envelope, ready to be signed."""
    raw = canonical({**header, "body": body})
    read(raw)
    return raw


def signed_bytes(raw: bytes) -> bytes:
    """What the sender signs and what relay and receiver verify: the envelope as received, with its label."""
    return SIGNATURE_LABEL + raw


def read(raw: bytes) -> Envelope:
    """The envelope in `raw`; `Refused` with `too_large`, `bad_envelope` or `bad_address`."""
    if len(raw) > MAX_BYTES:
        raise Refused(codes.TOO_LARGE, f"an envelope has at most {MAX_BYTES} bytes", row="A2ACP-044")
    usual = _usual(raw)
    if usual is not None:
        return usual
    found = _object(raw)
    if found is None:
        raise _bad("an envelope is one JSON object in canonical form")
    return _from_fields(found, raw)


def _object(raw: bytes) -> dict[str, Any] | None:
    """The canonical object in `raw`, unless it has so many members that reading it would be the attack.

    A body has no comma and no bracket, so the other fields alone are counted.
    """
    members = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    return canonical_object(raw) if members <= MOST_MEMBERS else None


def _usual(raw: bytes) -> Envelope | None:
    """The envelope in `raw` if it has the required fields alone, which one look at the bytes can tell.

    No letter that fits these patterns is ever escaped in JSON, so bytes that fit are canonical. Whatever does
    not fit goes the long way, which also finds the words for a refusal.
    """
    end = raw.find(b'"', 9)
    body = raw[9:end]
    if not raw.startswith(_BEFORE_BODY) or end - 9 not in buckets.TEXT_LENGTHS or not is_base64url(body):
        return None
    try:
        rest = _AFTER_BODY.fullmatch(raw[end:].decode("ascii"))
        if rest is None:
            return None
        sender, packet_id, protocol, queue_tag, timestamp, recipient = rest.groups()
        datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    address.parse(sender)
    address.parse(recipient)
    text = body.decode("ascii")
    return Envelope(protocol, packet_id, queue_tag, sender, recipient, timestamp, (), text, raw)


def _from_fields(found: dict[str, Any], raw: bytes) -> Envelope:
    for name in _REQUIRED:
        if not isinstance(found.get(name), str):
            raise _bad(f"{name} is missing or is no text")
    flags = _flags(found.get("flags", []))
    if not is_protocol(found["protocol"]):
        raise _bad("protocol has the form a2acp/<major>.<minor>")
    if _PACKET_ID.fullmatch(found["packet_id"]) is None:
        raise _bad("packet_id has the form pkt_ and 4 to 64 letters, digits, _ or -")
    if _QUEUE_TAG.fullmatch(found["queue_tag"]) is None:
        raise _bad("queue_tag has the form q_ and 22 base64url characters")
    if timestamp_of(found["timestamp"]) is None:
        raise _bad("timestamp is ISO 8601 in UTC with a trailing Z")
    body = found["body"]
    if len(body) not in buckets.TEXT_LENGTHS or _BODY.fullmatch(body) is None:
        raise _bad("body is base64url of one of the bucket sizes")
    address.parse(found["from"])
    address.parse(found["to"])
    return Envelope(
        protocol=found["protocol"],
        packet_id=found["packet_id"],
        queue_tag=found["queue_tag"],
        sender=found["from"],
        recipient=found["to"],
        timestamp=found["timestamp"],
        flags=flags,
        body=body,
        raw=raw,
    )


def _flags(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _bad("flags is a list of words")
    flags: list[str] = []
    for flag in cast("list[object]", value):
        if not isinstance(flag, str) or _FLAG.fullmatch(flag) is None:
            raise _bad("flags is a list of words")
        flags.append(flag)
    return tuple(flags)


def header_of(envelope: Envelope) -> dict[str, Any]:
    """Every visible field of a read envelope except the body, unknown ones included."""
    found = canonical_object(envelope.raw) or {}
    found.pop("body", None)
    return found


def timestamp_of(text: str) -> Moment | None:
    """The moment of an ISO 8601 UTC time with a trailing Z (A2ACP-028); None for anything else."""
    return parse_rfc3339(text) if _TIMESTAMP.fullmatch(text) else None


def _bad(message: str) -> Refused:
    return Refused(codes.BAD_ENVELOPE, message, row="A2ACP-244")


def packet_id_of(raw: bytes) -> str | None:
    """The packet id in bytes that may be no envelope, to name it in an error; None when there is none."""
    found = _object(raw) if len(raw) <= MAX_BYTES else None
    identifier = found.get("packet_id") if found else None
    fits = isinstance(identifier, str) and _PACKET_ID.fullmatch(identifier) is not None
    return cast("str", identifier) if fits else None
