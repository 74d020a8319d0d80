"""The replay window: how long packet ids are remembered, and how old a packet may be (A2ACP-029, A2ACP-222).

Ids are remembered for sixty days; a packet older than that is refused, since nobody remembers any more
whether it came before. Two days of grace forwards cover wrong clocks.
"""

from __future__ import annotations

from typing import Final

from tacit.base.moment import SECOND, ConfirmedTime, Moment, earlier

REMEMBERED: Final = 60 * 24 * 3600 * SECOND
AHEAD: Final = 2 * 24 * 3600 * SECOND


def within_window(created: Moment, earliest: Moment, latest: Moment) -> bool:
    """Whether a packet's own time lies where replays are still recognised.

    It may be any time from `earliest` to `latest`: these differ where the clock is in doubt.
    """
    return earliest - REMEMBERED < created < latest + AHEAD


def forget_before(confirmed: ConfirmedTime) -> ConfirmedTime:
    """Ids first seen before this moment may be forgotten."""
    # A packet may carry a time ahead of ours; its id must outlive the window of that time.
    return earlier(confirmed, REMEMBERED + AHEAD)
