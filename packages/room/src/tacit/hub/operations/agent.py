"""The operations of the owner's personal agent: the owner's alone, with the owner's own token.

Everybody else is refused in the same words whether an agent runs or not, and so is whoever is only taken at
its word (local trust). Each is one of the agent's that a hub may offer (`tacit.base.agent_operations`), with
the same answer; a refusal of the agent's keeps its code as the `reason`. Nothing of it is an event: no ledger
ever holds a question, an answer or a wish of the owner's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.base.errors import Refused
from tacit.ledger.codes import invalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.base.agent_operations import AgentOperation
    from tacit.hub.hub import RunningHub
    from tacit.hub.operations.requests import Nothing
    from tacit.hub.people.credentials import Credential

VIA: Final = "room"
"""Where the owner answered, as the receipts say it."""


def name_of(operation: AgentOperation[object]) -> str:
    """Its name in the hub's table of operations."""
    return f"agent_{operation.command}"


def path_of(operation: AgentOperation[object]) -> str:
    """Its place in HTTP."""
    return f"/v1/agent/{operation.command}"


def require_agent(hub: RunningHub, credential: Credential) -> None:
    """Refuse everyone but the owner, and then the owner of a hub that runs no agent."""
    credential.require_owners_token()
    if not hub.agent.is_on:
        raise invalid(
            "this hub runs no personal agent: start it with `tacit up --agent DIR`",
            "CCCS-112",
            reason="agent_off",
        )


async def show_status(hub: RunningHub, credential: Credential, _request: Nothing) -> object:
    """Whether the hub runs an agent, and how it is."""
    credential.require_owners_token()
    return {
        "enabled": hub.agent.is_on,
        "state": hub.agent.state,
        "reason": hub.agent.reason,
        "process_id": hub.agent.process_id,
    }


async def carried_out(hub: RunningHub, command: str, arguments: dict[str, Any]) -> object:
    """What the agent says to a command, in the hub's words where it refuses."""
    try:
        return await hub.agent.call(command, arguments)
    except Refused as refused:
        row = refused.row or "CCCS-112"
        raise invalid(refused.message, row, reason=refused.code) from refused


def runner(operation: AgentOperation[object]) -> Callable[..., Awaitable[object]]:
    """What the table of operations runs for one command."""

    async def run(hub: RunningHub, credential: Credential, request: msgspec.Struct) -> object:
        require_agent(hub, credential)
        given: dict[str, Any] = msgspec.to_builtins(request)
        if operation.command == "answer":
            given["via"] = VIA
        return await carried_out(hub, operation.command, given)

    return run
