"""What a personal agent can be asked, each said once: its name, its parameters, its answer and its doors.

The agent's socket takes all of it; its page and a hub take what is marked here. Who carries an operation out
is the agent's business (`tacit.agent.shell.io.calls`), and how it is typed is the command line's.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, get_args

import msgspec

from tacit.base import agent_owner_results as owner
from tacit.base import agent_requests as asked
from tacit.base import agent_results as results
from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

R_co = TypeVar("R_co", covariant=True)
Declared = TypeVar("Declared")
Request = Any
"""A Struct of `agent_requests`."""


@dataclass(frozen=True, slots=True)
class AgentOperation(Generic[R_co]):
    """One thing that a personal agent can be asked."""

    command: str
    about: str
    params: Any
    """The shape of what is asked, for every door."""
    result: type[R_co] | tuple[type[R_co], ...]
    """The shape of the answer; of several the one that fits first."""
    here: Any = None
    """The shape for the owner's terminal and programs, where that may say more."""
    hub: Literal["", "GET", "POST"] = ""
    """How a hub offers it to the owner; not at all when empty."""
    page: bool = False
    """Whether the agent's own page may ask it; what writes files, runs programs or gives out links is not."""

    def request(self, given: Mapping[str, Any], *, here: bool) -> Request:
        """What is asked, as a value; `Refused` says what is missing or has another form.

        What other doors than the owner's terminal may not say (`here`) is left out.
        """
        shape = self.here or self.params
        if self.here is not None and not here:
            given = {name: value for name, value in given.items() if name in self.params.__struct_fields__}
        # A caller may name what it leaves out.
        needed = _required(shape)
        said = {name: value for name, value in given.items() if value is not None or name in needed}
        try:
            return msgspec.convert(said, shape)
        except msgspec.ValidationError as fault:
            raise Refused("bad_command", f"`{self.command}` cannot be asked like this: {fault}") from None

    def answer(self, value: object) -> R_co:
        """An answer as it came over a line, as a value; one that is a value already stays as it is."""
        kinds = self.result if isinstance(self.result, tuple) else (self.result,)
        for kind in kinds[:-1]:
            with contextlib.suppress(msgspec.ValidationError):
                return msgspec.convert(value, kind)
        try:
            return msgspec.convert(value, kinds[-1])
        except msgspec.ValidationError:
            raise Unavailable("the running agent is of another version: stop it and start it again") from None


def _required(shape: Any) -> frozenset[str]:
    """The fields that one has to give; of several shapes, those of each."""
    return frozenset(
        field.encode_name
        for kind in get_args(shape) or (shape,)
        for field in msgspec.structs.fields(kind)
        if field.required
    )


AGENT_OPERATIONS: Final[dict[str, AgentOperation[object]]] = {}
"""All of them, by name."""


def _declared(operation: AgentOperation[Declared]) -> AgentOperation[Declared]:
    AGENT_OPERATIONS[operation.command] = operation
    return operation


PENDING: Final = _declared(
    AgentOperation(
        "pending",
        "The questions that wait for the owner",
        asked.AgentNothing,
        results.Questions,
        hub="GET",
        page=True,
    )
)
ANSWER: Final = _declared(
    AgentOperation(
        "answer",
        "Answer a question of the agent's; the first counts",
        asked.AgentAnswer,
        results.AnsweredResult,
        here=asked.AgentAnswerHere,
        hub="POST",
        page=True,
    )
)
THREADS: Final = _declared(
    AgentOperation(
        "threads",
        "What is being arranged, and with whom",
        asked.AgentThreads,
        results.ThreadsResult,
        hub="GET",
        page=True,
    )
)
THREAD: Final = _declared(
    AgentOperation(
        "thread", "Everything about one thread", asked.AgentThread, results.WholeThread, hub="GET", page=True
    )
)
WHY: Final = _declared(
    AgentOperation(
        "why",
        "What excluded each option of the last proposal",
        asked.AgentThread,
        results.Excluded,
        hub="GET",
        page=True,
    )
)
GROUP: Final = _declared(
    AgentOperation(
        "group",
        "A group: who takes part, and which times suit whom",
        asked.AgentThread,
        results.WholeGroup,
        hub="GET",
        page=True,
    )
)
TRANSFER: Final = _declared(
    AgentOperation(
        "transfer",
        "Offer the coordinator's role in a group",
        asked.AgentTransfer,
        results.WholeGroup,
        hub="POST",
        page=True,
    )
)
ASK: Final = _declared(
    AgentOperation(
        "ask",
        "Have something arranged",
        asked.AgentAsk,
        results.ThreadState,
        here=asked.AgentAskHere,
        hub="POST",
        page=True,
    )
)
STOP: Final = _declared(
    AgentOperation(
        "stop", "Want no more of a thread", asked.AgentThread, results.ThreadState, hub="POST", page=True
    )
)
RESUME: Final = _declared(
    AgentOperation(
        "resume",
        "Go on with a thread that stood still",
        asked.AgentThread,
        results.ThreadState,
        hub="POST",
        page=True,
    )
)
CHANGE: Final = _declared(
    AgentOperation(
        "change",
        "Make something else of an open thread",
        asked.AgentChange,
        results.ThreadState,
        hub="POST",
        page=True,
    )
)
CONTACTS: Final = _declared(
    AgentOperation(
        "contacts",
        "The agent's contacts, and how their keys stand",
        asked.AgentNothing,
        owner.Contacts,
        hub="GET",
        page=True,
    )
)
CONTACT: Final = _declared(
    AgentOperation(
        "contact",
        "One contact, after the owner's word on it",
        asked.AgentContact,
        (owner.ContactResult, owner.RemovedContact),
        hub="POST",
        page=True,
    )
)
ADD: Final = _declared(
    AgentOperation(
        "add",
        "Add the contact of a card that was pasted",
        asked.AgentAdd,
        owner.AddedContact,
        hub="POST",
        page=True,
    )
)
FIND: Final = _declared(
    AgentOperation(
        "find",
        "Which agent an e-mail address or a handle names",
        asked.AgentFind,
        owner.FoundContacts,
        here=asked.AgentFindHere,
        hub="POST",
        page=True,
    )
)
PERMISSIONS: Final = _declared(
    AgentOperation(
        "permissions",
        "Show or change what may be shared",
        asked.AgentPermissions,
        owner.PermissionsResult,
        hub="POST",
        page=True,
    )
)
DISCLOSURES: Final = _declared(
    AgentOperation(
        "disclosures",
        "Who got what, when, and what allowed it",
        asked.AgentDisclosures,
        owner.Disclosures,
        hub="GET",
        page=True,
    )
)
MEMORY: Final = _declared(
    AgentOperation(
        "memory",
        "What is remembered of a contact, or of each",
        asked.AgentMemory,
        owner.Memories,
        hub="GET",
        page=True,
    )
)
MEMORY_EDIT: Final = _declared(
    AgentOperation(
        "memory_edit",
        "Correct a value that is remembered",
        asked.AgentMemoryEdit,
        owner.Memory,
        hub="POST",
        page=True,
    )
)
MEMORY_FORGET: Final = _declared(
    AgentOperation(
        "memory_forget",
        "Have a value forgotten, or all of a contact",
        asked.AgentMemoryForget,
        owner.ForgottenValue,
        hub="POST",
        page=True,
    )
)
KNOWN: Final = _declared(
    AgentOperation(
        "known",
        "What a contact knows of the owner, and what can be called off",
        asked.AgentKnown,
        owner.KnownResult,
        hub="GET",
        page=True,
    )
)
NOTICES: Final = _declared(
    AgentOperation(
        "notices",
        "What the owner was told, oldest first",
        asked.AgentNothing,
        results.Notices,
        hub="GET",
        page=True,
    )
)
HINTS: Final = _declared(
    AgentOperation(
        "hints",
        "The hints whose moment has come, or that one was seen",
        asked.AgentHints,
        owner.Hints,
        hub="POST",
        page=True,
    )
)
PROFILE: Final = _declared(
    AgentOperation(
        "profile",
        "Show or change what the agent knows of the owner",
        asked.AgentProfile,
        owner.Profile,
        hub="POST",
        page=True,
    )
)
SETUP: Final = _declared(
    AgentOperation(
        "setup",
        "The first minute: show it, or keep what was said in it",
        asked.AgentSetup,
        owner.Setup,
        hub="POST",
        page=True,
    )
)
CHOOSE: Final = _declared(
    AgentOperation(
        "choose",
        "Show or set how much the agent may do unasked",
        asked.AgentChoose,
        owner.Choices,
        hub="POST",
        page=True,
    )
)
CALENDARS: Final = _declared(
    AgentOperation(
        "calendars",
        "The owner's calendars, and whether each can be read",
        asked.AgentNothing,
        owner.CalendarsResult,
        hub="GET",
        page=True,
    )
)
ME: Final = _declared(
    AgentOperation(
        "me", "The agent's own address and fingerprint", asked.AgentNothing, owner.Me, hub="GET", page=True
    )
)
SEEN: Final = _declared(
    AgentOperation("seen", "That a hint was seen", asked.AgentSeen, owner.SeenHint, page=True)
)
TICK: Final = _declared(
    AgentOperation(
        "tick", "Let everything that is due happen once", asked.AgentTick, results.Ticked, page=True
    )
)
SPACE: Final = _declared(
    AgentOperation(
        "space",
        "One thing with shared spaces",
        asked.AgentSpace,
        (results.WholeSpace, results.Spaces, results.SpaceOutcome, results.SpaceNotify),
        page=True,
    )
)
GUESTS: Final = _declared(
    AgentOperation(
        "guests", "Everybody who was asked by a link", asked.AgentNothing, results.Guests, page=True
    )
)
GUEST: Final = _declared(
    AgentOperation("guest", "One guest, with every answer", asked.AgentGuest, results.Guest, page=True)
)
GUEST_ASK: Final = _declared(
    AgentOperation(
        "guest_ask", "Ask somebody who has no agent, by a link", asked.AgentGuestAsk, results.Guest, page=True
    )
)
GUEST_PASTE: Final = _declared(
    AgentOperation(
        "guest_paste",
        "Read a reply that came another way",
        asked.AgentGuestPaste,
        results.ReadReply,
        page=True,
    )
)
GUEST_RESULT: Final = _declared(
    AgentOperation(
        "guest_result",
        "The words with the result for a guest",
        asked.AgentGuest,
        results.GuestResult,
        page=True,
    )
)
GUEST_REVOKE: Final = _declared(
    AgentOperation("guest_revoke", "Take a guest's link back", asked.AgentGuest, results.Guest, page=True)
)
GUEST_FORGET: Final = _declared(
    AgentOperation(
        "guest_forget",
        "Let go of every word about a guest",
        asked.AgentGuest,
        results.ForgottenGuest,
    )
)
GUEST_MAIL: Final = _declared(
    AgentOperation(
        "guest_mail",
        "Send a guest's link by the owner's mail server",
        asked.AgentGuestMail,
        results.GuestMail,
    )
)
GUEST_MAIL_SERVER: Final = _declared(
    AgentOperation(
        "guest_mail_server",
        "Show or set the owner's mail server",
        asked.AgentMailServer,
        results.MailServer,
    )
)
PROGRAM: Final = _declared(
    AgentOperation(
        "program",
        "A tool of the owner's programs",
        asked.AgentProgram,
        object,
    )
)
FACTS: Final = _declared(
    AgentOperation(
        "facts",
        "What another program knows of the calendar",
        asked.AgentFacts,
        owner.FactNames,
    )
)
FORK: Final = _declared(
    AgentOperation(
        "fork",
        "Make several threads of one",
        asked.AgentFork,
        results.Forked,
    )
)
BRAIN: Final = _declared(
    AgentOperation(
        "brain",
        "Show or choose the models that think",
        asked.AgentBrain,
        owner.BrainResult,
    )
)
THOUGHTS: Final = _declared(
    AgentOperation(
        "thoughts",
        "What models were asked lately",
        asked.AgentThoughts,
        owner.ThoughtsResult,
    )
)
ADD_CALENDAR: Final = _declared(
    AgentOperation(
        "add_calendar",
        "Read, or also write, a calendar",
        asked.AgentDefined,
        owner.AddedCalendar,
    )
)
REMOVE_CALENDAR: Final = _declared(
    AgentOperation(
        "remove_calendar",
        "Read and write a calendar no more",
        asked.AgentNamed,
        owner.CalendarNames,
    )
)
ADD_HANDLER: Final = _declared(
    AgentOperation(
        "add_handler",
        "Do something once all have confirmed",
        asked.AgentDefined,
        owner.Actions,
    )
)
NUDGE: Final = _declared(
    AgentOperation(
        "nudge",
        "Show or set where the owner is told that a decision waits",
        asked.AgentNudge,
        owner.Nudges,
    )
)
MATCH: Final = _declared(
    AgentOperation(
        "match",
        "Whom of an address book the owner can add",
        asked.AgentMatch,
        owner.FoundContacts,
    )
)
FORGET: Final = _declared(
    AgentOperation(
        "forget",
        "Let go of everything of a contact",
        asked.AgentPeer,
        owner.ForgottenContact,
    )
)
SPACE_OPEN: Final = _declared(
    AgentOperation(
        "space_open",
        "Open a link of a space",
        asked.AgentSpaceOpen,
        results.OpenedLink,
    )
)
SPACE_TOOL: Final = _declared(
    AgentOperation(
        "space_tool",
        "Open links of a kind with a program",
        asked.AgentDefined,
        results.SpaceTools,
    )
)
PAGE: Final = _declared(
    AgentOperation(
        "page",
        "Where the agent's own page is",
        asked.AgentNothing,
        owner.PageAddress,
    )
)
PAGE_LINK: Final = _declared(
    AgentOperation(
        "page_link",
        "A link that signs the owner in to it once",
        asked.AgentPageLink,
        owner.PageLink,
    )
)
