"""What a model costs a personal agent: calls, bytes and tokens for each thread, and what each driver adds to a thought.

Called by `bench.agent`. Two agents on a real relay, each with the `openai` driver before the scripted model of the tests,
which keeps the requests: the bytes are those that left, not those that were meant. The programs of the other drivers are
real too.
"""

from __future__ import annotations

import asyncio
import json
import pathlib
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.base.language_model import Prompt
from tacit.harness.io.minds import DriverModels
from tacit.harness.minds import thought
from tacit.harness.prices import BYTES_PER_TOKEN
from tests.agent.arrangements import pair
from tests.agent.scenarios.test_drivers_as_minds import choose, dinner, minded
from tests.harness.drivers.rigs import RIGS, RecordingWatch
from tests.harness.io.test_minds import KEYS, definition
from tests.model_server import Arranger, ModelServer, Say
from tests.model_server.replies import Tokens

if TYPE_CHECKING:
    from tests.model_server import Seen

DINNERS = 4
DRIVERS = ("openai", "codex", "claude")
SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "confidence": {"type": "number"}},
    "required": ["summary", "confidence"],
    "additionalProperties": False,
}


def _size(seen: Seen) -> int:
    return len(json.dumps(seen.body, ensure_ascii=False).encode())


class Reckoning(Arranger):
    """Counts tokens by what came in and goes out."""

    def __call__(self, seen: Seen) -> Say:
        said = super().__call__(seen)
        return Say(said.text, Tokens(_size(seen) // BYTES_PER_TOKEN, len(said.text) // BYTES_PER_TOKEN, 0))


async def _dinners(folder: pathlib.Path, *, models: bool) -> list[dict[str, Any]]:
    """What each dinner with the same contact takes, of both agents together."""
    found: list[dict[str, Any]] = []
    async with ModelServer() as server, pair(folder, more=minded(folder)) as (both, *agents):
        if models:
            for agent in agents:
                await choose(agent, "openai", server, folder, "small")
        for number in range(DINNERS):
            day = f"2026-03-{26 + number}"
            server.follow(Reckoning({"times": [{"date": day, "from": "18:00", "to": "22:00"}]}))
            before = [(await agent.thoughts())["today"]["tokens"] for agent in agents]
            await dinner(both, *agents, f"dinner with ben on {day} in the evening")
            after = [(await agent.thoughts())["today"]["tokens"] for agent in agents]
            sizes = [_size(seen) for seen in server.calls]
            found.append({"calls": len(sizes), "bytes": sum(sizes), "tokens": sum(after) - sum(before)})
    return found


async def _own_bytes(driver: str, folder: pathlib.Path, rounds: int) -> dict[str, Any]:
    """What a driver sends beside what it was given, and how long a thought takes when the model answers at once."""
    prompt = Prompt("read_request", "You read requests.", "Dinner with Robin on Friday evening.", SCHEMA)
    turn = thought(prompt, "turn")
    given = len(turn.standing.rules.encode()) + len(turn.prompt.encode())
    took: list[float] = []
    async with ModelServer() as server:
        server.follow(lambda _: Say('{"summary": "dinner", "confidence": 0.9}'))
        model = DriverModels(folder, KEYS).open(definition(driver, server, folder))
        for _ in range(rounds):
            begun = time.perf_counter()
            await model.complete(prompt)
            took.append(time.perf_counter() - begun)
        await model.close()
        own = sum(_size(seen) for seen in server.calls) / rounds - given
        server.calls.clear()
        ordinary = next(rig for rig in RIGS if rig.name == driver).driver(folder / "ordinary", server)
        await ordinary.run(replace(turn, forget=False, schema=None), RecordingWatch())
        await ordinary.close()
        bare = sum(_size(seen) for seen in server.calls) - given
    return {
        "driver": driver,
        "own_kb": round(own / 1000, 1),
        "ordinary_kb": round(bare / 1000, 1),
        "ms": round(sorted(took)[len(took) // 2] * 1000, 1),
    }


def minds(*, quick: bool) -> dict[str, Any]:
    """All of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        ruled = asyncio.run(_dinners(path / "rules", models=False))
        minded = asyncio.run(_dinners(path / "models", models=True))
        drivers = [asyncio.run(_own_bytes(one, path / one, 2 if quick else 7)) for one in DRIVERS]
    return {"rules": ruled, "models": minded, "drivers": drivers}


def rows(found: dict[str, Any]) -> list[tuple[str, str, str, str, str, bool | None]]:
    """The table: what, ours, beside it, ratio, target, met."""
    first, last = found["models"][0], found["models"][-1]
    ruled = sum(one["calls"] for one in found["rules"])
    listed: list[tuple[str, str, str, str, str, bool | None]] = [
        (
            "Model calls of both agents for a first dinner, with models on both sides in every tier", f"{first['calls']} calls",
            f"by rules: {ruled}", "", "≤ 3, and 0", first["calls"] <= 3 and ruled == 0,
        ),
        (
            "The same for the fourth with the same contact", f"{last['calls']} calls", f"the first: {first['calls']}",
            "", "≤ 1", last["calls"] <= 1,
        ),
        (
            "Sent to models for a first dinner", f"{first['bytes'] / 1000:.1f} KB, {first['tokens']:,} tokens",
            f"for the fourth: {last['bytes'] / 1000:.1f} KB, {last['tokens']:,} tokens", "", "reported", None,
        ),
    ]  # fmt: skip
    for one in found["drivers"]:
        before = one["ordinary_kb"]
        listed.append((
            f"What `{one['driver']}` adds to a thought of its own", f"{one['own_kb']:g} KB, {one['ms']:g} ms",
            f"as an ordinary turn: {before:g} KB", f"{one['own_kb'] / before:.2g}x", "reported", None,
        ))  # fmt: skip
    return listed


if __name__ == "__main__":
    print(json.dumps(minds(quick=True), indent=1))
