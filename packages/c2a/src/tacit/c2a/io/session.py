"""The reference client of C2A: one agent session on a hub's `/c2a`, without a model and without a driver.

    async with AgentSession("http://127.0.0.1:7433", token) as session:
        async for delivery in session.deliveries():
            keep(delivery.params)                       # durably: the hub forgets it after this
            await delivery.accept()
            await session.send(delivery.event.reply_target, "hello", in_reply_to=delivery.event_id,
                               key=f"reply-to-{delivery.event_id}")

Rows: C2A-160, C2A-162, C2A-167, C2A-169, C2A-171, C2A-172. The shell of `tacit.c2a.harness_end.HarnessEnd`,
which hands each event over once and answers repeats: here are its connections, renewed by themselves with
back-off and jitter, and its calls. A send is retried with the same key and bytes; a call that changes
something and has no key is made once.
"""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self, cast

import aiohttp
import msgspec

from tacit.base.errors import Bug, PeerFault, Refused, TacitError, Unavailable
from tacit.base.io.proving import checks
from tacit.c2a.activity import ActivityWanted
from tacit.c2a.harness_end import HarnessEnd, PendingEvent, RequestAnswered
from tacit.c2a.io.socket import C2aConnection
from tacit.c2a.messages import Connected, Delivered, DispositionReport, Initialize
from tacit.c2a.negotiation import CAPABILITIES
from tacit.c2a.notifications import (
    Cancelled,
    Continued,
    Log,
    PermissionDecided,
    Progress,
    Typing,
    members,
    method_of,
)
from tacit.c2a.permission import METHOD as PERMISSION
from tacit.c2a.retry import (
    Annotations,
    OutcomeUnknown,
    Pace,
    is_unknown,
    may_repeat,
    passes,
    retry_after_ms,
)
from tacit.c2a.rpc import ConnectionLost, Request
from tacit.c2a.vocabulary import NEWER
from tacit.ledger.envelope import MAX_EVENT_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from tacit.c2a.harness_end import Output
    from tacit.c2a.notifications import Notification
    from tacit.c2a.permission import PermissionAsked
    from tacit.c2a.rpc import Notification as RpcNotification

log: Final = logging.getLogger("tacit.client")
EVERYTHING: Final[dict[str, dict[str, bool]]] = {
    section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()
}
LARGEST: Final = MAX_EVENT_BYTES + 16 * 1024
"""Bytes of a request: an event at its largest, and what goes with it."""
ENDINGS: Final = {
    4001: ("permission_denied", "the token was revoked"),
    4009: ("session_taken", "another connection of the same agent took over"),
}
"""Close codes of the hub after which a session does not come back by itself."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The hub has a message; `duplicate` when it had it before."""

    event_id: str
    status: str
    duplicate: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Habits:
    """How a session behaves; the defaults are the rows' values."""

    name: str = "tacit-client"
    version: str = "1"
    protocol: str = NEWER
    capabilities: Mapping[str, Mapping[str, bool]] = field(default_factory=lambda: EVERYTHING)
    calls: Pace = Pace()
    connecting: Pace = Pace(first=0.2)
    wait_for_connection: float = 30.0
    """Seconds for which a call waits while the hub is away."""


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection broke; the session is already trying to be back."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """An event for this session, open until `accept`; whoever accepts has stored it (C2A-160)."""

    event: Delivered
    request_id: str
    """The hub's name for the request, by which it may call it back."""
    params: dict[str, Any]
    """The delivery as it came, to be stored."""
    _pending: PendingEvent
    _accept: Callable[[PendingEvent, bool], Awaitable[bool]]

    @property
    def event_id(self) -> str:
        """The event's id, the same in every attempt."""
        return self.event.event_id

    @property
    def is_accepted(self) -> bool:
        """Was it answered?"""
        return self._pending.is_accepted

    @property
    def is_cancelled(self) -> bool:
        """Was it called back before it was accepted?"""
        return self._pending.is_cancelled

    async def accept(self, *, duplicate: bool = False) -> bool:
        """Say that it is kept for good. False when the connection is gone: the hub delivers it again then."""
        return await self._accept(self._pending, duplicate)


Incoming = (
    Connected | Disconnected | Delivery | Cancelled | Typing | Continued | PermissionDecided | ActivityWanted
)


class AgentSession:
    """One agent's session with a hub."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        habits: Habits | None = None,
        known: Callable[[dict[str, Any]], bool] | None = None,
        proven_by: bytes | None = None,
    ) -> None:
        """`known` says of a delivery's params whether they repeat what was accepted before (C2A-162).

        It may remember further than this process; without it the session remembers while it lives. With
        `proven_by` only a hub that holds this key is sent the token.
        """
        self.url = url.rstrip("/")
        self.habits = habits or Habits()
        self.tools: list[dict[str, Any]] = []
        self.agreed: Connected | None = None
        self._token = token
        self._checks = checks(self.url, proven_by)
        habits = self.habits
        greeting = Initialize(habits.protocol, habits.name, habits.version, habits.capabilities)
        self._session = HarnessEnd(greeting, known)
        self._opened: tuple[int, C2aConnection] | None = None
        self._connection: C2aConnection | None = None
        self._is_up = asyncio.Event()
        self._heard: asyncio.Queue[Incoming | None] = asyncio.Queue()
        self._ended: TacitError | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._answers: set[asyncio.Task[bool]] = set()

    async def __aenter__(self) -> Self:
        self._keeping = asyncio.create_task(self._keep_connected(), name="c2a-session")
        self._keeping.add_done_callback(self._fell)
        return self

    def _fell(self, keeping: asyncio.Task[None]) -> None:
        """A fault of our own must not leave anybody waiting."""
        if not keeping.cancelled() and (error := keeping.exception()) is not None:
            log.error("the session failed", exc_info=error)
            self._end(Bug("the session failed"))

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the session; what was not accepted stays the hub's (C2A-028)."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})
            self._keeping = None
            self._end(Unavailable("the session was closed"))

    # -- hearing

    async def incoming(self) -> AsyncIterator[Incoming]:
        """Everything in order. Ends when the session is closed; raises when the hub does not want it."""
        while (item := await self._heard.get()) is not None:
            yield item
        if isinstance(self._ended, Refused | Bug):
            raise self._ended

    async def deliveries(self) -> AsyncIterator[Delivery]:
        """Deliveries alone, without those that were cancelled before they could be handed over."""
        async for item in self.incoming():
            if isinstance(item, Delivery) and not item.is_cancelled:
                yield item

    # -- saying

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool; `Refused` is the hub's no. Repeated by itself only where that is safe."""
        given = {key: value for key, value in arguments.items() if value is not None}
        await self._up()  # what a tool says of itself is known once the connection is up
        repeatable = may_repeat(self._annotations(name), given)
        return await self._request("tools/call", {"name": name, "arguments": given}, repeatable=repeatable)

    async def tool_result(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The same for a model: a failure is a result it can read, never the end of its turn (C2A-169)."""
        try:
            return await self.call(name, **arguments)
        except Refused as refused:
            error: dict[str, Any] = {
                "code": refused.code,
                "message": refused.message,
                "details": refused.details,
            }
        except (Unavailable, OutcomeUnknown) as problem:
            error = {"code": "daemon_unavailable", "message": str(problem), "details": {}}
        return {"ok": False, "error": error}

    async def send(
        self,
        target: str,
        content: str,
        *,
        key: str,
        in_reply_to: str | None = None,
        visibility: str = "thread",
        directedness: str = "to_me",
        mentions: Sequence[str] = (),
        **more: Any,
    ) -> Sent:
        """Send one message; the key makes every repeat of it the same message (C2A-167)."""
        result = await self.call(
            "chat.send_message",
            target=target,
            content=content,
            inReplyTo=in_reply_to,
            idempotencyKey=key,
            visibility=visibility,
            directedness=directedness,
            mentions=list(mentions) or None,
            **more,
        )
        return Sent(
            str(result.get("eventId", "")),
            str(result.get("status", "delivered")),
            bool(result.get("duplicate")),
            tuple(result.get("warnings") or ()),
        )

    async def disposition(
        self,
        event_id: str,
        disposition: str,
        *,
        reason: str | None = None,
        merged_into: str | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        """Report how an event ended where no tool says it (C2A-117). The same report twice is one."""
        report = DispositionReport(event_id, disposition, reason, merged_into, error)
        await self._request("chat/disposition", report.members(), repeatable=True)

    async def permission(self, asked: PermissionAsked) -> dict[str, Any]:
        """Ask the room's people, or hear how it stands; the same key again is the same question (C2A-207)."""
        return await self._request(PERMISSION, asked.members(), repeatable=True)

    async def tell(self, told: Notification) -> bool:
        """Tell the hub something that nobody answers; false, and lost, while there is no connection."""
        if self._connection is None or not self._connection.is_open:
            return False
        try:
            await self._connection.notify(method_of(told), members(told))
        except ConnectionLost:
            return False
        return True

    async def progress(
        self, token: str, progress: float, total: float | None = None, message: str | None = None
    ) -> bool:
        """How far the work on something is; never a chat message (C2A-181, C2A-182)."""
        return await self.tell(Progress(token, progress, total, message))

    async def log(self, level: str, message: str, data: Mapping[str, Any] | None = None) -> bool:
        """A line for the hub's audit (C2A-184)."""
        return await self.tell(Log(level, message, data))

    # -- the connection

    async def is_up(self) -> None:
        """Wait for the connection, however long; `Refused` when the hub does not want the session."""
        while True:
            try:
                await self._up()
            except Unavailable:
                if self._ended is not None:
                    raise
            else:
                return

    def _annotations(self, name: str) -> Annotations | None:
        for tool in self.tools:
            if tool.get("name") == name:
                marks = cast("dict[str, Any]", tool.get("annotations") or {})
                return Annotations(marks.get("readOnly") is True, marks.get("idempotent") is True)
        return None

    async def _request(self, method: str, params: dict[str, Any], *, repeatable: bool) -> dict[str, Any]:
        raw = msgspec.json.encode(params)
        if len(raw) > LARGEST:
            # The hub would end the connection without an answer, and a repeat would only end it again.
            details = {"row": "CCCS-020", "reason": "too_large"}
            raise Refused("invalid_request", "a message is at most 256 KiB", details=details)
        pace, tried = self.habits.calls, 0
        while True:
            connection = await self._up()
            tried += 1
            try:
                return cast("dict[str, Any]", await connection.call(method, raw) or {})
            except ConnectionLost as lost:
                if not repeatable:
                    raise OutcomeUnknown(
                        f"the connection broke during {method}; it may have happened"
                    ) from lost
                problem: TacitError = Unavailable("the connection to the hub broke")
            except (Refused, Unavailable) as error:
                if not repeatable and is_unknown(error):
                    raise OutcomeUnknown(str(error)) from error
                if not repeatable or not passes(error):
                    raise
                problem = error
            if tried >= pace.tries:
                raise problem
            log.info("a call is tried again", extra={"method": method, "tried": tried})
            await asyncio.sleep(pace.pause(tried, random.random(), retry_after_ms(problem)))  # noqa: S311

    async def _up(self) -> C2aConnection:
        """The connection, waited for while the hub is away."""
        if self._ended is None and not (
            self._is_up.is_set() and self._connection is not None and self._connection.is_open
        ):
            self._is_up.clear()
            try:
                async with asyncio.timeout(self.habits.wait_for_connection):
                    await self._is_up.wait()
            except TimeoutError as error:
                raise Unavailable("the hub has been away for too long") from error
        if self._ended is not None:
            raise self._ended
        assert self._connection is not None  # noqa: S101 - the event above says so
        return self._connection

    async def _keep_connected(self) -> None:
        failed = 0
        timeout = aiohttp.ClientTimeout(total=None, connect=10)
        async with aiohttp.ClientSession(timeout=timeout, trace_configs=self._checks) as http:
            while True:
                try:
                    await self._connect(http)
                    failed, reason = 0, "the connection ended"
                except Refused as refused:
                    if not passes(refused):
                        self._end(refused)
                        return
                    failed, reason = failed + 1, refused.code
                except (Unavailable, ConnectionLost, PeerFault) as problem:
                    failed, reason = failed + 1, type(problem).__name__
                if self._was_ended_for_good():
                    return
                if self._connection is not None:
                    self._connection = None
                    self._heard.put_nowait(Disconnected(reason))
                log.info("the hub is away", extra={"reason": reason, "failed": failed})
                await asyncio.sleep(self.habits.connecting.pause(failed or 1, random.random()))  # noqa: S311

    def _was_ended_for_good(self) -> bool:
        """Did the hub end the connection in a way that coming back would not mend?"""
        code = self._connection.close_code if self._connection is not None else None
        if code not in ENDINGS:
            return False
        self._end(Refused(*ENDINGS[code]))
        return True

    async def _connect(self, http: aiohttp.ClientSession) -> None:
        """One connection from its greeting to its end."""
        connection = await C2aConnection.open(http, self.url, self._token, self._take)
        number, greeting = self._session.opened()
        self._opened = (number, connection)
        try:
            answer = await self._greet(connection, greeting)
            self._connection = connection
            self._do(self._session.greeted(answer))
            listed = cast("dict[str, Any]", await connection.call("tools/list", {}))
            self.tools = list(listed.get("tools") or [])
            self._is_up.set()
            await connection.ended()
        except ConnectionLost:
            # Whoever read on it knows why: a fault of our own is no hub that is away.
            if not connection.is_open:
                await connection.ended()
            raise
        finally:
            self._opened = None
            self._session.lost()
            await connection.close()

    async def _greet(self, connection: C2aConnection, greeting: Initialize) -> object:
        try:
            return await connection.call("initialize", greeting.members())
        except Refused as refused:
            instead = self._session.greeting_refused(refused.code)
            if instead is None:
                raise
            return await connection.call("initialize", instead.members())

    def _end(self, why: TacitError) -> None:
        if self._ended is None:
            self._ended = why
            self._heard.put_nowait(None)
            self._is_up.set()

    # -- what the hub says

    def _take(self, asked: Request | RpcNotification) -> None:
        params = cast("dict[str, Any]", asked.params) if isinstance(asked.params, dict) else {}
        if isinstance(asked, Request):
            self._do(self._session.asked(asked.id, asked.method, params))
        else:
            self._do(self._session.told(asked.method, params))

    def _do(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            match output:
                case RequestAnswered():
                    self._answer(output)
                case PendingEvent():
                    self._heard.put_nowait(
                        Delivery(output.event, output.request_id, output.params, output, self._accept)
                    )
                case Connected():
                    self.agreed = output
                    self._heard.put_nowait(output)
                case Cancelled() | Typing() | Continued() | PermissionDecided() | ActivityWanted():
                    self._heard.put_nowait(output)

    async def _accept(self, pending: PendingEvent, duplicate: bool) -> bool:
        told = [await self._tell(answer) for answer in self._session.accept(pending, duplicate=duplicate)]
        return any(told)

    async def _tell(self, answer: RequestAnswered) -> bool:
        """Answer on the connection that asked; false when it is gone."""
        if self._opened is None or self._opened[0] != answer.ticket.connection:
            return False
        try:
            await self._opened[1].answer(answer.ticket.request_id, result=answer.result, error=answer.error)
        except ConnectionLost:
            return False
        return True

    def _answer(self, answer: RequestAnswered) -> None:
        """Answer from a callback that cannot wait; that a connection breaks is noticed elsewhere."""
        task = asyncio.ensure_future(self._tell(answer))
        self._answers.add(task)
        task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[bool]) -> None:
        self._answers.discard(task)
        if not task.cancelled() and (error := task.exception()):
            raise error
