"""The owner's personal agent beside the hub: run in a process of its own, asked and followed by its socket.

The agent is a program like any other (`tacit agent run`); the hub starts it, starts it again when it dies,
and ends it with itself: its standard input is the hub's, and when that is closed it leaves. Where an agent of
the folder runs already, that one is used, and the hub's own begins when the other has gone. What the agent
knows is never kept here: each question is asked of it anew, and changes are passed on by ids alone. Who may
ask is decided in `hub/operations/agent.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from typing import TYPE_CHECKING, Any, Final

from tacit.base.backoff import Backoff
from tacit.base.errors import TacitError, Unavailable
from tacit.base.faults import place_of
from tacit.base.io import agent_socket as socket
from tacit.base.io.own_program import own_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.hub.config import AgentBeside

log: Final = logging.getLogger("tacit.hub")
AGAIN: Final = Backoff(first=0.5, longest=30.0)
STEADY: Final = 60.0
"""Seconds after which an agent that ran counts as well again."""
STOP_WITHIN: Final = 15.0
LOOK_EVERY: Final = 0.1
LOG_BYTES: Final = 262_144
OFF: Final = "off"
STARTING: Final = "starting"
RUNNING: Final = "running"
ELSEWHERE: Final = "elsewhere"
AWAY: Final = "away"


class PersonalAgent:
    """One agent, or none."""

    def __init__(
        self, beside: AgentBeside | None, log_file: Path, tell: Callable[[dict[str, Any]], None]
    ) -> None:
        self._beside = beside
        self._log_file = log_file
        self._tell = tell
        self._closing = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self.state = OFF
        self.reason = ""

    @property
    def is_on(self) -> bool:
        """Was the hub told to run one?"""
        return self._beside is not None

    @property
    def process_id(self) -> int | None:
        """The process that the hub runs it in; None while there is none."""
        return self._process.pid if self._process is not None else None

    def open(self) -> None:
        """Begin to run it, if there is one."""
        if self._beside is not None and self._keeping is None:
            self._keeping = asyncio.create_task(self._keep(self._beside), name="personal agent")

    async def close(self) -> None:
        """End it; what it had begun goes on when it runs again."""
        self._closing.set()
        if self._keeping is not None:
            await asyncio.wait({self._keeping})

    async def call(self, command: str, arguments: dict[str, Any]) -> Any:
        """Have it carry out a command; refusals are its own."""
        if self._beside is None:
            raise Unavailable("this hub runs no personal agent: start it with `tacit up --agent DIR`")
        try:
            return await socket.asked(self._beside.folder, command, arguments)
        except ConnectionError:
            why = f": {self.reason}" if self.reason else "; it is being started"
            raise Unavailable(f"your agent is not running{why}") from None

    # -- its life

    async def _keep(self, beside: AgentBeside) -> None:
        """Run it, again and again, until the hub closes."""
        loop = asyncio.get_running_loop()
        falls = 0
        while not self._closing.is_set():
            began = loop.time()
            try:
                await self._life(beside)
            except (OSError, TacitError) as fault:
                self._became(AWAY, f"it cannot be started ({place_of(fault)})")
            except Exception as fault:  # noqa: BLE001 - a fault of ours does not end the hub, and is tried again
                log.error("the personal agent cannot be run: %s", place_of(fault))  # noqa: TRY400
                self._became(AWAY, "a fault of the hub's own; its log says where")
            if self._closing.is_set():
                break
            falls = 0 if loop.time() - began > STEADY else falls + 1
            await self._wait(AGAIN.pause(max(falls - 1, 0)))
        self._became(OFF)

    async def _life(self, beside: AgentBeside) -> None:
        if await self._followed(beside, ELSEWHERE):
            # Somebody else's process was the agent, and has ended: the next life is our own.
            self._became(STARTING)
            return
        # Why the last life ended is worth knowing until one begins.
        self._became(STARTING, self.reason)
        output, at = self._opened_log()
        try:
            process = self._process = await asyncio.create_subprocess_exec(
                *_words(beside), stdin=asyncio.subprocess.PIPE, stdout=output, stderr=output
            )
        finally:
            os.close(output)
        try:
            await self._lived(beside, process)
        finally:
            await _ended(process)
            self._process = None
        if not self._closing.is_set():
            reason = await asyncio.to_thread(_last_line, self._log_file, at)
            log.warning("the personal agent's process ended", extra={"code": process.returncode})
            self._became(AWAY, reason or "its process ended; it is started again")

    async def _lived(self, beside: AgentBeside, process: asyncio.subprocess.Process) -> None:
        """Until its process or the hub ends: follow it as soon as it can be followed."""
        ends: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(process.wait()),
            asyncio.ensure_future(self._closing.wait()),
        ]
        try:
            while not any(one.done() for one in ends):
                await self._followed(beside, RUNNING)
                await asyncio.wait(ends, timeout=LOOK_EVERY, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in ends:
                one.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    async def _followed(self, beside: AgentBeside, state: str) -> bool:
        """Pass on what changes until the agent stops or the hub closes; False when none could be followed."""
        following = asyncio.ensure_future(self._follow(beside, state))
        closing = asyncio.ensure_future(self._closing.wait())
        await asyncio.wait({following, closing}, return_when=asyncio.FIRST_COMPLETED)
        for one in (following, closing):
            one.cancel()
        await asyncio.gather(following, closing, return_exceptions=True)
        return following.cancelled() or following.result()

    async def _follow(self, beside: AgentBeside, state: str) -> bool:
        stood = False
        with contextlib.suppress(ConnectionError):
            async for change in socket.follow(beside.folder, begun=True):
                if not stood:
                    stood = True
                    self._became(state)
                    self._tell({"change": "everything"})
                else:
                    self._tell(change)
        return stood

    def _became(self, state: str, reason: str = "") -> None:
        if (self.state, self.reason) != (state, reason):
            self.state, self.reason = state, reason
            self._tell({"change": "agent", "state": state})

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()

    def _opened_log(self) -> tuple[int, int]:
        """The file that its process writes to, and where it begins; one that grew too long starts anew."""
        handle = os.open(self._log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if os.fstat(handle).st_size > LOG_BYTES:
            os.ftruncate(handle, 0)
        return handle, os.fstat(handle).st_size


def _words(beside: AgentBeside) -> list[str]:
    words = own_program("tacit", "agent", "--data", str(beside.folder))
    if beside.passphrase_file is not None:
        words += ["--passphrase-file", str(beside.passphrase_file)]
    if beside.trust is not None:
        words += ["--trust", str(beside.trust)]
    return [*words, "run", "--beside"]


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Ask it to leave by closing its input; one that does not is killed."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_WITHIN):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _last_line(path: Path, at: int) -> str:
    """The last thing its program said in this life: the command line's own words for why it ended."""
    with path.open("rb") as file:
        file.seek(at)
        lines = file.read(LOG_BYTES).decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
