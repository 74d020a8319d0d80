"""Relay frames: JSON text with a `frame` key (A2ACP-006).

A frame that is not known is ignored, so that either side may be newer. A packet's envelope stays the bytes it
came in. Control frames never carry an agent's `from`: whatever a relay says of its own is visibly its own.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from tacit.base.errors import PeerFault
from tacit.wire.encoding import UNREADABLE

MAX_TEXT: Final = 524_288
"""A frame above this is not even read; an envelope above its own limit but below this gets `too_large`."""


GUEST_ANSWERED: Final = "guest_answered"
"""The notice that a guest's answer can be fetched; it is said to who is connected and kept for nobody."""


class ChallengeFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="challenge"):
    """Relay: prove who you are."""

    challenge: str
    relay: str
    supported_versions: list[str] = []


class AuthFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="auth"):
    """Agent: the signed challenge."""

    address: str
    challenge: str
    signature: str
    # Of which epoch this device's prekeys are, and whether it is only about to publish them.
    epoch: int = 0
    begins: bool = False


class AuthOkFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="auth_ok"):
    """Relay: you are connected; what waits follows in order."""

    address: str
    queued: int = 0
    heartbeat: int = 30
    one_time_prekeys: int = 0
    signed_prekey: int = 0
    # The furthest steps that this agent has signed, handed back; None from a relay that keeps none.
    steps: int | None = None
    steps_sig: str = ""
    prekey_epoch: int = 0
    one_time_ids: list[int] = []
    # What the relay's clock says, in microseconds; None from a relay that is in doubt, or says nothing of it.
    time: int | None = None


class StepsFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="steps"):
    """Agent: so many steps have my keys taken; keep it, signed, and hand it back at the next login."""

    steps: int
    sig: str


class PacketFrame(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="frame", tag="packet"):
    """Either way: an envelope as received, its signature, and the relay's delivery number."""

    envelope: msgspec.Raw
    sig: str
    delivery: int = 0


class AcceptedFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="accepted"):
    """Relay: these packets are on disk."""

    packet_ids: list[str]


class ReceivedFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="received"):
    """Agent: these deliveries are on my disk; forget them."""

    deliveries: list[int]


class ErrorFrame(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="frame", tag="error"):
    """Relay: this packet was neither routed nor queued."""

    code: str
    packet_id: str | None = None
    retry_after: int | None = None
    to: str | None = None


class QueueOverflowFrame(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="frame", tag="queue_overflow"
):
    """To the sender: refused, the queue is full. To the recipient: how many are missing."""

    queue_tag: str
    limit: int
    to: str | None = None
    packet_id: str | None = None
    refused: int = 0
    delivery: int = 0


class SupersededFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="superseded"):
    """Relay: a newer connection speaks for this address."""


class PrekeysFrame(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="frame", tag="prekeys"):
    """Agent: fresh public prekeys; `reset` after a restore, when the private halves of the old are gone."""

    signed: dict[str, Any] | None = None
    last_resort: dict[str, Any] | None = None
    one_time: list[dict[str, Any]] = []
    reset: bool = False
    epoch: int = 0


class PrekeysOkFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="prekeys_ok"):
    """Relay: how many one-time prekeys are left."""

    one_time: int


class ReportFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="report"):
    """Agent: this sender's packets were malformed or unwanted; a signed connection speaks (A2ACP-261)."""

    sender: str


class ContactsFrame(msgspec.Struct, frozen=True, tag_field="frame", tag="contacts"):
    """Agent: whom its owner has accepted and not yet written to, each as a tag (`records.contact_tag`)."""

    tags: list[str]


class NoticeFrame(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="frame", tag="notice"):
    """Relay: something about your account that you should know (A2ACP-019)."""

    kind: str
    at: str | None = None


Frame = (
    ChallengeFrame | AuthFrame | AuthOkFrame | PacketFrame | AcceptedFrame | ReceivedFrame | ErrorFrame
    | QueueOverflowFrame | SupersededFrame | PrekeysFrame | PrekeysOkFrame
    | ReportFrame | NoticeFrame | StepsFrame | ContactsFrame
)  # fmt: skip

_DECODER: Final = msgspec.json.Decoder(
    ChallengeFrame | AuthFrame | AuthOkFrame | PacketFrame | AcceptedFrame | ReceivedFrame | ErrorFrame
    | QueueOverflowFrame | SupersededFrame | PrekeysFrame | PrekeysOkFrame
    | ReportFrame | NoticeFrame | StepsFrame | ContactsFrame
)  # fmt: skip


class _FrameName(msgspec.Struct, frozen=True):
    """The name alone: what else a strange frame holds is skipped, not built."""

    frame: str


_NAMED: Final = msgspec.json.Decoder(_FrameName)
_ENCODER: Final = msgspec.json.Encoder()
KNOWN: Final = frozenset({
    "challenge", "auth", "auth_ok", "packet", "accepted", "received", "error", "queue_overflow", "superseded",
    "prekeys", "prekeys_ok", "report", "notice", "steps", "contacts",
})  # fmt: skip


def decode(text: str | bytes) -> Frame | None:
    """The frame in `text`; None for a frame of an unknown name; `PeerFault` for what is no frame."""
    try:
        return _DECODER.decode(text)
    except UNREADABLE:
        name = _name(text)
        if name is not None and name not in KNOWN:
            return None
        raise PeerFault("not a well-formed frame") from None


def _name(text: str | bytes) -> str | None:
    try:
        return _NAMED.decode(text).frame
    except UNREADABLE:
        return None


def encode(frame: Frame) -> bytes:
    """The frame's bytes."""
    return _ENCODER.encode(frame)


def packet_bytes(envelope: bytes, sig: str, delivery: int = 0) -> bytes:
    """A packet frame around an envelope's own bytes."""
    return (
        b'{"frame":"packet","envelope":'
        + envelope
        + f',"sig":"{sig}","delivery":{delivery}}}'.encode("ascii")
    )


def auth_bytes(*, relay: str, address: str, challenge: str) -> bytes:
    """What an agent signs to log in: bound to this relay, this address and this challenge (A2ACP-017)."""
    return f"a2acp-auth-v1\n{relay}\n{address}\n{challenge}".encode()


def steps_bytes(*, relay: str, address: str, steps: int) -> bytes:
    """What an agent signs to say how far its keys have come: bound to this relay and this address."""
    return f"a2acp-steps-v1\n{relay}\n{address}\n{steps}".encode()
