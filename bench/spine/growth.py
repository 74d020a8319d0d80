"""(f) Flat growth: what everyday operations cost in a ledger of 1,000 events and in one of 1,000,000.

Both ledgers are open in this process and are measured in turn, one operation each, through the store itself:
no transport hides a difference.
"""

from __future__ import annotations

import os
import random
import statistics
from time import perf_counter as now
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bench.spine.filled import ACTORS, filled
from bench.spine.plan import Case, Plan, Row
from bench.spine.texts import ClientIds, messages
from tacit.ledger.cursor import Selection
from tacit.ledger.io.store import DATABASE, Store, StoreOptions
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL: Final = 1000
TARGET: Final = 1.3


class Ledger:
    """One filled ledger and the operations on it."""

    def __init__(self, count: int, *, fresh: bool, seed: int) -> None:
        folder, self.group_id = filled(count, fresh=fresh)
        self._file = folder / DATABASE
        self.store = Store(folder, StoreOptions(purpose="benchmark"))
        self.store.start()
        self._dice = random.Random(seed)
        self._client_id = ClientIds(seed + random.SystemRandom().getrandbits(30))
        self._texts = messages(seed)
        self.group = self.store.read(lambda reader: reader.group(self.group_id))
        self._repeated = self._message()
        self.store.append(self._repeated)
        self._mark_read()

    def _mark_read(self) -> None:
        """Everyone's read mark stands 400 events before the end, in both ledgers."""
        at = Selection(since_seq=max(0, self.group.last_seq - 400), limit=100)
        page = self.store.read(lambda reader: reader.page(self.group, "user", at)).events
        for number in range(ACTORS):
            name = f"a{number}"
            event = next(one for one in page if one.everyone and one.by != name)
            data = {"actor_id": name, "event_id": event.event_id}
            self.store.append(Submission(self.group_id, name, "chat.read", data, msgspec.json.encode(data)))
        self.group = self.store.read(lambda reader: reader.group(self.group_id))

    def _actor(self) -> str:
        return f"a{self._dice.randrange(ACTORS)}"

    def _message(self) -> Submission:
        data = {"text": self._dice.choice(self._texts), "client_id": self._client_id()}
        return Submission(self.group_id, self._actor(), "chat.message", data, msgspec.json.encode(data))

    def operations(self) -> dict[str, Callable[[], Any]]:
        """Name and a call that does it once; each prepares its own arguments outside of the clock."""
        read, group = self.store.read, self.group

        def inbox() -> Any:
            name = self._actor()
            return lambda: read(lambda reader: reader.inbox(group, name, 50))

        def unread() -> Any:
            name = self._actor()
            return lambda: read(lambda reader: reader.unread_count(group, name))

        def owed() -> Any:
            name = self._actor()
            return lambda: read(
                lambda reader: (reader._owed(group, name, "ack", 50), reader.duty_count(group, name, "ack"))
            )

        def window() -> Any:
            return lambda: read(lambda reader: reader.window(group, "a0", group.last_seq + 1, 50))

        def resume() -> Any:
            at = Selection(since_seq=self._dice.randrange(max(1, group.last_seq - 100)), limit=100)
            return lambda: read(lambda reader: reader.page(group, "a0", at))

        def append() -> Any:
            wanted = self._message()
            return lambda: self.store.append(wanted)

        def batch() -> Any:
            wanted = [self._message() for _ in range(100)]
            return lambda: self.store.together(wanted)

        return {
            "inbox of 50": inbox,
            "unread count": unread,
            "open acknowledgements": owed,
            "window of 50 messages": window,
            "resume of 100 events from anywhere": resume,
            "idempotent repeat": lambda: lambda: self.store.append(self._repeated),
            "append, durable, alone": append,
            "append of 100 in one commit": batch,
        }

    def warm(self) -> None:
        """Read the file once: then both ledgers are in the system's file cache, and no disk is measured."""
        with self._file.open("rb") as file:
            while file.read(1 << 20):
                pass

    def cool(self) -> None:
        """Ask the system to forget the file, for what a first touch after a restart costs."""
        with self._file.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        """Let go of the folder."""
        self.store.close()


async def flat(plan: Plan) -> Case:
    """The p50 of each operation in both ledgers."""
    ledgers = {"small": Ledger(SMALL, fresh=True, seed=1), "large": Ledger(plan.large, fresh=False, seed=1)}
    rows: list[Row] = []
    raw: dict[str, Any] = {}
    try:
        both = {size: ledger.operations() for size, ledger in ledgers.items()}
        cold = _cold(ledgers["large"], plan)
        for ledger in ledgers.values():
            ledger.warm()
        for name in both["small"]:
            count = plan.samples(100 if "100 in one" in name else 400)
            took: dict[str, list[float]] = {"small": [], "large": []}
            for turn in range(count):
                for size in took if turn % 2 else reversed(took):
                    act = both[size][name]()
                    before = now()
                    act()
                    took[size].append((now() - before) * 1e6)
            small, large = (statistics.median(took[size]) for size in ("small", "large"))
            raw[name] = {"small_us": small, "large_us": large}
            rows.append(
                Row(
                    name[0].upper() + name[1:] + f", at {plan.large:,} events: p50",
                    large, "µs", "the same at 1,000 events", small, large / small, at_most=TARGET,
                )
            )  # fmt: skip
    finally:
        for ledger in ledgers.values():
            ledger.close()
    raw["cold"] = {"large_us": cold}
    what = f"The same resume at {plan.large:,} events, its pages not in the file cache: p50"
    rows.append(Row(what, cold, "µs", note="the disk's share; both ledgers are in the file cache otherwise"))
    return Case("Flat growth", rows, raw)


def _cold(ledger: Ledger, plan: Plan) -> float:
    """Microseconds of a resume from a place that has to come from the disk."""
    resume = ledger.operations()["resume of 100 events from anywhere"]
    took: list[float] = []
    for turn in range(plan.samples(100)):
        if turn % 20 == 0:
            ledger.cool()
        act = resume()
        before = now()
        act()
        took.append((now() - before) * 1e6)
    return statistics.median(took)
