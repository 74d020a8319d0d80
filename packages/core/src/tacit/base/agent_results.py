"""What each operation of a personal agent is answered with: the shapes that its doors write and readers read.

A member that is left out where it says nothing is `UNSET`; one that can be nothing is null. What people or
other agents chose (`object`) is any JSON. The members stand in the order in which they are written.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType


class AgentResult(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, or a part of one."""


# Questions.


class ConsentFieldResult(AgentResult, frozen=True):
    """A field that a question asks for, with the values that are known."""

    field: str
    reason: str
    priority: str
    values: list[object]
    ticked: bool | UnsetType = UNSET
    """The owner's own wish needs it: shown as chosen, and sent only when the owner says so."""
    own: bool | UnsetType = UNSET
    """The reason is our own agent's; every other is the counterpart's words."""


class AlternativeResult(AgentResult, frozen=True):
    """What could be confirmed in place of a proposal."""

    summary: object = UNSET
    reason: object = UNSET
    details: dict[str, object] | UnsetType = UNSET
    not_as_asked: list[str] | UnsetType = UNSET
    """What of it is not as its owner asked, each as a sentence."""


class ProposedAction(AgentResult, frozen=True):
    """What is done once everybody has confirmed."""

    action: str
    executor: str
    reversible: bool
    tick: str | None = None
    """The name under which the owner ticks what cannot be undone."""


class ProposalResult(AgentResult, frozen=True):
    """What a checkpoint asks the owner to confirm."""

    summary: object = UNSET
    details: dict[str, object] | UnsetType = UNSET
    alternatives: list[AlternativeResult] = []
    reasoning: object = UNSET
    actions: list[ProposedAction] = []
    by: str = ""
    not_as_asked: list[str] | UnsetType = UNSET


class InGroup(AgentResult, frozen=True):
    """The group that a thread belongs to, our part in it, and the others who still take part."""

    thread_id: str
    part: Literal["hub", "leg", "member"]
    others: list[str]


class QuestionResult(AgentResult, frozen=True):
    """A question that waits for the owner."""

    question_id: str
    kind: str
    thread_id: str
    counterpart: str
    asked_at: str
    fields: list[ConsentFieldResult]
    proposal: ProposalResult | None
    choices: list[str]
    new_contact: bool | UnsetType = UNSET
    new_contact_text: str | UnsetType = UNSET
    group: InGroup | UnsetType = UNSET
    about: dict[str, object] | UnsetType = UNSET
    """What else it says, by its kind."""


class RememberedResult(AgentResult, frozen=True):
    """A value that a proposal rests on and that was not said in its thread."""

    field: str
    value: object
    since: str
    told_by: Literal["you", "them"]


class Questions(AgentResult, frozen=True):
    """The open questions, oldest first."""

    questions: list[QuestionResult]


class ThreadState(AgentResult, frozen=True):
    """Where a thread stands now; the contact's first packets may have begun none."""

    thread_id: str
    state: str | None
    notices: list[str] | UnsetType = UNSET
    """What the owner was told of it at once."""


class AnsweredResult(AgentResult, frozen=True):
    """Where an answer leaves its thread, or its shared space."""

    thread_id: str | UnsetType = UNSET
    state: str | UnsetType | None = UNSET
    space_id: str | UnsetType = UNSET
    status: str | UnsetType = UNSET


# Threads.


class ThreadLine(AgentResult, frozen=True):
    """A thread in one line."""

    thread_id: str
    with_: str = msgspec.field(name="with")
    state: str
    flags: list[str]
    summary: str
    began: str
    group: InGroup | UnsetType = UNSET


class ThreadsResult(AgentResult, frozen=True):
    """Threads, oldest first."""

    threads: list[ThreadLine]


class PacketLine(AgentResult, frozen=True):
    """A packet of a thread, without its contents."""

    packet_id: str
    side: str
    type: str
    at: str


class ThreadStep(AgentResult, frozen=True):
    """What the agent did or was told: a packet considered, a way to another state, or a notice."""

    at: str
    packet: str | UnsetType = UNSET
    steps: list[tuple[str, str]] | UnsetType = UNSET
    from_: str | UnsetType = msgspec.field(name="from", default=UNSET)
    to: str | UnsetType = UNSET
    cause: str | UnsetType = UNSET
    refused: str | UnsetType = UNSET
    in_: str | UnsetType = msgspec.field(name="in", default=UNSET)
    notice: str | UnsetType = UNSET
    text: str | UnsetType = UNSET


class ActionLine(AgentResult, frozen=True):
    """An action of the proposal that stands, and how far it is."""

    action_id: str
    action: str
    executor: str
    status: str
    reversible: bool


class Cost(AgentResult, frozen=True):
    """What models took for a thread."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float


class WholeThread(AgentResult, frozen=True):
    """Everything about one thread."""

    thread_id: str
    with_: str = msgspec.field(name="with")
    state: str
    closed_reason: str | None
    flags: list[str]
    intent: dict[str, object]
    participants: list[str]
    turns: int
    shared: list[str]
    received: dict[str, object]
    proposal: object
    requested: dict[str, str]
    outstanding: list[str]
    history: list[PacketLine]
    steps: list[ThreadStep]
    actions: list[ActionLine]
    parent: str | None
    siblings: list[str]
    cost: Cost
    group: InGroup | UnsetType = UNSET


class Excluded(AgentResult, frozen=True):
    """What excluded each option of the last proposal: the option, and why."""

    thread_id: str
    excluded: list[tuple[object, str]]


class Forked(AgentResult, frozen=True):
    """The threads that one was made into."""

    thread_id: str
    threads: list[ThreadState]


class NoticeResult(AgentResult, frozen=True):
    """What the owner was told."""

    thread_id: str
    code: str
    text: str
    about: str | None
    at: str


class Notices(AgentResult, frozen=True):
    """Notices, oldest first."""

    notices: list[NoticeResult]


class News(AgentResult, frozen=True):
    """A notice that was not handed out before."""

    thread_id: str
    code: str
    text: str


class Ticked(AgentResult, frozen=True):
    """How much is open after everything that was due has happened."""

    open: int
    pending: int
    news: list[News] | UnsetType = UNSET


# Groups.


class Participant(AgentResult, frozen=True):
    """Somebody in a group; what they said to the proposal is known to the coordinator alone."""

    agent: str
    status: str
    thread_id: str | UnsetType = UNSET
    confirmed: bool | UnsetType = UNSET
    declined: bool | UnsetType = UNSET
    state: str | UnsetType = UNSET


class ConfirmationResult(AgentResult, frozen=True):
    """How a group is confirmed."""

    mode: str
    quorum: int | None
    order: list[str] | None


class WindowResult(AgentResult, frozen=True):
    """A time, how many it suits, and whom it does not."""

    window: str
    available_count: int
    missing: list[str]


class BindingResult(AgentResult, frozen=True):
    """Who would have to have more of what, so that one more could come."""

    agent: str
    field: str


class WholeGroup(AgentResult, frozen=True):
    """A group: who coordinates and takes part, and at the coordinator what the answers come to."""

    thread_id: str
    state: str | None
    coordinator: str
    coordinates: bool
    participants: list[Participant]
    digest: str
    unsigned: list[str] | None
    confirmation: ConfirmationResult
    windows: list[WindowResult]
    trade_off: str | None
    binding: BindingResult | None
    asked_to_bend: list[str]
    offered_to: str | None
    may_coordinate: list[str]
    follows: str | None


# Guests.


class GuestAnswerResult(AgentResult, frozen=True):
    """An answer that came by a guest's link or was pasted."""

    at: str
    source: str
    readable: bool
    counts: bool
    choice: str | None
    answers: list[str]
    suggestion: str | None
    packets: list[dict[str, object]]


class GuestLine(AgentResult, frozen=True):
    """Somebody without an agent who was asked by a link."""

    guest_id: str
    thread_id: str
    name: str | None
    state: str
    asked_at: str
    until: str
    summary: str | None
    answers: list[GuestAnswerResult]
    counts: str | None
    mailed: int


class Guest(GuestLine, frozen=True):
    """The same with the link, the words to send it with, and the question as the guest sees it."""

    link: str | None
    text: str | None
    question: dict[str, object] | None


class Guests(AgentResult, frozen=True):
    """Everybody who was asked by a link, the last first."""

    guests: list[GuestLine]


class ForgottenGuest(AgentResult, frozen=True):
    """The guest of whom every word was let go."""

    forgotten: str


class ReadReply(AgentResult, frozen=True):
    """A reply that came another way, as it is read, and whether it was kept."""

    guest_id: str
    source: str
    choice: str
    answers: list[str]
    suggestion: str
    text: str
    kept: bool


class GuestResult(AgentResult, frozen=True):
    """What to send a guest who said yes."""

    text: str
    ics: str | None


class GuestMail(AgentResult, frozen=True):
    """A mail to a guest, and whether it was sent."""

    from_: str = msgspec.field(name="from")
    to: str
    subject: str
    text: str
    ics: str | None
    fingerprint: str
    sent: bool


class MailServer(AgentResult, frozen=True):
    """The owner's mail server, without its password."""

    host: str | None
    from_: str | None = msgspec.field(name="from")


# Shared spaces.


class SpaceLine(AgentResult, frozen=True):
    """A shared space in one line; `new` counts what the owner has not seen."""

    space_id: str
    title: str
    status: str
    participants: list[str]
    level: str
    fields: int
    new: int


class Spaces(AgentResult, frozen=True):
    """Every shared space."""

    spaces: list[SpaceLine]


class SpaceMemberResult(AgentResult, frozen=True):
    """A member of a space, and what it may write there."""

    agent: str
    level: str
    status: str
    silent: bool


class SpaceField(AgentResult, frozen=True):
    """A field of a space: who wrote it, when, and whether it has not been sent yet."""

    field: str
    value: object
    by: str
    at: str
    v: int
    link: str | None
    pending: bool


class FieldVersionResult(AgentResult, frozen=True):
    """The version of a field, taken away ones included."""

    v: int
    at: str
    by: str


class SpaceChange(AgentResult, frozen=True):
    """A change in a space, what it replaced, and whether the owner has seen it."""

    n: int
    field: str
    by: str
    at: str
    deleted: bool
    value: object
    before: object
    lost: bool
    new: bool


class WholeSpace(AgentResult, frozen=True):
    """One shared space with its fields, and what changed since the owner last looked."""

    space_id: str
    title: str
    status: str
    participants: list[str]
    level: str
    fields: list[SpaceField]
    new: int
    creator: str
    created: str
    members: list[SpaceMemberResult]
    context: dict[str, object]
    field_versions: dict[str, FieldVersionResult]
    version: int
    last_modified_by: str | None
    conflict_resolution: str
    notify: str
    changes: list[SpaceChange]


class SpaceOutcome(AgentResult, frozen=True):
    """What became of a change in a space: written, or first a question to the owner; or that it was left."""

    space_id: str
    status: str
    question_id: str | UnsetType = UNSET


class SpaceNotify(AgentResult, frozen=True):
    """Of what the owner is told in a space."""

    space_id: str
    notify: str


class OpenedLink(AgentResult, frozen=True):
    """What a link of a space leads to; the link itself where no tool opens it."""

    url: str
    tool: str | None
    text: str


class SpaceTools(AgentResult, frozen=True):
    """The programs that open links, by name."""

    tools: list[str]
