"""Failure receipts: how a packet that could not be opened is asked for again, once, and what came of it.

A2ACP-213, A2ACP-215, A2ACP-226, A2ACP-243, A2ACP-259.

Theory of operation
-------------------

A packet may reach its recipient and not open there: the relay handed out a one-time key that was used up
already, the recipient began anew on another device, a session was set back. The recipient then says so, in
a *receipt*: a sealed and signed envelope like any other, which names the packet's id, the digest of the
envelope that failed, and nothing else. The sender takes what it said from its own history, seals it under a
fresh session and sends it again under the same id. What opened is told by a second receipt; what is given up,
by a third, from the sender. Both owners are told the end of it.

    recipient: cannot_open ->           ... -> opened
    sender:                  seals again               | given_up ->

Why nothing here can be used against either side:

- *No oracle.* Every failure behind the signature gives the same word and the same size; none is sent unless
  the envelope's signature holds under the sender's pinned key, so only the sender itself can ask.
- *Nothing to replay.* The digest makes a receipt the answer to one sealing: it counts while that is the
  packet's last one, and once. Each further try needs a receipt for the bytes of that try.
- *No doubling.* The packet keeps its id, and an id is taken once.
- *Bounded.* Few tries for each packet; few receipts for each sender and time, very few for strangers.
- *No loops.* A receipt is no packet: it is not sealed again, and whoever cannot open one says so in vain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, cast

from tacit.a2acp.packets.packet import MalformedPacket
from tacit.base.moment import SECOND
from tacit.base.strict_json import Malformed, canonical, parse
from tacit.wire.encoding import b64, unb64

CANNOT_OPEN: Final = "cannot_open"
OPENED: Final = "opened"
GIVEN_UP: Final = "given_up"
KINDS: Final = frozenset({CANNOT_OPEN, OPENED, GIVEN_UP})
DIGEST_BYTES: Final = 32
BODY_BYTES: Final = 1_024
"""The size of every receipt: that of a short message."""

MOST_TRIES: Final = 3
"""How often a packet is sealed again before it is given up."""
GIVEN_UP_AFTER: Final = 7 * 24 * 3600 * SECOND
"""How long a packet that was asked for may take to come."""
HOUR: Final = 3600 * SECOND
DAY: Final = 24 * HOUR
# A contact's whole share of a mailbox may have been sealed for a device that is no more.
OF_A_CONTACT: Final = 500
OF_A_STRANGER: Final = 3
OF_ALL_STRANGERS: Final = 30
# What was dropped is remembered as long as it could come again, but not more of it than this.
REMEMBERED_OF_A_CONTACT: Final = 2_000
REMEMBERED_OF_A_STRANGER: Final = 64
REMEMBERED_OF_STRANGERS: Final = 4_000

_PACKET_ID: Final = re.compile(r"pkt_[A-Za-z0-9_-]{4,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one side says of one envelope of the other's, or of its own that failed."""

    kind: str
    packet_id: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """How many receipts went out of late."""

    to_sender_this_hour: int
    to_sender_today: int
    to_strangers_today: int


def compose(receipt: Receipt) -> bytes:
    """The bytes to seal."""
    return canonical({"digest": b64(receipt.digest), "kind": receipt.kind, "packet_id": receipt.packet_id})


def read(raw: bytes) -> Receipt:
    """The receipt in `raw`, or `MalformedPacket`."""
    try:
        value = parse(raw)
    except Malformed as fault:
        raise MalformedPacket(str(fault)) from None
    if not isinstance(value, dict):
        raise MalformedPacket("a receipt is one JSON object")
    fields = cast("dict[str, Any]", value)
    kind, packet_id, digest = (fields.get(name) for name in ("kind", "packet_id", "digest"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise MalformedPacket("a receipt has one of three kinds")
    if not isinstance(packet_id, str) or _PACKET_ID.fullmatch(packet_id) is None:
        raise MalformedPacket("a receipt names a packet")
    found = unb64(digest) if isinstance(digest, str) else None
    if found is None or len(found) != DIGEST_BYTES:
        raise MalformedPacket("a receipt carries the digest of an envelope")
    return Receipt(kind, packet_id, found)


def may_tell(told: Told, *, welcome: bool) -> bool:
    """Whether one more receipt may go to a sender."""
    if welcome:
        return told.to_sender_this_hour < OF_A_CONTACT
    return told.to_sender_today < OF_A_STRANGER and told.to_strangers_today < OF_ALL_STRANGERS
