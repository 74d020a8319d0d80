"""The C2A door: `/c2a` as a WebSocket, and as plain HTTP for one request at a time (C2A-007, C2A-011).

The token names the session: an actor of one group. Messages of a connection are taken one after another, so
that their order is the order of their effects.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
from aiohttp import WSMsgType, web

from tacit.base.errors import TacitError
from tacit.base.websocket import text_frame
from tacit.hub.doors.http import (
    Unauthenticated,
    credential_of,
    error_answer,
    json_answer,
    unauthenticated_answer,
    whole,
)
from tacit.hub.host.ports import SessionPorts
from tacit.hub.host.protocol import HarnessConversation
from tacit.hub.operations import room as operations
from tacit.ledger.codes import denied
from tacit.ledger.principal import PrincipalKind, kind_of

if TYPE_CHECKING:
    from tacit.hub.hub import RunningHub
    from tacit.hub.people.credentials import Credential

_encode: Final = msgspec.json.Encoder().encode
REVOKED_CODE: Final = 4001
SLOW_CODE: Final = 4008
GOING_AWAY: Final = 1001


def session_of(credential: Credential) -> tuple[str, str]:
    """The group and the actor that a credential speaks for."""
    if credential.group_id is None or kind_of(credential.principal) is not PrincipalKind.ACTOR:
        raise denied("a session is an actor of one group: use an actor's token", "C2A-006")
    return credential.group_id, credential.principal


def ports_of(hub: RunningHub) -> SessionPorts:
    """What a conversation reaches of this hub."""
    return SessionPorts(
        hub.ledger,
        hub.host,
        hub.tools,
        refused=lambda code: hub.metrics.refused.labels(code).inc(),
        presence=hub.live.presence,
        type_in=partial(operations.type_in, hub),
        activities=hub.activities,
    )


class SocketWire:
    """One WebSocket as a wire; frames of one tick leave in one write."""

    def __init__(self, hub: RunningHub, socket: web.WebSocketResponse, transport: asyncio.Transport) -> None:
        self._hub = hub
        self._socket = socket
        self._transport = transport
        self._out: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self._ended = False

    def send(self, message: dict[str, Any]) -> None:
        """Send one message with everything else of this tick."""
        if self._ended:
            return
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(text_frame(_encode(message)))
        if self._transport.get_write_buffer_size() > self._hub.config.limits.follower_bytes:
            self.end(SLOW_CODE, "too slow")

    def _flush(self) -> None:
        if self._out and not self._transport.is_closing():
            self._transport.write(b"".join(self._out))
        self._out.clear()

    def end(self, code: int, reason: str) -> None:
        """Close; what was not accepted stays pending."""
        if self._ended:
            return
        self._flush()
        self._ended = True
        self._hub.host.spawn(self._close(code, reason))

    async def _close(self, code: int, reason: str) -> None:
        await self._socket.close(code=code, message=reason.encode())


async def serve(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """Upgrade, then talk until the harness goes."""
    try:
        credential = credential_of(hub, request)
        group_id, session = session_of(credential)
    except Unauthenticated:
        return unauthenticated_answer()
    except TacitError as error:
        return error_answer(error)
    socket = web.WebSocketResponse(
        heartbeat=hub.config.limits.heartbeat_seconds,
        compress=False,
        max_msg_size=hub.config.limits.body_bytes,
    )
    await socket.prepare(request)
    transport = request.transport
    if transport is None:
        return socket
    wire = SocketWire(hub, socket, transport)

    def revoked(token_id: str) -> None:
        if token_id == credential.token_id:
            wire.end(REVOKED_CODE, "the token was revoked")

    def stopping() -> None:
        wire.end(GOING_AWAY, "the hub is stopping")

    hub.on_revoked[revoked] = None
    hub.on_stop[stopping] = None
    conversation = HarnessConversation(ports_of(hub), group_id, session, wire)
    try:
        await _listen(hub, socket, conversation, credential)
    finally:
        hub.on_revoked.pop(revoked, None)
        hub.on_stop.pop(stopping, None)
        if conversation.link is not None:
            hub.host.detach(conversation.link)
            hub.host.spawn(hub.hooks.back(group_id, session))
    return socket


async def _listen(
    hub: RunningHub, socket: web.WebSocketResponse, conversation: HarnessConversation, credential: Credential
) -> None:
    loop = asyncio.get_running_loop()
    async for message in socket:
        if message.type not in {WSMsgType.TEXT, WSMsgType.BINARY}:
            break
        try:
            hub.rate.take(credential.token_id, loop.time())
        except TacitError:
            # A flood is slowed down, not cut: what it says next is read a little later.
            await asyncio.sleep(0.05)
        await hub.door.turn(credential.token_id)
        await conversation.receive(message.data)


class _AnswerKeeper:
    """A wire for one request: it keeps the answer."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        """Keep a message."""
        self.messages.append(message)

    def end(self, code: int, reason: str) -> None:
        """Nothing to close."""


async def one_request(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """`POST /c2a`: one request, one answer; for sessions whose events arrive by webhook (C2A-011)."""
    try:
        credential = credential_of(hub, request)
        group_id, session = session_of(credential)
        await hub.door.turn(credential.token_id)
        body = await whole(request, hub.config.limits)
    except Unauthenticated:
        return unauthenticated_answer()
    except TacitError as error:
        return error_answer(error)
    answer = await answer_to(hub, group_id, session, body)
    return json_answer(answer) if answer is not None else web.Response(status=202)


async def answer_to(hub: RunningHub, group_id: str, session: str, message: bytes) -> dict[str, Any] | None:
    """The answer to one message outside of any connection; None for what wants none."""
    wire = _AnswerKeeper()
    conversation = HarnessConversation(ports_of(hub), group_id, session, wire, "http")
    conversation.link = hub.hooks.link_for(group_id, session, wire)
    await conversation.receive(message)
    return wire.messages[-1] if wire.messages else None
