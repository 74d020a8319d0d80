"""One turn at a time, each with one outcome: what all drivers have in common (C2A-180, C2A-188, C2A-219).

`SessionDriver` is the driver port over a `Backend`, which is what differs between agents. The rules owned
here: each audience has a backend of its own, with its own session and folder, and of those that are not the
room's only a few are kept open; turns wait for each other; a cancelled turn ends at once for its watch and
soon for the agent, by force if need be; a turn past its time limit is ended the same way; a dead agent is
opened again, with its session, by the next turn; changed standing rules open it anew; a turn that is to be
forgotten has an agent of its own, which is ended with it. Knows nothing of any
agent's language.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from tacit.base.errors import Bug, Refused, Unavailable
from tacit.harness.drivers.failures import cancelled, permanent, retryable
from tacit.harness.drivers.io.child import to_the_end
from tacit.harness.drivers.port import (
    BoundaryOrder,
    NotPermitted,
    ObservedActivity,
    PermissionAnswer,
    PermissionRequest,
    StandingInstructions,
    Stop,
    TextDelta,
    TokenUsage,
    ToolEnded,
    Traits,
    TurnEvent,
    TurnOutcome,
    TurnRequest,
    Watch,
)
from tacit.harness.prices import estimated

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.harness.drivers.port import Failure, TurnFile

_GRACE: Final = 2.0
_ASK_AGAIN: Final = 0.2
_LAST_WORD: Final = 0.2
OVER_BUDGET: Final = "the day's budget was reached in the middle of the turn, which was ended there"
MOST_OPEN: Final = 3
"""Private audiences whose agents stay open; the others' sessions are opened again when they are needed."""
CALLED_OFF: Final = "the turn was called off"


class LiveTurn:
    """A running turn: the way to its watch, shut for good when the turn is ended from outside."""

    def __init__(self, request: TurnRequest, watch: Watch) -> None:
        self.request = request
        self.cost_usd: float | None = None
        self.over_budget = False
        """Was it ended because it reached its allowance?"""
        self._usage = self._interim = TokenUsage()
        self._said = 0
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
    def usage(self) -> TokenUsage:
        """The agent's own count so far."""
        return self._usage

    @usage.setter
    def usage(self, counted: TokenUsage) -> None:
        """The agent has counted: all that was seen on the way is contained in it."""
        if counted != self._usage:
            self._usage, self._interim = counted, TokenUsage()
        self._keep_to_allowance()

    def saw_usage(self, used: TokenUsage) -> None:
        """Tokens that are seen on the way and will be in the agent's own count at the end."""
        self._interim += used
        self._keep_to_allowance()

    def _keep_to_allowance(self) -> None:
        """End the turn when what it may use is used; by bytes where its agent counts nothing on the way."""
        used = self._usage + self._interim
        if used == TokenUsage():
            used = estimated(len(self.request.prompt.encode()), self._said)
        if not self._shut and self.request.allowance.is_used_up(used, self.cost_usd):
            self.over_budget = True
            self.end()

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
        if isinstance(event, TextDelta):
            self._said += len(event.text.encode())
            self._keep_to_allowance()

    async def boundary(self, ended: ToolEnded) -> BoundaryOrder:
        """Tell the watch of a tool boundary and get its order. `Stop` ends the turn here and now."""
        await self.saw(ended)
        if self._shut:
            return Stop()
        order = await self._watch.at_boundary(ended)
        if isinstance(order, Stop):
            self.end()
        return Stop() if self._shut else order

    async def did(self, activity: ObservedActivity) -> None:
        """Tell the watch of something that people may look at."""
        if not self._shut:
            await self._watch.did(activity)

    async def in_session(self, session_id: str | None) -> None:
        """Tell the watch in which session the turn is, unless nobody is to go on with it."""
        if session_id is not None and not self._shut and not self.request.forget:
            await self._watch.in_session(session_id)

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
        used = self._usage + self._interim
        by_bytes = self.over_budget and used == TokenUsage()
        return TurnOutcome(
            self.request.turn_id,
            text="" if failure else text,
            usage=estimated(len(self.request.prompt.encode()), self._said) if by_bytes else used,
            cost_usd=self.cost_usd,
            estimated=by_bytes,
            session_id=session_id,
            failure=failure,
        )


class NotStarted(Unavailable):
    """The agent could not be started; `cause` is what its program said last, for its owner."""

    def __init__(self, message: str, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


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

    async def last_words(self) -> str:
        """What its process said last of a failure, a line at most; empty where nobody listens to it."""
        ...

    async def open(self, standing: StandingInstructions, session_id: str | None) -> None:
        """Start the agent. Raises `Unavailable` or `Refused`; what was half started is ended by `kill`."""
        ...

    async def perform(self, live: LiveTurn) -> TurnOutcome:
        """Run a turn. Raises `Unavailable` when the agent died under it."""
        ...

    async def steer(self, live: LiveTurn, text: str, files: tuple[TurnFile, ...] = ()) -> bool:
        """Put text into the running turn."""
        ...

    async def interrupt(self, live: LiveTurn) -> None:
        """Ask the agent to stop, so that `perform` comes back. May fail silently: force follows."""
        ...

    async def kill(self, *, politely: bool = True) -> None:
        """End every process, by asking first or at once."""
        ...


class PassingPlace(Protocol):
    """Where a turn runs that is forgotten: a backend whose folder is there only while the turn is."""

    async def backend(self) -> Backend:
        """The backend in an empty folder. `Unavailable` when what lies there cannot be removed."""
        ...

    async def forget(self) -> None:
        """End the agent, and remove all that it wrote."""
        ...


@dataclass(slots=True)
class AudienceSession:
    """One audience's backend, and what it was last opened with."""

    backend: Backend
    session_id: str | None = None
    standing: StandingInstructions | None = None

    async def ready(self, standing: StandingInstructions) -> None:
        """Open it, unless it is open with these rules."""
        if self.backend.alive and standing == self.standing:
            return
        await self.backend.kill()
        try:
            await self.backend.open(standing, self.session_id)
        except Unavailable as error:
            cause = await self.backend.last_words()
            await asyncio.shield(self.backend.kill())
            raise NotStarted(str(error), cause) from error
        except BaseException:
            await asyncio.shield(self.backend.kill())
            raise
        self.standing = standing
        self.session_id = self.backend.session_id or self.session_id


class SessionDriver:
    """The driver port over backends: `room` for what everybody reads, `private` makes one for an audience."""

    def __init__(
        self,
        room: Backend,
        private: Callable[[str], Backend] | None = None,
        workplace: Callable[[str], str | None] = lambda _audience: None,
        passing: PassingPlace | None = None,
    ) -> None:
        self._room = AudienceSession(room)
        self._private = private
        self._workplace = workplace
        self._passing = passing
        self._others: OrderedDict[str, AudienceSession] = OrderedDict()
        self._lane = asyncio.Lock()
        self._turns: dict[str, LiveTurn] = {}
        self._running: tuple[LiveTurn, Backend] | None = None
        self._closed = False

    @property
    def traits(self) -> Traits:
        """What this driver can do."""
        return self._room.backend.traits

    def workplace(self, audience: str) -> str | None:
        """Where the agent works for this audience, unless the turn says otherwise."""
        return self._workplace(audience)

    async def start(self, standing: StandingInstructions, session_id: str | None = None) -> None:
        """Open the agent, continuing a session where it still exists."""
        async with self._lane:
            self._closed = False
            self._room.session_id = session_id or self._room.session_id
            try:
                await self._room.ready(standing)
            except NotStarted as error:
                # Whoever starts it is its owner.
                said = f"; its program said: {error.cause}" if error.cause else ""
                raise Unavailable(f"{error}{said}") from error

    async def _session_for(self, turn: TurnRequest) -> AudienceSession:
        """The audience's session; the one that was idle longest is closed when there would be too many."""
        if not turn.audience:
            if self._room.standing is None:  # never opened: nobody has said what it goes on with
                self._room.session_id = self._room.session_id or turn.session_id
            return self._room
        found = self._others.get(turn.audience)
        if found is None:
            if self._private is None:
                raise Bug("this driver has no sessions beside the room's")
            found = self._others[turn.audience] = AudienceSession(self._private(turn.audience))
        self._others.move_to_end(turn.audience)
        found.session_id = found.session_id or turn.session_id
        while len(self._others) > MOST_OPEN:
            _, idle = self._others.popitem(last=False)
            await idle.backend.kill()
        return found

    async def run(self, turn: TurnRequest, watch: Watch) -> TurnOutcome:
        """Run one turn to its outcome."""
        live = LiveTurn(turn, watch)
        self._turns[turn.turn_id] = live
        try:
            async with self._lane:
                if live.shut or self._closed:
                    return live.outcome(failure=cancelled())
                if turn.forget:
                    return await self._run_and_forget(live)
                session = await self._session_for(turn)
                self._running = (live, session.backend)
                outcome = await self._run(live, session)
                session.session_id = outcome.session_id or session.session_id
                return replace(outcome, session_id=session.session_id)
        finally:
            live.end()
            self._turns.pop(turn.turn_id, None)
            if self._running is not None and self._running[0] is live:
                self._running = None

    async def _run_and_forget(self, live: LiveTurn) -> TurnOutcome:
        """A turn in a session of its own, which is gone when the outcome is told."""
        passing = self._passing
        if passing is None:
            raise Bug("this driver has no session that passes")
        try:
            backend = await passing.backend()
            self._running = (live, backend)
            return replace(await self._run(live, AudienceSession(backend)), session_id=None)
        except Unavailable as error:
            return live.outcome(failure=permanent("agent_error", hint=str(error)))
        finally:
            await to_the_end(passing.forget())

    async def _run(self, live: LiveTurn, session: AudienceSession) -> TurnOutcome:
        backend = session.backend
        live.begin()
        work = asyncio.create_task(self._work(live, session))
        ended = asyncio.create_task(live.ended.wait())
        try:
            while (left := live.time_left) > 0:
                done, _ = await asyncio.wait({work, ended}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    break
            if live.over_budget and (whole := await _last_word(work)) is not None:
                return whole
            if work.done() and not live.shut:
                if work.exception() is not None:  # a watch that raised: the agent is still in the turn
                    await backend.kill()
                return work.result()
            failure = _why_ended(live)
            live.end()
            await self._settle(live, work, backend)
            return live.outcome(session_id=backend.session_id, failure=failure)
        except asyncio.CancelledError:
            live.end()
            await asyncio.shield(self._settle(live, work, backend))
            raise
        finally:
            ended.cancel()

    async def _work(self, live: LiveTurn, session: AudienceSession) -> TurnOutcome:
        try:
            if live.request.fresh or live.request.forget:
                await session.backend.kill()
                session.session_id = None
            await session.ready(live.request.standing)
            await live.in_session(session.backend.session_id)
            return await session.backend.perform(live)
        except Unavailable as error:
            session.session_id = session.backend.session_id or session.session_id
            cause = error.cause if isinstance(error, NotStarted) else await session.backend.last_words()
            await session.backend.kill()
            failure = replace(retryable("agent_died", hint=str(error)), cause=cause)
            return live.outcome(failure=failure)
        except Refused as error:
            return live.outcome(failure=permanent("agent_error", hint=error.message))

    async def _settle(self, live: LiveTurn, work: asyncio.Task[TurnOutcome], backend: Backend) -> None:
        """Have the agent leave the turn: by asking, and after the grace by ending its process."""
        with suppress(TimeoutError, Unavailable):
            async with asyncio.timeout(_GRACE):
                while not work.done():  # it may not have begun when first asked
                    await backend.interrupt(live)
                    await asyncio.wait({work}, timeout=_ASK_AGAIN)
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
            await backend.kill(politely=False)
        if not work.cancelled() and (error := work.exception()) is not None:
            raise error

    async def steer(self, turn_id: str, text: str, files: tuple[TurnFile, ...] = ()) -> bool:
        """Offer more text to the running turn, with its files."""
        live, backend = self._running or (None, None)
        if live is None or backend is None or live.shut or live.request.turn_id != turn_id:
            return False
        try:
            return await backend.steer(live, text, files)
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
            for session in (self._room, *self._others.values()):
                await session.backend.kill()


async def _last_word(work: asyncio.Task[TurnOutcome]) -> TurnOutcome | None:
    """The answer of a turn that reached its allowance with the last thing it did: that is paid for."""
    await asyncio.wait({work}, timeout=_LAST_WORD)
    if not work.done() or work.exception() is not None or work.result().failure is not None:
        return None
    return work.result()


def _why_ended(live: LiveTurn) -> Failure:
    """Why a turn was ended from outside."""
    if live.over_budget:
        return retryable("over_budget", hint=OVER_BUDGET)
    return cancelled() if live.shut else retryable("time_limit")


class NoSteering:
    """For backends whose agents take no text into a running turn."""

    async def steer(self, live: LiveTurn, text: str, files: tuple[TurnFile, ...] = ()) -> bool:  # noqa: ARG002 - the port's shape
        """Not taken."""
        return False

    async def last_words(self) -> str:
        """Nothing, unless there is a process that is listened to."""
        return ""
