"""The packet types as values: each declared once, as the struct that handlers read and write.

A2ACP-033, A2ACP-034, A2ACP-035, A2ACP-036, A2ACP-041, A2ACP-045, A2ACP-046, A2ACP-047, A2ACP-048, A2ACP-049,
A2ACP-050, A2ACP-051, A2ACP-052, A2ACP-053, A2ACP-054, A2ACP-055, A2ACP-056, A2ACP-057, A2ACP-097, A2ACP-100,
A2ACP-105, A2ACP-106, A2ACP-139, A2ACP-148, A2ACP-153, A2ACP-174, A2ACP-184, A2ACP-201.

A struct says what of a packet this agent knows; members that it does not name are left where they came, in
the packet's JSON. `tacit.a2acp.packets.schemas` makes of the same structs what is taken, what is sent and
what is kept. `JsonObject` stands where the protocol says any JSON. A member that is absent by default is not
written, and a word that is read into each packet has no default.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from tacit.a2acp.packets import shapes
from tacit.a2acp.packets import vocabulary as words
from tacit.a2acp.packets.declared import Asks, Many
from tacit.a2acp.packets.formats import FORMAT_HINTS, HINTS_FIELD
from tacit.a2acp.packets.shapes import (
    Anything,
    ListOf,
    MapOf,
    NeededWith,
    OneOf,
    RecordMember,
    RecordShape,
    Text,
    Whole,
    Word,
)
from tacit.base.strict_json import Json, JsonObject

MOST_NEEDS: Final = 5
MOST_CHANGES: Final = 100
"""Of a space's fields in one packet."""

Name: TypeAlias = Annotated[str, Text(blank=False)]
Address: TypeAlias = Annotated[str, Text(form=shapes.ADDRESS)]
Addresses: TypeAlias = Annotated[tuple[Address, ...], Many(unique=True)]
Names: TypeAlias = Annotated[tuple[Name, ...], Many(unique=True)]
PacketId: TypeAlias = Annotated[str, Text(form=shapes.PACKET_ID)]
ThreadId: TypeAlias = Annotated[str, Text(form=shapes.THREAD_ID)]
SpaceId: TypeAlias = Annotated[str, Text(form=shapes.SPACE_ID)]
Timestamp: TypeAlias = Annotated[str, Text(form=shapes.TIMESTAMP)]
CodeWord: TypeAlias = Annotated[str, Text(sent_form=shapes.CODE_WORD)]
Urgency: TypeAlias = Annotated[str, Word(words.URGENCIES, words.urgency, filled=True)]
Positive: TypeAlias = Annotated[int, Whole(1)]
Erased: TypeAlias = UnsetType | None
"""Null in what we write; never read."""


# The parts of packets.


class PacketPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a packet's body."""


class PacketNeed(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """A field that is asked for, and why (A2ACP-035)."""

    field: Name
    reason: Name
    priority: Annotated[
        str, Word(words.PRIORITIES, words.priority, filled=True), Asks("A2ACP-036", sent=True)
    ]


class PacketIntent(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What a thread is about."""

    category: str
    summary: str
    urgency: Annotated[Urgency, Asks(sent=True)]


class ShortIntent(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What a thread was or will be about; its urgency may be left out."""

    category: str
    summary: str
    urgency: Urgency | None = None


class UpdatedIntent(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What a thread is about from now on."""

    category: str
    summary: str
    scope_change: Annotated[str, Word(words.SCOPE_CHANGES, words.scope_change)]
    urgency: Annotated[str, Word(words.URGENCIES, words.urgency)] | None = None


class Escalation(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """The wish that people decide."""

    recommend: Annotated[str, Word((words.SURFACE_TO_USERS,))]
    reason: Annotated[str, Asks(sent=True)] | None = None
    suggested_prompt: Annotated[str, Asks(sent=True)] | None = None


class UnavailableField(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """A field that is not given."""

    field: Name
    status: Annotated[str, Word(words.UNAVAILABLE_STATUSES, words.unavailable_status)]
    hint: Annotated[Erased, Asks("A2ACP-139", sent=True)] = UNSET


class PacketAction(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be done once all have confirmed."""

    action: Name
    requires_user_approval: bool
    reversible: bool
    service: str | None = None
    executor: Annotated[str, Text(sent_form=shapes.EXECUTOR)] | None = None
    action_id: str | None = None


class PacketAlternative(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What could be instead of what is proposed."""

    summary: Name
    reason: Annotated[str, Asks(sent=True)] | None = None
    details: JsonObject | None = None


class PacketProposal(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What is proposed."""

    summary: Name
    details: JsonObject
    alternatives: tuple[PacketAlternative, ...] | None = None
    reasoning: str | None = None


class ActionResult(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What became of an action."""

    action_id: str
    action: str
    status: Annotated[str, Word(words.ACTION_STATUSES, words.action_status)]
    executor: Annotated[str, Text(sent_form=shapes.ADDRESS), Asks("A2ACP-166", advisory=True)] | None = None
    reason: CodeWord | None = None


class PacketPermissions(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """Which fields a packet carries and withholds, and on what consent."""

    shared_fields: Names
    withheld_fields: Names
    consent_level: Annotated[str, Word(words.CONSENT_LEVELS)]
    onward_fields: Annotated[Names, Asks("A2ACP-181")] | None = None


class PacketCapabilities(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent can do (A2ACP-235)."""

    supported_versions: Annotated[tuple[Name, ...], Many(sent_least=1)]
    features: tuple[Name, ...]
    max_context_size_bytes: Positive
    supported_encryption: Annotated[tuple[Name, ...], Many(sent_least=1)]


class PacketConfirmation(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """How a group confirms (A2ACP-153)."""

    mode: str
    quorum: Positive | None = None
    order: Addresses | None = None


class Signature(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """One participant's signature below the list of all."""

    agent: Address
    signature: str


class ChangeRequest(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What should be otherwise in a proposal."""

    field: str
    suggestion: Annotated[Json, Asks(needed=True)] | UnsetType = UNSET
    """Null in what we send where nothing is suggested, and then absent from what is read."""

    @property
    def wish(self) -> Json:
        """What is suggested; None where nothing is."""
        return None if self.suggestion is UNSET else self.suggestion


class ForkChild(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """A thread into which another is split."""

    thread_id: ThreadId
    intent: ShortIntent


class SpaceChange(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """A field of a space as it was written or deleted."""

    field: Name
    value: Json | UnsetType = UNSET
    deleted: bool | None = None
    v: Positive
    at: Timestamp
    mark: str | None = None
    since: Timestamp | None = None


class PacketFieldVersion(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """Which writing of a space's field somebody has."""

    v: Positive
    at: Timestamp
    by: Address


Level: TypeAlias = Annotated[str, Word(words.WRITE_LEVELS, exact=True)]


class PacketSpaceMember(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """What a member of a space may write, and whether it is there."""

    level: Level
    v: Positive
    status: Annotated[str, Word(words.MEMBER_STATES, exact=True)]


class PacketSpace(PacketPart, frozen=True, kw_only=True, omit_defaults=True):
    """A space as it is offered."""

    space_id: SpaceId
    title: str
    creator: Address
    participants: Annotated[Addresses, Many(least=1, unique=True)]
    created: Timestamp
    version: int | None = None
    last_modified_by: Address | None = None
    conflict_resolution: Annotated[str, Word((words.LAST_WRITE_WINS,), exact=True)]


CONTEXT_SENT: Final = RecordShape(
    (
        RecordMember("flexibility", MapOf(Word(words.FLEXIBILITIES)), needed=False, row="A2ACP-041"),
        RecordMember(
            "conflict",
            RecordShape(
                (
                    RecordMember("type", Word(words.CONFLICT_TYPES)),
                    RecordMember("field", Text(blank=False)),
                    RecordMember("agent_a_values", ListOf(Anything())),
                    RecordMember("agent_b_values", ListOf(Anything())),
                    RecordMember("attempted_resolution", Text()),
                ),
                open=True,
            ),
            needed=False,
            row="A2ACP-097",
        ),
        RecordMember(
            "proposed_alternatives",
            ListOf(
                RecordShape(
                    (RecordMember("option", Text(blank=False)), RecordMember("rationale", Text())), open=True
                )
            ),
            needed=False,
            row="A2ACP-097",
        ),
    ),
    open=True,
)
"""What we write of the negotiation among a person's fields, which are any JSON."""

SentContext: TypeAlias = Annotated[JsonObject, Asks(sent_shape=CONTEXT_SENT)]
FormatHints: TypeAlias = Annotated[
    JsonObject, RecordShape(tuple(RecordMember(name, Text()) for name in FORMAT_HINTS))
]
Needs: TypeAlias = Annotated[tuple[PacketNeed, ...], Many(most=MOST_NEEDS)]


# The packet types.


class Dated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a handler reads of a packet's header."""

    timestamp: str = ""
    """When it was written, by its own word; empty in what we write."""


class PacketOpening(Dated, frozen=True, kw_only=True, omit_defaults=True):
    """What may stand in a packet of any type."""

    permissions: Annotated[PacketPermissions, Asks("A2ACP-038", advisory=True)] | None = None
    capabilities: Annotated[PacketCapabilities, Asks("A2ACP-235", advisory=True)] | None = None
    format_hints: Annotated[FormatHints, Asks("A2ACP-073", advisory=True)] | None = msgspec.field(
        default=None, name=HINTS_FIELD
    )
    fanout_id: Annotated[str, Text(form=shapes.FANOUT_ID), Asks("A2ACP-174", advisory=True)] | None = None
    participants: Annotated[tuple[str, ...], Asks("A2ACP-174", advisory=True)] | None = None
    participants_digest: Annotated[str, Asks("A2ACP-174", advisory=True)] | None = None
    participants_signature: Annotated[str, Asks("A2ACP-174", advisory=True)] | None = None


class PacketBody(PacketOpening, frozen=True, kw_only=True, omit_defaults=True):
    """A packet without its header: what is looked at in whatever comes, of a known type or not."""

    TYPE: ClassVar[str] = ""
    ROW: ClassVar[str] = ""
    RULES: ClassVar[tuple[OneOf | NeededWith, ...]] = ()

    needs: Annotated[Needs, Asks("A2ACP-035")] | None = None
    context: Annotated[JsonObject, Asks("A2ACP-034", sent_shape=CONTEXT_SENT)] | None = None
    context_unavailable: Annotated[tuple[UnavailableField, ...], Asks(advisory=True)] | None = None
    actual_reason: Erased = UNSET


class ContextPacket(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """What a thread is about, what is told and what is asked."""

    TYPE: ClassVar = "context"
    ROW: ClassVar = "A2ACP-045"
    # The draft's coordinator sends what it gathered in place of a context.
    RULES: ClassVar = (OneOf(("context", "aggregated_context"), row="A2ACP-045"),)

    intent: PacketIntent
    context: Annotated[JsonObject, Asks(sent=True, sent_shape=CONTEXT_SENT)] | None = None
    needs: Annotated[Needs, Asks("A2ACP-035")] | None = None
    escalation: Annotated[Escalation, Asks("A2ACP-100")] | None = None
    aggregated_context: JsonObject | None = None
    coordinator_recommendation: str | None = None
    reason: str | None = None


class ContextRequest(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """Fields that are asked for."""

    TYPE: ClassVar = "context_request"
    ROW: ClassVar = "A2ACP-046"

    # Needed here, where every other packet may leave it out.
    needs: Annotated[tuple[PacketNeed, ...], Many(least=1, most=MOST_NEEDS)]  # pyright: ignore[reportGeneralTypeIssues]
    context_provided: SentContext | None = None
    intent: Annotated[PacketIntent, Asks(advisory=True)] | None = None


class ContextResponse(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """Fields that were asked for, given or not."""

    TYPE: ClassVar = "context_response"
    ROW: ClassVar = "A2ACP-047"
    RULES: ClassVar = (OneOf(("context_provided", "context_unavailable"), row="A2ACP-047"),)

    context_provided: SentContext | None = None
    context_unavailable: tuple[UnavailableField, ...] | None = None


class IntentUpdate(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """The thread is about something else from now on."""

    TYPE: ClassVar = "intent_update"
    ROW: ClassVar = "A2ACP-048"

    previous_intent: ShortIntent
    updated_intent: UpdatedIntent
    reason: str
    additional_context_needed: Needs | None = None


class ThreadFork(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """One thread becomes several."""

    TYPE: ClassVar = "thread_fork"
    ROW: ClassVar = "A2ACP-049"

    parent_thread_id: ThreadId
    new_threads: Annotated[tuple[ForkChild, ...], Many(least=1, sent_least=2, most=5, unique=True)]
    shared_context: SentContext | None = None


class Resolution(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """A proposal, and who must confirm it."""

    TYPE: ClassVar = "resolution"
    ROW: ClassVar = "A2ACP-050"

    proposal: PacketProposal
    requires_confirmation_from: Annotated[Addresses, Many(least=1, unique=True)]
    confirmation_timeout: Annotated[str, Text(sent_form=shapes.DURATION)]
    on_timeout: Annotated[str, Word(words.ON_TIMEOUTS, words.on_timeout)]
    actions_on_confirm: Annotated[tuple[PacketAction, ...], Asks("A2ACP-051")] | None = None
    confirmation: Annotated[PacketConfirmation, Asks("A2ACP-153", advisory=True)] | None = None
    participants_signatures: Annotated[tuple[Signature, ...], Asks("A2ACP-174", advisory=True)] | None = None


class ResolutionResponse(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """A person's answer to a proposal."""

    TYPE: ClassVar = "resolution_response"
    ROW: ClassVar = "A2ACP-052"
    RULES: ClassVar = (
        # Which proposal was declined hardly matters; what was agreed to must be certain.
        NeededWith("status", words.CONFIRMED, ("in_reply_to",), row="A2ACP-053"),
        NeededWith("status", words.COUNTER, ("change_request",), row="A2ACP-053"),
        NeededWith("status", words.DECLINED, ("reason_class",), sent=True, row="A2ACP-052"),
    )

    status: Annotated[str, Word(words.RESOLUTION_STATUSES, words.resolution_status)]
    in_reply_to: Annotated[PacketId, Asks("A2ACP-053", sent=True)] | None = None
    selected_alternative: Annotated[int, Asks("A2ACP-053")] | None = None
    change_request: Annotated[ChangeRequest, Asks("A2ACP-053")] | None = None
    reason_class: Annotated[str, Word(words.REASON_CLASSES, words.reason_class)] | None = None
    message_to_other_agent: str | None = None
    actual_reason: Annotated[Erased, Asks("A2ACP-148")] = UNSET


class ProcessingError(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """No answer could be written."""

    TYPE: ClassVar = "processing_error"
    ROW: ClassVar = "A2ACP-056"

    code: Annotated[str, Word(words.ERROR_CODES, exact=True)]
    in_reply_to: Annotated[PacketId, Asks(sent=True)] | None = None
    retry_expected: Annotated[bool, Asks(sent=True)] | None = None


class ThreadStatus(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """Where a thread stands with its sender, and what became of its actions."""

    TYPE: ClassVar = "thread_status"
    ROW: ClassVar = "A2ACP-057"

    state: Annotated[str, Word(words.THREAD_STATES, words.thread_state)]
    closed_reason: CodeWord | None = None
    action_results: tuple[ActionResult, ...] | None = None


class CoordinatorTransfer(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """A group gets another coordinator."""

    TYPE: ClassVar = "coordinator_transfer"
    ROW: ClassVar = "A2ACP-055"

    from_coordinator: Address
    to_coordinator: Address
    reason: str
    requires_acceptance: bool
    aggregated_context: JsonObject | None = None
    confirmation: Annotated[PacketConfirmation, Asks("A2ACP-153", advisory=True)] | None = None


class CoordinatorTransferResponse(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a group's coordination is taken over."""

    TYPE: ClassVar = "coordinator_transfer_response"
    ROW: ClassVar = "A2ACP-184"

    in_reply_to: PacketId
    accepted: bool
    reason: str | None = None


class SpaceInvite(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """An invitation into a shared space."""

    TYPE: ClassVar = "space_invite"
    ROW: ClassVar = "A2ACP-201"

    space: Annotated[PacketSpace, Asks("A2ACP-197")]
    write_level: Annotated[Level, Asks("A2ACP-202")]


class SpaceInviteResponse(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to an invitation into a space."""

    TYPE: ClassVar = "space_invite_response"
    ROW: ClassVar = "A2ACP-201"

    space_id: SpaceId
    accepted: bool


class SpaceUpdate(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """What changed in a space, or what is compared of it."""

    TYPE: ClassVar = "space_update"
    ROW: ClassVar = "A2ACP-201"

    space_id: SpaceId
    changes: Annotated[tuple[SpaceChange, ...], Many(most=MOST_CHANGES)]
    members: Annotated[dict[str, PacketSpaceMember], Asks("A2ACP-203")] | None = None
    field_versions: Annotated[dict[str, PacketFieldVersion], Asks("A2ACP-200")] | None = None
    answer: bool | None = None
    wanted: tuple[str, ...] | None = None
    returned: Annotated[tuple[SpaceChange, ...], Many(most=MOST_CHANGES)] | None = None
    left: bool | None = None


class ThreadSync(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """Which packets of a thread its sender has."""

    TYPE: ClassVar = "thread_sync"
    ROW: ClassVar = "A2ACP-057"

    state: str
    sent_ids: tuple[Annotated[str, Text(sent_form=shapes.PACKET_ID)], ...]
    received_ids: tuple[Annotated[str, Text(sent_form=shapes.PACKET_ID)], ...]
    answer: bool | None = None


class Unknown(PacketBody, frozen=True, kw_only=True, omit_defaults=True):
    """A packet of a type that nobody knows: a `context` of which nothing is asked (A2ACP-058)."""

    ROW: ClassVar = "A2ACP-058"

    intent: Annotated[PacketIntent, Asks(advisory=True)] | None = None


KINDS: Final[tuple[type[PacketBody], ...]] = (
    ContextPacket,
    ContextRequest,
    ContextResponse,
    IntentUpdate,
    ThreadFork,
    Resolution,
    ResolutionResponse,
    ProcessingError,
    ThreadStatus,
    CoordinatorTransfer,
    CoordinatorTransferResponse,
    SpaceInvite,
    SpaceInviteResponse,
    SpaceUpdate,
    ThreadSync,
)
"""Every type that this agent knows."""
