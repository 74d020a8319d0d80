"""Rate limits: one bucket a caller, filled as time passes. Time is an argument.

Where several nodes serve one ledger each of them allows its share, so that all together allow what one would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.callers import Bound, bounds_of
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
        self._take((Bound(key, 1.0),), now)

    def take_from(self, remote: str | None, now: float) -> None:
        """Count one request of somebody who is known by a network address alone."""
        self._take(bounds_of(remote), now)

    def _take(self, bounds: tuple[Bound, ...], now: float) -> None:
        share = max(self._least, 1.0 / self.nodes())
        wait = self._buckets.take_each(bounds, now, share=share)
        if wait:
            raise Refused(
                "rate_limited",
                f"too many {self._what}; slow down",
                details={"per_second": self._rate * share, "retry_after_s": round(wait, 3)},
            )
