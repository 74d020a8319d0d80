"""Quotas: how much one principal, and one group, may have appended in a day.

In events and in bytes, and of them in notes (what a harness logs, its usage, its progress) and in claims.
Counted from what the ledger holds: after a restart the day's share that was used is still used, and no second
book can disagree with the first. What the hub writes because of a session counts for that session
(`charged`), all else that it writes for the group alone; the owner is bound by nothing, so that somebody can
always set things right. A day is a day of UTC; time is an argument.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.ledger.principal import SYSTEM, USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DAY: Final = 24 * 60 * 60 * SECOND
EXEMPT: Final = frozenset({SYSTEM, USER})
ALL: Final = ""
NEAR: Final = 0.8
"""From this share on an operator should know."""
NOTE: Final = "notes"
CLAIM: Final = "claims"
MEASURES: Final = ("events", "bytes", NOTE, CLAIM)
OWN: Final = ""
GROUP: Final = "group_"
"""Before a measure's name: what one principal may, and what a group may."""
_NOTHING: Final = (0, 0, 0, 0)
_NOTES: Final = frozenset({"x.c2a.usage", "x.c2a.progress", "x.c2a.turn"})
CAUSED: Final = _NOTES | {"x.c2a.audit", "x.c2a.claim", "x.c2a.work", "x.c2a.ephemeral"}
"""What the hub writes because of a session, which the record names."""
CLAIMING: Final = frozenset({"claimed", "working"})
"""Signals that take a claim."""


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """What may be appended in a day; far above what people and their agents do."""

    events: int = 2_000_000
    """Events of one principal."""
    bytes: int = 2 * 1024**3
    """Bytes of one principal's events."""
    notes: int = 100_000
    """Notes (signals, dispositions, work) of one agent."""
    claims: int = 20_000
    """Claims of one agent."""
    group_events: int = 10_000_000
    """Events of all in one group."""
    group_bytes: int = 8 * 1024**3
    """Bytes of all events in one group."""
    group_notes: int = 1_000_000
    """Notes of all agents in one group."""
    group_claims: int = 200_000
    """Claims of all agents in one group."""
    blob_bytes: int = 10 * 1024**3
    """What the files of one principal in a group may take, for as long as they are kept."""
    group_blob_bytes: int = 100 * 1024**3
    """The same for all in a group together."""


class Charge(NamedTuple):
    """For whom events count, how large they are, whether notes or claims besides, and how many they are."""

    by: str
    size: int
    sort: str = ""
    events: int = 1

    @property
    def amounts(self) -> tuple[int, int, int, int]:
        """What it adds to each of `MEASURES`."""
        events = self.events
        return (events, self.size, events if self.sort == NOTE else 0, events if self.sort == CLAIM else 0)


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """How much of one quota is used; `principal` is empty for the group's own."""

    group_id: str
    principal: str
    quota: str
    used: int
    limit: int

    @property
    def share(self) -> float:
        """From nothing, 0, to used up, 1."""
        return min(1.0, self.used / self.limit) if self.limit else 1.0


def charged(kind: str, by: str, data: Mapping[str, object], size: int) -> Charge:
    """For whom an event counts."""
    session = data.get("session") if by == SYSTEM and kind in CAUSED else None
    who = session if isinstance(session, str) else by
    is_note = kind in _NOTES or (kind == "x.c2a.audit" and data.get("what") == "log")
    takes = kind == "x.c2a.claim" and data.get("action") == "take"
    return Charge(who, size, NOTE if is_note else CLAIM if takes else "")


def sort_of_call(name: str, arguments: Mapping[str, object]) -> str:
    """What a tool call adds to, beside events and bytes."""
    if name == "chat.progress":
        return NOTE
    takes = name == "chat.claim" and arguments.get("release") is not True
    signal = arguments.get("signal") if name == "chat.react" else None
    return CLAIM if takes or (isinstance(signal, str) and signal in CLAIMING) else ""


def day_of(now: Moment) -> Moment:
    """When this day began."""
    return Moment(now - now % DAY)


class Quotas:
    """All quotas of one hub."""

    def __init__(self, limits: QuotaLimits) -> None:
        self._limits = limits
        self._most = {
            whose: tuple(int(getattr(limits, whose + name)) for name in MEASURES) for whose in (OWN, GROUP)
        }
        self._day = Moment(0)
        self._used: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(MEASURES))
        """By group and principal, what was appended today of each of `MEASURES`."""
        self.refused = 0

    def _turn(self, now: Moment) -> None:
        today = day_of(now)
        if today > self._day:
            self._day = today
            self._used.clear()

    def count(self, group_id: str, charges: Iterable[Charge], now: Moment) -> None:
        """This was appended."""
        self._turn(now)
        for charge in charges:
            amounts = charge.amounts
            for who in (charge.by, ALL):
                used = self._used[group_id, who]
                for at, more in enumerate(amounts):
                    used[at] += more

    def require(self, group_id: str, charge: Charge, now: Moment) -> None:
        """Refuse what would be too much; the refusal says of what, and until when."""
        if charge.by in EXEMPT:
            return
        self._turn(now)
        amounts = charge.amounts
        for whose, who in ((OWN, charge.by), (GROUP, ALL)):
            used = self._used.get((group_id, who), _NOTHING)
            for have, more, most, name in zip(used, amounts, self._most[whose], MEASURES, strict=True):
                if more and have + more > most:
                    self._refuse(f"{whose}{name}_per_day", have, most, now)

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

    def _refuse(self, name: str, used: int, limit: int, now: Moment) -> None:
        self.refused += 1
        until = Moment(self._day + DAY)
        raise Refused(
            "rate_limited",
            "the day's quota is used up; it begins anew at midnight UTC",
            details={
                "reason": "quota",
                "quota": name,
                "limit": limit,
                "used": used,
                "until": rfc3339(until),
                "retry_after_s": max(1, (until - now) // SECOND),
            },
        )

    def uses(self, now: Moment) -> list[QuotaUse]:
        """How much of each quota is used today, the fullest first; whom none binds is left out."""
        self._turn(now)
        found = [
            QuotaUse(group_id, who, f"{whose}{name}_per_day", have, most)
            for (group_id, who), used in self._used.items()
            if who not in EXEMPT
            for whose in (OWN if who else GROUP,)
            for have, most, name in zip(used, self._most[whose], MEASURES, strict=True)
        ]
        return sorted(found, key=lambda one: (-one.share, one.group_id, one.principal, one.quota))

    def blob_uses(self, kept: Iterable[tuple[str, str, int]]) -> list[QuotaUse]:
        """The same for the files that are kept: by group and principal, an empty one for all of a group."""
        return [
            QuotaUse(
                group_id,
                who,
                "blob_bytes" if who else "group_blob_bytes",
                used,
                self._limits.blob_bytes if who else self._limits.group_blob_bytes,
            )
            for group_id, who, used in kept
            if who not in EXEMPT
        ]
