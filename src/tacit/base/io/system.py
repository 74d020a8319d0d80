"""The machine's own clock and randomness: the only place that asks for either."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from tacit.base.moment import Moment
from tacit.base.steady_time import LEAST_JUMP, Reckoning, begun, not_before, read

if TYPE_CHECKING:
    from collections.abc import Callable


class SystemClock:
    """Wall-clock time in UTC."""

    def now(self) -> Moment:
        """The present moment."""
        return Moment(time.time_ns() // 1000)

    def both(self) -> tuple[Moment, int]:
        """The present moment, and the microseconds since some other."""
        return both_clocks()


def both_clocks() -> tuple[Moment, int]:
    """What the wall says, and the microseconds since some moment that is the same for all processes.

    Sleep of the machine counts, where it can say how long it slept.
    """
    steady = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return Moment(time.time_ns() // 1000), time.clock_gettime_ns(steady) // 1000


def steady_seconds() -> float:
    """Seconds since some moment, for spans: nobody sets this clock, and sleep of the machine counts."""
    return both_clocks()[1] / 1_000_000


class SteadyClock:
    """Time that neither leaps nor goes back (`tacit.base.steady_time`); for any thread."""

    def __init__(
        self, clocks: Callable[[], tuple[Moment, int]] = both_clocks, known: Reckoning | None = None
    ) -> None:
        """`known` is another process's reckoning, which this one goes on with."""
        self._clocks = clocks
        self._lock = threading.Lock()
        self._last = known or begun(*clocks())
        self._stamped = Moment(0)
        self.jumps = 0
        self.on_jump: Callable[[int], None] = lambda _by: None

    def now(self) -> Moment:
        """The present moment."""
        return self.reckoning().at

    def reckoning(self) -> Reckoning:
        """The present moment, with what it was reckoned from."""
        with self._lock:
            wall, steady = self._clocks()
            found, by = read(self._last, wall, steady)
            self._last = found
        if by:
            self._jumped(by)
        return found

    def both(self) -> tuple[Moment, int]:
        """What the machine's two clocks say."""
        return self._clocks()

    def not_before(self, moment: Moment) -> None:
        """Go on from what was stamped already, where that is later: a clock that lags is a jump, too."""
        with self._lock:
            lags = moment - self._last.at
            self._stamped = max(self._stamped, moment)
            self._last = not_before(self._last, moment)
        if lags >= LEAST_JUMP:
            self._jumped(-lags)

    def begin_anew(self) -> None:
        """Go by the wall again, which was wrong and is not any more; for who has stamped nothing by it."""
        with self._lock:
            self._last = not_before(begun(*self._clocks()), self._stamped)

    def _jumped(self, by: int) -> None:
        self.jumps += 1
        self.on_jump(by)


class SystemEntropy:
    """The operating system's random numbers."""

    draw = staticmethod(os.urandom)
    """So many random bytes."""
