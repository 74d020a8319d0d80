"""Quotas: how much one principal, and one group, may have appended in a day.

In events and in bytes, and of them in notes (what a harness logs, its usage, its progress) and in claims.
Counted from what the ledger holds: after a restart the day's share that was used is still used, and no second
book can disagree with the first. What the hub writes because of a session counts for that session
(`charged`), all else that it writes for the group alone; the owner is bound by nothing, so that somebody can
always set things right. A day is a day of UTC; time is an argument.

Rate limits: one bucket a caller, filled as time passes. Time is an argument.

Where several nodes serve one ledger each of them allows its share, so that all together allow what one would.

On whose behalf the hub is reading: the credential that pays for it, and how its leaving is noticed.

Said once, where a door has made sure of who asks; whatever is read for that request finds it here. What the
hub does of its own accord is done for the house.

Turns at the doors: what is taken up there, and whose.

Everything at the doors runs on one loop, and whatever waits there goes on when the loop comes round. So each
go takes a few messages alone, of one credential half of them at most, and the rest wait in line: a member who
sends a thousand at once makes the others wait for a few of them. A large text is read beside the loop, one at
a time, whoever's turn it is; of one credential only so many large bodies are on their way at once. Nothing is
refused here: a connection whose message waits is not read from.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from tacit.base.callers import Bound, bounds_of
from tacit.base.errors import Refused
from tacit.base.fair_turns import HOUSE, FairTurns, TokenBuckets
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.ledger.principal import SYSTEM, USER

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping


MAX_BUCKETS: Final = 10_000


class RateLimit:
    """`rate` a second with a burst, for each key."""

    def __init__(self, rate: float, burst: float, what: str) -> None:
        self._rate = rate
        self._least = 1.0 / max(1.0, burst)
        """The share that allows one request at a time."""
        self._what = what
        self.nodes: Callable[[], int] = lambda: 1
        """How many nodes there are."""
        self._buckets = TokenBuckets(rate, burst, most=MAX_BUCKETS)

    def take(self, key: str, now: float) -> None:
        """Count one request; refuses when the bucket is empty."""
        self._take((Bound(key, 1.0),), now)

    def take_from(self, remote: str | None, now: float) -> None:
        """Count one request of somebody who is known by a network address alone."""
        self._take(bounds_of(remote), now)

    def _take(self, bounds: tuple[Bound, ...], now: float) -> None:
        share = max(self._least, 1.0 / self.nodes())
        wait = self._buckets.take_each(bounds, now, share=share)
        if wait:
            raise Refused(
                "rate_limited",
                f"too many {self._what}; slow down",
                details={"per_second": self._rate * share, "retry_after_s": round(wait, 3)},
            )


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the id of its credential, and who wants to be told when it has left."""

    owner: str = HOUSE
    leaving: dict[Callable[[], None], None] = field(default_factory=dict["Callable[[], None]", None])


THE_HOUSE: Final = Caller()
_CALLER: Final[contextvars.ContextVar[Caller]] = contextvars.ContextVar("tacit_caller", default=THE_HOUSE)


def caller() -> Caller:
    """Who asks."""
    return _CALLER.get()


def reading_for(who: Caller) -> None:
    """From now on this task, and what it starts, reads for somebody."""
    _CALLER.set(who)


def for_the_house() -> contextvars.Context:
    """A context in which the hub does something of its own accord."""
    context = contextvars.copy_context()
    context.run(_CALLER.set, THE_HOUSE)
    return context


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


T = TypeVar("T")
IN_ONE_GO: Final = 32
"""How many messages are taken up in one go of the loop."""
PIECES_IN_ONE_GO: Final = 4
"""How many pieces of files are hashed and written in one go: each takes as long as several messages."""
LARGE_BYTES: Final = 32 * 1024
"""From this size on a text is read beside the loop."""
BODIES_AT_ONCE: Final = 16
"""How many large bodies of one credential are on their way at once."""
FILES_AT_ONCE: Final = 2
"""How many files are brought to safety at once."""
_ANY: Final = 1 << 40


class _WaitingOwner(NamedTuple):
    owner: str
    turn: asyncio.Future[None]


class Places:
    """Places that credentials take and give back."""

    def __init__(self, places: int, share: int) -> None:
        self._turns: FairTurns[_WaitingOwner] = FairTurns(places, share, _ANY)

    async def take(self, owner: str) -> None:
        """Return with a place; at once when there is one."""
        asking = _WaitingOwner(owner, asyncio.get_running_loop().create_future())
        self._turns.ask(owner, asking)
        self._give()
        if asking.turn.done():
            return
        try:
            await asking.turn
        except asyncio.CancelledError:
            if not self._turns.withdraw(owner, asking):
                self.give_back(owner)
            raise

    def give_back(self, *owners: str) -> None:
        """Give places back, each owner's one."""
        for owner in owners:
            self._turns.done(owner)
        self._give()

    def _give(self) -> None:
        for asking in self._turns.next():
            self._given(asking.owner)
            # One that was given up a moment ago hands its place on by itself.
            if not asking.turn.done():
                asking.turn.set_result(None)

    def _given(self, owner: str) -> None:
        """Told of each place that is taken."""

    @asynccontextmanager
    async def one(self, owner: str) -> AsyncGenerator[None]:
        """Hold a place for a while."""
        await self.take(owner)
        try:
            yield
        finally:
            self.give_back(owner)


class _Goes(Places):
    """Places in a go of the loop: with the next one they are free again, and nobody gives one back."""

    def __init__(self, in_one_go: int) -> None:
        super().__init__(in_one_go, max(1, in_one_go // 2))
        self._in_this_go: list[str] = []

    def _given(self, owner: str) -> None:
        if not self._in_this_go:
            asyncio.get_running_loop().call_soon(self._next_go)
        self._in_this_go.append(owner)

    def _next_go(self) -> None:
        owners, self._in_this_go = self._in_this_go, []
        self._return(owners)

    def _return(self, owners: list[str]) -> None:
        super().give_back(*owners)

    def give_back(self, *owners: str) -> None:
        """A place that was given up is free with the next go, as all are."""


class DoorTurns:
    """All that is shared at the doors."""

    def __init__(self, in_one_go: int = IN_ONE_GO) -> None:
        self._goes = _Goes(in_one_go)
        self._pieces = _Goes(PIECES_IN_ONE_GO)
        self._large = Places(1, 1)
        self.bodies = Places(_ANY, BODIES_AT_ONCE)
        """Large bodies that are on their way."""
        self.files = Places(FILES_AT_ONCE, 1)
        """Files that are brought to safety."""

    async def turn(self, owner: str) -> None:
        """Return when this credential may have its next message taken up; at once when nobody is loud."""
        await self._goes.take(owner)

    async def piece(self, owner: str) -> None:
        """Return when this credential may have its next piece of a file written."""
        await self._pieces.take(owner)

    async def read(self, owner: str, size: int, read: Callable[[], T]) -> T:
        """Read a text of this size: a large one beside the loop, in its turn."""
        if size < LARGE_BYTES:
            return read()
        async with self._large.one(owner):
            return await asyncio.to_thread(read)
