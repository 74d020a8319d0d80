"""The machine's own clocks and randomness: the only place that asks for either."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tacit.base.moment import Moment


def both_clocks() -> tuple[Moment, int]:
    """What the wall says, and the microseconds since some moment that is the same for all processes.

    Sleep of the machine counts, where it can say how long it slept.
    """
    steady = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return Moment(time.time_ns() // 1000), time.clock_gettime_ns(steady) // 1000


def steady_seconds() -> float:
    """Seconds since some moment, for spans: nobody sets this clock, and sleep of the machine counts."""
    return both_clocks()[1] / 1_000_000


def this_boot() -> str:
    """When this machine was started, as a name; empty where it does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


class SystemEntropy:
    """The operating system's random numbers."""

    draw = staticmethod(os.urandom)
    """So many random bytes."""
