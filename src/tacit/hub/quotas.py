"""Quotas: how much one principal, and one group, may have appended in a day, in events and in bytes.

Counted from what the ledger holds: after a restart the day's share that was used is still used, and no second
book can disagree with the first. What the hub itself writes counts for the group alone; the owner is bound by
nothing, so that somebody can always set things right. A day is a day of UTC; time is an argument.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.ledger.principal import SYSTEM, USER

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY: Final = 24 * 60 * 60 * SECOND
EXEMPT: Final = frozenset({SYSTEM, USER})
ALL: Final = ""


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """What may be appended in a day; far above what people and their agents do."""

    events: int = 2_000_000
    bytes: int = 2 * 1024**3
    group_events: int = 10_000_000
    group_bytes: int = 8 * 1024**3
    blob_bytes: int = 10 * 1024**3
    """What the files of one principal in a group may take, for as long as they are kept."""
    group_blob_bytes: int = 100 * 1024**3


@dataclass(slots=True)
class Used:
    """What was appended today."""

    events: int = 0
    bytes: int = 0


def day_of(now: Moment) -> Moment:
    """When this day began."""
    return Moment(now - now % DAY)


class Quotas:
    """All quotas of one hub."""

    def __init__(self, limits: QuotaLimits) -> None:
        self._limits = limits
        self._day = Moment(0)
        self._used: defaultdict[tuple[str, str], Used] = defaultdict(Used)
        self.refused = 0

    def _turn(self, now: Moment) -> None:
        today = day_of(now)
        if today > self._day:
            self._day = today
            self._used.clear()

    def load(self, group_id: str, rows: Iterable[tuple[str, int]], now: Moment) -> None:
        """What a ledger says was appended today: by whom, and how large."""
        self._turn(now)
        for by, size in rows:
            self.count(group_id, by, size, now)

    def count(self, group_id: str, by: str, size: int, now: Moment) -> None:
        """Something was appended."""
        self._turn(now)
        for who in (by, ALL):
            used = self._used[group_id, who]
            used.events += 1
            used.bytes += size

    def require(self, group_id: str, by: str, size: int, now: Moment) -> None:
        """Refuse what would be too much; the refusal says of what, and until when."""
        if by in EXEMPT:
            return
        self._turn(now)
        limits = self._limits
        self._check("events_per_day", self._used.get((group_id, by)), limits.events, limits.bytes, size, now)
        self._check(
            "group_events_per_day",
            self._used.get((group_id, ALL)),
            limits.group_events,
            limits.group_bytes,
            size,
            now,
        )

    def require_blob(self, by: str, own: int, group: int) -> None:
        """Refuse a file when those kept for its sender, or for the group, take too much already."""
        limits = self._limits
        for name, used, most in (
            ("blob_bytes", own, limits.blob_bytes),
            ("group_blob_bytes", group, limits.group_blob_bytes),
        ):
            if by not in EXEMPT and used >= most:
                self.refused += 1
                raise Refused(
                    "rate_limited",
                    "the files kept here take up their quota; the owner can raise it",
                    details={
                        "reason": "quota", "quota": name, "limit": most, "used": used, "until": None,
                        "retry_after_s": DAY // SECOND,
                    },
                )  # fmt: skip

    def _check(self, name: str, used: Used | None, events: int, most: int, size: int, now: Moment) -> None:
        if used is None:
            used = Used()
        if used.events < events and used.bytes + size <= most:
            return
        self.refused += 1
        is_bytes = used.events < events
        until = Moment(self._day + DAY)
        raise Refused(
            "rate_limited",
            "the day's quota is used up; it begins anew at midnight UTC",
            details={
                "reason": "quota",
                "quota": name.replace("events", "bytes") if is_bytes else name,
                "limit": most if is_bytes else events,
                "used": used.bytes if is_bytes else used.events,
                "until": rfc3339(until),
                "retry_after_s": max(1, (until - now) // SECOND),
            },
        )
