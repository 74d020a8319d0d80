"""The packet types as one table, and the three things made from it: what we take, what we send, what we keep.

A2ACP-025, A2ACP-033, A2ACP-034, A2ACP-035, A2ACP-036, A2ACP-041, A2ACP-045, A2ACP-046, A2ACP-047, A2ACP-048,
A2ACP-049, A2ACP-050, A2ACP-051, A2ACP-052, A2ACP-053, A2ACP-054, A2ACP-055, A2ACP-056, A2ACP-057, A2ACP-058,
A2ACP-097, A2ACP-100, A2ACP-105, A2ACP-106, A2ACP-139, A2ACP-148, A2ACP-153, A2ACP-174, A2ACP-184,
A2ACP-201.

`check_in` drops what lacks something without which a type means nothing; a sixth need, an unknown word and a
strange block of permissions are no such thing. `check_out` lets nothing pass that is not in the table to the
letter. `normalised` is what of a received packet is looked at and kept. `tacit.a2acp.packets.published` makes
JSON Schemas of the same table. Knows nothing of threads or consent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from tacit.a2acp.packets import forms, permissions
from tacit.a2acp.packets import vocabulary as words
from tacit.a2acp.packets.formats import FORMAT_HINTS, HINTS_FIELD, read_duration
from tacit.a2acp.packets.shapes import (
    Anything,
    Erased,
    Fields,
    Flag,
    ListOf,
    MalformedPacket,
    MapOf,
    Member,
    OneOf,
    Record,
    Text,
    When,
    Whole,
    Word,
    cleaned,
    fault,
)
from tacit.base.errors import Refused

CONTEXT: Final = "context"
CONTEXT_REQUEST: Final = "context_request"
CONTEXT_RESPONSE: Final = "context_response"
INTENT_UPDATE: Final = "intent_update"
THREAD_FORK: Final = "thread_fork"
RESOLUTION: Final = "resolution"
RESOLUTION_RESPONSE: Final = "resolution_response"
PROCESSING_ERROR: Final = "processing_error"
THREAD_STATUS: Final = "thread_status"
COORDINATOR_TRANSFER: Final = "coordinator_transfer"
COORDINATOR_TRANSFER_RESPONSE: Final = "coordinator_transfer_response"
THREAD_SYNC: Final = "thread_sync"
SPACE_INVITE: Final = "space_invite"
SPACE_INVITE_RESPONSE: Final = "space_invite_response"
SPACE_UPDATE: Final = "space_update"

MOST_NEEDS: Final = 5
MOST_CHANGES: Final = 100
"""Of a space's fields in one packet."""
DEFAULT_TIMEOUT: Final = "PT24H"
"""How long a proposal waits for its confirmations where that cannot be read (A2ACP-155)."""

HEADER: Final = Record(
    (
        Member("protocol", Text(form=forms.PROTOCOL), row="A2ACP-026"),
        Member("packet_id", Text(form=forms.PACKET_ID), row="A2ACP-027"),
        Member("thread_id", Text(form=forms.THREAD_ID), row="A2ACP-027"),
        Member("from", Text(form=forms.ADDRESS), row="A2ACP-025"),
        Member("to", Text(form=forms.ADDRESS), row="A2ACP-025"),
        Member("timestamp", Text(form=forms.TIMESTAMP), row="A2ACP-028"),
        Member("type", Text(blank=False), row="A2ACP-025"),
        Member("seq", Whole(), needed=False, row="A2ACP-030"),
    ),
    open=True,
)
"""What stands at the head of every packet (A2ACP-025)."""

_FREE: Final = MapOf(Anything())
_NAME: Final = Text(blank=False)
_NEED: Final = Record(
    (
        Member("field", _NAME),
        Member("reason", _NAME),
        Member(
            "priority",
            Word(words.PRIORITIES, words.priority, filled=True),
            needed=False,
            sent=True,
            row="A2ACP-036",
        ),
    )
)
_URGENCY: Final = Word(words.URGENCIES, words.urgency, filled=True)
_INTENT: Final = Record(
    (
        Member("category", Text()),
        Member("summary", Text()),
        Member("urgency", _URGENCY, needed=False, sent=True),
    )
)
_SHORT_INTENT: Final = Record(
    (Member("category", Text()), Member("summary", Text()), Member("urgency", _URGENCY, needed=False))
)
_UPDATED_INTENT: Final = Record(
    (
        Member("category", Text()),
        Member("summary", Text()),
        Member("scope_change", Word(words.SCOPE_CHANGES, words.scope_change)),
        Member("urgency", Word(words.URGENCIES, words.urgency), needed=False),
    )
)
_CONFLICT: Final = Record(
    (
        Member("type", Word(words.CONFLICT_TYPES)),
        Member("field", _NAME),
        Member("agent_a_values", ListOf(Anything())),
        Member("agent_b_values", ListOf(Anything())),
        Member("attempted_resolution", Text()),
    ),
    open=True,
)
_CONTEXT_SENT: Final = Record(
    (
        Member("flexibility", MapOf(Word(words.FLEXIBILITIES)), needed=False, row="A2ACP-041"),
        Member("conflict", _CONFLICT, needed=False, row="A2ACP-097"),
        Member(
            "proposed_alternatives",
            ListOf(Record((Member("option", _NAME), Member("rationale", Text())), open=True)),
            needed=False,
            row="A2ACP-097",
        ),
    ),
    open=True,
)
_ESCALATION: Final = Record(
    (
        Member("recommend", Word((words.SURFACE_TO_USERS,))),
        Member("reason", Text(), needed=False, sent=True),
        Member("suggested_prompt", Text(), needed=False, sent=True),
    )
)
_UNAVAILABLE: Final = Record(
    (
        Member("field", _NAME),
        Member("status", Word(words.UNAVAILABLE_STATUSES, words.unavailable_status)),
        Member("hint", Erased(), needed=False, sent=True, row="A2ACP-139"),
    )
)
_ACTION: Final = Record(
    (
        Member("action", _NAME),
        Member("requires_user_approval", Flag()),
        Member("reversible", Flag()),
        Member("service", Text(), needed=False),
        Member("executor", Text(sent_form=forms.EXECUTOR), needed=False),
        Member("action_id", Text(), needed=False),
    )
)
_ALTERNATIVE: Final = Record(
    (
        Member("summary", _NAME),
        Member("reason", Text(), needed=False, sent=True),
        Member("details", _FREE, needed=False),
    )
)
_PROPOSAL: Final = Record(
    (
        Member("summary", _NAME),
        Member("details", _FREE),
        Member("alternatives", ListOf(_ALTERNATIVE), needed=False),
        Member("reasoning", Text(), needed=False),
    )
)
_RESULT: Final = Record(
    (
        Member("action_id", Text()),
        Member("action", Text()),
        Member("status", Word(words.ACTION_STATUSES, words.action_status)),
        Member("executor", Text(sent_form=forms.ADDRESS), needed=False, advisory=True, row="A2ACP-166"),
        Member("reason", Text(sent_form=forms.CODE_WORD), needed=False),
    )
)
_PERMISSIONS: Final = Record(
    (
        Member("shared_fields", ListOf(_NAME, unique=True)),
        Member("withheld_fields", ListOf(_NAME, unique=True)),
        Member("consent_level", Word(words.CONSENT_LEVELS)),
        Member("onward_fields", ListOf(_NAME, unique=True), needed=False, row="A2ACP-181"),
    )
)
_CAPABILITIES: Final = Record(
    (
        Member("supported_versions", ListOf(_NAME, sent_least=1)),
        Member("features", ListOf(_NAME)),
        Member("max_context_size_bytes", Whole(1)),
        Member("supported_encryption", ListOf(_NAME, sent_least=1)),
    )
)

_needs: Final = Member("needs", ListOf(_NEED, most=MOST_NEEDS), needed=False, row="A2ACP-035")
_context: Final = Member("context", _FREE, needed=False, sent_shape=_CONTEXT_SENT, row="A2ACP-034")
_provided: Final = Member("context_provided", _FREE, needed=False, sent_shape=_CONTEXT_SENT)
_reason: Final = Member("reason", Text(), needed=False)
_confirmation: Final = Member(
    "confirmation",
    Record(
        (
            Member("mode", Text()),
            Member("quorum", Whole(1), needed=False),
            Member("order", ListOf(Text(form=forms.ADDRESS), unique=True), needed=False),
        )
    ),
    needed=False,
    advisory=True,
    row="A2ACP-153",
)
_signatures: Final = Member(
    "participants_signatures",
    ListOf(Record((Member("agent", Text(form=forms.ADDRESS)), Member("signature", Text())))),
    needed=False,
    advisory=True,
    row="A2ACP-174",
)
_in_reply_to: Final = Member("in_reply_to", Text(form=forms.PACKET_ID), needed=False, sent=True)

OPENING: Final = (
    Member("permissions", _PERMISSIONS, needed=False, advisory=True, row="A2ACP-038"),
    Member("capabilities", _CAPABILITIES, needed=False, advisory=True, row="A2ACP-235"),
    Member(
        HINTS_FIELD,
        Record(tuple(Member(name, Text()) for name in FORMAT_HINTS)),
        needed=False,
        advisory=True,
        row="A2ACP-073",
    ),
    Member("fanout_id", Text(form=forms.FANOUT_ID), needed=False, advisory=True, row="A2ACP-174"),
    Member("participants", ListOf(Text()), needed=False, advisory=True, row="A2ACP-174"),
    Member("participants_digest", Text(), needed=False, advisory=True, row="A2ACP-174"),
    Member("participants_signature", Text(), needed=False, advisory=True, row="A2ACP-174"),
)
"""What may stand in a packet of any type."""
EVERYWHERE: Final = (
    _needs,
    _context,
    Member("context_unavailable", ListOf(_UNAVAILABLE), needed=False, advisory=True),
    Member("actual_reason", Erased(), needed=False),
)
"""What is looked at in whatever comes, of a known type or not."""


@dataclass(frozen=True, slots=True)
class PacketType:
    """The members of a type beyond the header, and the row that asks for them."""

    row: str
    members: tuple[Member, ...]
    rules: tuple[OneOf | When, ...] = ()

    def record(self, *, sent: bool) -> Record:
        """The whole of it as it may be sent, or as it may come."""
        own = {member.name for member in self.members}
        more = OPENING if sent else (*OPENING, *(each for each in EVERYWHERE if each.name not in own))
        return Record((*self.members, *more), self.rules)


_CONTEXT_TYPE: Final = PacketType(
    "A2ACP-045",
    (
        Member("intent", _INTENT),
        Member("context", _FREE, needed=False, sent=True, sent_shape=_CONTEXT_SENT),
        _needs,
        Member("escalation", _ESCALATION, needed=False, row="A2ACP-100"),
        Member("aggregated_context", _FREE, needed=False),
        Member("coordinator_recommendation", Text(), needed=False),
        _reason,
    ),
    # The draft's coordinator sends what it gathered in place of a context.
    (OneOf(("context", "aggregated_context"), row="A2ACP-045"),),
)
_RESOLUTION_TYPE: Final = PacketType(
    "A2ACP-050",
    (
        Member("proposal", _PROPOSAL),
        Member("requires_confirmation_from", ListOf(Text(form=forms.ADDRESS), least=1, unique=True)),
        Member("confirmation_timeout", Text(sent_form=forms.DURATION)),
        Member("on_timeout", Word(words.ON_TIMEOUTS, words.on_timeout)),
        Member("actions_on_confirm", ListOf(_ACTION), needed=False, row="A2ACP-051"),
        _confirmation,
        _signatures,
    ),
)
_TRANSFER_TYPE: Final = PacketType(
    "A2ACP-055",
    (
        Member("from_coordinator", Text(form=forms.ADDRESS)),
        Member("to_coordinator", Text(form=forms.ADDRESS)),
        Member("reason", Text()),
        Member("requires_acceptance", Flag()),
        Member("aggregated_context", _FREE, needed=False),
        _confirmation,
    ),
)
_ANSWER_TYPE: Final = PacketType(
    "A2ACP-052",
    (
        Member("status", Word(words.RESOLUTION_STATUSES, words.resolution_status)),
        Member("in_reply_to", Text(form=forms.PACKET_ID), needed=False, sent=True, row="A2ACP-053"),
        Member("selected_alternative", Whole(), needed=False, row="A2ACP-053"),
        Member(
            "change_request",
            Record((Member("field", Text()), Member("suggestion", Anything()))),
            needed=False,
            row="A2ACP-053",
        ),
        Member("reason_class", Word(words.REASON_CLASSES, words.reason_class), needed=False),
        Member("message_to_other_agent", Text(), needed=False),
        Member("actual_reason", Erased(), needed=False, row="A2ACP-148"),
    ),
    (
        # Which proposal was declined hardly matters; what was agreed to must be certain.
        When("status", words.CONFIRMED, ("in_reply_to",), row="A2ACP-053"),
        When("status", words.COUNTER, ("change_request",), row="A2ACP-053"),
        When("status", words.DECLINED, ("reason_class",), sent=True, row="A2ACP-052"),
    ),
)
_FORK_TYPE: Final = PacketType(
    "A2ACP-049",
    (
        Member("parent_thread_id", Text(form=forms.THREAD_ID)),
        Member(
            "new_threads",
            ListOf(
                Record((Member("thread_id", Text(form=forms.THREAD_ID)), Member("intent", _SHORT_INTENT))),
                least=1,
                sent_least=2,
                most=5,
                unique=True,
            ),
        ),
        Member("shared_context", _FREE, needed=False, sent_shape=_CONTEXT_SENT),
    ),
)

_SPACE_ID: Final = Member("space_id", Text(form=forms.SPACE_ID))
_CHANGE: Final = Record(
    (
        Member("field", _NAME),
        Member("value", Anything(), needed=False),
        Member("deleted", Flag(), needed=False),
        Member("v", Whole(1)),
        Member("at", Text(form=forms.TIMESTAMP)),
        Member("mark", Text(), needed=False),
        Member("since", Text(form=forms.TIMESTAMP), needed=False),
    )
)
_VERSION: Final = Record(
    (Member("v", Whole(1)), Member("at", Text(form=forms.TIMESTAMP)), Member("by", Text(form=forms.ADDRESS)))
)
_LEVEL: Final = Word(words.WRITE_LEVELS, exact=True)
_SPACE_MEMBER: Final = Record(
    (Member("level", _LEVEL), Member("v", Whole(1)), Member("status", Word(words.MEMBER_STATES, exact=True)))
)
SPACE_TYPES: Final[dict[str, PacketType]] = {
    SPACE_INVITE: PacketType(
        "A2ACP-201",
        (
            Member(
                "space",
                Record(
                    (
                        _SPACE_ID,
                        Member("title", Text()),
                        Member("creator", Text(form=forms.ADDRESS)),
                        Member("participants", ListOf(Text(form=forms.ADDRESS), least=1, unique=True)),
                        Member("created", Text(form=forms.TIMESTAMP)),
                        Member("version", Whole(), needed=False),
                        Member("last_modified_by", Text(form=forms.ADDRESS), needed=False),
                        Member("conflict_resolution", Word((words.LAST_WRITE_WINS,), exact=True)),
                    )
                ),
                row="A2ACP-197",
            ),
            Member("write_level", _LEVEL, row="A2ACP-202"),
        ),
    ),
    SPACE_INVITE_RESPONSE: PacketType("A2ACP-201", (_SPACE_ID, Member("accepted", Flag()))),
    SPACE_UPDATE: PacketType(
        "A2ACP-201",
        (
            _SPACE_ID,
            Member("changes", ListOf(_CHANGE, most=MOST_CHANGES)),
            Member("members", MapOf(_SPACE_MEMBER), needed=False, row="A2ACP-203"),
            Member("field_versions", MapOf(_VERSION), needed=False, row="A2ACP-200"),
            Member("answer", Flag(), needed=False),
            Member("wanted", ListOf(Text()), needed=False),
            Member("returned", ListOf(_CHANGE, most=MOST_CHANGES), needed=False),
            Member("left", Flag(), needed=False),
        ),
    ),
}
"""Packets of shared spaces; each on a thread that is the space's own between two members."""

TYPES: Final[dict[str, PacketType]] = {
    CONTEXT: _CONTEXT_TYPE,
    CONTEXT_REQUEST: PacketType(
        "A2ACP-046",
        (
            Member("needs", ListOf(_NEED, least=1, most=MOST_NEEDS)),
            _provided,
            Member("intent", _INTENT, needed=False, advisory=True),
        ),
    ),
    CONTEXT_RESPONSE: PacketType(
        "A2ACP-047",
        (_provided, Member("context_unavailable", ListOf(_UNAVAILABLE), needed=False)),
        (OneOf(("context_provided", "context_unavailable"), row="A2ACP-047"),),
    ),
    INTENT_UPDATE: PacketType(
        "A2ACP-048",
        (
            Member("previous_intent", _SHORT_INTENT),
            Member("updated_intent", _UPDATED_INTENT),
            Member("reason", Text()),
            Member("additional_context_needed", ListOf(_NEED, most=MOST_NEEDS), needed=False),
        ),
    ),
    THREAD_FORK: _FORK_TYPE,
    RESOLUTION: _RESOLUTION_TYPE,
    RESOLUTION_RESPONSE: _ANSWER_TYPE,
    PROCESSING_ERROR: PacketType(
        "A2ACP-056",
        (
            Member("code", Word(words.ERROR_CODES, exact=True)),
            _in_reply_to,
            Member("retry_expected", Flag(), needed=False, sent=True),
        ),
    ),
    THREAD_STATUS: PacketType(
        "A2ACP-057",
        (
            Member("state", Word(words.THREAD_STATES, words.thread_state)),
            Member("closed_reason", Text(sent_form=forms.CODE_WORD), needed=False),
            Member("action_results", ListOf(_RESULT), needed=False),
        ),
    ),
    COORDINATOR_TRANSFER: _TRANSFER_TYPE,
    COORDINATOR_TRANSFER_RESPONSE: PacketType(
        "A2ACP-184", (Member("in_reply_to", Text(form=forms.PACKET_ID)), Member("accepted", Flag()), _reason)
    ),
    **SPACE_TYPES,
    THREAD_SYNC: PacketType(
        "A2ACP-057",
        (
            Member("state", Text()),
            Member("sent_ids", ListOf(Text(sent_form=forms.PACKET_ID))),
            Member("received_ids", ListOf(Text(sent_form=forms.PACKET_ID))),
            Member("answer", Flag(), needed=False),
        ),
    ),
}
"""Every type that this agent knows."""

UNKNOWN: Final = PacketType("A2ACP-058", (Member("intent", _INTENT, needed=False, advisory=True),))
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
    permissions.check(body)


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
