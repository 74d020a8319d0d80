"""Which calls may be made again, and when (C2A-161, C2A-167, C2A-171, C2A-172).

A send carries its key, a read changes nothing, and the tools that call themselves idempotent may be repeated:
five tries, one to thirty seconds apart, or as long as the hub asks for. Anything else is called once; when
its answer is lost, the caller is told that it may have happened. A delivery that was not accepted is sent
again after 1, 2, 4 ... 60 seconds. Chance arrives as an argument; nothing here waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.backoff import Backoff
from tacit.base.errors import Refused, TacitError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPORARY: Final = frozenset({"rate_limited", "delivery_transient", "daemon_unavailable"})
"""Refusals that pass: the same bytes may be taken later."""
REDELIVERY: Final = Backoff(first=1.0, longest=60.0)
"""Seconds without an acknowledgement before a delivery is sent again (C2A-161)."""


class OutcomeUnknown(TacitError):
    """A call that may not be repeated lost its answer: it may or may not have happened."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often and how fast: seconds."""

    tries: int = 5
    first: float = 1.0
    longest: float = 30.0

    def pause(self, tried: int, share: float, retry_after_ms: int | None = None) -> float:
        """Seconds before the next try; `share` is a random number from 0 to 1, `tried` counts from 1."""
        backoff = Backoff(self.first, self.longest, jitter=(1.0, 1.5))
        return max(backoff.pause(tried - 1, share), (retry_after_ms or 0) / 1000)


@dataclass(frozen=True, slots=True)
class Annotations:
    """What a tool says of itself (C2A-170)."""

    read_only: bool = False
    idempotent: bool = False


def redeliver_after(tries: int) -> float:
    """Seconds to wait for an acknowledgement after so many tries: 1, 2, 4 ... 60 (C2A-161)."""
    return REDELIVERY.pause(tries - 1)


def may_repeat(annotations: Annotations | None, arguments: Mapping[str, object]) -> bool:
    """May this very call be made twice without asking anybody?"""
    if arguments.get("idempotencyKey"):
        return True
    if annotations is None:
        return False
    # A send without a key is not repeatable, whatever the tool says in general.
    return annotations.read_only or (annotations.idempotent and "content" not in arguments)


def passes(error: Exception) -> bool:
    """Is this a failure that time heals?"""
    if isinstance(error, Refused):
        return error.code in TEMPORARY
    return isinstance(error, Unavailable)


def is_unknown(error: Exception) -> bool:
    """Does the hub itself not know whether it happened?"""
    return isinstance(error, Unavailable) and error.unknown


def retry_after_ms(error: Exception) -> int | None:
    """How long the hub asked us to wait, if it did."""
    given = error.details.get("retryAfterMs") if isinstance(error, Refused) else None
    return given if isinstance(given, int) else None
