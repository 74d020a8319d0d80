"""The model's own calls of the chat tools: judged, into the store, then to the hub.

Rows: C2A-002, C2A-064, C2A-148, C2A-164, C2A-166, C2A-169, C2A-180. A call belongs to the running turn; where
none runs, or it is ending, nothing that changes anything leaves. A send is kept under a key before it is
made, so that a crash in between does not make it twice. Every outcome is a result that the model can read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.retry import OutcomeUnknown
from tacit.harness import chat_tools
from tacit.harness.io.store import OutboxRow

if TYPE_CHECKING:
    import asyncio

    from tacit.harness.conduct import Conduct
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.outbox_sender import OutboxSender
    from tacit.harness.running import RunningTurn

_OVER: Final = {
    "code": "event_superseded",
    "message": "this turn is over: nothing more is sent for it",
    "details": {"row": "C2A-180"},
}


class ModelCalls:
    """What the tool door calls."""

    def __init__(
        self, context: HarnessContext, conduct: Conduct, sender: OutboxSender, one: asyncio.Lock
    ) -> None:
        self._context = context
        self._conduct = conduct
        self._sender = sender
        self._one = one

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the hub agreed to, as MCP lists them."""
        return chat_tools.listed(self._context.session.tools)

    async def call(self, shown: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """One call, as MCP answers it."""
        name = chat_tools.whole_name(shown, self._context.session.tools)
        if name is None:
            result: dict[str, Any] = _no(
                {"code": "unknown_op", "message": "there is no such tool", "details": {}}
            )
        else:
            result = await self._done(name, arguments)
        self._context.tell("tool", name=name or "unknown", ok=result.get("ok") is not False)
        return chat_tools.result_for_model(result)

    async def _done(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._reads(name):
            result = await self._context.session.tool_result(name, arguments)
            self._context.view.read(result)
            return result
        try:
            return await self._act(name, arguments)
        except Unavailable as unavailable:
            # Our own store: without it nothing may leave.
            return _no({"code": "daemon_unavailable", "message": str(unavailable), "details": {}})

    def _reads(self, name: str) -> bool:
        for tool in self._context.session.tools:
            if tool.get("name") == name:
                return bool(chat_tools.marks(tool).get("readOnly"))
        return False

    async def _act(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        running = self._conduct.running
        if running is None or running.is_ending:
            return _no(_OVER)
        about = self._context.view.event(str(arguments.get("inReplyTo") or arguments.get("eventId") or ""))
        filled = chat_tools.filled(name, arguments, running.turn, about)
        if name == chat_tools.SEND:
            return await self._send(running, filled)
        result = await self._context.session.tool_result(name, filled)
        if result.get("ok") is not False:
            self._took_effect(running, name, filled, result)
        return result

    async def _send(self, running: RunningTurn, arguments: dict[str, Any]) -> dict[str, Any]:
        context, answers = self._context, str(arguments.get("inReplyTo") or "")
        async with self._one:
            if running.is_ending or self._conduct.running is not running:
                return _no(_OVER)
            key = f"{running.turn.id}:{context.name}:tool:{running.acts.written}"
            arguments = {**arguments, "idempotencyKey": key}
            row = OutboxRow(key, running.turn.id, answers, chat_tools.SEND, arguments, "ready")
            await context.write(lambda writing: writing.say(row, context.clock.now()))
            context.in_flight.add(key)
            running.acts.written += 1
            running.acts.sends += 1
            answered_before = answers in running.acts.replied
            if answers:
                running.acts.replied.add(answers)
        try:
            result = await self._sender.say(row)
        except Refused as refused:
            await context.said(key, "refused", refused.code)
            running.acts.sends -= 1
            if not answered_before:
                running.acts.replied.discard(answers)
            return _no(context.describe(refused))
        except (Unavailable, OutcomeUnknown):
            # It is in the outbox and goes out, once, when the hub is back.
            context.outgoing.set()
            return {"ok": True, "status": "pending"}
        finally:
            context.in_flight.discard(key)
        await context.said(key, "sent", str(result.get("eventId", "")))
        context.tell("posted", event_id=answers, message_id=str(result.get("eventId", "")))
        return result

    def _took_effect(
        self, running: RunningTurn, name: str, arguments: dict[str, Any], result: dict[str, Any]
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
            case "chat.claim" if event_id:
                expires = parse_rfc3339(str(result.get("expiresAt", ""))) or Moment(self._context.clock.now())
                self._context.view.claimed(event_id, self._context.name, expires)
            case "chat.leave":
                self._context.view.left(
                    str(arguments.get("conversationId") or running.turn.carrier.conversation)
                )
            case _:
                return


def _no(error: dict[str, Any]) -> dict[str, Any]:
    return {"ok": False, "error": error}
