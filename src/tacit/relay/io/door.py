"""The WebSocket door, `WS /a2acp`: sockets in, frames out (A2ACP-001, A2ACP-006, A2ACP-207, A2ACP-208).

Knows sockets and sizes; what a frame means is the post office's.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from aiohttp import WSMsgType, web

from tacit.relay.io.connection import Connection
from tacit.relay.io.replies import caller
from tacit.wire import frames

if TYPE_CHECKING:
    from tacit.relay.io.office import PostOffice

_PENALTY_SECONDS: Final = 0.05
_TURN: Final = 16
_ENDINGS: Final = frozenset({WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR})


class Door:
    """Lets agents in."""

    def __init__(self, office: PostOffice) -> None:
        self._office = office

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One connection, from its first byte to its last."""
        office = self._office
        source = office.source(caller(request, behind_proxy=office.behind_proxy))
        if office.sources[source] >= office.limits.connections_per_source:
            raise web.HTTPTooManyRequests
        ws = web.WebSocketResponse(
            max_msg_size=frames.MAX_TEXT, autoping=False, compress=False, timeout=2.0, decode_text=False
        )
        await ws.prepare(request)
        transport = request.transport
        if transport is None:  # gone already
            return ws
        connection = Connection(ws, transport, office.store, office.limits, source=source, clock=office.clock)
        office.arrived(connection)
        try:
            await self._listen(ws, connection)
        finally:
            office.left(connection)
        return ws

    async def _listen(self, ws: web.WebSocketResponse, connection: Connection) -> None:
        office, heard = self._office, 0
        while not connection.closing:
            heard += 1
            if connection.penalty:
                # Whoever floods is read slowly: its own socket fills up, nobody else waits.
                excess, connection.penalty = connection.penalty, 0
                await asyncio.sleep(_PENALTY_SECONDS * excess)
            elif heard % _TURN == 0:
                # Frames that wait in the buffer come without a pause of their own.
                await asyncio.sleep(0)
            if connection.job is not None:
                await asyncio.wait({connection.job})
                connection.job = None
            message = await ws.receive()
            now = office.clock.now()
            kind = message.type
            if kind is WSMsgType.TEXT:
                connection.heard = now
                office.hear(connection, message.data, now)
            elif kind is WSMsgType.PING:
                connection.heard = now
                await ws.pong(message.data)
            elif kind is WSMsgType.PONG:
                connection.heard = now
                office.ponged(connection, message.data)
            elif kind in _ENDINGS:
                break
        if connection.closing:
            await connection.drained()
