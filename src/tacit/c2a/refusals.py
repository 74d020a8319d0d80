"""The error table of C2A (C2A-016): string codes, their JSON-RPC numbers, and a refusal as a value.

A policy's "no" is an outcome, not an exception: `Refusal` carries the code, the row that refused, and how
to get a yes. Texts carry no user content.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CODES: Final[dict[str, int]] = {
    "invalid_request": -32602,
    "internal_error": -32603,
    "unknown_op": -32601,
    "not_initialized": -32001,
    "unsupported_version": -32002,
    "unsupported_capability": -32003,
    "permission_denied": -32004,
    "event_not_found": -32005,
    "group_not_found": -32005,
    "actor_not_found": -32005,
    "policy_forbids": -32010,
    "claim_conflict": -32011,
    "claim_required": -32012,
    "stale_event": -32013,
    "event_superseded": -32014,
    "left_conversation": -32015,
    "loop_stopped": -32016,
    "no_new_information": -32017,
    "idempotency_conflict": -32018,
    "already_responded": -32019,
    "rate_limited": -32020,
    "use_reaction": -32021,
    "delivery_failed": -32022,
    "delivery_transient": -32023,
    "approval_required": -32024,
    "daemon_unavailable": -32025,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """No, with the rule and the way to a yes."""

    code: str
    message: str
    row: str
    remedy: str = ""
    details: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def number(self) -> int:
        """The JSON-RPC code."""
        return CODES[self.code]

    def error(self) -> dict[str, object]:
        """The JSON-RPC error object; `data` is the CCCS error object."""
        details: dict[str, object] = {"row": self.row, **self.details}
        if self.remedy:
            details["remedy"] = self.remedy
        data = {"code": self.code, "message": self.message, "details": details}
        return {"code": self.number, "message": self.message, "data": data}


def refusal(code: str, message: str, row: str, *, remedy: str = "", **details: object) -> Refusal:
    """A refusal whose code is in the table."""
    if code not in CODES:
        raise KeyError(code)
    return Refusal(code, message, row, remedy, details)
