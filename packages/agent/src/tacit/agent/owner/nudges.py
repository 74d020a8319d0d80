"""Nudges: when the owner is told, somewhere else, that a decision waits; and that is all that is said.

A nudge holds a number and nothing else: no name, no field, no word of anybody's, as it passes through
services that are none of ours. For each question there is at most one. In quiet hours, by the owner's own
clock, none leaves: what came meanwhile is told afterwards in one. Decided from values: `now` is an argument,
and who carries a nudge is `tacit.agent.owner.io.nudging`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time, timedelta
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import moment_at, wall, zone_named
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tacit.base.moment import Moment

TITLE: Final = "Tacit"
TRIED: Final = "This is how you will be told that a decision waits"
_HOURS: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one time on the wall to another; over midnight where the end is before the start."""

    start: time
    end: time

    def shown(self) -> str:
        """As it is typed."""
        return f"{self.start:%H:%M}-{self.end:%H:%M}"


@dataclass(frozen=True, slots=True)
class Nudge:
    """What to tell now: how many questions are open, and for which of them it is told."""

    waiting: int
    questions: tuple[str, ...]

    def text(self) -> str:
        """All that ever leaves."""
        return "1 decision waits" if self.waiting == 1 else f"{self.waiting} decisions wait"


def quiet_hours(text: str) -> QuietHours:
    """As an owner types them: `22:00-07:00`."""
    found = _HOURS.fullmatch(text)
    hours = (
        QuietHours(time(int(found[1]), int(found[2])), time(int(found[3]), int(found[4]))) if found else None
    )
    if hours is None or hours.start == hours.end:
        raise Refused("bad_hours", "quiet hours are two times of the day, such as 22:00-07:00")
    return hours


def quiet_until(now: Moment, hours: QuietHours | None, zone_name: str) -> Moment | None:
    """The end of the quiet that reigns now; None when it does not."""
    zone = zone_named(zone_name) or zone_named("UTC")
    if hours is None or zone is None:
        return None
    today = wall(now, zone).date()
    for began in (today - timedelta(days=1), today):
        ends = began if hours.start < hours.end else began + timedelta(days=1)
        start, end = moment_at(began, hours.start, zone), moment_at(ends, hours.end, zone)
        if start <= now < end:
            return end
    return None


def nudge(waiting: Sequence[str], told: Collection[str]) -> Nudge | None:
    """One for all questions that wait and were not told of; None when there is none such."""
    fresh = tuple(one for one in waiting if one not in told)
    return Nudge(len(waiting), fresh) if fresh else None


def redacted(url: str) -> str:
    """A way that is a secret, as it may be shown: what kind of service it leads to."""
    scheme, marked, _ = url.partition("://")
    return f"{scheme}://…" if marked and _SCHEME.match(scheme) else "…"
