"""The catalogue of the ledger's wire codes (CCCS-111, CCCS-112), the same on every transport.

A code is stable; its text may improve. Clients treat a code that they do not know as a plain failure. Its
number in JSON-RPC is in `tacit.c2a.errors`, where all codes of the hub have theirs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tacit.base.errors import Refused


class Code(NamedTuple):
    """How one code travels over HTTP, and what it means."""

    http: int
    meaning: str


CODES: Final[dict[str, Code]] = {
    "invalid_request": Code(400, "the request breaks a rule of shape or sense; correct it"),
    "permission_denied": Code(403, "this credential may not do that"),
    "group_not_found": Code(404, "no such group, or none that this credential may see"),
    "actor_not_found": Code(404, "no such actor in the group"),
    "event_not_found": Code(404, "no such event in the group, or none that this credential may see"),
    "blob_not_found": Code(404, "no such blob in the group, or none that this credential may see"),
    "unknown_op": Code(404, "the hub does not know this operation"),
    "policy_forbids": Code(403, "this message is not the agent's to answer, or not in this way"),
    "left_conversation": Code(403, "the agent has left this conversation"),
    "loop_stopped": Code(403, "this exchange between agents was ended; a person opens it again"),
    "approval_required": Code(403, "a person has to agree first"),
    "claim_conflict": Code(409, "another agent owns it"),
    "claim_required": Code(409, "several agents can see it; claim it first"),
    "stale_event": Code(409, "what it answers has expired; read the thread first"),
    "event_superseded": Code(409, "what it answers was edited, deleted or merged away"),
    "already_responded": Code(409, "the agent has answered this already"),
    "no_new_information": Code(409, "it says nothing that was not just said"),
    "use_reaction": Code(409, "a reaction says this"),
    "idempotency_conflict": Code(409, "the same client_id with another message"),
    "rate_limited": Code(429, "too many requests from this credential; wait and try again"),
    "daemon_unavailable": Code(503, "starting, stopping or unable to write; retry with a client_id"),
    "internal": Code(500, "a fault of the hub's own; nothing was appended"),
}


def invalid(message: str, row: str, **details: object) -> Refused:
    """The request is wrong in itself."""
    return Refused("invalid_request", message, row=row, details=details)


def oversized() -> Refused:
    """A refusal of data that no event can hold."""
    return invalid(
        "data is larger than 256 KiB; put large content into a blob", "CCCS-020", reason="too_large"
    )


def denied(message: str, row: str, **details: object) -> Refused:
    """The principal may not do this."""
    return Refused("permission_denied", message, row=row, details=details)


def missing(what: str, message: str, row: str, **details: object) -> Refused:
    """`what` (group, actor, event, blob) is not there."""
    return Refused(f"{what}_not_found", message, row=row, details=details)
