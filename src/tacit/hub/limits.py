"""Rate limits: one bucket a caller, filled as time passes. Time is an argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tacit.base.errors import Refused

MAX_BUCKETS: Final = 10_000


@dataclass(slots=True)
class Bucket:
    """How much a caller may still ask for now."""

    level: float
    at: float


class RateLimit:
    """`rate` a second with a burst, for each key."""

    def __init__(self, rate: float, burst: float, what: str) -> None:
        self._rate = rate
        self._burst = burst
        self._what = what
        self._buckets: dict[str, Bucket] = {}

    def take(self, key: str, now: float) -> None:
        """Count one request; refuses when the bucket is empty."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= MAX_BUCKETS:
                self._buckets.clear()
            bucket = self._buckets[key] = Bucket(self._burst, now)
        bucket.level = min(self._burst, bucket.level + (now - bucket.at) * self._rate)
        bucket.at = now
        if bucket.level < 1.0:
            raise Refused(
                "rate_limited",
                f"too many {self._what}; slow down",
                details={
                    "per_second": self._rate,
                    "retry_after_s": round((1 - bucket.level) / self._rate, 3),
                },
            )
        bucket.level -= 1.0
