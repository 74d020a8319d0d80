"""Turns at something scarce, shared fairly between those who ask, however much each of them asks.

There are so many places. Whoever asks waits in its owner's line; places go to owners in rotation, first to
those whose turns have cost the least, where a cost is said: whoever comes new begins where the others are. No
owner holds more than its share of them at once, so that one that asks without end leaves a place to the
others. A line has an end: one that is full is refused. The house itself (the empty owner) may hold every
place. Of those that are heavy one at a time has a place, whoever's it is; what stands behind a heavy one in
its owner's line waits with it, and the other lines go on.

Tickets are whatever the caller has for those who wait. Nothing here waits or runs anything.

Token buckets: so much for each unit of time, with a burst saved up, for each key.

One rule for every limit on a rate. The unit of time is the caller's: `rate` is tokens for each unit of `now`
(seconds of a loop, microseconds of a `Moment`), and the wait that is answered is in the same unit. What a
refusal looks like is the caller's as well. Nothing here asks what time it is.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tacit.base.callers import Bound


T = TypeVar("T")
HOUSE: Final = ""


class FairTurns(Generic[T]):
    """Who has a place, and who comes next."""

    def __init__(
        self,
        places: int,
        share: int,
        most_waiting: int,
        is_heavy: Callable[[T], bool] = lambda _ticket: False,
    ) -> None:
        self._places = places
        self._share = share
        self._most = most_waiting
        self._is_heavy = is_heavy
        self._has_heavy = False
        self._taken = 0
        self._holding: defaultdict[str, int] = defaultdict(int)
        self._spent: dict[str, float] = {}
        """What the turns of each owner have cost; one that came later began at what they had cost by then."""
        self._reached = 0.0
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(len(line) for line in self._lines.values())

    def ask(self, owner: str, ticket: T) -> bool:
        """Stand in the owner's line; False when it is full."""
        line = self._lines.get(owner)
        if line is not None and owner != HOUSE and len(line) >= self._most:
            return False
        if line is None:
            line = self._lines[owner] = deque()
            self._spent[owner] = max(self._spent.get(owner, 0.0), self._reached)
        line.append(ticket)
        return True

    def withdraw(self, owner: str, ticket: T) -> bool:
        """Leave the line; False when the ticket has its place already, or never stood there."""
        line = self._lines.get(owner, deque())
        if ticket not in line:
            return False
        line.remove(ticket)
        if not line:
            del self._lines[owner]
        return True

    def done(self, owner: str, *, heavy: bool = False, cost: float = 0.0) -> None:
        """Give a place back; `heavy` says what had it, and `cost` for how long."""
        if owner != HOUSE:
            self._spent[owner] = self._spent.get(owner, 0.0) + cost
        self._has_heavy = self._has_heavy and not heavy
        self._taken -= 1
        self._holding[owner] -= 1
        if not self._holding[owner]:
            del self._holding[owner]
        if not self._lines and not self._holding:
            self._spent.clear()
            self._reached = 0.0

    def next(self) -> Iterator[T]:
        """Those whose turn has come."""
        while self._lines and self._taken < self._places:
            owner = min(filter(self._may, self._lines), key=self._spent.__getitem__, default=None)
            if owner is None:
                return
            self._reached = max(self._reached, self._spent[owner])
            line = self._lines.pop(owner)
            ticket = line.popleft()
            if line:
                self._lines[owner] = line
            self._has_heavy = self._has_heavy or self._is_heavy(ticket)
            self._taken += 1
            self._holding[owner] += 1
            yield ticket

    def _may(self, owner: str) -> bool:
        if self._has_heavy and self._is_heavy(self._lines[owner][0]):
            return False
        return owner == HOUSE or self._holding.get(owner, 0) < self._share


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
