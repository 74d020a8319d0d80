"""The parameters of the personal agent's operations: what its commands take (`tacit.agent.io.calls`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Identifier = Annotated[str, Meta(min_length=1, max_length=200)]
Address = Annotated[str, Meta(max_length=400)]
Wish = Annotated[str, Meta(min_length=1, max_length=4000)]
FieldName = Annotated[str, Meta(min_length=1, max_length=200)]
Word = Annotated[str, Meta(max_length=200)]


class AgentAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answer a question, in the words of the agent's `Answer`; where it was answered, the hub says."""

    question_id: Identifier
    share: dict[str, Any] = {}
    decline: list[FieldName] = []
    decline_all: bool = False
    confirm: bool = False
    alternative: Annotated[int, Meta(ge=0, le=1000)] | None = None
    ticks: list[FieldName] = []
    counter: (
        Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(min_length=2, max_length=2)] | None
    ) = None
    refuse: bool = False
    excuse: Annotated[str, Meta(max_length=1000)] = ""
    choose: Annotated[int, Meta(ge=0, le=1000)] | None = None
    dismiss: bool = False


class AgentThreads(msgspec.Struct, frozen=True, kw_only=True):
    """The open threads, or every one."""

    every: bool = False


class AgentThread(msgspec.Struct, frozen=True, kw_only=True):
    """Name a thread of the agent's."""

    thread_id: Identifier


class AgentTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """Who is to coordinate a group."""

    thread_id: Identifier
    to: Address
    reason: Annotated[str, Meta(max_length=200)] = ""


class AgentAsk(msgspec.Struct, frozen=True, kw_only=True):
    """A wish, and with whom; without an address it is the contact that the text names."""

    text: Wish
    to: list[Address] = []
    urgent: bool = False


class AgentChange(msgspec.Struct, frozen=True, kw_only=True):
    """Another wish for a thread."""

    thread_id: Identifier
    text: Wish
    scope_change: Literal["narrowed", "expanded", "changed"] = "changed"


class AgentContact(msgspec.Struct, frozen=True, kw_only=True):
    """Look at a contact, or judge it."""

    who: Annotated[str, Meta(min_length=1, max_length=400)]
    decision: Literal["show", "add", "accept", "reject", "verified", "block", "unblock", "remove"] = "show"


class AgentAdd(msgspec.Struct, frozen=True, kw_only=True):
    """A contact's card, as it was pasted."""

    uri: Annotated[str, Meta(min_length=1, max_length=2000)]


class AgentFind(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to look for; names of this machine's own network are never asked from here."""

    account: Annotated[str, Meta(min_length=1, max_length=400)]


class AgentPermissions(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing shows them; a field with a level changes one, for everybody or for one counterpart."""

    field: Word = ""
    level: Word = ""
    counterpart: Address = ""
    confirmed: bool = False


class AgentDisclosures(msgspec.Struct, frozen=True, kw_only=True):
    """All, or those to one contact."""

    peer: Address = ""


class AgentMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Of everybody, or of one contact."""

    who: Address = ""


class AgentMemoryEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What is right of a contact."""

    who: Annotated[str, Meta(min_length=1, max_length=400)]
    key: Annotated[str, Meta(min_length=1, max_length=100)]
    value: Any


class AgentMemoryForget(msgspec.Struct, frozen=True, kw_only=True):
    """One key, or all that is remembered of a contact."""

    who: Annotated[str, Meta(min_length=1, max_length=400)]
    key: Word = ""


class AgentKnown(msgspec.Struct, frozen=True, kw_only=True):
    """Who it is about."""

    who: Annotated[str, Meta(min_length=1, max_length=400)]


class AgentHints(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing shows what is due; a name says that this one was seen."""

    seen: Word = ""


class AgentProfile(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing shows it; null takes a key away."""

    changes: dict[str, Any] = {}


class AgentSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing shows it; with `save` what was said is kept."""

    save: bool = False
    profile: dict[str, Any] = {}
    switches: dict[str, Word] = {}
    confirmed: bool = False


class AgentChoose(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing shows them."""

    name: Word = ""
    value: Word = ""
