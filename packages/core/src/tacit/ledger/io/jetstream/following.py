"""Following a stream: its messages as they are stored, those of this node among them.

By an ordered consumer, which a lagging replica may serve: what it brings is true, if late, and a gap in it
begins it anew behind what was had. Nothing is decided here. Messages wait for the writer's thread, and while
too many wait no more are asked for.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Final

from tacit.base.io.ending import end

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.base.io.jetstream.consuming import Delivery
    from tacit.ledger.io.jetstream.stream import JetStream
    from tacit.ledger.shipment import StreamMessage

HEARTBEAT: Final = 2.0
MOST_BYTES: Final = 16_000_000
"""How much waits for the writer before nothing more is taken from the servers."""


class StreamBacklog:
    """What has come of one stream and was not taken yet."""

    def __init__(
        self,
        stream: JetStream,
        applied: Callable[[], int],
        arrived: Callable[[], None],
        presses: Callable[[StreamMessage], bool] = lambda _message: True,
    ) -> None:
        """`arrived` is called on the connection's loop when there is something, and with every heartbeat.

        `applied`: up to where there is nothing to be taken any more. `presses`: does somebody wait for it?
        """
        self._stream = stream
        self._applied = applied
        self._presses = presses
        self._arrived = arrived
        self._lock = threading.Lock()
        self._waiting: list[StreamMessage] = []
        self._bytes = 0
        self._reach = 0
        self._running: asyncio.Task[None] | None = None
        self.is_pressing = False
        """Is there something among what waits that somebody waits for?"""

    def begin(self, after: int) -> None:
        """Follow from behind a sequence; on the connection's loop."""
        self._reach = max(self._reach, after)
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Follow no more; returns when that is so."""
        if self._running is not None:
            await end(self._running)

    @property
    def reach(self) -> int:
        """The last sequence of which is known that the stream has it."""
        return self._reach

    def take(self) -> list[StreamMessage]:
        """What waits, in order; for the writer's thread."""
        with self._lock:
            taken, self._waiting, self._bytes = self._waiting, [], 0
            self.is_pressing = False
        return taken

    async def _run(self) -> None:
        connection = self._stream.connection
        while True:
            await connection.consume(self._stream.name, self._reach, HEARTBEAT, self._came)
            await asyncio.sleep(connection.patience.pause)

    async def _came(self, delivery: Delivery) -> bool:
        if delivery is not None:
            message = self._stream.read_arrival(delivery)
            presses = message is None or self._presses(message)
            with self._lock:
                # What is not known here is left out: the writer finds it missing and says why.
                if message is not None and delivery.seq > self._applied():
                    self._waiting.append(message)
                    self._bytes += len(delivery.payload)
                self.is_pressing |= presses
                self._reach = delivery.seq
        self._arrived()
        while self._bytes > MOST_BYTES:
            await asyncio.sleep(self._stream.connection.patience.pause)
            if self._reach <= self._applied():
                self.take()
            self._arrived()
        return True
