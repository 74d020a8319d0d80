"""The operations of the owner's personal agent: the owner's alone, with the owner's own token.

Everybody else is refused in the same words whether an agent runs or not, and so is whoever is only taken at
its word (local trust). Each operation is one command of the agent's (`tacit.agent.io.calls`), by the same
arguments and with the same answer; a refusal of the agent's keeps its code as the `reason`. Nothing of it is
an event: no ledger ever holds a question, an answer or a wish of the owner's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from tacit.base.errors import Refused
from tacit.hub.operations import agent_requests as asked
from tacit.hub.operations.requests import Nothing
from tacit.ledger.codes import invalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.hub.hub import Hub
    from tacit.hub.people.credentials import Credential

VIA: Final = "room"
"""Where the owner answered, as the receipts say it."""


class AgentOperation(NamedTuple):
    """One command of the agent's, as the hub offers it to the owner."""

    command: str
    method: str
    params: type[msgspec.Struct]
    summary: str

    @property
    def name(self) -> str:
        """Its name in the table of operations."""
        return f"agent_{self.command}"

    @property
    def path(self) -> str:
        """Its place in HTTP."""
        return f"/v1/agent/{self.command}"


AGENT_OPERATIONS: Final[tuple[AgentOperation, ...]] = (
    AgentOperation("pending", "GET", Nothing, "The questions that wait for the owner"),
    AgentOperation("answer", "POST", asked.AgentAnswer, "Answer a question of the agent's; the first counts"),
    AgentOperation("threads", "GET", asked.AgentThreads, "What is being arranged, and with whom"),
    AgentOperation("thread", "GET", asked.AgentThread, "Everything about one thread"),
    AgentOperation("why", "GET", asked.AgentThread, "What excluded each option of the last proposal"),
    AgentOperation("group", "GET", asked.AgentThread, "A group: who takes part, and which times suit whom"),
    AgentOperation("transfer", "POST", asked.AgentTransfer, "Offer the coordinator's role in a group"),
    AgentOperation("ask", "POST", asked.AgentAsk, "Have something arranged"),
    AgentOperation("stop", "POST", asked.AgentThread, "Want no more of a thread"),
    AgentOperation("resume", "POST", asked.AgentThread, "Go on with a thread that stood still"),
    AgentOperation("change", "POST", asked.AgentChange, "Make something else of an open thread"),
    AgentOperation("contacts", "GET", Nothing, "The agent's contacts, and how their keys stand"),
    AgentOperation("contact", "POST", asked.AgentContact, "One contact, after the owner's word on it"),
    AgentOperation("add", "POST", asked.AgentAdd, "Add the contact of a card that was pasted"),
    AgentOperation("find", "POST", asked.AgentFind, "Which agent an e-mail address or a handle names"),
    AgentOperation("permissions", "POST", asked.AgentPermissions, "Show or change what may be shared"),
    AgentOperation("disclosures", "GET", asked.AgentDisclosures, "Who got what, when, and what allowed it"),
    AgentOperation("memory", "GET", asked.AgentMemory, "What is remembered of a contact, or of each"),
    AgentOperation("memory_edit", "POST", asked.AgentMemoryEdit, "Correct a value that is remembered"),
    AgentOperation(
        "memory_forget", "POST", asked.AgentMemoryForget, "Have a value forgotten, or all of a contact"
    ),
    AgentOperation(
        "known", "GET", asked.AgentKnown, "What a contact knows of the owner, and what can be called off"
    ),
    AgentOperation("notices", "GET", Nothing, "What the owner was told, oldest first"),
    AgentOperation(
        "hints", "POST", asked.AgentHints, "The hints whose moment has come, or that one was seen"
    ),
    AgentOperation("profile", "POST", asked.AgentProfile, "Show or change what the agent knows of the owner"),
    AgentOperation(
        "setup", "POST", asked.AgentSetup, "The first minute: show it, or keep what was said in it"
    ),
    AgentOperation("choose", "POST", asked.AgentChoose, "Show or set how much the agent may do unasked"),
    AgentOperation("calendars", "GET", Nothing, "The owner's calendars, and whether each can be read"),
    AgentOperation("me", "GET", Nothing, "The agent's own address and fingerprint"),
)


def require_agent(hub: Hub, credential: Credential) -> None:
    """Refuse everyone but the owner, and then the owner of a hub that runs no agent."""
    credential.require_owners_token()
    if not hub.agent.is_on:
        raise invalid(
            "this hub runs no personal agent: start it with `tacit up --agent DIR`",
            "CCCS-112",
            reason="agent_off",
        )


async def show_status(hub: Hub, credential: Credential, _request: Nothing) -> object:
    """Whether the hub runs an agent, and how it is."""
    credential.require_owners_token()
    return {
        "enabled": hub.agent.is_on,
        "state": hub.agent.state,
        "reason": hub.agent.reason,
        "process_id": hub.agent.process_id,
    }


async def carried_out(hub: Hub, command: str, arguments: dict[str, Any]) -> object:
    """What the agent says to a command, in the hub's words where it refuses."""
    try:
        return await hub.agent.call(command, arguments)
    except Refused as refused:
        row = refused.row or "CCCS-112"
        raise invalid(refused.message, row, reason=refused.code) from refused


def runner(operation: AgentOperation) -> Callable[..., Awaitable[object]]:
    """What the table of operations runs for one command."""

    async def run(hub: Hub, credential: Credential, request: msgspec.Struct) -> object:
        require_agent(hub, credential)
        given: dict[str, Any] = msgspec.to_builtins(request)
        if operation.command == "answer":
            given["via"] = VIA
        return await carried_out(hub, operation.command, given)

    return run
