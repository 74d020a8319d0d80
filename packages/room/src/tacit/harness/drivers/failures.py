"""From what went wrong at a model's server to a `Failure` (C2A-163: only some are worth another try).

One table for all drivers, so that the same fault has the same name whichever agent met it. Hints are our
own words.
"""

from __future__ import annotations

from typing import Final

from tacit.harness.drivers.port import Failure, FailureCode, FailureKind

_RETRYABLE: Final[dict[FailureCode, str]] = {
    "time_limit": "the agent took longer than its time limit",
    "agent_died": "the agent's process ended; it is started again for the next turn",
    "agent_error": "the agent reported a fault of its own",
    "model_unavailable": "the model's server could not answer",
    "rate_limited": "the model's server asks for fewer calls",
    "rubbish": "the model's server sent what is no answer",
    "no_answer": "the model ended its turn without a word; it may have refused: ask it otherwise",
}
_PERMANENT: Final[dict[FailureCode, str]] = {
    "model_refused": "the model's server refuses such a request: check the model's name and settings",
    "signed_out": "the model's server does not accept the key or account: sign in, or set another key",
    "over_budget": "the account has reached its limit: raise it or wait until it is renewed",
    "cut_short": "the answer was longer than the model's server allows: ask for less at once",
    "context_full": "the question does not fit the model, not even in a new session: ask for less at once",
}


def retryable(code: FailureCode, *, hint: str = "", retry_after: float | None = None) -> Failure:
    """A failure that may pass by itself."""
    return Failure(FailureKind.RETRYABLE, code, hint or _RETRYABLE.get(code, ""), retry_after)


def permanent(code: FailureCode, *, hint: str = "") -> Failure:
    """A failure that waits for a person."""
    return Failure(FailureKind.PERMANENT, code, hint or _PERMANENT.get(code, ""))


def sentence(failure: Failure) -> str:
    """What happened, for a person."""
    known = failure.hint or _RETRYABLE.get(failure.code) or _PERMANENT.get(failure.code)
    return known or "the agent gave no answer"


def cancelled() -> Failure:
    """The turn was ended on request."""
    return Failure(FailureKind.CANCELLED, "cancelled")


def from_status(status: int | None, *, retry_after: float | None = None) -> Failure:
    """What an HTTP status of a model's server means; None is a line that broke."""
    match status:
        case 401 | 403:
            return permanent("signed_out")
        case 402:
            return permanent("over_budget")
        case 413:
            return permanent("context_full")
        case 429:
            return retryable("rate_limited", retry_after=retry_after)
        case 408 | 409 | 425 | None:
            return retryable("model_unavailable", retry_after=retry_after)
        case _ if 400 <= status < 500:
            return permanent("model_refused")
        case _ if status >= 500:
            return retryable("model_unavailable", retry_after=retry_after)
        case _:
            return retryable("rubbish")
