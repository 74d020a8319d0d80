"""Rate limits: one bucket a caller, filled as time passes. Time is an argument.

Where several nodes serve one ledger each of them allows its share, so that all together allow what one would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.base.token_bucket import TokenBuckets

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BUCKETS: Final = 10_000


class RateLimit:
    """`rate` a second with a burst, for each key."""

    def __init__(self, rate: float, burst: float, what: str) -> None:
        self._rate = rate
        self._least = 1.0 / max(1.0, burst)
        """The share that allows one request at a time."""
        self._what = what
        self.nodes: Callable[[], int] = lambda: 1
        """How many nodes there are."""
        self._buckets = TokenBuckets(rate, burst, most=MAX_BUCKETS)

    def take(self, key: str, now: float) -> None:
        """Count one request; refuses when the bucket is empty."""
        share = max(self._least, 1.0 / self.nodes())
        wait = self._buckets.take(key, now, share=share)
        if wait:
            raise Refused(
                "rate_limited",
                f"too many {self._what}; slow down",
                details={"per_second": self._rate * share, "retry_after_s": round(wait, 3)},
            )
