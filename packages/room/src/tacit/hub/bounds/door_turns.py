"""Turns at the doors: what is taken up there, and whose.

Everything at the doors runs on one loop, and whatever waits there goes on when the loop comes round. So each
go takes a few messages alone, of one credential half of them at most, and the rest wait in line: a member who
sends a thousand at once makes the others wait for a few of them. A large text is read beside the loop, one at
a time, whoever's turn it is; of one credential only so many large bodies are on their way at once. Nothing is
refused here: a connection whose message waits is not read from.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from tacit.base.fair_turns import FairTurns

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

T = TypeVar("T")
IN_ONE_GO: Final = 32
"""How many messages are taken up in one go of the loop."""
PIECES_IN_ONE_GO: Final = 4
"""How many pieces of files are hashed and written in one go: each takes as long as several messages."""
LARGE_BYTES: Final = 32 * 1024
"""From this size on a text is read beside the loop."""
BODIES_AT_ONCE: Final = 16
"""How many large bodies of one credential are on their way at once."""
FILES_AT_ONCE: Final = 2
"""How many files are brought to safety at once."""
_ANY: Final = 1 << 40


class _WaitingOwner(NamedTuple):
    owner: str
    turn: asyncio.Future[None]


class Places:
    """Places that credentials take and give back."""

    def __init__(self, places: int, share: int) -> None:
        self._turns: FairTurns[_WaitingOwner] = FairTurns(places, share, _ANY)

    async def take(self, owner: str) -> None:
        """Return with a place; at once when there is one."""
        asking = _WaitingOwner(owner, asyncio.get_running_loop().create_future())
        self._turns.ask(owner, asking)
        self._give()
        if asking.turn.done():
            return
        try:
            await asking.turn
        except asyncio.CancelledError:
            if not self._turns.withdraw(owner, asking):
                self.give_back(owner)
            raise

    def give_back(self, *owners: str) -> None:
        """Give places back, each owner's one."""
        for owner in owners:
            self._turns.done(owner)
        self._give()

    def _give(self) -> None:
        for asking in self._turns.next():
            self._given(asking.owner)
            # One that was given up a moment ago hands its place on by itself.
            if not asking.turn.done():
                asking.turn.set_result(None)

    def _given(self, owner: str) -> None:
        """Told of each place that is taken."""

    @asynccontextmanager
    async def one(self, owner: str) -> AsyncGenerator[None]:
        """Hold a place for a while."""
        await self.take(owner)
        try:
            yield
        finally:
            self.give_back(owner)


class _Goes(Places):
    """Places in a go of the loop: with the next one they are free again, and nobody gives one back."""

    def __init__(self, in_one_go: int) -> None:
        super().__init__(in_one_go, max(1, in_one_go // 2))
        self._in_this_go: list[str] = []

    def _given(self, owner: str) -> None:
        if not self._in_this_go:
            asyncio.get_running_loop().call_soon(self._next_go)
        self._in_this_go.append(owner)

    def _next_go(self) -> None:
        owners, self._in_this_go = self._in_this_go, []
        self._return(owners)

    def _return(self, owners: list[str]) -> None:
        super().give_back(*owners)

    def give_back(self, *owners: str) -> None:
        """A place that was given up is free with the next go, as all are."""


class DoorTurns:
    """All that is shared at the doors."""

    def __init__(self, in_one_go: int = IN_ONE_GO) -> None:
        self._goes = _Goes(in_one_go)
        self._pieces = _Goes(PIECES_IN_ONE_GO)
        self._large = Places(1, 1)
        self.bodies = Places(_ANY, BODIES_AT_ONCE)
        """Large bodies that are on their way."""
        self.files = Places(FILES_AT_ONCE, 1)
        """Files that are brought to safety."""

    async def turn(self, owner: str) -> None:
        """Return when this credential may have its next message taken up; at once when nobody is loud."""
        await self._goes.take(owner)

    async def piece(self, owner: str) -> None:
        """Return when this credential may have its next piece of a file written."""
        await self._pieces.take(owner)

    async def read(self, owner: str, size: int, read: Callable[[], T]) -> T:
        """Read a text of this size: a large one beside the loop, in its turn."""
        if size < LARGE_BYTES:
            return read()
        async with self._large.one(owner):
            return await asyncio.to_thread(read)
