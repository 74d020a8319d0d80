"""One turn at a time, each with one outcome: what all drivers have in common (C2A-180, C2A-188, C2A-219).

`SessionDriver` is the driver port over a `Backend`, which is what differs between agents. The rules owned
here: turns wait for each other; a cancelled turn ends at once for its watch and soon for the agent, by
force if need be; a turn past its time limit is ended the same way; a dead agent is opened again, with its
session, by the next turn; changed standing rules open it anew. Knows nothing of any agent's language.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from tacit.base.errors import Refused, Unavailable
from tacit.harness.drivers.failures import cancelled, permanent, retryable
from tacit.harness.drivers.port import (
    Activity,
    BoundaryOrder,
    NotPermitted,
    PermissionAnswer,
    PermissionRequest,
    StandingInstructions,
    Stop,
    ToolEnded,
    Traits,
    TurnEvent,
    TurnOutcome,
    TurnRequest,
    Usage,
    Watch,
)

if TYPE_CHECKING:
    from tacit.harness.drivers.port import Failure

_GRACE: Final = 2.0
_ASK_AGAIN: Final = 0.2
CALLED_OFF: Final = "the turn was called off"


class LiveTurn:
    """A running turn: the way to its watch, shut for good when the turn is ended from outside."""

    def __init__(self, request: TurnRequest, watch: Watch) -> None:
        self.request = request
        self.usage = Usage()
        self.cost_usd: float | None = None
        self.ended = asyncio.Event()
        self._watch = watch
        self._shut = False
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._asking: dict[object, float] = {}
        self._held = 0.0

    def begin(self) -> None:
        """The time limit runs from here, not while the turn waited for another one."""
        self._began = self._loop.time()

    @property
    def time_left(self) -> float:
        """Seconds until the time limit. While a person is asked the turn's time stands still."""
        now = self._loop.time()
        held = self._held + (now - min(self._asking.values()) if self._asking else 0.0)
        return self.request.time_limit + held - (now - self._began)

    @property
    def shut(self) -> bool:
        """Whether nothing more may happen in this turn."""
        return self._shut

    def end(self) -> None:
        """End the turn from outside: the watch hears nothing more."""
        self._shut = True
        self.ended.set()

    async def saw(self, event: TurnEvent) -> None:
        """Tell the watch."""
        if self._shut:
            return
        await self._watch.saw(event)

    async def boundary(self, ended: ToolEnded) -> BoundaryOrder:
        """Tell the watch of a tool boundary and get its order. `Stop` ends the turn here and now."""
        await self.saw(ended)
        if self._shut:
            return Stop()
        order = await self._watch.at_boundary(ended)
        if isinstance(order, Stop):
            self.end()
        return Stop() if self._shut else order

    async def did(self, activity: Activity) -> None:
        """Tell the watch of something that people may look at."""
        if not self._shut:
            await self._watch.did(activity)

    async def permission(self, wanted: PermissionRequest) -> PermissionAnswer:
        """Ask whoever may allow it. A turn that is ended meanwhile has its answer: no."""
        if self._shut:
            return NotPermitted(CALLED_OFF)
        asking = asyncio.ensure_future(self._watch.asked(wanted))
        ended = asyncio.create_task(self.ended.wait())
        self._asking[asking] = self._loop.time()
        try:
            await asyncio.wait({asking, ended}, return_when=asyncio.FIRST_COMPLETED)
            return NotPermitted(CALLED_OFF) if self._shut else asking.result()
        finally:
            self._held_until_now(asking)
            ended.cancel()
            asking.cancel()
            await asyncio.wait({asking, ended})

    def _held_until_now(self, asking: object) -> None:
        """Count the time for which anybody was asked, once however many questions were open."""
        began = min(self._asking.values())
        del self._asking[asking]
        now = self._loop.time()
        self._held += min([now, *self._asking.values()]) - began

    def outcome(
        self, *, text: str = "", session_id: str | None = None, failure: Failure | None = None
    ) -> TurnOutcome:
        """The outcome with what was counted on the way."""
        return TurnOutcome(
            self.request.turn_id,
            text="" if failure else text,
            usage=self.usage,
            cost_usd=self.cost_usd,
            session_id=session_id,
            failure=failure,
        )


class Backend(Protocol):
    """What differs between agents."""

    @property
    def traits(self) -> Traits:
        """What it can do."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it is open and its process runs."""
        ...

    @property
    def session_id(self) -> str | None:
        """The agent's own name for the conversation."""
        ...

    async def open(self, standing: StandingInstructions, session_id: str | None) -> None:
        """Start the agent. Raises `Unavailable` or `Refused`; what was half started is ended by `kill`."""
        ...

    async def perform(self, live: LiveTurn) -> TurnOutcome:
        """Run a turn. Raises `Unavailable` when the agent died under it."""
        ...

    async def steer(self, live: LiveTurn, text: str) -> bool:
        """Put text into the running turn."""
        ...

    async def interrupt(self, live: LiveTurn) -> None:
        """Ask the agent to stop, so that `perform` comes back. May fail silently: force follows."""
        ...

    async def kill(self, *, politely: bool = True) -> None:
        """End every process, by asking first or at once."""
        ...


class SessionDriver:
    """The driver port over a backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._standing: StandingInstructions | None = None
        self._session_id: str | None = None
        self._lane = asyncio.Lock()
        self._turns: dict[str, LiveTurn] = {}
        self._running: LiveTurn | None = None
        self._closed = False

    @property
    def traits(self) -> Traits:
        """What this driver can do."""
        return self._backend.traits

    async def start(self, standing: StandingInstructions, session_id: str | None = None) -> None:
        """Open the agent, continuing a session where it still exists."""
        async with self._lane:
            self._closed = False
            self._session_id = session_id or self._session_id
            await self._ready(standing)

    async def _ready(self, standing: StandingInstructions) -> None:
        if self._backend.alive and standing == self._standing:
            return
        await self._backend.kill()
        try:
            await self._backend.open(standing, self._session_id)
        except BaseException:
            await asyncio.shield(self._backend.kill())
            raise
        self._standing = standing
        self._session_id = self._backend.session_id or self._session_id

    async def run(self, turn: TurnRequest, watch: Watch) -> TurnOutcome:
        """Run one turn to its outcome."""
        live = LiveTurn(turn, watch)
        self._turns[turn.turn_id] = live
        try:
            async with self._lane:
                if live.shut or self._closed:
                    return live.outcome(session_id=self._session_id, failure=cancelled())
                self._running = live
                outcome = await self._run(live)
                self._session_id = outcome.session_id or self._session_id
                return replace(outcome, session_id=self._session_id)
        finally:
            live.end()
            self._turns.pop(turn.turn_id, None)
            if self._running is live:
                self._running = None

    async def _run(self, live: LiveTurn) -> TurnOutcome:
        live.begin()
        work = asyncio.create_task(self._work(live))
        ended = asyncio.create_task(live.ended.wait())
        try:
            while (left := live.time_left) > 0:
                done, _ = await asyncio.wait({work, ended}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    break
            if work.done() and not live.shut:
                if work.exception() is not None:  # a watch that raised: the agent is still in the turn
                    await self._backend.kill()
                return work.result()
            failure = cancelled() if live.shut else retryable("time_limit")
            live.end()
            await self._settle(live, work)
            return live.outcome(session_id=self._backend.session_id, failure=failure)
        except asyncio.CancelledError:
            live.end()
            await asyncio.shield(self._settle(live, work))
            raise
        finally:
            ended.cancel()

    async def _work(self, live: LiveTurn) -> TurnOutcome:
        try:
            await self._ready(live.request.standing)
            return await self._backend.perform(live)
        except Unavailable as error:
            await self._backend.kill()
            return live.outcome(failure=retryable("agent_died", hint=str(error)))
        except Refused as error:
            return live.outcome(failure=permanent("agent_error", hint=error.message))

    async def _settle(self, live: LiveTurn, work: asyncio.Task[TurnOutcome]) -> None:
        """Have the agent leave the turn: by asking, and after the grace by ending its process."""
        with suppress(TimeoutError, Unavailable):
            async with asyncio.timeout(_GRACE):
                while not work.done():  # it may not have begun when first asked
                    await self._backend.interrupt(live)
                    await asyncio.wait({work}, timeout=_ASK_AGAIN)
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
            await self._backend.kill(politely=False)
        if not work.cancelled() and (error := work.exception()) is not None:
            raise error

    async def steer(self, turn_id: str, text: str) -> bool:
        """Offer more text to the running turn."""
        live = self._running
        if live is None or live.shut or live.request.turn_id != turn_id:
            return False
        try:
            return await self._backend.steer(live, text)
        except Unavailable:
            return False

    async def cancel(self, turn_id: str) -> None:
        """End the turn: its watch hears nothing more, its `run` gives `cancelled`."""
        if live := self._turns.get(turn_id):
            live.end()

    async def close(self) -> None:
        """End every process."""
        self._closed = True
        for live in list(self._turns.values()):
            live.end()
        async with self._lane:
            await self._backend.kill()


class NoSteering:
    """For backends whose agents take no text into a running turn."""

    async def steer(self, live: LiveTurn, text: str) -> bool:  # noqa: ARG002 - the port's shape
        """Not taken."""
        return False
