"""Tool calls of a session: writing ones are decided in the writer, reading ones on a reader.

Rows: C2A-017, C2A-139, C2A-201, C2A-206. Every call leaves an audit record, refused ones included. Whatever
door a call comes through (C2A, HTTP, MCP), it comes here.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from tacit.attention.commands import CallTool
from tacit.attention.io.read_tools import Attendance, Pull
from tacit.attention.io.state_store import Archive
from tacit.attention.send import tools
from tacit.attention.state import records
from tacit.attention.state.records import submitted
from tacit.base.errors import Refused
from tacit.c2a.errors import Refusal, refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tacit.attention.commands import ToolAnswer
    from tacit.attention.send.tools import EphemeralWords
    from tacit.c2a.signals import AgreedSignals
    from tacit.hub.store.async_ledger import AsyncLedger
    from tacit.ledger.io.reader import Reader

READING: Final = frozenset(
    {"chat.list_events", "chat.read_thread", "chat.read_channel", "chat.members", "chat.search"}
)


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A reading tool's call, with all that it needs beside the ledger."""

    group_id: str
    session: str
    name: str
    arguments: Mapping[str, Any]
    version: str
    here: Attendance


class Tools:
    """The chat tools of one hub."""

    def __init__(self, ledger: AsyncLedger) -> None:
        self._ledger = ledger
        self._reading: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self.whisper: Callable[[str, EphemeralWords], None] = lambda _group, _words: None
        self.look: Callable[[ReadCall], Awaitable[dict[str, Any] | Refusal]] = self._look
        self.here: Callable[[str], Attendance] = lambda _group: Attendance()

    async def call(
        self,
        group_id: str,
        session: str,
        name: str,
        arguments: Mapping[str, Any],
        version: str,
        signals: AgreedSignals | None = None,
    ) -> dict[str, Any] | Refusal:
        """Run one tool for one session."""
        if name in READING:
            return await self._read(group_id, session, name, arguments, version)
        if name not in tools.WRITING:
            return refusal("unknown_op", "there is no such tool", "C2A-017")
        command = CallTool(group_id, session, name, dict(arguments), version, signals)
        try:
            answer: ToolAnswer = (await self._ledger.decide(command)).answer
        except Refused as refused:
            refused_answer = from_ledger(refused)
            await self._audit(group_id, session, name, refused_answer)
            return refused_answer
        if answer.ephemeral is not None:
            self.whisper(group_id, answer.ephemeral)
        return answer.refusal or answer.result or {}

    async def _audit(
        self, group_id: str, session: str, name: str, refused: Refusal | None, thread: str | None = None
    ) -> None:
        audit = records.AuditRecord(
            what=name,
            session=session,
            code=refused.code if refused is not None else None,
            row=refused.row if refused is not None else None,
            details={"thread": thread} if thread is not None else {},
            for_=[session],
        )
        await self._ledger.append(submitted(group_id, [audit])[0])

    async def _look(self, call: ReadCall) -> dict[str, Any] | Refusal:
        return await self._ledger.read(lambda reader: looked_up(reader, call))

    async def _read(
        self, group_id: str, session: str, name: str, arguments: Mapping[str, Any], version: str
    ) -> dict[str, Any] | Refusal:
        call = ReadCall(group_id, session, name, arguments, version, self.here(group_id))
        # One look at a time for each session: whoever asks ten times at once leaves the readers to others.
        lock = self._reading.setdefault((group_id, session), asyncio.Lock())
        async with lock:
            answer = await self.look(call)
        if isinstance(answer, Refusal):
            await self._audit(group_id, session, name, answer)
            return answer
        await self._audit(group_id, session, name, None, answer.get("threadId"))
        return {"ok": True, "untrusted": True, **answer}


def looked_up(reader: Reader, call: ReadCall) -> dict[str, Any] | Refusal:
    """What a reading tool answers."""
    session, arguments = call.session, call.arguments
    group = reader.group(call.group_id)
    archive = Archive.on(reader, group)
    # An edit is written by the hub; who reads the answer to it are the parties of its message.
    named = archive.original(str(arguments["during"])) if "during" in arguments else None
    during = archive.found(named) if named is not None else None
    if "during" in arguments and (during is None or not during.visible_to(session)):
        return refusal("event_not_found", "`during` names no event of this session", "C2A-203")
    pull = Pull(reader, group, archive, session, call.version, during)
    wanted = {member: value for member, value in arguments.items() if member != "during"}
    reader.begin()
    answer = _pulled(pull, call, wanted)
    if isinstance(answer, Refusal) or not reader.left_out:
        return answer
    return {**answer, "damaged": list(reader.left_out)}


def _pulled(pull: Pull, call: ReadCall, wanted: dict[str, Any]) -> dict[str, Any] | Refusal:
    match call.name:
        case "chat.list_events":
            return pull.list_events(wanted)
        case "chat.read_thread":
            return pull.read_thread(wanted)
        case "chat.read_channel":
            return pull.read_channel(wanted)
        case "chat.members":
            return pull.members(call.here)
        case _:
            return pull.search(wanted)


def from_ledger(refused: Refused) -> Refusal:
    """The ledger's own refusal in the words of C2A."""
    known = {
        "permission_denied",
        "event_not_found",
        "group_not_found",
        "actor_not_found",
        "idempotency_conflict",
        "rate_limited",
    }
    code = refused.code if refused.code in known else "invalid_request"
    if refused.code == "internal":
        code = "internal_error"
    details = dict(refused.details or {})
    wait = details.get("retry_after_s")
    if code == "rate_limited" and isinstance(wait, (int, float)):
        details["retryAfterMs"] = round(wait * 1000)
    return Refusal(code, refused.message, refused.row or "C2A-142", details=details)
