"""The WebSocket endpoint, `WS /a2acp`: sockets in, frames out (A2ACP-001, A2ACP-006, A2ACP-207, A2ACP-208).

Knows sockets and sizes; what a frame means is for the mailboxes to say.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from aiohttp import WSMsgType, web

from tacit.base.io.http_runner import proved
from tacit.relay.io.connection import MailboxConnection
from tacit.wire import frames

if TYPE_CHECKING:
    from tacit.relay.io.mailboxes import Mailboxes

_PENALTY_SECONDS: Final = 0.05
_BREATH_EVERY: Final = 16
_ENDINGS: Final = frozenset({WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR})


class WebSocketEndpoint:
    """Lets agents in."""

    def __init__(self, mailboxes: Mailboxes) -> None:
        self._mailboxes = mailboxes

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One connection, from its first byte to its last."""
        mailboxes = self._mailboxes
        sources = mailboxes.sources_of(request.remote)
        most = mailboxes.limits.connections_per_source
        if any(mailboxes.sources[bound.key] >= most * bound.share for bound in sources):
            raise web.HTTPTooManyRequests
        ws = web.WebSocketResponse(
            max_msg_size=frames.MAX_TEXT, autoping=False, compress=False, timeout=2.0, decode_text=False
        )
        await ws.prepare(request)
        transport = request.transport
        if transport is None:  # gone already
            return ws
        connection = MailboxConnection(
            ws, transport, mailboxes.store, mailboxes.limits, sources=sources, clock=mailboxes.clock
        )
        mailboxes.arrived(connection)
        # From here on the mailboxes keep count: so many to a source, and none that stays silent.
        proved(request, f"source {sources[0].key}")
        try:
            await self._listen(ws, connection)
        finally:
            mailboxes.left(connection)
        return ws

    async def _listen(self, ws: web.WebSocketResponse, connection: MailboxConnection) -> None:
        mailboxes, heard = self._mailboxes, 0
        while not connection.closing:
            heard += 1
            if connection.penalty:
                # Whoever floods is read slowly: its own socket fills up, nobody else waits.
                excess, connection.penalty = connection.penalty, 0
                await asyncio.sleep(_PENALTY_SECONDS * excess)
            elif heard % _BREATH_EVERY == 0:
                # Frames that wait in the buffer come without a pause of their own.
                await asyncio.sleep(0)
            if connection.job is not None:
                await asyncio.wait({connection.job})
                connection.job = None
            message = await ws.receive()
            now = mailboxes.clock.now()
            kind = message.type
            if kind is WSMsgType.TEXT:
                connection.heard = now
                mailboxes.hear(connection, message.data, now)
            elif kind is WSMsgType.PING:
                connection.heard = now
                # Whoever is gone hears no pong; what it said behind its ping still counts.
                with contextlib.suppress(ConnectionError):
                    await ws.pong(message.data)
            elif kind is WSMsgType.PONG:
                connection.heard = now
                mailboxes.ponged(connection, message.data)
            elif kind in _ENDINGS:
                break
        if connection.closing:
            await connection.drained()
