"""The part of MCP that a driver's agent needs of the harness: greet, list the chat tools, call one.

JSON-RPC 2.0 messages in, answers out. No resources, no prompts, no sampling: agents that want more connect to
the hub's own MCP door. Every call passes through the harness, which is the point of it. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.version import version
from tacit.c2a.errors import INTERNAL, INVALID_PARAMS, NOT_A_REQUEST, UNKNOWN_METHOD

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first; a client's own is taken when it is one of these."""
NAME: Final = "tacit"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call to be answered with `called`."""

    id: object
    name: str
    arguments: dict[str, Any]


def heard(message: object, tools: Sequence[dict[str, Any]]) -> dict[str, Any] | ToolCall | None:
    """What a message asks for: an answer, a call to make, or nothing (notifications, answers)."""
    if not isinstance(message, dict):
        return _error(None, NOT_A_REQUEST, "not a JSON-RPC message")
    request = cast("dict[str, Any]", message)
    if "method" not in request or "id" not in request:
        return None
    number = request["id"]
    given: object = request.get("params") or {}
    if not isinstance(given, dict):
        return _error(number, INVALID_PARAMS, "parameters are an object")
    params = cast("dict[str, Any]", given)
    match request["method"]:
        case "initialize":
            wanted = params.get("protocolVersion")
            return _result(
                number,
                {
                    "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
                    "capabilities": {"tools": {"listChanged": False}},
                    "serverInfo": {"name": NAME, "version": version()},
                },
            )
        case "ping":
            return _result(number, {})
        case "tools/list":
            return _result(number, {"tools": list(tools)})
        case "tools/call":
            arguments: object = params.get("arguments", {})
            if not isinstance(arguments, dict) or not isinstance(params.get("name"), str):
                return _error(number, INVALID_PARAMS, "a call needs a name and its arguments as an object")
            return ToolCall(number, str(params["name"]), cast("dict[str, Any]", arguments))
        case _:
            return _error(number, UNKNOWN_METHOD, "there is no such method here")


def called(call: ToolCall, result: dict[str, Any]) -> dict[str, Any]:
    """The answer to a call."""
    return _result(call.id, result)


def failed(call: ToolCall) -> dict[str, Any]:
    """The answer to a call that met a fault of ours."""
    return _error(call.id, INTERNAL, "a fault of Tacit's own; look before you try again")


def _result(number: object, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: object, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}
