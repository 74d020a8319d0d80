"""Token buckets: so much for each unit of time, with a burst saved up, for each key.

One rule for every limit on a rate. The unit of time is the caller's: `rate` is tokens for each unit of `now`
(seconds of a loop, microseconds of a `Moment`), and the wait that is answered is in the same unit. What a
refusal looks like is the caller's as well. Nothing here asks what time it is.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.base.callers import Bound


@dataclass(slots=True)
class TokenBucket:
    """What is left, and as of when."""

    level: float
    at: float

    def take(self, now: float, *, rate: float, burst: float, count: float = 1.0) -> float:
        """0.0 when `count` tokens were taken, else how long until they would be there (nothing is taken).

        A clock that steps back gives nothing and takes nothing; the bucket fills on from the new time.
        """
        self.level = min(burst, self.level + max(0.0, now - self.at) * rate)
        self.at = now
        if self.level >= count:
            self.level -= count
            return 0.0
        return (count - self.level) / rate


class TokenBuckets:
    """A bucket for each key, full at first sight; at most `most` keys are remembered.

    The key that was used longest ago is forgotten first: its bucket is the likeliest to be full again, and
    whoever is kept waiting does not get a full one by inventing names.
    """

    __slots__ = ("_buckets", "_burst", "_most", "_rate")

    def __init__(self, rate: float, burst: float, *, most: int) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, key: str, now: float, *, count: float = 1.0, share: float = 1.0) -> float:
        """0.0 when `count` tokens of a key were taken, else how long until they would be there.

        `share` is the part of rate and burst that this key gets.
        """
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = TokenBucket(self._burst * share, now)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket.take(now, rate=self._rate * share, burst=self._burst * share, count=count)

    def take_each(self, bounds: Iterable[Bound], now: float, *, share: float = 1.0) -> float:
        """One token of each bound on a caller; how long until there was one of the first that had none."""
        waits = (self.take(bound.key, now, share=bound.share * share) for bound in bounds)
        return next((wait for wait in waits if wait), 0.0)
