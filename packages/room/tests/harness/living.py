"""A harness that runs, with a real command driver and a desk from which a test drives its agent."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.c2a.io.session import Habits
from tacit.c2a.retry import Pace
from tacit.harness.budget import DailyBudget
from tacit.harness.drivers import catalogue
from tacit.harness.drivers.options import DriverOptions
from tacit.harness.io.agent_config import AgentConfig, SlotPlace
from tacit.harness.io.harness import Harness

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tacit.base.ports import Clock

AGENT = Path(__file__).parent / "agents" / "scripted.py"
WAIT = 60.0
QUICK = Habits(
    name="tacit-harness", calls=Pace(first=0.02), connecting=Pace(first=0.02), wait_for_connection=1.0
)


class Desk:
    """What an agent is to do, and what it was given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.script(
            [{"text": "The plan is ready."}], [{"text": "Tests pass now."}], [{"text": "Ship it Monday."}]
        )

    def script(self, *turns: list[dict[str, Any]]) -> None:
        fresh = self.folder / "script.new"
        fresh.write_text(json.dumps(turns))
        fresh.replace(self.folder / "script.json")

    def go(self, name: str) -> None:
        """Let a waiting agent go on."""
        (self.folder / name).touch()

    @property
    def turns(self) -> list[dict[str, Any]]:
        found = sorted((self.folder / "turns").glob("*.json"), key=lambda path: int(path.stem))
        return [json.loads(path.read_text()) for path in found]

    @property
    def results(self) -> list[dict[str, Any]]:
        file = self.folder / "results.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def command(self) -> tuple[str, ...]:
        return (sys.executable, str(AGENT), str(self.folder))

    async def until(self, condition) -> None:
        """Wait for something that other processes do."""
        async with asyncio.timeout(WAIT):
            while not condition():
                await asyncio.sleep(0.01)

    async def until_turn(self, count: int) -> None:
        await self.until(lambda: len(self.turns) >= count)


class Told:
    """What the harness told."""

    def __init__(self) -> None:
        self.items: list[tuple[str, dict[str, object]]] = []

    def __call__(self, what: str, **data: object) -> None:
        self.items.append((what, data))

    async def until(self, what: str, running: asyncio.Task[None], count: int = 1) -> None:
        """Wait until it told something, unless it ended."""
        async with asyncio.timeout(WAIT):
            while len(self.of(what)) < count:
                if running.done():
                    await running
                await asyncio.sleep(0.01)

    def of(self, what: str) -> list[dict[str, object]]:
        return [data for name, data in self.items if name == what]


@asynccontextmanager
async def living(
    url: str,
    token: str,
    folder: Path,
    desk: Desk,
    *,
    name: str = "ada",
    budget: DailyBudget | None = None,
    sessions: int = 1,
    clock: Clock | None = None,
    **more: Any,
) -> AsyncIterator[Harness]:
    """A harness in this process; stopped cleanly at the end."""
    driver = catalogue.build("command", DriverOptions(str(folder / "driver"), command=desk.command()))
    places = [folder / f"session-{number}" for number in range(2, sessions + 1)]
    for place in places:
        place.mkdir(exist_ok=True)
    beside = [
        catalogue.build("command", DriverOptions(str(place / "driver"), command=desk.command()))
        for place in places
    ]
    more["more_slots"] = tuple(SlotPlace(place) for place in places)
    config = AgentConfig(
        url, token, name, folder / "state", habits=QUICK, budget=budget or DailyBudget(), **more
    )
    told = Told()
    harness = Harness(config, driver, beside=beside, clock=clock, tell=told)
    harness.told = told
    running = asyncio.create_task(harness.run())
    try:
        yield harness
        if running.done():
            await running
    finally:
        harness.stop()
        await running
