"""The reference client of C2A: one agent session on a hub's `/c2a`, without a model and without a driver.

    async with AgentSession("http://127.0.0.1:7433", token) as session:
        async for delivery in session.deliveries():
            keep(delivery.params)                       # durably: the hub forgets it after this
            await delivery.accept()
            await session.send(delivery.event.reply_target, "hello", in_reply_to=delivery.event_id,
                               key=f"reply-to-{delivery.event_id}")

Rows: C2A-160, 162, 167, 169, 171, 172. The connection is renewed by itself, with back-off and jitter, and
goes on where the hub's record says. Each event is handed over once, repeats are answered as duplicates. A
send is retried with the same key and bytes; a call that changes something and has no key is made once.
"""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Self, cast

import aiohttp
import msgspec

from tacit.base.errors import Bug, PeerFault, Refused, TacitError, Unavailable
from tacit.c2a.errors import UNKNOWN_METHOD
from tacit.c2a.messages import DispositionReport, Initialize, faults, read_connected
from tacit.c2a.notifications import Log, Progress, members, method_of, read_notification
from tacit.c2a.vocabulary import NEWER, STRENGTH, Policy
from tacit.client.c2a_line import C2aLine
from tacit.client.errors import LineLost, OutcomeUnknown
from tacit.client.incoming import (
    Cancelled,
    Connected,
    Delivery,
    Disconnected,
    Incoming,
    Typing,
    delivery_of,
    refusal_of,
)
from tacit.client.repeating import Annotations, Pace, may_repeat, passes, retry_after_ms
from tacit.ledger.envelope import MAX_EVENT_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from tacit.c2a.notifications import Notification

log: Final = logging.getLogger("tacit.client")
EVERYTHING: Final[dict[str, dict[str, bool]]] = {
    "delivery": {"ack": True, "redelivery": True, "idempotency": True},
    "injection": {
        "immediate": True,
        "buffered": True,
        "notify": True,
        "tool_mailbox": True,
        "digest": True,
        "interrupt": True,
    },
    "chatTools": dict.fromkeys(
        ("readThread", "sendMessage", "react", "reactionSignals", "claim", "defer", "resolve", "listEvents"),
        True,
    ),
    "utilities": {"progress": True, "cancellation": True, "logging": True},
}
REMEMBERED: Final = 10_000
LARGEST: Final = MAX_EVENT_BYTES + 16 * 1024
"""Bytes of a request: an event at its largest, and what goes with it."""
ENDINGS: Final = {
    4001: ("permission_denied", "the token was revoked"),
    4009: ("session_taken", "another connection of the same agent took over"),
}
"""Close codes of the hub after which a session does not come back by itself."""
_NO_METHOD: Final = {"code": UNKNOWN_METHOD, "message": "unknown method", "data": {"code": "unknown_op"}}


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
    wait_for_line: float = 30.0
    """Seconds for which a call waits while the hub is away."""


def _strength(params: dict[str, Any]) -> int:
    """How much a delivery asks of the session."""
    policy = str(params.get("policy", ""))
    return STRENGTH.index(Policy(policy)) if policy in set(Policy) else 0


class AgentSession:
    """One agent's session with a hub."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        habits: Habits | None = None,
        known: Callable[[dict[str, Any]], bool] | None = None,
    ) -> None:
        """`known` says of a delivery's params whether they repeat what was accepted before (C2A-162).

        It may remember further than this process; without it the session remembers while it lives.
        """
        self.url = url.rstrip("/")
        self.habits = habits or Habits()
        self.tools: list[dict[str, Any]] = []
        self.agreed: Connected | None = None
        self._token = token
        self._known = known
        self._line: C2aLine | None = None
        self._is_up = asyncio.Event()
        self._heard: asyncio.Queue[Incoming | None] = asyncio.Queue()
        self._early: list[Incoming] | None = []
        self._open: dict[str, Delivery] = {}
        self._accepted: dict[str, int] = {}
        self._ended: TacitError | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._answers: set[asyncio.Task[None]] = set()

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
        await self._up()  # what a tool says of itself is known once the line is up
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

    async def tell(self, told: Notification) -> bool:
        """Tell the hub something that nobody answers; false while there is no line, and then it is lost."""
        if self._line is None or not self._line.is_open:
            return False
        try:
            await self._line.notify(method_of(told), members(told))
        except LineLost:
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

    # -- the line

    async def is_up(self) -> None:
        """Wait for the line, however long the hub is away; `Refused` when it does not want the session."""
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
            # The hub would end the line without an answer, and a repeat would only end it again.
            details = {"row": "CCCS-020", "reason": "too_large"}
            raise Refused("invalid_request", "a message is at most 256 KiB", details=details)
        pace, tried = self.habits.calls, 0
        while True:
            line = await self._up()
            tried += 1
            try:
                return cast("dict[str, Any]", await line.call(method, raw) or {})
            except LineLost as lost:
                if not repeatable:
                    raise OutcomeUnknown(
                        f"the connection broke during {method}; it may have happened"
                    ) from lost
                problem: TacitError = Unavailable("the connection to the hub broke")
            except (Refused, Unavailable) as error:
                if not repeatable or not passes(error):
                    raise
                problem = error
            if tried >= pace.tries:
                raise problem
            log.info("a call is tried again", extra={"method": method, "tried": tried})
            await asyncio.sleep(pace.pause(tried, random.random(), retry_after_ms(problem)))  # noqa: S311

    async def _up(self) -> C2aLine:
        """The line, waited for while the hub is away."""
        if self._ended is None and not (
            self._is_up.is_set() and self._line is not None and self._line.is_open
        ):
            self._is_up.clear()
            try:
                async with asyncio.timeout(self.habits.wait_for_line):
                    await self._is_up.wait()
            except TimeoutError as error:
                raise Unavailable("the hub has been away for too long") from error
        if self._ended is not None:
            raise self._ended
        assert self._line is not None  # noqa: S101 - the event above says so
        return self._line

    async def _keep_connected(self) -> None:
        failed = 0
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, connect=10)) as http:
            while True:
                try:
                    await self._connection(http)
                    failed, reason = 0, "the line ended"
                except Refused as refused:
                    if not passes(refused):
                        self._end(refused)
                        return
                    failed, reason = failed + 1, refused.code
                except (Unavailable, LineLost, PeerFault) as problem:
                    failed, reason = failed + 1, type(problem).__name__
                if self._was_ended_for_good():
                    return
                if self._line is not None:
                    self._line = None
                    self._heard.put_nowait(Disconnected(reason))
                log.info("the hub is away", extra={"reason": reason, "failed": failed})
                await asyncio.sleep(self.habits.connecting.pause(min(failed, 12) or 1, random.random()))  # noqa: S311

    def _was_ended_for_good(self) -> bool:
        """Did the hub end the line in a way that coming back would not mend?"""
        code = self._line.close_code if self._line is not None else None
        if code not in ENDINGS:
            return False
        self._end(Refused(*ENDINGS[code]))
        return True

    async def _connection(self, http: aiohttp.ClientSession) -> None:
        """One connection from its greeting to its end."""
        line = await C2aLine.open(http, self.url, self._token, self._take)
        try:
            self.agreed = await self._greet(line)
            self._line = line
            self._greeted(self.agreed)
            listed = cast("dict[str, Any]", await line.call("tools/list", {}))
            self.tools = list(listed.get("tools") or [])
            self._is_up.set()
            await line.ended()
        finally:
            for item in self._early or ():
                if isinstance(item, Delivery):
                    del self._open[item.event_id]
            self._early = []
            await line.close()

    async def _greet(self, line: C2aLine) -> Connected:
        habits = self.habits
        last = next(reversed(self._accepted), None)
        greeting = Initialize(habits.protocol, habits.name, habits.version, habits.capabilities, last)
        try:
            answer = await line.call("initialize", greeting.members())
        except Refused as refused:
            if refused.code != "event_not_found" or last is None:
                raise
            answer = await line.call("initialize", replace(greeting, last_acked=None).members())
        return read_connected(answer)

    def _hear(self, item: Incoming) -> None:
        if self._early is None:
            self._heard.put_nowait(item)
        else:
            self._early.append(item)

    def _greeted(self, agreed: Connected) -> None:
        """Let what came in the same breath as the greeting's answer follow it."""
        early, self._early = self._early or [], None
        for item in (agreed, *early):
            self._hear(item)

    def _end(self, why: TacitError) -> None:
        if self._ended is None:
            self._ended = why
            self._heard.put_nowait(None)
            self._is_up.set()

    # -- what the hub says

    def _take(self, line: C2aLine, message: dict[str, Any]) -> None:
        method, given = message["method"], message.get("params")
        params = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        if method == "chat/deliver":
            self._delivered(line, {**message, "params": params})
        elif "id" in message:
            self._answer(line, message["id"], error=_NO_METHOD)
        else:
            self._told(method, params)

    def _told(self, method: str, params: dict[str, Any]) -> None:
        match read_notification(method, params):
            case Cancelled() as cancelled:
                self._cancelled(cancelled)
            case Typing() as typing:
                self._hear(typing)
            case _:
                log.info("a notification was dropped", extra={"method": method[:60]})

    def _delivered(self, line: C2aLine, message: dict[str, Any]) -> None:
        wrong = faults(message["params"])
        if wrong:
            self._answer(line, message.get("id"), error=refusal_of(wrong))
            return
        delivery = delivery_of(message)
        event_id = delivery.event_id
        pending = self._open.get(event_id)
        if pending is not None and not pending.is_accepted:
            pending.came_by(line, message.get("id"))
            return
        if self._is_repeat(event_id, message["params"]):
            taken = {"accepted": True, "eventId": event_id, "duplicate": True}
            self._answer(line, message.get("id"), result=taken)
            return
        if "id" in message:
            delivery.came_by(line, message["id"])
        self._sweep()
        self._open[event_id] = delivery
        self._hear(delivery)

    def _is_repeat(self, event_id: str, params: dict[str, Any]) -> bool:
        if self._known is not None:
            return self._known(params)
        self._sweep()
        before = self._accepted.get(event_id)
        if event_id in self._open:
            return True
        # A knock that became an obligation, since nobody took it, asks for more than before and is new.
        return before is not None and _strength(params) <= before

    def _sweep(self) -> None:
        """Accepted deliveries become remembered ids, the oldest of which are let go."""
        for event_id in [one for one, delivery in self._open.items() if delivery.is_accepted]:
            self._accepted.pop(event_id, None)
            self._accepted[event_id] = _strength(self._open.pop(event_id).params)
        while len(self._accepted) > REMEMBERED:
            del self._accepted[next(iter(self._accepted))]

    def _cancelled(self, cancelled: Cancelled) -> None:
        event_id = cancelled.event_id
        for delivery in self._open.values():
            if cancelled.request_id == delivery.request_id or delivery.event_id == event_id:
                delivery.is_cancelled = True
                event_id = delivery.event_id
        self._hear(replace(cancelled, event_id=event_id))

    def _answer(self, line: C2aLine, request_id: object, **answer: Any) -> None:
        """Answer from a callback that cannot wait; a line that breaks meanwhile is noticed by itself."""
        if request_id is None:
            return
        task = asyncio.ensure_future(line.answer(request_id, **answer))
        self._answers.add(task)
        task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._answers.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, LineLost):
            raise error
