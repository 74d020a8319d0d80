"""What a model costs a personal agent: calls, bytes and tokens for each thread, and what each driver adds to a thought.

Called by `bench.agent`. Every agent is real and speaks to the scripted model of the tests, which keeps the requests:
the bytes are those that left, not those that were meant.
"""

from __future__ import annotations

import asyncio
import json
import pathlib
import tempfile
import time
from typing import Any

from tests.harness.io.test_minds import KEYS, definition
from tests.model_server import ModelServer, Say

from tacit.agent.brain.model import Prompt
from tacit.harness.io.minds import DriverModels
from tacit.harness.minds import thought

DRIVERS = ("openai", "codex", "claude")
SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "confidence": {"type": "number"}},
    "required": ["summary", "confidence"],
    "additionalProperties": False,
}


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
        sent = [
            len(json.dumps(seen.body, ensure_ascii=False).encode())
            for seen in (*server.calls, *server.asides)
        ]
    return {
        "driver": driver,
        "given": given,
        "own": round(sum(sent) / rounds) - given,
        "requests": len(sent) / rounds,
        "ms": round(sorted(took)[len(took) // 2] * 1000, 1),
    }


def own_bytes(rounds: int) -> list[dict[str, Any]]:
    """Each driver."""
    found: list[dict[str, Any]] = []
    for driver in DRIVERS:
        with tempfile.TemporaryDirectory() as folder:
            found.append(asyncio.run(_own_bytes(driver, pathlib.Path(folder), rounds)))
    return found


if __name__ == "__main__":
    for one in own_bytes(3):
        print(one)
