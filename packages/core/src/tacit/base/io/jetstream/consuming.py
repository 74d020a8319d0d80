"""What a consumer of a stream brings, message by message, until one is missing or nothing comes any more.

The library calls for each message, which costs half of what asking for the next one does. Silence is looked
for now and then, so that no timer is set for a message.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from nats.errors import Error as NatsError

from tacit.base.errors import TacitError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nats.aio.msg import Msg

STATUS: Final = "Status"
ALIVE: Final = "100"
"""The status of a consumer's heartbeat, and of its question whether we keep up."""
LAST_CONSUMED: Final = "Nats-Last-Consumer"
SILENT_BEATS: Final = 3
"""After so many heartbeats that did not come, a consumer is taken to be gone."""


class Arrival(msgspec.Struct, frozen=True):
    """A message of a stream as a consumer of it gets it."""

    seq: int
    subject: str
    headers: dict[str, str]
    payload: bytes


Delivery: TypeAlias = Arrival | None
Take: TypeAlias = "Callable[[Delivery], Awaitable[bool]]"
"""Is given each message, and None for each sign of life; False ends it."""


class Consuming:
    """One consumer, on the running loop."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._number = self._heard = 0
        self._is_busy = False
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def came(self, message: Msg) -> None:
        """A message came, or a sign of life."""
        if self._over.done():
            return
        self._heard += 1
        self._is_busy = True
        try:
            if not await self._took(message):
                self.end()
        except (TacitError, NatsError, OSError) as error:
            if not self._over.done():
                self._over.set_exception(error)
        finally:
            self._is_busy = False

    async def _took(self, message: Msg) -> bool:
        headers = message.headers or {}
        if STATUS in headers:
            if headers[STATUS] != ALIVE or int(headers.get(LAST_CONSUMED, self._number)) != self._number:
                return False
            if message.reply:
                await message.respond(b"")
            return await self._take(None)
        # $JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<number>.<time>.<pending>, or with a domain.
        sequence, number = (int(word) for word in message.reply.split(".")[-4:-2])
        if number != self._number + 1:
            return False
        self._number = number
        return await self._take(Arrival(sequence, message.subject, headers, message.data))

    def end(self) -> None:
        """Take nothing more."""
        if not self._over.done():
            self._over.set_result(None)

    async def until_over(self, heartbeat: float) -> None:
        """Return when it is over; raises what taking a message did."""
        silent = 0
        while silent < SILENT_BEATS:
            heard = self._heard
            await asyncio.wait({self._over}, timeout=heartbeat)
            if self._over.done():
                return self._over.result()
            silent = silent + 1 if heard == self._heard and not self._is_busy else 0
        return None
