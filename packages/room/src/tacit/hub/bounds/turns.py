"""Turns as the loop waits for them: a place to read in, in fair order, until a deadline or until one leaves.

What runs in a place can be stopped: when its time is over, or when whoever asked has gone. The place is given
on when it has really ended, not when nobody waits for it any more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tacit.base.errors import Refused, Unavailable
from tacit.base.fair_turns import FairTurns
from tacit.hub.bounds.quotas import caller

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
STOPPING: Final = "the hub is stopping"


class RunningRead(Protocol[T]):
    """Something that runs in a place."""

    @property
    def ended(self) -> asyncio.Future[T]:
        """Its outcome, once it has really ended."""
        ...

    def stop(self) -> None:
        """End it soon."""
        ...


class ReadTurns:
    """Places to read in, shared fairly between credentials: by how long their reads take."""

    def __init__(self, places: int, most_waiting: int, seconds: float) -> None:
        self._turns: FairTurns[asyncio.Future[None]] = FairTurns(places, max(1, places - 1), most_waiting)
        self._seconds = seconds
        self._running: dict[RunningRead[Any], None] = {}
        self._asking: dict[Callable[[], None], None] = {}
        self._closed = False
        self.stopped = 0
        """How many reads were stopped: too slow, or nobody there any more."""

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return self._turns.waiting

    async def run(self, start: Callable[[], RunningRead[T]]) -> T:
        """Start something when its turn has come, and wait for it."""
        if self._closed:
            raise Unavailable(STOPPING)
        who, loop = caller(), asyncio.get_running_loop()
        turn, gone = loop.create_future(), loop.create_future()
        if not self._turns.ask(who.owner, turn):
            raise Refused(
                "rate_limited",
                "this credential waits for too many reads already; slow down",
                details={"reason": "too_many_reads", "retry_after_s": 1},
            )

        def leave() -> None:
            if not gone.done():
                gone.set_result(None)

        who.leaving[leave] = self._asking[leave] = None
        until = loop.time() + self._seconds
        try:
            await self._turn(who.owner, turn, gone, until)
            running = self._started(who.owner, start)
            try:
                await self._first(running.ended, gone, until)
            except BaseException:
                self.stopped += 1
                running.stop()
                raise
            return running.ended.result()
        finally:
            who.leaving.pop(leave, None)
            self._asking.pop(leave, None)
            gone.cancel()

    async def _turn(
        self, owner: str, turn: asyncio.Future[None], gone: asyncio.Future[None], until: float
    ) -> None:
        self._give()
        try:
            await self._first(turn, gone, until)
        except BaseException:
            turn.cancel()
            if not self._turns.withdraw(owner, turn):
                self._over(owner)
            raise

    def _started(self, owner: str, start: Callable[[], RunningRead[T]]) -> RunningRead[T]:
        try:
            running = start()
        except BaseException:
            self._over(owner)
            raise
        self._running[running] = None
        loop = asyncio.get_running_loop()
        begun = loop.time()

        def ended(outcome: asyncio.Future[T]) -> None:
            self._running.pop(running, None)
            if not outcome.cancelled():
                outcome.exception()  # seen, whether or not anybody still waits for it
            self._over(owner, loop.time() - begun)

        running.ended.add_done_callback(ended)
        return running

    def _over(self, owner: str, cost: float = 0.0) -> None:
        self._turns.done(owner, cost=cost)
        self._give()

    def _give(self) -> None:
        for turn in self._turns.next():
            # One that was given up a moment ago hands its place on by itself.
            if not turn.done():
                turn.set_result(None)

    def close(self) -> None:
        """Stop whatever runs, refuse whoever waits or comes: the hub is closing."""
        self._closed = True
        for leave in list(self._asking):
            leave()

    async def _first(self, wanted: asyncio.Future[Any], gone: asyncio.Future[None], until: float) -> None:
        """Wait for what is wanted; refuses when the caller goes or the time is over before."""
        if wanted.done():
            return
        left = max(0.0, until - asyncio.get_running_loop().time())
        done, _ = await asyncio.wait({wanted, gone}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if wanted in done:
            return
        if gone in done:
            raise Unavailable(STOPPING if self._closed else "whoever asked has left")
        raise Unavailable("this read takes too long; ask for less at once")
