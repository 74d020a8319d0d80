"""Errors as they travel: `{code, message, details?}` on every transport (CCCS-111)."""

from __future__ import annotations

import logging
from typing import Any, Final

from tacit.base.errors import OUTCOME_UNKNOWN, Corrupt, Refused, TacitError, Unavailable
from tacit.c2a.errors import number_of
from tacit.ledger.codes import CODES

log: Final = logging.getLogger("tacit.hub")


def failure(error: BaseException) -> dict[str, Any]:
    """The error object for whatever ended an operation."""
    if isinstance(error, Refused):
        answer: dict[str, Any] = {"code": error.code, "message": error.message}
        return {**answer, "details": error.details} if error.details else answer
    if isinstance(error, Corrupt):
        named = {"reason": "damaged", "damaged": list(error.damaged)} if error.damaged else {}
        details = {**named, "hint": error.hint}
        return {"code": "daemon_unavailable", "message": error.message, "details": details}
    if isinstance(error, Unavailable):
        unknown = {"details": {"reason": OUTCOME_UNKNOWN}} if error.unknown else {}
        return {"code": "daemon_unavailable", "message": str(error), **unknown}
    if isinstance(error, TacitError):
        return {"code": "invalid_request", "message": str(error)}
    log.error("an operation failed unexpectedly", exc_info=error)
    return {"code": "internal", "message": "a fault of the hub's own; nothing was appended"}


def status_of(answer: dict[str, Any]) -> int:
    """The HTTP status of an error object."""
    if answer.get("details", {}).get("reason") == "too_large":
        return 413
    return CODES[answer["code"]].http if answer["code"] in CODES else 500


def rpc_error(error: BaseException) -> dict[str, Any]:
    """The JSON-RPC error object; `data` is the same object as over HTTP."""
    answer = failure(error)
    number = number_of(answer["code"], answer.get("details", {}).get("reason"))
    return {"code": number, "message": answer["message"], "data": answer}
