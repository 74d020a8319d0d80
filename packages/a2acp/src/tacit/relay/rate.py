"""Rates: a token bucket per sender, new recipients per hour, and a reputation that halves them.

A2ACP-257, A2ACP-258, A2ACP-261.

Judged by envelopes and reports alone. Scores are not published and do not rise by themselves. `now` is an
argument; of too many entries, those used longest ago are forgotten first.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.base.fair_turns import TokenBuckets
from tacit.base.moment import SECOND, Moment
from tacit.relay.settings import HOUR, MINUTE
from tacit.wire import codes

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from tacit.base.callers import Bound

START: Final = 50
POOR: Final = 20
_MOST: Final = 100_000


class PerMinute:
    """`per_minute` tokens a minute for each key, at most `burst` saved up; waits are whole seconds.

    That is how the wire says `retry_after`.
    """

    def __init__(self, per_minute: int, burst: int) -> None:
        self._buckets = TokenBuckets(per_minute / MINUTE, burst, most=_MOST)

    def take(self, key: str, now: Moment, *, count: int = 1, share: float = 1.0) -> int:
        """0 when `count` tokens were taken, else the seconds until they would be there."""
        return _seconds(self._buckets.take(key, now, count=count, share=share))

    def take_each(self, bounds: tuple[Bound, ...], now: Moment) -> int:
        """The same for somebody who is known by a network address alone."""
        return _seconds(self._buckets.take_each(bounds, now))


def _seconds(wait: float) -> int:
    return int(wait / SECOND) + 1 if wait else 0


class ConcurrencyLimit:
    """At most so many at once, and so many for each source.

    For work that takes memory before it is known whose it is.
    """

    def __init__(self, *, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self._now = 0
        self._taken: Counter[str] = Counter()

    @contextmanager
    def slot(self, bounds: tuple[Bound, ...]) -> Generator[None]:
        """Hold a slot, or `Refused` when none is free."""
        if self._now >= self._most or any(
            self._taken[bound.key] >= self._most_each * bound.share for bound in bounds
        ):
            raise Refused(codes.RATE_LIMITED, "too many at once", row="A2ACP-256", details={"retry_after": 5})
        keys = [bound.key for bound in bounds]
        self._now += 1
        self._taken.update(keys)
        try:
            yield
        finally:
            self._now -= 1
            self._taken.subtract(keys)
            for key in keys:
                if not self._taken[key]:
                    del self._taken[key]


def first_contact_wait(recent: Sequence[Moment], per_hour: int, now: Moment) -> int:
    """0 when one more new recipient is allowed, else the seconds until the oldest one is an hour past.

    `recent` are the times of the last first contacts, the oldest first.
    """
    counted = [at for at in recent[-per_hour:] if now - at < HOUR]
    return int((counted[0] + HOUR - now) / SECOND) + 1 if len(counted) >= per_hour else 0


class Reputation:
    """A score per sender from what a blind relay can see: bad signatures, rate hits, recipients' reports."""

    BAD_SIGNATURE: Final = -10
    RATE_HIT: Final = -1
    REPORT: Final = -5

    def __init__(self) -> None:
        self._scores: OrderedDict[str, int] = OrderedDict()
        self._reports: OrderedDict[tuple[str, str], Moment] = OrderedDict()
        # What was kept, where others keep theirs in the same place.
        self._kept: dict[str, int] = {}

    def score(self, sender: str) -> int:
        """0 to 100; a stranger has 50."""
        return self._scores.get(sender, START)

    def change(self, sender: str, by: int) -> None:
        """Move a score within its limits."""
        self._scores[sender] = min(100, max(0, self.score(sender) + by))
        self._scores.move_to_end(sender)
        if len(self._scores) > _MOST:
            self._scores.popitem(last=False)

    def report(self, reporter: str, sender: str, now: Moment) -> bool:
        """One report counts per reporter, sender and hour."""
        last = self._reports.get((reporter, sender))
        if last is not None and now - last < HOUR:
            return False
        self._reports[reporter, sender] = now
        if len(self._reports) > _MOST:
            self._reports.popitem(last=False)
        self.change(sender, self.REPORT)
        return True

    def share(self, sender: str) -> float:
        """The part of the rate limit a sender gets: half for a poor one."""
        return 0.5 if self.score(sender) < POOR else 1.0

    def load(self, scores: dict[str, int]) -> None:
        """Scores kept over a restart."""
        self._scores.update(scores)
        self._kept.update(scores)

    def moved(self) -> dict[str, int]:
        """By how much scores have changed since they were kept."""
        moved = {sender: score - self._kept.get(sender, START) for sender, score in self._scores.items()}
        return {sender: by for sender, by in moved.items() if by}

    def kept(self, sender: str, score: int | None, by: int = 0) -> None:
        """What is kept of a sender now, `by` of it from here; what changed here besides still counts."""
        by = self.score(sender) - self._kept.get(sender, START) - by
        if score is None:
            self._kept.pop(sender, None)
        else:
            self._kept[sender] = score
        self._scores[sender] = START if score is None else score
        self.change(sender, by)

    def dump(self) -> dict[str, int]:
        """Scores worth keeping: those that differ from a stranger's."""
        return {sender: score for sender, score in self._scores.items() if score != START}
