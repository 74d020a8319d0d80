"""Tool calls of a session: writing ones are decided in the writer, reading ones on a reader.

Rows: C2A-017, 139, 201, 206. Every call leaves an audit record, refused ones included. Whatever door a call
comes through (C2A, HTTP, MCP), it comes here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import msgspec

from tacit.attention.io.archive import Archive
from tacit.attention.io.deliveries import in_full
from tacit.attention.io.engine import submitted
from tacit.attention.io.read_tools import Pull
from tacit.attention.io.state_store import roster_for
from tacit.attention.send import tools
from tacit.attention.send.draft import Caller
from tacit.attention.state import records
from tacit.base.errors import Refused
from tacit.c2a.errors import Refusal, refusal
from tacit.ledger.admission import Submission
from tacit.ledger.io.writer import Committed, Duplicate, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.hub.async_ledger import AsyncLedger
    from tacit.hub.host.host import Host
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.writer import Snapshot

READING: Final = frozenset({"chat.list_events", "chat.read_thread", "chat.search"})


class Tools:
    """The chat tools of one hub."""

    def __init__(self, host: Host, ledger: AsyncLedger) -> None:
        self._host = host
        self._ledger = ledger
        self._reading: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self.whisper: Callable[[str, tools.Spoken], None] = lambda _group, _aside: None

    async def call(
        self, group_id: str, session: str, name: str, arguments: Mapping[str, Any], version: str
    ) -> dict[str, Any] | Refusal:
        """Run one tool for one session."""
        if name in READING:
            return await self._read(group_id, session, name, arguments, version)
        if name not in tools.WRITING:
            return refusal("unknown_op", "there is no such tool", "C2A-017")
        try:
            answer: dict[str, Any] | Refusal = await self._ledger.act(
                group_id, lambda snapshot: self._write(snapshot, session, name, arguments, version)
            )
        except Refused as refused:
            answer = from_ledger(refused)
            await self._audit(group_id, session, name, answer)
        if isinstance(answer, dict) and (ephemeral_send := answer.pop("aside", None)) is not None:
            self.whisper(group_id, ephemeral_send)
        return answer

    async def _audit(
        self, group_id: str, session: str, name: str, refused: Refusal | None, thread: str | None = None
    ) -> None:
        audit = records.Audit(
            what=name,
            session=session,
            code=refused.code if refused is not None else None,
            row=refused.row if refused is not None else None,
            details={"thread": thread} if thread is not None else {},
            for_=[session],
        )
        await self._ledger.append(submitted(group_id, [audit])[0])

    async def _read(
        self, group_id: str, session: str, name: str, arguments: Mapping[str, Any], version: str
    ) -> dict[str, Any] | Refusal:
        def query(reader: Reader) -> dict[str, Any] | Refusal:
            group = reader.group(group_id)
            pull = Pull(reader, group, Archive.on(reader, group), session, version)
            match name:
                case "chat.list_events":
                    return pull.list_events(arguments)
                case "chat.read_thread":
                    return pull.read_thread(arguments)
                case _:
                    return pull.search(arguments)

        # One look at a time for each session: whoever asks ten times at once leaves the readers to others.
        lock = self._reading.setdefault((group_id, session), asyncio.Lock())
        async with lock:
            answer = await self._ledger.read(query)
        if isinstance(answer, Refusal):
            await self._audit(group_id, session, name, answer)
            return answer
        await self._audit(group_id, session, name, None, answer.get("threadId"))
        return {"ok": True, "untrusted": True, **answer}

    def _write(
        self, snapshot: Snapshot, session: str, name: str, arguments: Mapping[str, Any], version: str
    ) -> Plan:
        group = snapshot.group
        room = self._host.engine.room(group, snapshot.lookup)
        roster = roster_for(group, room.attention, self._host.online(group.group_id))
        archive = Archive(room.attention, room.past, snapshot.lookup, roster)
        caller = Caller(session, room.attention, archive, roster, snapshot.now)
        outcome = tools.call(name, arguments, caller)
        if isinstance(outcome, Refusal):
            written = submitted(group.group_id, tools.audited(name, arguments, outcome, caller))
            return Plan(written, lambda _committed: outcome)
        found = submitted(group.group_id, outcome.written)
        if outcome.chat is not None:
            kind, data = outcome.chat
            found.append(Submission(group.group_id, session, kind, data, msgspec.json.encode(data)))
        elif not outcome.written:
            found += submitted(group.group_id, [records.Audit(what=name, session=session, for_=[session])])
        result: dict[str, Any] = {"ok": True, **outcome.result}
        if outcome.ephemeral_send is not None:
            result["aside"] = outcome.ephemeral_send
        if outcome.event is not None:
            event = archive.readable(outcome.event, session)
            obligation = tools.obligation_towards(event, caller) if event is not None else None
            if obligation is not None:
                result["event"] = in_full(archive, outcome.event, session, version, obligation)
                result["untrusted"] = True
        chat = outcome.ephemeral_send is not None or (
            outcome.chat is not None and outcome.chat[0] == "chat.message"
        )
        return Plan(found, lambda committed: _answer(result, committed, chat=chat))


def _answer(
    result: dict[str, Any], committed: Sequence[Committed | Duplicate], *, chat: bool
) -> dict[str, Any]:
    if not chat:
        return result
    last = committed[-1]
    return {**result, "eventId": last.found.event_id, "duplicate": isinstance(last, Duplicate)}


def from_ledger(refused: Refused) -> Refusal:
    """The ledger's own refusal in the words of C2A."""
    known = {"permission_denied", "event_not_found", "group_not_found", "actor_not_found"}
    code = refused.code if refused.code in known else "invalid_request"
    if refused.code == "internal":
        code = "internal_error"
    return Refusal(code, refused.message, refused.row or "C2A-142", details=refused.details or {})
