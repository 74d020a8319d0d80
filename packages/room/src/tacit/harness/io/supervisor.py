"""A supervisor: keeps a team's agents running, each with its own log, restarted with back-off.

An agent that the hub or its driver refuses is not started again: a person has to act. One agent's end is
none of the others' concern. The agents share one process: their models and tools are processes of their
own.
"""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Bug, Corrupt, Refused, TacitError, WrittenByNewer
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.c2a.retry import Pace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.harness.io.context import Teller
    from tacit.harness.io.harness import Harness

RESTARTS: Final = Pace(first=1.0, longest=60.0)
STEADY: Final = 300.0
"""Seconds after which an agent that ran counts as well again."""
LOG_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class SupervisedAgent:
    """One agent to be kept running; `make` builds a fresh harness each time it is started."""

    name: str
    make: Callable[[Teller], Harness]
    log: Path


class AgentLog:
    """One agent's log: a line of JSON for each thing that happened, in files that do not grow for ever."""

    def __init__(self, path: Path, also: Teller | None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._handler = RotatingFileHandler(
            path, maxBytes=LOG_BYTES, backupCount=3, encoding="utf-8", delay=True
        )
        self._also = also

    def __call__(self, what: str, **data: object) -> None:
        """Write a line, and pass it on."""
        record = logging.LogRecord("tacit.harness", logging.INFO, "", 0, "", (), None)
        ts = rfc3339(Moment(int(record.created * SECOND)))
        record.msg = msgspec.json.encode({"ts": ts, "what": what, **data}, enc_hook=str).decode()
        self._handler.emit(record)
        if self._also is not None:
            self._also(what, **data)

    def close(self) -> None:
        """Let go of the file."""
        self._handler.close()


class KeptAgent:
    """One agent, run until it is asked to stop or is given up; started again with pauses when it falls."""

    def __init__(self, agent: SupervisedAgent, tell: Teller | None, *, pace: Pace = RESTARTS) -> None:
        self.agent = agent
        self.failed: TacitError | None = None
        """Why it was given up."""
        self._tell = tell
        self._pace = pace
        self._stopping = asyncio.Event()
        self._harness: Harness | None = None

    def stop(self) -> None:
        """Ask it to leave."""
        self._stopping.set()
        if self._harness is not None:
            self._harness.stop()

    async def run(self) -> None:
        """Until `stop`, or until it is given up."""
        log = AgentLog(self.agent.log, self._tell)
        try:
            await self._again_and_again(log)
        finally:
            log.close()

    async def _again_and_again(self, log: AgentLog) -> None:
        loop, fallen = asyncio.get_running_loop(), 0
        while not self._stopping.is_set():
            began = loop.time()
            try:
                await self._life(log)
            except (Refused, Corrupt, WrittenByNewer) as refused:
                self.failed = refused
                log("given_up", reason=str(refused))
                return
            except TacitError as error:
                log("fallen", reason=str(error))
            fallen = 1 if loop.time() - began > STEADY else fallen + 1
            await self._rest(self._pace.pause(min(fallen, 10), random.random()))  # noqa: S311

    async def _life(self, log: AgentLog) -> None:
        """The agent from its start to its end. A fault of our own is its end, and not that of the team."""
        self._harness = harness = self.agent.make(log)
        life = asyncio.create_task(harness.run(), name=f"life of {self.agent.name}")
        try:
            await asyncio.wait({life})
        finally:
            life.cancel()
            await asyncio.wait({life})
            self._harness = None
        error = None if life.cancelled() else life.exception()
        if isinstance(error, Exception) and not isinstance(error, TacitError):
            logging.getLogger("tacit.harness").error("an agent failed", exc_info=error)
            raise Bug(f"a fault of Tacit's own ({type(error).__name__})") from error
        if error is not None:
            raise error

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return


class Supervisor:
    """Runs a team until it is asked to stop."""

    def __init__(
        self, agents: list[SupervisedAgent], tell: Callable[[str], Teller | None], *, pace: Pace = RESTARTS
    ) -> None:
        """`tell` gives, for an agent's name, whoever wants to hear of it."""
        self._kept = [KeptAgent(agent, tell(agent.name), pace=pace) for agent in agents]

    @property
    def failed(self) -> dict[Path, TacitError]:
        """The agents that were given up, by their logs."""
        return {one.agent.log: one.failed for one in self._kept if one.failed is not None}

    def stop(self) -> None:
        """Ask every agent to leave."""
        for one in self._kept:
            one.stop()

    async def run(self) -> None:
        """Until `stop`, or until no agent is left that could run."""
        async with asyncio.TaskGroup() as tasks:
            for one in self._kept:
                tasks.create_task(one.run(), name=f"agent {one.agent.name}")
