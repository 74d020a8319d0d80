"""What an ACP agent tells during a turn, read into our words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.c2a.errors import INVALID_PARAMS, NOT_A_REQUEST, UNKNOWN_METHOD
from tacit.harness.drivers.failures import permanent, retryable
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import Failure, TextDelta, ToolEnded, ToolStarted, TurnEvent
from tacit.harness.drivers.reading import Message, part, text

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

SIGN_IN: Final = -32000
SIGN_IN_HINT: Final = "the agent wants to be signed in: run it once by itself, then give --use-my-config"
_YES: Final = ("allow_once", "allow_always")
_NO: Final = ("reject_once", "reject_always")
_READING: Final = frozenset({"read", "search", "think", "fetch"})
_WRITING: Final = _READING | {"edit", "delete", "move"}


def event(update: Message, calls: dict[str, str]) -> TurnEvent | None:
    """The turn event in a session update. `calls` keeps the names of calls under way and is changed."""
    match text(update, "sessionUpdate"):
        case "agent_message_chunk":
            return TextDelta(text(part(update, "content"), "text"))
        case "tool_call" | "tool_call_update":
            return _call(update, calls)
        case _:
            return None


def _call(update: Message, calls: dict[str, str]) -> TurnEvent | None:
    call_id, status = text(update, "toolCallId"), text(update, "status")
    if call_id not in calls:
        calls[call_id] = text(update, "title") or text(update, "kind") or "tool"
        if status not in {"completed", "failed"}:
            return ToolStarted(call_id, calls[call_id])
    if status in {"completed", "failed"} and calls[call_id]:
        name, calls[call_id] = calls[call_id], ""
        return ToolEnded(call_id, name, ok=status == "completed")
    return None


def permission(call: Message, servers: AbstractSet[str], access: Access) -> tuple[str, ...]:
    """The kinds of option to choose, in order, when the agent asks whether it may make this call."""
    title, kind = text(call, "title"), text(call, "kind")
    if any(title.startswith((f"{server}.", f"mcp__{server}__", f"{server}__")) for server in servers):
        return _YES
    allowed = {Access.READ: _READING, Access.WRITE: _WRITING, Access.FULL: frozenset({kind})}[access]
    return _YES if kind in allowed else _NO


def failure(code: int) -> Failure:
    """What a JSON-RPC error to a prompt means."""
    if code == SIGN_IN:
        return permanent("signed_out", hint=SIGN_IN_HINT)
    if code in {NOT_A_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS}:
        return permanent("agent_error", hint="the agent does not take such a prompt")
    return retryable("agent_error")
