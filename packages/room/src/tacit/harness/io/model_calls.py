"""The model's own calls of the chat tools: judged, into the store, then to the hub.

Rows: C2A-002, C2A-064, C2A-148, C2A-164, C2A-166, C2A-169, C2A-180. A call belongs to the running turn; where
none runs, or it is ending, nothing that changes anything leaves. It also belongs to the audience whose agent
makes it: out of a turn for that audience nothing is read, and what is read in one is what its audience may
know, as the hub sees it (C2A-203). A send is kept under a key before it is
made, so that a crash in between does not make it twice. Every outcome is a result that the model can read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.retry import OutcomeUnknown
from tacit.c2a.tools import DURING
from tacit.harness import chat_tools
from tacit.harness.io.files import MOST_FILES
from tacit.harness.io.store import OutboxRow
from tacit.harness.naming import NamedAddressees, declared
from tacit.harness.session_view import session_name

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from tacit.c2a.messages import Delivered
    from tacit.harness.conduct import Conduct
    from tacit.harness.effects import ModelTurn
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.files import AgentFiles
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
        self,
        context: HarnessContext,
        conduct: Conduct,
        sender: OutboxSender,
        one: asyncio.Lock,
        files: AgentFiles,
        workplace: Callable[[ModelTurn], str | None],
    ) -> None:
        self._context = context
        self._conduct = conduct
        self._sender = sender
        self._one = one
        self._files = files
        self._workplace = workplace

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the hub agreed to, as MCP lists them."""
        return chat_tools.listed(self._tools)

    @property
    def _tools(self) -> list[dict[str, Any]]:
        """The hub's tools, and, where a send can carry files, the one that takes them from our folder."""
        tools = list(self._context.session.tools)
        carries = chat_tools.takes(chat_tools.named(chat_tools.SEND, tools), "attachments")
        return [*tools, chat_tools.ATTACH_TOOL] if carries else tools

    async def call(self, shown: str, arguments: dict[str, Any], session: str) -> dict[str, Any]:
        """One call, as MCP answers it; `session` names the model's session that makes it."""
        name = chat_tools.whole_name(shown, self._tools)
        if name is None:
            result: dict[str, Any] = _no(
                {"code": "unknown_op", "message": "there is no such tool", "details": {}}
            )
        else:
            result = await self._done(name, arguments, session)
        self._context.tell("tool", name=name or "unknown", ok=result.get("ok") is not False)
        return chat_tools.result_for_model(result)

    def _running_in(self, session: str) -> RunningTurn | None:
        """The turn of this session of the model's: for its audience, in its slot."""
        for one in self._conduct.turns.values():
            if session_name(one.turn.audience, one.turn.slot) == session:
                return one
        return None

    async def _done(self, name: str, arguments: dict[str, Any], session: str) -> dict[str, Any]:
        running = self._running_in(session)
        if running is None:
            return _no(_OVER)
        if self._reads(name):
            asked = self._during(running, name, chat_tools.asked(arguments))
            result = await self._context.session.tool_result(name, asked)
            self._context.view.read(result)
            return result
        try:
            return await self._act(running, name, arguments)
        except Unavailable as unavailable:
            # Our own store: without it nothing may leave.
            return _no({"code": "daemon_unavailable", "message": str(unavailable), "details": {}})

    def _reads(self, name: str) -> bool:
        tool = chat_tools.named(name, self._context.session.tools)
        return bool(chat_tools.marks(tool).get("readOnly"))

    def _during(self, running: RunningTurn, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with the event that the turn is about, where the hub wants to know it."""
        if not chat_tools.takes(chat_tools.named(name, self._context.session.tools), DURING):
            return arguments
        return {**arguments, DURING: running.turn.carrier.event_id}

    async def _act(self, running: RunningTurn, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if running.is_ending:
            return _no(_OVER)
        if name == chat_tools.ATTACH:
            return await self._attach(running, arguments)
        about = self._context.view.event(str(arguments.get("inReplyTo") or arguments.get("eventId") or ""))
        named = NamedAddressees()
        if name == chat_tools.SEND:
            named = await self._named(arguments, about or running.turn.carrier)
            arguments = declared(arguments, named)
        filled = self._during(running, name, chat_tools.filled(name, arguments, running.turn, about))
        if name == chat_tools.SEND:
            result = await self._send(running, filled)
            return {**result, "unreached": named.told()} if named.unreached else result
        result = await self._context.session.tool_result(name, filled)
        if result.get("ok") is not False:
            self._took_effect(running, name, filled, result)
        return result

    async def _named(self, arguments: dict[str, Any], about: Delivered) -> NamedAddressees:
        """Whom it names; while the hub is away nobody, since the words must be kept all the same."""
        try:
            return await self._context.named(arguments, about)
        except (Unavailable, OutcomeUnknown):
            return NamedAddressees()

    async def _attach(self, running: RunningTurn, arguments: dict[str, Any]) -> dict[str, Any]:
        """A file for the turn's next message; the same one twice is one."""
        given, title = arguments.get("path"), arguments.get("title") or ""
        if not isinstance(given, str) or not isinstance(title, str) or not given:
            return _no({"code": "invalid_request", "message": "path and title are texts", "details": {}})
        turn, kept = running.turn, running.acts.attachments
        if len(kept) >= MOST_FILES:
            return _no({"code": "rate_limited", "message": f"at most {MOST_FILES} files", "details": {}})
        try:
            found = await self._files.attached(turn.carrier.group, self._workplace(turn), given, title)
        except Refused as refused:
            return _no(self._context.describe(refused))
        if found not in kept:
            kept.append(found)
        shown = {name: found[name] for name in ("title", "mime_type", "bytes")}
        return {"ok": True, "attached": shown, "goesWith": "your next message or your final text"}

    async def _send(self, running: RunningTurn, arguments: dict[str, Any]) -> dict[str, Any]:
        context, answers = self._context, str(arguments.get("inReplyTo") or "")
        async with self._one:
            if running.is_ending or self._conduct.turn(running.turn.id) is not running:
                return _no(_OVER)
            key = f"{running.turn.id}:{context.name}:tool:{running.acts.written}"
            files, running.acts.attachments = running.acts.attachments, []
            arguments = chat_tools.with_attachments({**arguments, "idempotencyKey": key}, files)
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
            running.acts.attachments = [*files, *running.acts.attachments]
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
