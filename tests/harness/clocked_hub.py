"""A hub process whose clock stands still until a test moves it: hours pass in a scenario and not on the wall.

`python -m tests.harness.clocked_hub FOLDER PORT MICROSECONDS` prints its port, then takes seconds on standard input:
for each line it moves its clock, does what is due and answers. It can be killed like any other. `ClockedHub` is the
test's end: agents in the test's process have the same clock, and time passes for them in small steps, so that signs
of life reach the hub before the hub looks for them.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.base.moment import Moment
from tacit.client import Hub
from tacit.hub.config import HubConfig
from tacit.hub.server import Server
from tacit.ledger.io.store import Options
from tests.harness.live_hub import LiveHub
from tests.harness.living import WAIT
from tests.ledger.world import START, HandClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tacit.harness.drivers.port import Driver
    from tacit.harness.io.harness import Harness

ROOT = Path(__file__).parents[2]
QUIET = 4.0
"""Seconds after which an agent takes a question for whole."""
STEP = 10.0
"""Seconds in which time passes: a third of the time between two signs of life."""


class ClockedHub(LiveHub):
    """A hub in a process of its own, its owner, and agents, all by one clock."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.clock = HandClock(START)
        self.agents: list[Harness] = []

    def start(self) -> None:
        words = [sys.executable, "-m", "tests.harness.clocked_hub", str(self.folder / "data" / "tacit")]
        with (self.folder / "hub.log").open("a") as log:
            self.hub = subprocess.Popen(
                [*words, self.port, str(self.clock.now())],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.port = self._answer()
        self.url = f"http://127.0.0.1:{self.port}"

    def _answer(self) -> str:
        line = self.hub.stdout.readline().strip()
        assert line, (self.folder / "hub.log").read_text()
        return line

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.hub is not None:
            self.hub.stdin.close()
        super().stop(how)

    @asynccontextmanager
    async def agent(self, name: str, driver: Driver, **more: Any) -> AsyncIterator[Harness]:
        async with super().agent(name, driver, clock=self.clock, **more) as harness:
            self.agents.append(harness)
            try:
                yield harness
            finally:
                self.agents.remove(harness)

    async def ask(self, harness: Harness, text: str, **more: Any) -> str:
        """Say something, and be quiet for as long as the agent waits for more."""
        heard = len(harness.told.of("heard"))
        event_id = await self.say(text, **more)
        await harness.told.until("heard", asyncio.current_task(), heard + 1)
        await self.pass_time(QUIET)
        return event_id

    async def pass_time(self, seconds: float, step: float = STEP) -> None:
        """Let time pass, for the agents and, where it runs, for the hub."""
        left = seconds
        while left > 0:
            self.clock.move(min(step, left))
            for harness in self.agents:
                harness._changed.set()
                harness._context.work_changed.set()
            if self.hub is not None:
                await asyncio.gather(*map(self._told, self.agents))
                self.hub.stdin.write(f"{min(step, left)}\n")
                self.hub.stdin.flush()
                await asyncio.to_thread(self._answer)
            left -= step

    async def _told(self, harness: Harness) -> None:
        """Wait until the hub has heard what an agent has to say by now."""
        async with asyncio.timeout(WAIT):
            while (due := harness._work._report.life_due) is not None and due <= self.clock.now():
                await asyncio.sleep(0.002)
        await harness._context.session.call("chat.read_thread", conversationId="main", limit=1)


@asynccontextmanager
async def clocked_hub(folder: Path) -> AsyncIterator[ClockedHub]:
    """A running hub with one group and a clock in the test's hand."""
    opened = ClockedHub(folder)
    opened.start()
    try:
        async with Hub(opened.url, opened.owner_token, retry_for=20) as owner:
            opened.owner = owner
            opened.group = (await owner.create_group("Lobby"))["group_id"]
            yield opened
    finally:
        opened.stop()


async def serve(folder: Path, port: int, at: int) -> None:
    """The hub's end."""
    clock = HandClock(Moment(at))
    server = Server(HubConfig(folder, port=port, writer="thread"), Options(clock=clock))
    await server.start()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    while line := await asyncio.to_thread(sys.stdin.readline):
        clock.move(float(line))
        await server.hub.host.tick()
        sys.stdout.write("done\n")
        sys.stdout.flush()
    await server.stop()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
