"""What a personal agent can be asked, each said once: by which name, with what, and at which doors.

The agent's socket takes all of it; its page and a hub take what is marked here. Who carries an operation out
is the agent's business (`tacit.agent.shell.io.calls`), and how it is typed is the command line's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import msgspec

from tacit.base import agent_requests as asked
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

Request = Any
"""A Struct of `agent_requests`."""


@dataclass(frozen=True, slots=True)
class AgentOperation:
    """One thing that a personal agent can be asked."""

    command: str
    about: str
    params: Any
    """The shape of what is asked, for every door."""
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


def _required(shape: Any) -> frozenset[str]:
    """The fields that one has to give; of several shapes, those of each."""
    return frozenset(
        field.encode_name
        for kind in get_args(shape) or (shape,)
        for field in msgspec.structs.fields(kind)
        if field.required
    )


_ALL: Final = (
    AgentOperation(
        "pending", "The questions that wait for the owner", asked.AgentNothing, hub="GET", page=True
    ),
    AgentOperation(
        "answer",
        "Answer a question of the agent's; the first counts",
        asked.AgentAnswer,
        asked.AgentAnswerHere,
        hub="POST",
        page=True,
    ),
    AgentOperation(
        "threads", "What is being arranged, and with whom", asked.AgentThreads, hub="GET", page=True
    ),
    AgentOperation("thread", "Everything about one thread", asked.AgentThread, hub="GET", page=True),
    AgentOperation(
        "why", "What excluded each option of the last proposal", asked.AgentThread, hub="GET", page=True
    ),
    AgentOperation(
        "group",
        "A group: who takes part, and which times suit whom",
        asked.AgentThread,
        hub="GET",
        page=True,
    ),
    AgentOperation(
        "transfer", "Offer the coordinator's role in a group", asked.AgentTransfer, hub="POST", page=True
    ),
    AgentOperation(
        "ask", "Have something arranged", asked.AgentAsk, asked.AgentAskHere, hub="POST", page=True
    ),
    AgentOperation("stop", "Want no more of a thread", asked.AgentThread, hub="POST", page=True),
    AgentOperation(
        "resume", "Go on with a thread that stood still", asked.AgentThread, hub="POST", page=True
    ),
    AgentOperation(
        "change", "Make something else of an open thread", asked.AgentChange, hub="POST", page=True
    ),
    AgentOperation(
        "contacts", "The agent's contacts, and how their keys stand", asked.AgentNothing, hub="GET", page=True
    ),
    AgentOperation(
        "contact", "One contact, after the owner's word on it", asked.AgentContact, hub="POST", page=True
    ),
    AgentOperation("add", "Add the contact of a card that was pasted", asked.AgentAdd, hub="POST", page=True),
    AgentOperation(
        "find",
        "Which agent an e-mail address or a handle names",
        asked.AgentFind,
        asked.AgentFindHere,
        hub="POST",
        page=True,
    ),
    AgentOperation(
        "permissions", "Show or change what may be shared", asked.AgentPermissions, hub="POST", page=True
    ),
    AgentOperation(
        "disclosures", "Who got what, when, and what allowed it", asked.AgentDisclosures, hub="GET", page=True
    ),
    AgentOperation(
        "memory", "What is remembered of a contact, or of each", asked.AgentMemory, hub="GET", page=True
    ),
    AgentOperation(
        "memory_edit", "Correct a value that is remembered", asked.AgentMemoryEdit, hub="POST", page=True
    ),
    AgentOperation(
        "memory_forget",
        "Have a value forgotten, or all of a contact",
        asked.AgentMemoryForget,
        hub="POST",
        page=True,
    ),
    AgentOperation(
        "known",
        "What a contact knows of the owner, and what can be called off",
        asked.AgentKnown,
        hub="GET",
        page=True,
    ),
    AgentOperation(
        "notices", "What the owner was told, oldest first", asked.AgentNothing, hub="GET", page=True
    ),
    AgentOperation(
        "hints",
        "The hints whose moment has come, or that one was seen",
        asked.AgentHints,
        hub="POST",
        page=True,
    ),
    AgentOperation(
        "profile",
        "Show or change what the agent knows of the owner",
        asked.AgentProfile,
        hub="POST",
        page=True,
    ),
    AgentOperation(
        "setup",
        "The first minute: show it, or keep what was said in it",
        asked.AgentSetup,
        hub="POST",
        page=True,
    ),
    AgentOperation(
        "choose", "Show or set how much the agent may do unasked", asked.AgentChoose, hub="POST", page=True
    ),
    AgentOperation(
        "calendars",
        "The owner's calendars, and whether each can be read",
        asked.AgentNothing,
        hub="GET",
        page=True,
    ),
    AgentOperation("me", "The agent's own address and fingerprint", asked.AgentNothing, hub="GET", page=True),
    AgentOperation("seen", "That a hint was seen", asked.AgentSeen, page=True),
    AgentOperation("tick", "Let everything that is due happen once", asked.AgentTick, page=True),
    AgentOperation("space", "One thing with shared spaces", asked.AgentSpace, page=True),
    AgentOperation("guests", "Everybody who was asked by a link", asked.AgentNothing, page=True),
    AgentOperation("guest", "One guest, with every answer", asked.AgentGuest, page=True),
    AgentOperation("guest_ask", "Ask somebody who has no agent, by a link", asked.AgentGuestAsk, page=True),
    AgentOperation("guest_paste", "Read a reply that came another way", asked.AgentGuestPaste, page=True),
    AgentOperation("guest_result", "The words with the result for a guest", asked.AgentGuest, page=True),
    AgentOperation("guest_revoke", "Take a guest's link back", asked.AgentGuest, page=True),
    AgentOperation("guest_forget", "Let go of every word about a guest", asked.AgentGuest),
    AgentOperation("guest_mail", "Send a guest's link by the owner's mail server", asked.AgentGuestMail),
    AgentOperation("guest_mail_server", "Show or set the owner's mail server", asked.AgentMailServer),
    AgentOperation("program", "A tool of the owner's programs", asked.AgentProgram),
    AgentOperation("facts", "What another program knows of the calendar", asked.AgentFacts),
    AgentOperation("fork", "Make several threads of one", asked.AgentFork),
    AgentOperation("brain", "Show or choose the models that think", asked.AgentBrain),
    AgentOperation("thoughts", "What models were asked lately", asked.AgentThoughts),
    AgentOperation("add_calendar", "Read, or also write, a calendar", asked.AgentDefined),
    AgentOperation("remove_calendar", "Read and write a calendar no more", asked.AgentNamed),
    AgentOperation("add_handler", "Do something once all have confirmed", asked.AgentDefined),
    AgentOperation("nudge", "Show or set where the owner is told that a decision waits", asked.AgentNudge),
    AgentOperation("match", "Whom of an address book the owner can add", asked.AgentMatch),
    AgentOperation("forget", "Let go of everything of a contact", asked.AgentPeer),
    AgentOperation("space_open", "Open a link of a space", asked.AgentSpaceOpen),
    AgentOperation("space_tool", "Open links of a kind with a program", asked.AgentDefined),
    AgentOperation("page", "Where the agent's own page is", asked.AgentNothing),
    AgentOperation("page_link", "A link that signs the owner in to it once", asked.AgentPageLink),
)
AGENT_OPERATIONS: Final[dict[str, AgentOperation]] = {operation.command: operation for operation in _ALL}
