"""The model's own calls of the chat tools: through the gate, into the store, then to the hub.

Rows: C2A-002, 064, 148, 164, 166, 169, 180. A call belongs to the running turn; where none runs, or it is
ending, nothing that changes anything leaves. A send is kept under a key before it is made, so that a crash
in between does not make it twice. Every outcome is a result that the model can read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.retry import OutcomeUnknown
from tacit.harness import chat_tools
from tacit.harness.io.store import Row

if TYPE_CHECKING:
    import asyncio

    from tacit.harness.conduct import Conduct
    from tacit.harness.io.posting import Posting
    from tacit.harness.io.seat import Seat
    from tacit.harness.running import Running

_OVER: Final = {
    "code": "event_superseded",
    "message": "this turn is over: nothing more is sent for it",
    "details": {"row": "C2A-180"},
}


class ModelCalls:
    """What the tool door calls."""

    def __init__(self, seat: Seat, conduct: Conduct, posting: Posting, one: asyncio.Lock) -> None:
        self._seat = seat
        self._conduct = conduct
        self._posting = posting
        self._one = one

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the hub agreed to, as MCP lists them."""
        return chat_tools.listed(self._seat.session.tools)

    async def call(self, shown: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """One call, as MCP answers it."""
        name = chat_tools.whole_name(shown, self._seat.session.tools)
        if name is None:
            result: dict[str, Any] = _no(
                {"code": "unknown_op", "message": "there is no such tool", "details": {}}
            )
        else:
            result = await self._done(name, arguments)
        self._seat.tell("tool", name=name or "unknown", ok=result.get("ok") is not False)
        return chat_tools.result_for_model(result)

    async def _done(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._reads(name):
            result = await self._seat.session.tool_result(name, arguments)
            self._seat.memory.read(result)
            return result
        try:
            return await self._act(name, arguments)
        except Unavailable as unavailable:
            # Our own store: without it nothing may leave.
            return _no({"code": "daemon_unavailable", "message": str(unavailable), "details": {}})

    def _reads(self, name: str) -> bool:
        for tool in self._seat.session.tools:
            if tool.get("name") == name:
                return bool(chat_tools.marks(tool).get("readOnly"))
        return False

    async def _act(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        running = self._conduct.running
        if running is None or running.is_ending:
            return _no(_OVER)
        about = self._seat.memory.event(str(arguments.get("inReplyTo") or arguments.get("eventId") or ""))
        filled = chat_tools.filled(name, arguments, running.turn, about)
        if name == chat_tools.SEND:
            return await self._send(running, filled)
        result = await self._seat.session.tool_result(name, filled)
        if result.get("ok") is not False:
            self._took_effect(running, name, filled, result)
        return result

    async def _send(self, running: Running, arguments: dict[str, Any]) -> dict[str, Any]:
        seat, answers = self._seat, str(arguments.get("inReplyTo") or "")
        async with self._one:
            if running.is_ending or self._conduct.running is not running:
                return _no(_OVER)
            key = f"{running.turn.id}:{seat.name}:tool:{running.acts.written}"
            arguments = {**arguments, "idempotencyKey": key}
            row = Row(key, running.turn.id, answers, chat_tools.SEND, arguments, "ready")
            await seat.write(lambda writing: writing.say(row, seat.clock.now()))
            seat.in_flight.add(key)
            running.acts.written += 1
            running.acts.sends += 1
            answered_before = answers in running.acts.replied
            if answers:
                running.acts.replied.add(answers)
        try:
            result = await self._posting.say(row)
        except Refused as refused:
            await seat.said(key, "refused", refused.code)
            running.acts.sends -= 1
            if not answered_before:
                running.acts.replied.discard(answers)
            return _no(seat.describe(refused))
        except (Unavailable, OutcomeUnknown):
            # It is in the outbox and goes out, once, when the hub is back.
            seat.outgoing.set()
            return {"ok": True, "status": "pending"}
        finally:
            seat.in_flight.discard(key)
        await seat.said(key, "sent", str(result.get("eventId", "")))
        seat.tell("posted", event_id=answers, message_id=str(result.get("eventId", "")))
        return result

    def _took_effect(
        self, running: Running, name: str, arguments: dict[str, Any], result: dict[str, Any]
    ) -> None:
        """What a tool other than a send means for the turn's events."""
        event_id = str(arguments.get("inReplyTo") or arguments.get("eventId") or "")
        match name:
            case "chat.react" if arguments.get("signal") in chat_tools.DISCHARGES:
                running.acts.discharged.add(event_id)
            case "chat.react" if arguments.get("signal") in chat_tools.DEFERS:
                running.acts.deferred.add(event_id)
            case "chat.defer":
                running.acts.deferred.add(event_id)
            case "chat.resolve":
                running.acts.discharged.add(event_id)
            case "chat.claim":
                expires = parse_rfc3339(str(result.get("expiresAt", ""))) or Moment(self._seat.clock.now())
                self._seat.memory.claimed(event_id, self._seat.name, expires)
            case "chat.leave":
                self._seat.memory.left(
                    str(arguments.get("conversationId") or running.turn.carrier.conversation)
                )
            case _:
                return


def _no(error: dict[str, Any]) -> dict[str, Any]:
    return {"ok": False, "error": error}
