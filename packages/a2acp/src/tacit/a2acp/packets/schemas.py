"""What is made of the declared packet types: what we take, what we send, what we keep, and the value we read.

A2ACP-025, A2ACP-033, A2ACP-034, A2ACP-035, A2ACP-036, A2ACP-041, A2ACP-045, A2ACP-046, A2ACP-047, A2ACP-048,
A2ACP-049, A2ACP-050, A2ACP-051, A2ACP-052, A2ACP-053, A2ACP-054, A2ACP-055, A2ACP-056, A2ACP-057, A2ACP-058,
A2ACP-097, A2ACP-100, A2ACP-105, A2ACP-106, A2ACP-139, A2ACP-148, A2ACP-153, A2ACP-174, A2ACP-184,
A2ACP-201.

`check_in` drops what lacks something without which a type means nothing; a sixth need, an unknown word and a
strange block of permissions are no such thing. `check_out` lets nothing pass that is not in the table to the
letter. `normalised` is what of a received packet is looked at and kept, and `valued` the same
as a value of its type, which `tacit.a2acp.packets.bodies` declares. `tacit.a2acp.packets.published` makes
JSON Schemas of the same table. Knows nothing of threads or consent.

The `permissions` of a packet: which fields it carries, which it withholds, on what consent.

A2ACP-038, A2ACP-039, A2ACP-040.

Checked against the body that is really sent; the consent filter makes the block. Withheld are names alone,
never of a field that is carried after all. Received blocks are shown and believed in nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import msgspec

from tacit.a2acp.packets import bodies, shapes
from tacit.a2acp.packets import vocabulary as words
from tacit.a2acp.packets.declared import members_of
from tacit.a2acp.packets.formats import read_duration
from tacit.a2acp.packets.shapes import (
    Fields,
    MalformedPacket,
    NeededWith,
    OneOf,
    RecordMember,
    RecordShape,
    Text,
    Whole,
    cleaned,
    fault,
)
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.base.strict_json import JsonObject


CARRIERS: Final = ("context", "context_provided", "shared_context")
"""The members whose keys are fields of a person's."""
STRUCTURAL: Final = frozenset({"flexibility", "conflict", "proposed_alternatives"})
"""Keys there that speak of the negotiation and are no fields."""


def shared_fields(body: dict[str, Any]) -> tuple[str, ...]:
    """The names of the fields that a body carries, in its order (A2ACP-039)."""
    names: dict[str, None] = {}
    for carrier in CARRIERS:
        inside: object = body.get(carrier)
        if isinstance(inside, dict):
            names |= dict.fromkeys(cast("dict[str, object]", inside))
    return tuple(name for name in names if name not in STRUCTURAL)


def check(body: dict[str, Any]) -> None:
    """`Refused` unless a body that carries a person's fields says so, exactly."""
    shared, said = set(shared_fields(body)), body.get("permissions")
    if said is None:
        if shared:
            raise Refused("bad_packet", "permissions are missing beside what is shared", row="A2ACP-039")
        return
    if set(said["shared_fields"]) != shared:
        raise Refused("bad_packet", "shared_fields are not what the packet carries", row="A2ACP-039")
    if shared & set(said["withheld_fields"]):
        raise Refused("bad_packet", "a field is withheld and carried at once", row="A2ACP-040")


CONTEXT: Final[str] = bodies.ContextPacket.TYPE
CONTEXT_REQUEST: Final[str] = bodies.ContextRequest.TYPE
CONTEXT_RESPONSE: Final[str] = bodies.ContextResponse.TYPE
INTENT_UPDATE: Final[str] = bodies.IntentUpdate.TYPE
THREAD_FORK: Final[str] = bodies.ThreadFork.TYPE
RESOLUTION: Final[str] = bodies.Resolution.TYPE
RESOLUTION_RESPONSE: Final[str] = bodies.ResolutionResponse.TYPE
PROCESSING_ERROR: Final[str] = bodies.ProcessingError.TYPE
THREAD_STATUS: Final[str] = bodies.ThreadStatus.TYPE
COORDINATOR_TRANSFER: Final[str] = bodies.CoordinatorTransfer.TYPE
COORDINATOR_TRANSFER_RESPONSE: Final[str] = bodies.CoordinatorTransferResponse.TYPE
THREAD_SYNC: Final[str] = bodies.ThreadSync.TYPE
SPACE_INVITE: Final[str] = bodies.SpaceInvite.TYPE
SPACE_INVITE_RESPONSE: Final[str] = bodies.SpaceInviteResponse.TYPE
SPACE_UPDATE: Final[str] = bodies.SpaceUpdate.TYPE

MOST_NEEDS: Final = bodies.MOST_NEEDS
MOST_CHANGES: Final = bodies.MOST_CHANGES
DEFAULT_TIMEOUT: Final = "PT24H"
"""How long a proposal waits for its confirmations where that cannot be read (A2ACP-155)."""

HEADER: Final = RecordShape(
    (
        RecordMember("protocol", Text(form=shapes.PROTOCOL), row="A2ACP-026"),
        RecordMember("packet_id", Text(form=shapes.PACKET_ID), row="A2ACP-027"),
        RecordMember("thread_id", Text(form=shapes.THREAD_ID), row="A2ACP-027"),
        RecordMember("from", Text(form=shapes.ADDRESS), row="A2ACP-025"),
        RecordMember("to", Text(form=shapes.ADDRESS), row="A2ACP-025"),
        RecordMember("timestamp", Text(form=shapes.TIMESTAMP), row="A2ACP-028"),
        RecordMember("type", Text(blank=False), row="A2ACP-025"),
        RecordMember("seq", Whole(), needed=False, row="A2ACP-030"),
    ),
    open=True,
)
"""What stands at the head of every packet (A2ACP-025)."""

OPENING: Final = members_of(bodies.PacketOpening)
"""What may stand in a packet of any type."""
EVERYWHERE: Final = members_of(bodies.PacketBody)
"""What is looked at in whatever comes, of a known type or not."""


@dataclass(frozen=True, slots=True)
class PacketType:
    """The members of a type beyond the header, and the row that asks for them."""

    row: str
    members: tuple[RecordMember, ...]
    rules: tuple[OneOf | NeededWith, ...] = ()

    def record(self, *, sent: bool) -> RecordShape:
        """The whole of it as it may be sent, or as it may come."""
        own = {member.name for member in self.members}
        more = OPENING if sent else (*OPENING, *(each for each in EVERYWHERE if each.name not in own))
        return RecordShape((*self.members, *more), self.rules)


def _declared(kind: type[bodies.PacketBody]) -> PacketType:
    return PacketType(kind.ROW, members_of(kind), kind.RULES)


Kind = TypeVar("Kind", bound=bodies.PacketBody)
VALUES: Final[dict[str, type[bodies.PacketBody]]] = {kind.TYPE: kind for kind in bodies.KINDS}
"""The struct of each type."""
TYPES: Final[dict[str, PacketType]] = {name: _declared(kind) for name, kind in VALUES.items()}
"""Every type that this agent knows."""
SPACE_TYPES: Final = frozenset({SPACE_INVITE, SPACE_INVITE_RESPONSE, SPACE_UPDATE})
"""Packets of shared spaces; each on a thread that is the space's own between two members."""

UNKNOWN: Final = _declared(bodies.Unknown)
"""Any other: a `context` of which nothing is asked."""

_RECEIVED: Final = {name: kind.record(sent=False) for name, kind in TYPES.items()}
_SENT: Final = {name: kind.record(sent=True) for name, kind in TYPES.items()}
_UNKNOWN_RECEIVED: Final = UNKNOWN.record(sent=False)


def check_header(fields: Fields) -> None:
    """Take a packet's header, or raise `MalformedPacket` (A2ACP-025)."""
    found = fault(HEADER, fields, sent=False)
    if found is not None:
        raise MalformedPacket(found.text)


def check_in(packet_type: str, fields: Fields) -> None:
    """Take a packet's fields, or raise `MalformedPacket`; header and size are checked elsewhere."""
    found = fault(_RECEIVED.get(packet_type, _UNKNOWN_RECEIVED), fields, sent=False)
    if found is not None:
        raise MalformedPacket(found.text)
    if packet_type == COORDINATOR_TRANSFER and fields["from_coordinator"] != fields.get("from"):
        raise MalformedPacket("only the coordinator hands its role on")


def check_out(packet_type: str, body: Fields) -> None:
    """Let a body pass that is to be sent, without its header; or `Refused` with `bad_packet`."""
    record = _SENT.get(packet_type)
    if record is None:
        raise Refused("bad_packet", "this agent sends no packet of that type", row="A2ACP-057")
    found = fault(record, body, sent=True)
    if found is not None:
        raise Refused("bad_packet", found.text, row=found.row or TYPES[packet_type].row)
    check(body)


def known_type(packet_type: str) -> str:
    """The type as which a packet is processed: what nobody knows is a `context` (A2ACP-058)."""
    return packet_type if packet_type in TYPES else CONTEXT


def normalised(packet_type: str, fields: Fields) -> Fields:
    """A received packet as it is looked at and stored, of fields that `check_in` took.

    Its words are read, `actual_reason` and every `hint` erased, nulls and misshapen blocks left out, and what
    a `context` lacks filled in. Everything else is as it came.
    """
    record = _RECEIVED.get(packet_type, _UNKNOWN_RECEIVED)
    found = cast("dict[str, Any]", cleaned(record, fields))
    if known_type(packet_type) == CONTEXT:
        found.setdefault("context", {})
    if packet_type not in TYPES:
        found.setdefault("intent", {"category": "", "summary": "", "urgency": "normal"})
        if "type" in found:
            found["type"] = CONTEXT
    elif packet_type == RESOLUTION and read_duration(found["confirmation_timeout"]) is None:
        found["confirmation_timeout"] = DEFAULT_TIMEOUT
    elif packet_type == RESOLUTION_RESPONSE:
        if found["status"] == words.COUNTER:
            found.setdefault("change_request", {"field": "", "suggestion": None})
        if found["status"] == words.DECLINED:
            found.setdefault("reason_class", words.USER_DECLINED)
    return found


def valued(packet_type: str, fields: JsonObject) -> bodies.PacketBody:
    """A packet as a value of its type, of fields that are `normalised` or that `check_out` has let pass."""
    return valued_as(VALUES.get(packet_type, bodies.ContextPacket), fields)


def valued_as(kind: type[Kind], fields: JsonObject) -> Kind:
    """The same, of a type that the caller knows."""
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError:
        raise MalformedPacket("the packet is none of its type") from None


def written(body: bodies.PacketBody) -> JsonObject:
    """A value as the body that is sent."""
    found: JsonObject = msgspec.json.decode(msgspec.json.encode(body))
    return found
