"""Tool calls of a session: writing ones are decided in the writer, reading ones on a reader.

Rows: C2A-017, 139, 201, 206. Every call leaves an audit record, refused ones included. Whatever door a call
comes through (C2A, HTTP, MCP), it comes here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import msgspec

from tacit.attention import calls, records
from tacit.attention.codes import Refusal, refusal
from tacit.attention.gate import Caller
from tacit.attention.io.archive import Archive
from tacit.attention.io.attendant import submitted
from tacit.attention.io.keeping import roster_for
from tacit.attention.io.reading import Pull
from tacit.attention.io.wire import in_full
from tacit.base.errors import Refused
from tacit.ledger.admission import Submission
from tacit.ledger.io.clerk import Again, Landed, Ruling

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.hub.desk import Desk
    from tacit.hub.host.host import Host
    from tacit.ledger.io.clerk import Scene
    from tacit.ledger.io.reader import Reader

READING: Final = frozenset({"chat.list_events", "chat.read_thread", "chat.search"})


class Tools:
    """The chat tools of one hub."""

    def __init__(self, host: Host, desk: Desk) -> None:
        self._host = host
        self._desk = desk
        self._reading: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self.whisper: Callable[[str, calls.Spoken], None] = lambda _group, _aside: None

    async def call(
        self, group_id: str, session: str, name: str, arguments: Mapping[str, Any], version: str
    ) -> dict[str, Any] | Refusal:
        """Run one tool for one session."""
        if name in READING:
            return await self._read(group_id, session, name, arguments, version)
        if name not in calls.WRITING:
            return refusal("unknown_op", "there is no such tool", "C2A-017")
        try:
            answer: dict[str, Any] | Refusal = await self._desk.act(
                group_id, lambda scene: self._write(scene, session, name, arguments, version)
            )
        except Refused as refused:
            answer = from_ledger(refused)
            await self._audit(group_id, session, name, answer)
        if isinstance(answer, dict) and (aside := answer.pop("aside", None)) is not None:
            self.whisper(group_id, aside)
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
        await self._desk.append(submitted(group_id, [audit])[0])

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
            answer = await self._desk.read(query)
        if isinstance(answer, Refusal):
            await self._audit(group_id, session, name, answer)
            return answer
        await self._audit(group_id, session, name, None, answer.get("threadId"))
        return {"ok": True, "untrusted": True, **answer}

    def _write(
        self, scene: Scene, session: str, name: str, arguments: Mapping[str, Any], version: str
    ) -> Ruling:
        group = scene.group
        room = self._host.attendant.room(group, scene.lookup)
        roster = roster_for(group, room.attention, self._host.online(group.group_id))
        archive = Archive(room.attention, room.past, scene.lookup, roster)
        caller = Caller(session, room.attention, archive, roster, scene.now)
        outcome = calls.call(name, arguments, caller)
        if isinstance(outcome, Refusal):
            written = submitted(group.group_id, calls.audited(name, arguments, outcome, caller))
            return Ruling(written, lambda _landed: outcome)
        found = submitted(group.group_id, outcome.written)
        if outcome.chat is not None:
            kind, data = outcome.chat
            found.append(Submission(group.group_id, session, kind, data, msgspec.json.encode(data)))
        elif not outcome.written:
            found += submitted(group.group_id, [records.Audit(what=name, session=session, for_=[session])])
        result: dict[str, Any] = {"ok": True, **outcome.result}
        if outcome.aside is not None:
            result["aside"] = outcome.aside
        if outcome.event is not None:
            event = archive.readable(outcome.event, session)
            duty = calls.duty_towards(event, caller) if event is not None else None
            if duty is not None:
                result["event"] = in_full(archive, outcome.event, session, version, duty)
                result["untrusted"] = True
        chat = outcome.aside is not None or (outcome.chat is not None and outcome.chat[0] == "chat.message")
        return Ruling(found, lambda landed: _answer(result, landed, chat=chat))


def _answer(result: dict[str, Any], landed: Sequence[Landed | Again], *, chat: bool) -> dict[str, Any]:
    if not chat:
        return result
    last = landed[-1]
    return {**result, "eventId": last.found.event_id, "duplicate": isinstance(last, Again)}


def from_ledger(refused: Refused) -> Refusal:
    """The ledger's own refusal in the words of C2A."""
    known = {"permission_denied", "event_not_found", "group_not_found", "actor_not_found"}
    code = refused.code if refused.code in known else "invalid_request"
    if refused.code == "internal":
        code = "internal_error"
    return Refusal(code, refused.message, refused.row or "C2A-142", details=refused.details or {})
