"""Common free time: our sweep beside `portion`, on the same calendars, with the same result.

    python bench/agent_calendars.py [--calendars N] [--blocks N] [--rounds N] [--json FILE]

Each calendar is busy in so many blocks of four weeks; wanted is the time in which nobody is. Both sides get the busy
spans as pairs of numbers. The ratio is the median over rounds in which both are measured in turn; a brute force by
minutes says whether both are right. Read the ratio, not the milliseconds.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import statistics
import time

from tacit.base.moment import MINUTE, Span, common, without

WEEKS = 4
LENGTH = WEEKS * 7 * 24 * 60


def calendars(count: int, blocks: int, rng: random.Random) -> list[list[Span]]:
    made = []
    for _ in range(count):
        starts = [rng.randrange(LENGTH) for _ in range(blocks)]
        made.append(
            [Span(start * MINUTE, min(LENGTH, start + rng.randrange(5, 30)) * MINUTE) for start in starts]
        )
    return made


def ours(everything: Span, busy: list[list[Span]]) -> list[tuple[int, int]]:
    return [tuple(one) for one in common(*(without((everything,), one) for one in busy))]


def theirs(everything: Span, busy: list[list[Span]]) -> list[tuple[int, int]]:
    import portion  # only benches install it

    found = portion.closedopen(*everything)
    for one in busy:
        taken = portion.Interval(*(portion.closedopen(*span) for span in one))
        found &= portion.closedopen(*everything) - taken
    return [(one.lower, one.upper) for one in found if not one.empty]


def brute(busy: list[list[Span]]) -> list[tuple[int, int]]:
    free = bytearray(b"\x01") * LENGTH
    for one in busy:
        for start, end in one:
            free[start // MINUTE : end // MINUTE] = bytes(end // MINUTE - start // MINUTE)
    found, since = [], None
    for minute in range(LENGTH + 1):
        if minute < LENGTH and free[minute]:
            since = minute if since is None else since
        elif since is not None:
            found.append((since * MINUTE, minute * MINUTE))
            since = None
    return found


def timed(work, *arguments):
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calendars", type=int, default=50)
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    chosen = parser.parse_args()
    everything = Span(0, LENGTH * MINUTE)
    ratios, mine, other = [], [], []
    for number in range(chosen.rounds):
        busy = calendars(chosen.calendars, chosen.blocks, random.Random(number))
        first, found = timed(ours, everything, busy)
        second, expected = timed(theirs, everything, busy)
        assert found == expected == brute(busy), "the results differ"
        mine.append(first)
        other.append(second)
        ratios.append(second / first)
    result = {
        "calendars": chosen.calendars,
        "blocks": chosen.blocks,
        "ours_ms": round(statistics.median(mine) * 1000, 2),
        "portion_ms": round(statistics.median(other) * 1000, 2),
        "ratio": round(statistics.median(ratios), 1),
    }
    print(json.dumps(result))
    if chosen.json:
        chosen.json.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
