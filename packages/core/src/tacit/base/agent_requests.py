"""What each operation of a personal agent is asked with: the shapes that its doors and a hub's read.

A field that a door should not take has no place in its shape: what the owner's terminal alone may say stands
in a shape of its own, whose name ends with `Here`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

Identifier = Annotated[str, Meta(min_length=1, max_length=200)]
Address = Annotated[str, Meta(max_length=400)]
Wish = Annotated[str, Meta(min_length=1, max_length=4000)]
FieldName = Annotated[str, Meta(min_length=1, max_length=200)]
Word = Annotated[str, Meta(max_length=200)]


Contact = Annotated[str, Meta(min_length=1, max_length=400)]


class AgentNothing(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing is asked."""


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


class AgentAnswerHere(AgentAnswer, frozen=True, kw_only=True):
    """The same, and where it was given: the terminal, or a message of the person's in another program."""

    via: Annotated[str, Meta(max_length=200)] = ""


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


class AgentAskHere(AgentAsk, frozen=True, kw_only=True):
    """The same, with what another program knows, and how several are to confirm."""

    facts: Any = None
    by_program: bool = False
    quorum: Any = None
    in_order: bool = False
    after: str = ""


class AgentFork(msgspec.Struct, frozen=True, kw_only=True):
    """Several wishes in the place of one."""

    thread_id: Identifier
    texts: list[Wish]


class AgentChange(msgspec.Struct, frozen=True, kw_only=True):
    """Another wish for a thread."""

    thread_id: Identifier
    text: Wish
    scope_change: Literal["narrowed", "expanded", "changed"] = "changed"


class AgentContact(msgspec.Struct, frozen=True, kw_only=True):
    """Look at a contact, or judge it."""

    who: Contact
    decision: Literal["show", "add", "accept", "reject", "verified", "block", "unblock", "remove"] = "show"


class AgentAdd(msgspec.Struct, frozen=True, kw_only=True):
    """A contact's card, as it was pasted."""

    uri: Annotated[str, Meta(min_length=1, max_length=2000)]


class AgentFind(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to look for; names of this machine's own network are never asked from here."""

    account: Annotated[str, Meta(min_length=1, max_length=400)]


class AgentFindHere(AgentFind, frozen=True, kw_only=True):
    """The same, and whether this device's own network may be asked."""

    private: bool = False


class AgentMatch(msgspec.Struct, frozen=True, kw_only=True):
    """An address book in which to look."""

    text: str


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

    who: Contact
    key: Annotated[str, Meta(min_length=1, max_length=100)]
    value: Any


class AgentMemoryForget(msgspec.Struct, frozen=True, kw_only=True):
    """One key, or all that is remembered of a contact."""

    who: Contact
    key: Word = ""


class AgentKnown(msgspec.Struct, frozen=True, kw_only=True):
    """Who it is about."""

    who: Contact


class AgentHints(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing shows what is due; a name says that this one was seen."""

    seen: Word = ""


class AgentSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Which hint was seen."""

    hint: Word


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


class AgentProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A tool of the owner's programs, with its arguments."""

    tool: str
    arguments: dict[str, Any]


class AgentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What another program knows of the owner's calendar; nothing takes it back."""

    facts: Any = None


class AgentBrain(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing shows which models are chosen."""

    setting: Any = None


class AgentThoughts(msgspec.Struct, frozen=True, kw_only=True):
    """Those of one thread, or the latest of all."""

    thread_id: str = ""


class AgentTick(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to say also what the owner was not told yet."""

    news: bool = False


class AgentNamed(msgspec.Struct, frozen=True, kw_only=True):
    """A name that the owner gave."""

    name: str


class AgentDefined(msgspec.Struct, frozen=True, kw_only=True):
    """A name that the owner gives, and what it stands for."""

    name: str
    definition: dict[str, Any]


class AgentNudge(msgspec.Struct, frozen=True, kw_only=True):
    """What to do about notifications, and with which."""

    do: str = "list"
    value: str = ""


class AgentPeer(msgspec.Struct, frozen=True, kw_only=True):
    """A contact's address."""

    peer: str


class AgentPageLink(msgspec.Struct, frozen=True, kw_only=True):
    """Where the page is to open: at one question, or at its beginning."""

    question_id: str = ""


# People without an agent.


class AgentGuestAsk(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to ask by a link, and what."""

    name: str
    text: str
    questions: list[str] = []
    share: list[str] = []
    signed: str = ""
    days: int = 0
    group: str = ""


class AgentGuest(msgspec.Struct, frozen=True, kw_only=True):
    """Name a guest."""

    guest_id: str


class AgentGuestPaste(AgentGuest, frozen=True, kw_only=True):
    """A reply that came another way, and what the owner corrects in how it was read."""

    text: str
    keep: bool = False
    choice: Any = None
    answers: Any = None
    suggestion: Any = None


class AgentGuestMail(AgentGuest, frozen=True, kw_only=True):
    """Where to send a guest's link; the fingerprint is the one that the owner saw."""

    to: str
    fingerprint: str = ""


class AgentMailServer(msgspec.Struct, frozen=True, kw_only=True):
    """The owner's mail server; none is taken away by an empty text."""

    url: str | None = None


# Shared spaces: each is told apart by `do`.


class NewSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="new"):
    """Begin a space, and with whom."""

    title: str
    invite: list[str] = []


class ListSpaces(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="list"):
    """Show all."""


class ShowSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="show"):
    """Show one; with `look` what is new is asked for first."""

    space_id: str
    look: bool = True


class SetInSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="set"):
    """Write a field."""

    space_id: str
    field: str
    value: Any


class UnsetInSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="unset"):
    """Take a field away."""

    space_id: str
    field: str


class LinkInSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="link"):
    """Put a link into a field."""

    space_id: str
    field: str
    url: str
    name: str = ""


class InviteToSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="invite"):
    """Let somebody in."""

    space_id: str
    who: str
    level: str = ""


class LevelInSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="level"):
    """How much somebody may do there."""

    space_id: str
    who: str
    level: str


class NotifyOfSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="notify"):
    """Of what the owner is told there."""

    space_id: str
    what: str


class LeaveSpace(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", tag="leave"):
    """Leave a space."""

    space_id: str


AgentSpace: TypeAlias = (
    NewSpace
    | ListSpaces
    | ShowSpace
    | SetInSpace
    | UnsetInSpace
    | LinkInSpace
    | InviteToSpace
    | LevelInSpace
    | NotifyOfSpace
    | LeaveSpace
)


class AgentSpaceOpen(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a space with a link to open."""

    space_id: str
    field: str
