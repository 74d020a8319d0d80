"""The one table of error numbers (C2A-012, C2A-016, CCCS-111): which code travels under which number.

A code says what went wrong and is the same on every transport; JSON-RPC wants a number beside it. A number
has one meaning at every door of the hub. The numbers up to -32025 are C2A's own; what only the ledger's
operations say comes behind them. Readers go by the code: several codes may share a number, where C2A's table
lets them.

A policy's "no" is an outcome, not an exception: a `Refusal` carries the code, the row that refused, and how
to get a yes. Texts carry no user content.

Knows nothing of HTTP: a code's status there is the ledger's business (`tacit.ledger.codes`).
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - read when a refusal comes back from the writer
from dataclasses import dataclass, field
from typing import Final, NamedTuple

PARSE_ERROR: Final = -32700
NOT_A_REQUEST: Final = -32600
UNKNOWN_METHOD: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
MALFORMED: Final = "malformed_json"
"""`details.reason` of an `invalid_request` whose bytes are not JSON."""
NO_REQUEST: Final = "not_a_request"
"""`details.reason` of an `invalid_request` whose JSON is no JSON-RPC message."""


class ErrorNumber(NamedTuple):
    """One number, the codes that travel under it, and when; a `reason` narrows a code that has several."""

    number: int
    codes: tuple[str, ...]
    when: str
    reason: str = ""


TABLE: Final[tuple[ErrorNumber, ...]] = (
    ErrorNumber(PARSE_ERROR, ("invalid_request",), "the bytes are not JSON", MALFORMED),
    ErrorNumber(NOT_A_REQUEST, ("invalid_request",), "JSON, but not a JSON-RPC message", NO_REQUEST),
    ErrorNumber(UNKNOWN_METHOD, ("unknown_op",), "unknown method or tool"),
    ErrorNumber(INVALID_PARAMS, ("invalid_request",), "bad or missing member"),
    # One fault under two names: the ledger's operations say `internal`, C2A says `internal_error`.
    ErrorNumber(INTERNAL, ("internal_error", "internal"), "a fault of the hub's own"),
    ErrorNumber(-32001, ("not_initialized",), "a request before `initialize`"),
    ErrorNumber(-32002, ("unsupported_version",), "no common version"),
    ErrorNumber(-32003, ("unsupported_capability",), "tool, mode or `ephemeral` not negotiated"),
    ErrorNumber(-32004, ("permission_denied",), "no right"),
    ErrorNumber(-32005, ("event_not_found", "group_not_found", "actor_not_found"), "unknown id"),
    ErrorNumber(-32010, ("policy_forbids",), "a reply against the policy"),
    ErrorNumber(-32011, ("claim_conflict",), "another session owns it"),
    ErrorNumber(-32012, ("claim_required",), "a reply before the claim"),
    ErrorNumber(-32013, ("stale_event",), "expired, the thread was not checked"),
    ErrorNumber(-32014, ("event_superseded",), "edited, deleted or merged away"),
    ErrorNumber(-32015, ("left_conversation",), "a post after leaving"),
    ErrorNumber(-32016, ("loop_stopped",), "the exchange was ended"),
    ErrorNumber(-32017, ("no_new_information",), "nearly what was said before"),
    ErrorNumber(-32018, ("idempotency_conflict",), "the same key with another body or target"),
    ErrorNumber(-32019, ("already_responded",), "a second answer to one event"),
    ErrorNumber(-32020, ("rate_limited",), "too many; `details.retryAfterMs` where it is known"),
    ErrorNumber(-32021, ("use_reaction",), "a signal would do"),
    ErrorNumber(-32022, ("delivery_failed",), "the platform refuses for good"),
    ErrorNumber(-32023, ("delivery_transient",), "the platform fails for now; retry with the same key"),
    ErrorNumber(-32024, ("approval_required",), "waits for a person"),
    ErrorNumber(-32025, ("daemon_unavailable",), "starting, stopping or unable to write; retry is safe"),
    ErrorNumber(-32026, ("blob_not_found",), "no such file, or none that may be seen"),
)
CODES: Final[frozenset[str]] = frozenset(code for row in TABLE for code in row.codes)
_NUMBERS: Final = {(code, row.reason): row.number for row in TABLE for code in row.codes}


def number_of(code: str, reason: object = "") -> int:
    """The number of a code, narrowed by the reason in its details; one that is in no table is internal."""
    if isinstance(reason, str) and (code, reason) in _NUMBERS:
        return _NUMBERS[code, reason]
    return _NUMBERS.get((code, ""), INTERNAL)


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
        return number_of(self.code, self.details.get("reason"))

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
