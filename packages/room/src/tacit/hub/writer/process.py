"""The writer in a process of its own: commands in, outcomes out, over one socket that it was born with.

All frames that waited while the last commit ran share the next one. It ends when the socket does: the hub
closed it, or died; what was taken is committed first. It holds the folder's lock together with the hub, so
that no other hub opens the folder while it still writes. Signals are the hub's business.
"""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.attention.io.engine import AttentionEngine
from tacit.hub.store.inherited_socket import serve_inherited
from tacit.hub.writer.codec import decode_commands, decode_opening, encode_reply, frames
from tacit.ledger.io.store import OpenWriter, StoreOptions

if TYPE_CHECKING:
    from tacit.ledger.commands import Command

log: Final = logging.getLogger("tacit.ledger")
READ_BYTES: Final = 1 << 20
MOST: Final = 512
"""Commands in one commit, as in the thread."""


class Served:
    """One connection to the hub, from its opening to its end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self._waiting: list[Command] = []

    def opening(self) -> bytes | None:
        """The first frame; None when the hub went before it spoke."""
        while True:
            found = frames(self._buffer)
            if found:
                self._take(found[1:])
                return found[0]
            if not self._read():
                return None

    def _read(self, flags: int = 0) -> bool:
        try:
            data = self._connection.recv(READ_BYTES, flags)
        except BlockingIOError:
            return False
        self._buffer += data
        return bool(data)

    def _take(self, bodies: list[bytes]) -> None:
        for body in bodies:
            self._waiting += decode_commands(body)

    def commands(self) -> list[Command]:
        """What waits, at most one commit's worth; empty when the connection has ended."""
        while not self._waiting:
            if not self._read():
                return []
            self._take(frames(self._buffer))
        while len(self._waiting) < MOST and self._read(socket.MSG_DONTWAIT):
            self._take(frames(self._buffer))
        found, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        return found


def serve(connection: socket.socket) -> None:
    """Write until the hub goes."""
    served = Served(connection)
    first = served.opening()
    if first is None:
        return
    opening = decode_opening(first)
    options = StoreOptions(
        settings=opening.settings, clock=opening.clock, wal_hard_pages=opening.wal_hard_pages
    )
    opened = OpenWriter(Path(opening.path), options, AttentionEngine)
    opened.start()
    try:
        while commands := served.commands():
            outcomes = list(opened.writer.commit(commands))
            reply = encode_reply(outcomes, opened.writer.failures, opened.checkpointer.pages)
            try:
                connection.sendall(reply)
            except OSError:
                log.warning("the hub went before it heard what was written")
                return
    finally:
        opened.close()


if __name__ == "__main__":
    serve_inherited(serve)
