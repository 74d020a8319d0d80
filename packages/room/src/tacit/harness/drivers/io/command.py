"""The `command` driver: a program of the person's own, run once for each turn.

It runs in the person's environment, since it is theirs. Cancelling ends its whole process group.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused, Unavailable
from tacit.harness.drivers import command
from tacit.harness.drivers.environment import agent_environment
from tacit.harness.drivers.failures import retryable
from tacit.harness.drivers.io.child import Child
from tacit.harness.drivers.io.one_process import scratch
from tacit.harness.drivers.io.placing import handed
from tacit.harness.drivers.io.turns import NoSteering
from tacit.harness.drivers.port import TokenUsage, ToolEnded, Traits, TurnOutcome

if TYPE_CHECKING:
    from tacit.harness.drivers.io.placing import Handed
    from tacit.harness.drivers.io.turns import LiveTurn
    from tacit.harness.drivers.options import DriverOptions
    from tacit.harness.drivers.port import StandingInstructions

_TEXT_LIMIT: Final = 4 * 2**20
_RULES_LIMIT: Final = 120 * 2**10
"""Bytes of standing rules: systems take 128 KiB in one variable of an environment."""
_LAST_WORDS: Final = 2.0


class Command(NoSteering):
    """The backend: nothing runs between turns."""

    def __init__(self, options: DriverOptions) -> None:
        if not options.command:
            raise Refused("driver_unusable", "the command driver needs a program after `--`")
        self._options = options
        self._child: Child | None = None
        self._session: str | None = None
        self._open = False

    @property
    def traits(self) -> Traits:
        """A program that speaks plain text shows nothing of what it does."""
        talks = not self._options.plain_text
        return Traits("command", steers=False, inserts=False, boundaries=talks, resumes=talks)

    @property
    def alive(self) -> bool:
        """Whether turns may run."""
        return self._open

    @property
    def session_id(self) -> str | None:
        """What the program called its session."""
        return self._session

    async def open(self, standing: StandingInstructions, session_id: str | None) -> None:
        """Make the folders; the program starts with the turn."""
        if len(standing.rules.encode()) > _RULES_LIMIT:
            raise Refused("driver_unusable", f"the instructions are over {_RULES_LIMIT // 1024} KiB")
        try:
            (Path(self._options.state) / "work").mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise Unavailable(f"the driver's folder cannot be used: {error.strerror}") from error
        self._session = session_id
        self._open = True

    async def perform(self, live: LiveTurn) -> TurnOutcome:
        """Run the program for this turn."""
        with handed(live.request, self._options, pictures=False) as place:
            return await self._perform(live, place.given)

    async def _perform(self, live: LiveTurn, given: Handed) -> TurnOutcome:
        options, request = self._options, live.request
        self._child = child = await Child.start(
            options.command,
            environment=agent_environment(
                os.environ,
                home="",
                use_my_config=True,
                settings={"TACIT_RULES": request.standing.rules, **scratch(options)},
            ),
            directory=request.standing.directory or options.directory or str(Path(options.state) / "work"),
            state=Path(options.state),
            secrets=(options.key,),
        )
        try:
            told = command.turn(request, self._session, given.prompt, given.paths)
            await self._tell(child, given.prompt.encode() if options.plain_text else told)
            reply = await (self._plain(child) if options.plain_text else self._lines(child, live))
            failure = command.ended(await child.settled() or 0)  # whoever lingers after a reply is ended
        finally:
            await self._end_child()
        if reply is None:
            return live.outcome(failure=failure or retryable("rubbish", hint="the program gave no reply"))
        live.usage += reply.usage
        live.cost_usd = reply.cost_usd
        self._session = reply.session_id or self._session
        return live.outcome(text=reply.text, session_id=self._session, failure=reply.failure or failure)

    async def _tell(self, child: Child, data: bytes) -> None:
        try:
            await child.send(data)
        except Unavailable:
            return  # a program need not read its turn
        finally:
            child.stdin.close()

    async def _plain(self, child: Child) -> command.ProgramReply | None:
        said = bytearray()
        reading = asyncio.create_task(_read(child.stdout, said))
        ended = asyncio.create_task(child.ended())
        try:
            await asyncio.wait({reading, ended}, return_when=asyncio.FIRST_COMPLETED)
            # Whom it left behind may hold its stdout open: what it said itself is there when it has ended.
            await asyncio.wait({reading}, timeout=_LAST_WORDS)
        finally:
            reading.cancel()
            ended.cancel()
            await asyncio.wait({reading, ended})
        try:
            return command.ProgramReply(text=said.decode().strip())
        except UnicodeDecodeError:
            return None

    async def _lines(self, child: Child, live: LiveTurn) -> command.ProgramReply | None:
        while data := await child.line():
            said = command.line(data)
            if isinstance(said, command.ProgramReply):
                return said
            if isinstance(said, ToolEnded):
                await live.boundary(said)
            elif isinstance(said, TokenUsage):
                live.saw_usage(said)
            elif said is not None:
                await live.saw(said)
        return None

    async def interrupt(self, live: LiveTurn) -> None:
        """End the program."""
        del live
        if self._child is not None:
            await self._child.end(politely=False)

    async def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end(politely=False)

    async def kill(self, *, politely: bool = True) -> None:
        """End the program, if one runs."""
        del politely
        self._open = False
        await self._end_child()


async def _read(stream: asyncio.StreamReader, said: bytearray) -> None:
    while more := await stream.read(_TEXT_LIMIT - len(said)):
        said += more
