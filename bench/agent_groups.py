"""A group's sums beside the bare sweep, and one more answer beside an early one: `python -m bench.agent_groups`.

Fifty participants with two hundred busy blocks in four weeks. The aggregation gets the free time of each and finds who
can when, ranked; the sweep (`spans.common`) finds only what all have in common in the same intervals. And what the
fiftieth answer costs beside the fifth: each is of the same length, so that only what is there already differs.
"""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

from bench.agent_calendars import LENGTH, calendars
from tacit.agent.groups.aggregation import Overlap, aggregate
from tacit.base.moment import MINUTE, Span, common, without

PEOPLE = 50
BLOCKS = 200
EARLY = 5
MINUTES = 30
ROUNDS = 5
REPEATS = 40


def _free(number: int) -> dict[str, tuple[Span, ...]]:
    everything = Span(0, LENGTH * MINUTE)
    busy = calendars(PEOPLE, BLOCKS, random.Random(number))
    return {f"agent:p{place}@relay.test": without((everything,), one) for place, one in enumerate(busy)}


def _adding(free: dict[str, tuple[Span, ...]], place: int) -> float:
    """Seconds to take in the answer at this place, with all before it there; the best of several."""
    names = list(free)
    best = float("inf")
    # The same answer at both places: what differs is what is there already.
    answer = free[names[-1]]
    for _ in range(REPEATS):
        overlap = Overlap(MINUTES)
        for name in names[: place - 1]:
            overlap.add(name, free[name])
        begun = time.thread_time()
        overlap.add("agent:next@relay.test", answer)
        best = min(best, time.thread_time() - begun)
    return best


def groups() -> dict[str, Any]:
    """Milliseconds of both, turn about, and the median ratios."""
    sums, sweeps, ratios = [], [], []
    free = _free(0)
    for number in range(ROUNDS):
        free = _free(number)
        begun = time.thread_time()
        found = aggregate(free, MINUTES)
        middle = time.thread_time()
        all_free = common(*free.values())
        ended = time.thread_time()
        if any(one.end - one.start >= MINUTES * MINUTE for one in all_free):
            assert found.windows[0].count == PEOPLE, "the sums miss what all have in common"
        sums.append(middle - begun)
        sweeps.append(ended - middle)
        ratios.append((middle - begun) / (ended - middle))
    early, late = _adding(free, EARLY), _adding(free, PEOPLE)
    return {
        "people": PEOPLE,
        "blocks": BLOCKS,
        "sums_ms": round(statistics.median(sums) * 1000, 2),
        "sweep_ms": round(statistics.median(sweeps) * 1000, 2),
        "ratio": round(statistics.median(ratios), 2),
        "early_us": round(early * 1e6, 1),
        "late_us": round(late * 1e6, 1),
        "adding": round(late / early, 2),
    }


def rows(found: dict[str, Any]) -> list[tuple[str, str, str, str, str, bool]]:
    """For the table: what, ours, beside it, ratio, target, met."""
    return [
        (
            f"A group's sums: {found['people']} participants with {found['blocks']} blocks",
            f"{found['sums_ms']:g} ms", f"the bare sweep of the same intervals: {found['sweep_ms']:g} ms",
            f"{found['ratio']:g}x", "≤ 2x", found["ratio"] <= 2,
        ),
        (
            f"Taking in the answer of the {found['people']}th participant", f"{found['late_us']:g} µs",
            f"of the {EARLY}th: {found['early_us']:g} µs", f"{found['adding']:g}x", "≤ 2x", found["adding"] <= 2,
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    print(groups())
