"""Drivers: what each costs beside its model.

    python -m bench.drivers [--turns N] [--only codex,claude] [--json FILE]

Every agent is real and speaks to the scripted model of the tests, which answers at once: what is left is the agent,
the driver and the pipes between them. Measured for each: the start until a turn can run, a turn (p50, p95), a cancel
while the model thinks (from the call until the outcome), and the memory of all its processes after the turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

from tacit.harness.drivers.port import StandingInstructions
from tests.harness.drivers.rigs import RIGS, RULES, RecordingWatch, offspring, turn
from tests.model_server import Held, ModelServer, Say


def resident(pids) -> float:
    """MiB of these processes, shared pages counted once each."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)


async def timed(awaitable) -> float:
    start = time.perf_counter()
    await awaitable
    return time.perf_counter() - start


async def cancelled(driver, model) -> float:
    held = Held(Say("too late"))
    model.script(held)
    asked = turn()
    running = asyncio.create_task(driver.run(asked, RecordingWatch()))
    await held.arrived.wait()
    start = time.perf_counter()
    await driver.cancel(asked.turn_id)
    await running
    return time.perf_counter() - start


async def measure(rig, model, turns: int) -> dict:
    before = offspring()
    with tempfile.TemporaryDirectory() as state:
        driver = rig.driver(Path(state), model)
        start = await timed(driver.start(StandingInstructions(RULES)))
        model.follow(lambda _: Say("ok"))
        first = await timed(driver.run(turn(), RecordingWatch()))
        took = sorted([await timed(driver.run(turn(), RecordingWatch())) for _ in range(turns)])
        memory = resident(offspring() - before)
        cancels = [await cancelled(driver, model) for _ in range(5)]
        await driver.close()
    return {
        "driver": rig.name,
        "start_ms": milliseconds(start),
        "first_turn_ms": milliseconds(first),
        "turn_p50_ms": milliseconds(statistics.median(took)),
        "turn_p95_ms": milliseconds(took[int(len(took) * 0.95)]),
        "cancel_p50_ms": milliseconds(statistics.median(cancels)),
        "memory_mib": round(memory, 1),
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--only", default=",".join(rig.name for rig in RIGS))
    parser.add_argument("--json", type=Path)
    words = parser.parse_args()
    rows = []
    async with ModelServer() as model:
        for rig in RIGS:
            if rig.name in words.only.split(","):
                rows.append(await measure(rig, model, words.turns))
                print("  ".join(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
    if words.json:
        words.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
