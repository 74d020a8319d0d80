"""What the operations about contacts, sharing, memory and the owner's settings are answered with.

The rest of the answers, and how they are written, stand in `agent_results`.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from tacit.base.agent_results import AgentResult

# Contacts.


class ContactResult(AgentResult, frozen=True):
    """A contact, and how its key stands; its safety numbers only where one is looked at."""

    address: str
    label: str
    welcome: bool
    blocked: bool
    flagged: bool
    key: str
    safety_number: str | UnsetType | None = UNSET
    offered_safety_number: str | UnsetType = UNSET


class RemovedContact(AgentResult, frozen=True):
    """A contact that is none any more."""

    address: str
    removed: Literal[True] = True


class Contacts(AgentResult, frozen=True):
    """All contacts, by address."""

    contacts: list[ContactResult]


class AddedContact(AgentResult, frozen=True):
    """A contact that was just added, and what to compare with them."""

    address: str
    fingerprint: str
    safety_number: str | None
    welcome: bool


class FoundContact(AgentResult, frozen=True):
    """An agent that an address book or a domain names."""

    name: str
    address: str
    fingerprint: str | None
    uri: str
    known: bool


class FoundContacts(AgentResult, frozen=True):
    """Agents that were found; none was added."""

    found: list[FoundContact]


class Me(AgentResult, frozen=True):
    """The agent's own card, and its relay."""

    address: str
    fingerprint: str
    uri: str
    svg: str
    relay: str


class ForgottenContact(AgentResult, frozen=True):
    """Of whom everything was let go."""

    forgotten: str


# What may be shared, and what was.


class PermissionsFor(AgentResult, frozen=True):
    """What holds for one contact alone."""

    label: str
    promote_to_always_share: list[str]
    restrict_to_never_share: list[str]
    notes: str


class PermissionsResult(AgentResult, frozen=True):
    """What may be shared, by tier and by contact."""

    always_share: list[str]
    ask_first: list[str]
    never_share: list[str]
    onward_fields: list[str]
    overrides: dict[str, PermissionsFor]


class Disclosure(AgentResult, frozen=True):
    """Who got what, when, and what allowed it."""

    to: str
    thread_id: str
    packet_id: str
    field: str
    value: object
    basis: str | None
    question_id: str | None
    via: str | None
    at: str


class Disclosures(AgentResult, frozen=True):
    """Disclosures, oldest first."""

    disclosures: list[Disclosure]


# Memory.


class Patterns(AgentResult, frozen=True):
    """What the last threads with a contact have in common."""

    usually_shares: list[str]
    usually_declines: list[str]
    usually_requests: list[str]
    average_response_time: str | None
    typical_flexibility: dict[str, str]
    preferred_resolution_style: str | None


class CachedValue(AgentResult, frozen=True):
    """A remembered value, its date and how sure it is."""

    value: object
    last_updated: str
    confidence: str
    source: str
    thread_id: str | None


class MemoryChange(AgentResult, frozen=True):
    """A remembered value that became another."""

    field: str
    old: object
    new: object
    date: str
    source: str


class Memory(AgentResult, frozen=True):
    """All that is remembered of a contact."""

    agent: str
    user_label: str
    interaction_count: int
    first_interaction: str | None
    last_interaction: str | None
    typical_intents: list[str]
    learned_patterns: Patterns
    context_cache: dict[str, CachedValue]
    changes: list[MemoryChange]
    trust_level: str
    trust_signals: list[str]


class Memories(AgentResult, frozen=True):
    """What is remembered, contact by contact."""

    memory: list[Memory]


class ForgottenValue(AgentResult, frozen=True):
    """What was forgotten of a contact, and which open threads still have it."""

    agent: str
    forgotten: str
    remains_in: list[str]


class ToldResult(AgentResult, frozen=True):
    """What a contact knows in one field."""

    field: str
    first: str
    times: int
    value: object
    last: str
    basis: str | None
    via: str | None
    thread_id: str


class Undoable(AgentResult, frozen=True):
    """What can still be called off."""

    what: str
    field: str | UnsetType = UNSET
    for_: str | UnsetType = msgspec.field(name="for", default=UNSET)
    thread_id: str | UnsetType = UNSET


class KnownResult(AgentResult, frozen=True):
    """What a contact knows of the owner, and what of that can be called off."""

    agent: str
    told: list[ToldResult]
    can_be_undone: list[Undoable]


# The owner, and the agent itself.


class HintResult(AgentResult, frozen=True):
    """A hint whose moment has come."""

    hint: str
    text: str
    thread_id: str


class Hints(AgentResult, frozen=True):
    """The hints that are due; or the one of which it was said that it was seen."""

    hints: list[HintResult] | UnsetType = UNSET
    hint: str | UnsetType = UNSET


class SeenHint(AgentResult, frozen=True):
    """The hint that was seen."""

    hint: str


class Profile(AgentResult, frozen=True):
    """What the agent knows of its owner."""

    profile: dict[str, object]


class SetupPrompt(AgentResult, frozen=True):
    """Something that the first minute asks for."""

    key: str
    text: str
    example: str
    value: object


class SetupSwitch(AgentResult, frozen=True):
    """A switch of the first minute: what may be shared, over these fields."""

    switch: str
    text: str
    fields: list[str]
    level: str


class Setup(AgentResult, frozen=True):
    """The first minute, with what would be kept as it stands."""

    done: bool
    prompts: list[SetupPrompt]
    switches: list[SetupSwitch]
    levels: list[str]


class Choices(AgentResult, frozen=True):
    """How much the agent may do unasked."""

    implicit_consent: str
    autonomy: str


class CalendarState(AgentResult, frozen=True):
    """A calendar, and whether it can be read now."""

    name: str
    kind: str
    write: bool
    readable: bool
    notices: list[str]


class CalendarsResult(AgentResult, frozen=True):
    """The owner's calendars."""

    calendars: list[CalendarState]


class AddedCalendar(AgentResult, frozen=True):
    """The calendars by name, and what the first reading of the new one found."""

    calendars: list[str]
    days: int
    busy_times: int
    notices: list[str]


class CalendarNames(AgentResult, frozen=True):
    """The calendars by name."""

    calendars: list[str]


class Actions(AgentResult, frozen=True):
    """The actions by name."""

    actions: list[str]


class FactNames(AgentResult, frozen=True):
    """What another program told, by name."""

    facts: list[str]


class SpentResult(AgentResult, frozen=True):
    """What the models of this day took."""

    usd: float
    tokens: int


class BrainResult(AgentResult, frozen=True):
    """The models that are chosen, and what they took today."""

    brain: dict[str, object]
    spent: SpentResult


class ThoughtResult(AgentResult, frozen=True):
    """An answer of a model: which, for what, how sure, what it took."""

    at: str
    thread_id: str
    task: str
    tier: str
    model: str
    outcome: str
    confidence: float | None
    input_tokens: int
    output_tokens: int
    cost_usd: float


class ThoughtsResult(AgentResult, frozen=True):
    """What models were asked lately, and what the day took."""

    thoughts: list[ThoughtResult]
    today: SpentResult


class NudgeWay(AgentResult, frozen=True):
    """A way in which the owner is notified, without its secret."""

    number: int
    way: str


class Nudges(AgentResult, frozen=True):
    """How the owner is notified."""

    ways: list[NudgeWay]
    quiet: str | None
    on: bool
    tried: list[bool] | UnsetType = UNSET


class PageAddress(AgentResult, frozen=True):
    """Where the agent's own page is, if it is served."""

    url: str | None


class PageLink(AgentResult, frozen=True):
    """A link that signs the owner in once."""

    url: str
