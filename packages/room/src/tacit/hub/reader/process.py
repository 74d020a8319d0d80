"""A reader in a process of its own: one read after the other, over the socket that it was born with.

Whatever one read costs, the hub's own thread does not pay for it. It holds nothing but a read-only connection
and may be killed at any moment; it ends when the socket does. A thread of it listens for what nobody wants
any more.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Corrupt, Refused, TacitError, Unavailable
from tacit.base.io.sqlite import Stopping, connect
from tacit.hub.config import HubConfig
from tacit.hub.reader.codec import LookAsked, ReadAsked, ReadTold, StopAsked, decode_asked, encode_told
from tacit.hub.reader.reads import READS, LedgerAlone
from tacit.hub.store.inherited_socket import serve_inherited
from tacit.hub.writer.codec import decode_opening, frames
from tacit.ledger.io.reader import Reader
from tacit.ledger.io.salvage import Salvage
from tacit.ledger.io.store import StoreOptions, read_faults

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

READ_BYTES: Final = 1 << 20


class _AskedReads:
    """What is asked, as it comes; and the means to stop it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stops: dict[int, Stopping] = {}
        self.asked: SimpleQueue[tuple[ReadAsked | LookAsked, Stopping]] = SimpleQueue()

    def bodies(self) -> Iterator[bytes]:
        """The frames until the hub goes."""
        buffer = bytearray()
        while data := self._connection.recv(READ_BYTES):
            buffer += data
            yield from frames(buffer)

    def listen(self, bodies: Iterator[bytes]) -> None:
        """Take what is asked; the process ends with the hub, whatever it is reading."""
        try:
            for body in bodies:
                asked = decode_asked(body)
                if not isinstance(asked, StopAsked):
                    stopping = self._stops[asked.number] = Stopping()
                    self.asked.put((asked, stopping))
                elif (known := self._stops.get(asked.number)) is not None:
                    known.stop()
        finally:
            os._exit(0)

    def over(self, number: int) -> None:
        """A read was answered."""
        self._stops.pop(number, None)


def answer(alone: LedgerAlone, path: Path, asked: ReadAsked | LookAsked, stopping: Stopping) -> ReadTold:
    """Carry one read out."""
    try:
        with stopping.on(alone.ledger.reader.connection), read_faults(path, alone.ledger.reader):
            if isinstance(asked, LookAsked):
                return ReadTold.found(asked.number, alone.look(asked.call))
            params = msgspec.json.decode(asked.params, type=READS[asked.name][0])
            return ReadTold.found(asked.number, alone.run(asked.name, asked.credential, params))
    except (Refused, Unavailable, Corrupt) as error:
        return ReadTold.failed(asked.number, error)
    except TacitError as error:
        return ReadTold.failed(asked.number, Refused("invalid_request", str(error)))


def serve(connection: socket.socket) -> None:
    """Read until the hub goes."""
    listening = _AskedReads(connection)
    bodies = listening.bodies()
    first = next(bodies, None)
    if first is None:
        return
    opening = decode_opening(first)
    path, settings = Path(opening.path), opening.settings
    config, options = (
        HubConfig(path.parent, settings=settings),
        StoreOptions(settings=settings, clock=opening.clock),
    )
    alone = LedgerAlone.of(config, options, Reader(connect(path, readonly=True), Salvage(path)))
    threading.Thread(target=listening.listen, args=(bodies,), daemon=True).start()
    while True:
        asked, stopping = listening.asked.get()
        told = answer(alone, path, asked, stopping)
        listening.over(asked.number)
        connection.sendall(encode_told(told))


if __name__ == "__main__":
    serve_inherited(serve)
