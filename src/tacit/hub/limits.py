"""Rate limits: one bucket a caller, filled as time passes. Time is an argument."""

from __future__ import annotations

from typing import Final

from tacit.base.errors import Refused
from tacit.base.token_bucket import TokenBuckets

MAX_BUCKETS: Final = 10_000


class RateLimit:
    """`rate` a second with a burst, for each key."""

    def __init__(self, rate: float, burst: float, what: str) -> None:
        self._rate = rate
        self._what = what
        self._buckets = TokenBuckets(rate, burst, most=MAX_BUCKETS)

    def take(self, key: str, now: float) -> None:
        """Count one request; refuses when the bucket is empty."""
        wait = self._buckets.take(key, now)
        if wait:
            raise Refused(
                "rate_limited",
                f"too many {self._what}; slow down",
                details={"per_second": self._rate, "retry_after_s": round(wait, 3)},
            )
