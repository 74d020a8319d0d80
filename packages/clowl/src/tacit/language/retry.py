"""Retries: whether an error may be tried again, when, and in which form (CLOWL-061, CLOWL-063, CLOWL-064).

A retry is a new REQ under the error: same conversation, same trace, a new id. Waiting is a value; nobody
sleeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.language.message import ErrorReport
from tacit.language.tables import ERROR_CODES, retryable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.language.build import Author
    from tacit.language.message import Message

MAX_RETRIES: Final = 3
_ONLY_WHEN_CHANGED: Final = frozenset({"E001", "E008"})


def report(error: Message) -> ErrorReport:
    """What an ERR says; a missing or impossible `retry` is read as the table has it (CLOWL-061)."""
    code = str(error.data["code"])
    wanted = error.data.get("retry", True)
    return ErrorReport(code, str(error.data["msg"]), retry=bool(wanted) and retryable(code))


def refusal(error: Message) -> str | None:
    """Why this error may not be retried; None when it may."""
    told = report(error)
    if told.retry:
        return None
    if told.code not in ERROR_CODES:
        return "the code is not known"
    return f"{told.code} is not retried" if not retryable(told.code) else "the sender asks not to retry"


class Retry(msgspec.Struct, frozen=True):
    """A retry that may be made after `wait` seconds, or the reason why not."""

    wait: float = 0
    refused: str = ""


def plan(error: Message, *, made: int, changed: bool) -> Retry:
    """What to do about `error` after `made` retries; `changed` says that the content was corrected."""
    if (reason := refusal(error)) is not None:
        return Retry(refused=reason)
    if made >= MAX_RETRIES:
        return Retry(refused=f"{MAX_RETRIES} retries were made already")
    code = report(error).code
    if code in _ONLY_WHEN_CHANGED and not changed:
        return Retry(refused=f"{code} is retried only after the content changed")
    if code != "E004":
        return Retry()
    asked = error.data.get("retry_after")
    if isinstance(asked, int | float) and not isinstance(asked, bool) and asked >= 0:
        return Retry(wait=float(asked))
    return Retry(wait=float(2**made))


def retried(
    author: Author, request: Message, error: Message, data: Mapping[str, Any] | None = None
) -> Message:
    """The request again, with corrected `data` if given, under its error."""
    content = request.data if data is None else data
    return author.req(error.sender, request.task, content, parent=error, cid=request.cid, tid=request.trace)
