"""What the door and the host say to each other: C2A requests, and their answers as outcomes.

Rows: C2A-016, C2A-017, C2A-019, C2A-021, C2A-169. An MCP agent presents itself once: it has tools, can be
knocked at, and pulls. The door takes knocks for it: they wait in the inbox until the agent looks. So an
obligation is neither pushed into a prompt, which MCP cannot do, nor passed on to somebody else at once for
want of a way (C2A-026); only its deadline does that. Knows nothing of how the messages travel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.version import version
from tacit.c2a.errors import CODES, Refusal, refusal
from tacit.c2a.negotiation import CAPABILITIES, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

_encode: Final = msgspec.json.Encoder().encode
GREETING: Final = _encode(
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": VERSIONS[0],
            "clientInfo": {"name": "tacit-mcp", "version": version()},
            "capabilities": {
                "delivery": {"ack": False, "redelivery": False, "idempotency": True},
                "injection": {"notify": True, "tool_mailbox": True},
                "chatTools": dict.fromkeys(CAPABILITIES["chatTools"], True),
            },
        },
    }
)
"""Sent before the agent's first call."""


def tool_request(name: str, arguments: Mapping[str, Any]) -> bytes:
    """A call of a chat tool."""
    params = {"name": name, "arguments": arguments}
    return _encode({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def outcome_of(answer: object) -> dict[str, Any] | Refusal:
    """What an answer says: a result, or why not."""
    if not isinstance(answer, dict):
        return strange()
    said = cast("dict[str, Any]", answer)
    result: object = said.get("result")
    if isinstance(result, dict):
        return cast("dict[str, Any]", result)
    error: object = said.get("error")
    # JSON-RPC wraps the error object; a refusal at the hub's door itself is the object (CCCS-111).
    given = cast("dict[str, Any]", error).get("data") if isinstance(error, dict) else said
    return _refused(cast("dict[str, Any]", given)) if isinstance(given, dict) else strange()


def _refused(error: dict[str, Any]) -> Refusal:
    code = str(error.get("code", "internal_error"))
    given: object = error.get("details")
    details = dict(cast("dict[str, Any]", given)) if isinstance(given, dict) else {}
    row, remedy = str(details.pop("row", "C2A-016")), str(details.pop("remedy", ""))
    known = code if code in CODES else "internal_error"
    return Refusal(known, str(error.get("message", "the call failed")), row, remedy, details)


def strange() -> Refusal:
    """What answered does not speak C2A."""
    return refusal(
        "internal_error", "what answers at this address is not a hub", "C2A-016", remedy="check the hub's URL"
    )


def unreachable() -> Refusal:
    """Nothing answered, or nothing that can help now."""
    return refusal(
        "daemon_unavailable",
        "the hub cannot be reached",
        "C2A-016",
        remedy="try again later; a person can start it with `tacit up`",
    )
