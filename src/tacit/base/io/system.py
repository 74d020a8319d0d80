"""The machine's own clock and randomness: the only place that asks for either."""

from __future__ import annotations

import os
import time

from tacit.base.moment import Moment


class SystemClock:
    """Wall-clock time in UTC."""

    def now(self) -> Moment:
        """The present moment."""
        return Moment(time.time_ns() // 1000)


class SystemEntropy:
    """The operating system's random numbers."""

    draw = staticmethod(os.urandom)
    """So many random bytes."""
