"""The WebSocket door `/v1/ws`: every operation as JSON-RPC 2.0, pipelined; the fast path of the house.

Requests are answered as they finish, each under its id. Appends go straight to the writer, without a task of
their own; their answers and all live events of one tick leave in one write.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from aiohttp import WSCloseCode, WSMsgType, hdrs, web

from tacit.base.errors import Refused, TacitError
from tacit.base.io.http_runner import drained
from tacit.base.strict_json import Malformed, compact, parse
from tacit.base.websocket import text_frame
from tacit.c2a.errors import MALFORMED, NO_REQUEST
from tacit.hub.bounds.quotas import LARGE_BYTES, reading_for
from tacit.hub.doors.answers import rpc_error
from tacit.hub.doors.follow import EventStream
from tacit.hub.doors.http import (
    Unauthenticated,
    caller_of,
    credential_of,
    error_answer,
    know,
    run,
    typed,
    unauthenticated_answer,
)
from tacit.hub.doors.routes import OPERATIONS, RPC_ONLY, Run
from tacit.hub.operations import requests, views
from tacit.hub.operations import room as operations
from tacit.ledger.codes import denied, invalid
from tacit.ledger.commands import Append, Committed, Duplicate

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from tacit.hub.hub import RunningHub
    from tacit.hub.live import LiveSubscription
    from tacit.hub.people.credentials import Credential
    from tacit.ledger.envelope import StoredEvent

METHODS: Final[dict[str, tuple[type[Any], Run]]] = {
    **{operation.name: (operation.params, operation.run) for operation in OPERATIONS},
    **RPC_ONLY,
}
OWN_METHODS: Final = frozenset({"authenticate", "follow", "unfollow", "away"})
"""What only a connection can be asked; with `METHODS` all that this door answers."""
CUT_CODE: Final = 4008
CLOSED_CODE: Final = 4001
GRACE_SECONDS: Final = 10.0
ROOM_BYTES: Final = 64 * 1024
MOST_OF_A_GUEST: Final = 4096
"""The longest message that is read of somebody who has not signed in."""
_encode: Final = msgspec.json.Encoder().encode


class _Params(msgspec.Struct, frozen=True):
    data: msgspec.Raw = msgspec.Raw(b"{}")


class _OperationCall(msgspec.Struct, frozen=True):
    params: _Params = _Params()


class _OperationName(msgspec.Struct, frozen=True):
    id: str | int | float | None = None


_named: Final = msgspec.json.Decoder(_OperationName)
_raw_data: Final = msgspec.json.Decoder(_OperationCall)


def _parties(event: StoredEvent) -> bytes:
    return b',"parties":' + _encode(sorted(event.parties())) if event.private else b""


class ClientConnection:
    """One client on the WebSocket; an `Outlet` for its subscriptions."""

    def __init__(
        self,
        hub: RunningHub,
        socket: web.WebSocketResponse,
        request: web.Request,
        credential: Credential | None,
    ) -> None:
        self._hub = hub
        self._socket = socket
        transport = request.transport
        if transport is None:
            raise ConnectionResetError
        self._transport: asyncio.Transport = transport
        self._request = request
        self._loop = asyncio.get_running_loop()
        self._out: list[bytes] = []
        self._out_bytes = 0
        self.replaying = asyncio.Lock()
        self._scheduled = False
        self._in_flight = 0
        self._room = asyncio.Event()
        self._room.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._subscriptions: dict[int, LiveSubscription] = {}
        self._next = 0
        self._ended = False
        self.is_away = False
        self.credential = credential

    # -- sending

    @property
    def pending(self) -> int:
        """Bytes that are not on the wire yet."""
        return self._transport.get_write_buffer_size() + self._out_bytes

    @property
    def owner(self) -> str:
        """The id of the credential that it is for."""
        return self.credential.token_id if self.credential is not None else ""

    def encode(self, subscription: int, events: Sequence[StoredEvent]) -> bytes:
        """One notification an event; for a private one it says who the parties are."""
        head = b'{"jsonrpc":"2.0","method":"event","params":{"subscription":%d,"event":' % subscription
        return b"".join(text_frame(head + event.raw + _parties(event) + b"}}") for event in events)

    def push(self, data: bytes) -> None:
        """Send frames with everything else of this tick."""
        if self._ended:
            return
        self._out.append(data)
        self._out_bytes += len(data)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        if self._out and not self._transport.is_closing():
            self._transport.write(self._out[0] if len(self._out) == 1 else b"".join(self._out))
        self._out.clear()
        self._out_bytes = 0

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self.push(text_frame(_encode({"jsonrpc": "2.0", "method": method, "params": params})))

    def cut(self, subscription: int, resume: int, reason: str) -> None:
        """Say where to resume, in every group it follows, then end the connection: nobody is skipped."""
        self._subscriptions.pop(subscription, None)
        resumes = {subscription: resume, **{number: one.seq for number, one in self._subscriptions.items()}}
        for number, seq in resumes.items():
            self.notify("cut", {"subscription": number, "since_seq": seq, "reason": reason})
        self.end(CUT_CODE if reason == "too_slow" else WSCloseCode.GOING_AWAY, reason)

    def end(self, code: int, reason: str) -> None:
        """Send nothing more and close; give a peer that does not read ten seconds, then drop it."""
        if self._ended:
            return
        self._flush()
        self._ended = True
        self._detach()
        self._loop.call_later(GRACE_SECONDS, self._transport.abort)
        self._spawn(self._close(code, reason))

    async def _close(self, code: int, reason: str) -> None:
        await self._socket.close(code=code, message=reason.encode())

    def _detach(self) -> None:
        for follower in self._subscriptions.values():
            self._hub.live.detach(follower)
        self._subscriptions.clear()

    # -- receiving

    async def serve(self) -> None:
        """Answer until the client goes."""
        self._hub.on_revoked[self._revoked] = None
        self._hub.on_stop[self._stopping] = None
        self._hub.on_agent[self._agent_changed] = None
        patience = self._loop.call_later(self._hub.config.limits.sign_in_seconds, self._require_sign_in)
        self._hub.metrics.connections.inc()
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT or message.type is WSMsgType.BINARY:
                    await self._hub.door.turn(self.owner)
                    await self._hear(message.data)
                if self._in_flight >= self._hub.config.limits.in_flight:
                    self._room.clear()
                    await self._room.wait()
                if self.pending > self._hub.config.limits.follower_bytes:
                    await self.drained()
        finally:
            self._hub.metrics.connections.dec()
            self._hub.on_revoked.pop(self._revoked, None)
            self._hub.on_stop.pop(self._stopping, None)
            self._hub.on_agent.pop(self._agent_changed, None)
            patience.cancel()
            self._detach()
            for task in self._tasks:
                task.cancel()

    def _revoked(self, token_id: str) -> None:
        if self.credential is not None and self.credential.token_id == token_id:
            self.end(CLOSED_CODE, "token revoked")

    def _stopping(self) -> None:
        self.end(WSCloseCode.GOING_AWAY, "stopping")

    def _agent_changed(self, change: dict[str, Any]) -> None:
        """Tell the owner's own connections, by ids alone; one that lags comes back and looks again."""
        if self.credential is None or not self.credential.is_owners_token:
            return
        if self.pending > self._hub.config.limits.follower_bytes:
            self.end(CUT_CODE, "too_slow")
        else:
            self.notify("agent", change)

    def _require_sign_in(self) -> None:
        if self.credential is None:
            self.end(CLOSED_CODE, "not signed in")

    async def drained(self) -> None:
        """Return when the client has read most of what was sent; gives up with the connection."""
        self._flush()
        await drained(self._request)

    async def _hear(self, text: str | bytes) -> None:
        """Take a message up; a large one is read in its turn, and what comes behind it waits."""
        if len(text) < LARGE_BYTES or self.credential is None:
            self._take(text)
        else:
            door, size = self._hub.door, len(text)
            self._take(text, await door.read(self.owner, size, lambda: _large_call(text)))

    def _take(self, text: str | bytes, read: dict[str, Any] | TacitError | None = None) -> None:
        if self._ended:
            return
        call_id: object = None
        has_id = True
        try:
            if self.credential is None and len(text) > MOST_OF_A_GUEST:
                raise denied("authenticate first: method `authenticate` with your token", "CCCS-042")
            call = _call(text) if read is None else read
            if isinstance(call, TacitError):
                call_id = _id_of(text)
                raise call
            call_id = call.get("id")
            has_id = "id" in call
            if self.credential is not None:
                self._hub.rate.take(self.credential.token_id, self._loop.time())
                if not self._hub.browsers.in_use(self.credential):
                    raise denied("this browser was not used for too long: sign in again", "CCCS-042")
            method, params = cast("str", call["method"]), call.get("params", {})
            if method == "append":
                self._append(call_id, params, text, answer=has_id)
            else:
                self._in_flight += 1
                self._spawn(self._run(call_id, method, params, answer=has_id))
        except TacitError as error:
            self._fail(call_id, error, answer=has_id)

    def _require(self) -> Credential:
        if self.credential is None:
            raise denied("authenticate first: method `authenticate` with your token", "CCCS-042")
        return self.credential

    def _hinted(self, by: object) -> Credential:
        credential = self._require()
        return self._hub.as_hinted(credential, by) if isinstance(by, str) else credential

    def _append(self, call_id: object, params: dict[str, Any], text: str | bytes, *, answer: bool) -> None:
        request: requests.AppendRequest = typed(params, requests.AppendRequest, strict=True)
        credential = self._hinted(request.by)
        raw = _data_as_sent(text)
        wanted = operations.submission(credential, request, raw)
        self._hub.ledger.submit(Append(wanted), self._answerer(call_id, answer=answer))
        self._in_flight += 1

    def _answerer(self, call_id: object, *, answer: bool) -> Callable[[Any], None]:
        def done(outcome: object) -> None:
            self._committed()
            if not isinstance(outcome, (Committed, Duplicate)):
                self._fail(call_id, cast("BaseException", outcome), answer=answer)
            elif answer and isinstance(outcome, Committed):
                head = b'{"jsonrpc":"2.0","id":%b,"result":' % _encode(call_id)
                self.push(text_frame(head + outcome.event.raw + b"}"))
            elif answer:
                self._answer(call_id, views.appended(outcome))

        return done

    def _committed(self) -> None:
        self._in_flight -= 1
        if not self._room.is_set():
            self._room.set()

    def _answer(self, call_id: object, result: object) -> None:
        self.push(text_frame(_encode({"jsonrpc": "2.0", "id": call_id, "result": result})))

    def _fail(self, call_id: object, error: BaseException, *, answer: bool) -> None:
        body = rpc_error(error)
        self._hub.metrics.refused.labels(body["data"]["code"]).inc()
        if answer:
            self.push(text_frame(_encode({"jsonrpc": "2.0", "id": call_id, "error": body})))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, call_id: object, method: str, params: dict[str, Any], *, answer: bool) -> None:
        try:
            if self.credential is not None:
                reading_for(caller_of(self._request, self.credential))
            if self.pending > ROOM_BYTES:
                # Whoever does not read its answers gets no further ones made.
                await self.drained()
            result = await self._result(method, params)
        except TacitError as error:
            self._fail(call_id, error, answer=answer)
        except Exception as error:  # noqa: BLE001 - answered as `internal` and logged, the connection lives
            self._fail(call_id, error, answer=answer)
        else:
            if answer:
                self._answer(call_id, result)
        finally:
            self._committed()

    async def _result(self, method: str, params: dict[str, Any]) -> object:
        if method not in OWN_METHODS and method not in METHODS:
            raise Refused("unknown_op", "the hub does not know this method", row="CCCS-112")
        match method:
            case "authenticate":
                return self._authenticate(params)
            case "follow":
                return await self._follow(params)
            case "unfollow":
                return self._unfollow(params)
            case "away":
                return self._look(params)
            case _:
                shape, carry_out = METHODS[method]
                credential = self._hinted(params.get("by"))
                return await run(self._hub, method, carry_out, credential, typed(params, shape, strict=True))

    def _authenticate(self, params: dict[str, Any]) -> object:
        token = params.get("token")
        credential = self._hub.browsers.known(token) if isinstance(token, str) else None
        if credential is None:
            now = self._loop.time()
            self._hub.sign_in_rate.take_from(self._request.remote, now)
            raise denied("this token proves nothing", "CCCS-042")
        if self.credential is not None and self.credential.token_id != credential.token_id:
            raise denied("this connection speaks for somebody else already", "CCCS-042")
        know(self._request, credential)
        self.credential = credential
        return {"principal": credential.principal, "group_id": credential.group_id}

    async def _follow(self, params: dict[str, Any]) -> object:
        request: requests.EventsRequest = typed(params, requests.EventsRequest, strict=True)
        following = EventStream(self._hub, self._require(), request)
        await following.begin()
        most = self._hub.config.limits.subscriptions
        if sum(one.group_id == request.group_id for one in self._subscriptions.values()) >= most:
            raise invalid(
                "this connection follows the group often enough; end a subscription first",
                "CCCS-103",
                reason="too_many_subscriptions",
                limit=most,
            )
        self._next += 1
        follower = self._subscriptions[self._next] = following.enter(self, self._next)
        self._spawn(self._live(follower, following))
        return {"subscription": self._next}

    async def _live(self, follower: LiveSubscription, following: EventStream) -> None:
        try:
            await following.go_live(follower, self.drained)
        except TacitError:
            if self._hub.live.detach(follower):
                reason = "stopping" if self._hub.ledger.is_closing else "failed"
                self.cut(follower.subscription, following.at, reason)

    def _unfollow(self, params: dict[str, Any]) -> object:
        self._require()
        number = params.get("subscription")
        if not isinstance(number, int) or number not in self._subscriptions:
            raise invalid("no such subscription", "CCCS-103")
        self._hub.live.detach(self._subscriptions.pop(number))
        return {"subscription": number, "ended": True}

    def _look(self, params: dict[str, Any]) -> object:
        request: requests.AwayRequest = typed(params, requests.AwayRequest, strict=True)
        self._require()
        if self.is_away != request.away:
            self.is_away = request.away
            self._hub.live.looked(self._subscriptions.values())
        return {"away": self.is_away}

    def signal(self, name: str, said: dict[str, Any]) -> None:
        """Pass on what is no event."""
        self.notify(name, said)


def _large_call(text: str | bytes) -> dict[str, Any] | TacitError:
    """A large call, or why it is refused: what no event can hold is not read."""
    try:
        operations.require_fitting(len(text), lambda: _data_as_sent(text))
        return _call(text)
    except TacitError as error:
        return error


def _id_of(text: str | bytes) -> str | float | None:
    """The id of a call that is refused unread, so that its sender hears which one it was."""
    try:
        return _named.decode(text).id
    except (msgspec.MsgspecError, RecursionError):
        return None


def _data_as_sent(text: str | bytes) -> bytes:
    return compact(bytes(_raw_data.decode(text).params.data))


def _call(text: str | bytes) -> dict[str, Any]:
    try:
        value = parse(text)
    except Malformed as fault:
        raise invalid(str(fault), "CCCS-020", reason=MALFORMED) from fault
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise invalid('a call is an object with "jsonrpc": "2.0"', "CCCS-111", reason=NO_REQUEST)
    call = cast("dict[str, Any]", value)
    if not isinstance(call.get("method"), str):
        raise invalid("a call has a `method`", "CCCS-111", reason=NO_REQUEST)
    if not isinstance(call.get("id"), (str, int, float, type(None))):
        raise invalid("an id is a string or a number", "CCCS-111", reason=NO_REQUEST)
    if not isinstance(call.get("params", {}), dict):
        raise invalid("the `params` of a call are an object", "CCCS-111")
    return call


async def serve(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """Upgrade and serve one client. A browser cannot send the header: it says `authenticate` first."""
    credential = None
    if hub.config.local_trust or hdrs.AUTHORIZATION in request.headers:
        try:
            credential = credential_of(hub, request)
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
    await ClientConnection(hub, socket, request, credential).serve()
    return socket
