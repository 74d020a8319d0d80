"""A hub process whose clock stands still until a test moves it: hours pass in a scenario and not on the wall.

The hub's end tells its port, then takes seconds: for each it moves its clock, does what is due and answers. It is a
process of its own, forked where everything is imported, and can be killed like any other. `ClockedHub` is the
test's end: agents in the test's process have the same clock, and time passes for them in small steps, so that signs
of life reach the hub before the hub looks for them.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tacit.base.moment import Moment
from tacit.client import Hub
from tacit.hub.config import HubConfig
from tacit.hub.server import Server
from tacit.ledger.io.store import StoreOptions
from tests.harness.live_hub import LiveHub
from tests.harness.living import WAIT
from tests.ledger.world import START, HandClock
from tests.typed import SERVER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from multiprocessing.connection import Connection
    from pathlib import Path

    from tacit.harness.drivers.port import Driver
    from tacit.harness.io.harness import Harness

QUIET = 4.0
"""Seconds after which an agent takes a question for whole."""
STEP = 10.0
"""Seconds in which time passes: a third of the time between two signs of life at the usual deadlines."""


class ClockedHub(LiveHub):
    """A hub in a process of its own, its owner, and agents, all by one clock."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.clock = HandClock(START)
        self.agents: list[Harness] = []

    def start(self) -> None:
        self._line, theirs = SERVER.Pipe()
        log, data = self.folder / "hub.log", self.folder / "data" / "tacit"
        self.hub = SERVER.Process(target=_serve, args=(data, int(self.port), self.clock.now(), log, theirs))
        self.hub.daemon = True
        self.hub.start()
        theirs.close()
        self.port = self._answer()
        self.url = f"http://127.0.0.1:{self.port}"

    def _answer(self) -> str:
        try:
            return self._line.recv()
        except EOFError:
            raise AssertionError((self.folder / "hub.log").read_text()) from None

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.hub is not None:
            self._line.close()
            os.kill(self.hub.pid, how)
            self.hub.join(20)
            assert self.hub.exitcode is not None, "the hub did not end"
            self.hub = None

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
                self._line.send(min(step, left))
                await asyncio.to_thread(self._answer)
            left -= step

    async def _told(self, harness: Harness) -> None:
        """Wait until the hub has heard what an agent has to say by now; the question itself is no sign of life."""
        async with asyncio.timeout(WAIT):
            while (due := harness._work._report.life_due) is not None and due <= self.clock.now():
                await asyncio.sleep(0.002)
        await harness._context.session._request("ping", {}, repeatable=True)


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


async def serve(folder: Path, port: int, at: int, line: Connection) -> None:
    """The hub's end."""
    clock = HandClock(Moment(at))
    server = Server(HubConfig(folder, port=port, writer="thread"), StoreOptions(clock=clock))
    await server.start()
    line.send(str(server.port))
    while True:
        try:
            seconds = await asyncio.to_thread(line.recv)
        except EOFError:
            break
        clock.move(seconds)
        await server.hub.host.tick()
        line.send("done")
    await server.stop()


def _serve(folder: Path, port: int, at: int, log: Path, line: Connection) -> None:
    opened = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(opened, stream)
    asyncio.run(serve(folder, port, at, line))
