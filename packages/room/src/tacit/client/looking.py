"""Does anybody look at what a client follows? Said on each connection that follows, and anew on the next.

The hub keeps it with the connection; so what was said outlives a reconnection only because it is said again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import aiohttp


class Looking:
    """The connections of one client that follow something."""

    def __init__(self) -> None:
        self._sockets: set[aiohttp.ClientWebSocketResponse] = set()
        self._away = False

    def add(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """A connection that is about to follow."""
        self._sockets.add(socket)

    def drop(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """It follows no more."""
        self._sockets.discard(socket)

    async def restate(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Before following: a new connection counts as looked at unless it says otherwise."""
        if self._away:
            await _say(socket, away=True)

    async def turn(self, *, away: bool) -> None:
        """Nobody looks, or somebody does again."""
        self._away = away
        for socket in list(self._sockets):
            if not socket.closed:
                await _say(socket, away=away)


async def _say(socket: aiohttp.ClientWebSocketResponse, *, away: bool) -> None:
    call = {"jsonrpc": "2.0", "method": "away", "params": {"away": away}}
    try:
        await socket.send_str(msgspec.json.encode(call).decode())
    except ConnectionError:
        return  # it broke: the connection that takes its place says it
