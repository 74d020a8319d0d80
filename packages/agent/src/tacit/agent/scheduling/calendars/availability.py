"""What of somebody's free time is told: only inside what was asked for, and little of it (A2ACP-077).

At most five windows leave, each long enough for the purpose. Of several stretches that were asked for, each
gives its longest window before any gives a second one. Where a calendar could not be read nothing is free.
Knows nothing of who asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import long_enough, merged, without

if TYPE_CHECKING:
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.base.moment import Span

MOST_WINDOWS: Final = 5


def free(busy: Busy, wanted: tuple[Span, ...], minutes: int) -> tuple[Span, ...]:
    """The windows to tell, in order."""
    if not busy.complete:
        return ()
    ranked: list[tuple[int, Span]] = []
    for stretch in merged(wanted):
        windows = long_enough(without((stretch,), busy.spans), minutes)
        by_length = sorted(windows, key=lambda one: (one.start - one.end, one.start))
        ranked += enumerate(by_length)
    ranked.sort()
    return tuple(sorted(span for _, span in ranked[:MOST_WINDOWS]))


def all_free(busy: Busy, wanted: tuple[Span, ...], minutes: int) -> tuple[Span, ...]:
    """Every window, for our own reckoning: none of it is told as such."""
    return long_enough(without(wanted, busy.spans), minutes) if busy.complete else ()
