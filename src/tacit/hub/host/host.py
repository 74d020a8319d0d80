"""The host: which sessions are there, what they accepted, and the passing of time.

Rows: C2A-006, 027, 028, 173 to 178. Composition only: decisions and records are made in the writer by the
engine; `dispatch` sends what became durable.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.io.engine import AttentionEngine, submitted
from tacit.attention.state import records
from tacit.base.errors import TacitError
from tacit.c2a.notifications import Ephemeral, Typing
from tacit.hub.host.dispatch import Dispatch, Wanted
from tacit.ledger.io.writer import Plan, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.hub.async_ledger import AsyncLedger
    from tacit.hub.host.links import Link
    from tacit.ledger.io.store import Store

log: Final = logging.getLogger("tacit.hub")
SUPERSEDED_CODE: Final = 4009
LONGEST_SLEEP: Final = 60.0


class Host:
    """All C2A sessions of one hub."""

    def __init__(self, store: Store, ledger: AsyncLedger) -> None:
        self._store = store
        self._ledger = ledger
        self._links: dict[tuple[str, str], Link] = {}
        self._present: dict[str, frozenset[str]] = {}
        self._accepted: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.presence: Callable[[str, str, str], None] = lambda _group, _session, _status: None
        self.engine = AttentionEngine(store.writer.model.connection, self.online)
        store.writer.attend(self.engine)
        self.dispatch = Dispatch(ledger, self.engine, self)

    # -- starting and stopping

    async def open(self) -> None:
        """Find out what time will bring, then let it."""
        self._loop = asyncio.get_running_loop()
        groups = await self._ledger.read(lambda reader: reader.groups())
        await self._ledger.write(lambda _connection: self.engine.wake(groups))
        self.engine.woken = self._woken
        self.spawn(self._run())

    def _woken(self) -> None:
        """Called in the writer thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    def spawn(self, work: Any) -> None:
        """Run something beside; its failure is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("attention work failed", exc_info=error)

    async def close(self) -> None:
        """End every link and every task."""
        for link in list(self._links.values()):
            link.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- time

    async def _run(self) -> None:
        clock = self._store.options.clock
        while True:
            self._wake.clear()
            due = self.engine.next_due
            now = clock.now()
            if due is not None and due <= now:
                try:
                    await self.tick()
                except TacitError as error:
                    log.warning("time could not be kept", extra={"fault": type(error).__name__})
                    await asyncio.sleep(1.0)
                continue
            wait = LONGEST_SLEEP if due is None else min((due - now) / 1_000_000, LONGEST_SLEEP)
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def tick(self) -> int:
        """Do everything that is due now; how many steps it took."""
        steps = 0
        now = self._store.options.clock.now()
        groups = await self._ledger.write(lambda _connection: self.engine.due_groups(now))
        for place, group_id in enumerate(groups):
            try:
                while await self._ledger.act(group_id, self._step):
                    steps += 1
            except TacitError:
                # What was due stays due: it is tried again, and nobody waits for ever.
                self.engine.remind(groups[place:], now)
                raise
        return steps

    def _step(self, snapshot: Snapshot) -> Plan:
        submissions = self.engine.tick(snapshot)
        return Plan(submissions, lambda _committed: bool(submissions))

    # -- presence

    def online(self, group_id: str) -> frozenset[str]:
        """Who is connected; may be read from any thread."""
        return self._present.get(group_id, frozenset())

    def link(self, group_id: str, session: str) -> Link | None:
        """The session's connection."""
        return self._links.get((group_id, session))

    def links(self, group_id: str) -> list[Link]:
        """All connections of a group."""
        return [link for (group, _session), link in self._links.items() if group == group_id]

    async def attach(self, link: Link) -> None:
        """A session is here; the last connection wins. Everything that it has not accepted goes out again.

        What is new while the agreement is written down waits in the ledger: the link is known only when the
        older deliveries are first in its queue, so that none overtakes another (C2A-008).
        """
        await self.record_session(link)
        key = (link.group_id, link.session)
        before = self._links.pop(key, None)
        if before is not None:
            before.close()
            before.wire.end(SUPERSEDED_CODE, "superseded by a newer connection")
        self._links[key] = link
        self._see(link.group_id)
        self.presence(link.group_id, link.session, "online")
        self.dispatch.want(link.group_id, Wanted(link.session))

    def detach(self, link: Link) -> None:
        """A connection ended; nothing else changes (C2A-028)."""
        link.close()
        if self._links.get((link.group_id, link.session)) is link:
            del self._links[link.group_id, link.session]
            self._see(link.group_id)
            self.presence(link.group_id, link.session, "offline")

    def _see(self, group_id: str) -> None:
        self._present[group_id] = frozenset(session for group, session in self._links if group == group_id)

    async def record_session(self, link: Link) -> None:
        """Write down what was agreed, when it differs from what is known."""
        agreement = link.agreement
        record = records.Session(
            session=link.session,
            version=agreement.version,
            modes=sorted(mode.value for mode in agreement.modes),
            interrupt=agreement.has("injection", "interrupt"),
        )

        def rule(snapshot: Snapshot) -> Plan:
            room = self.engine.room(snapshot.group, snapshot.lookup)
            known = room.attention.sessions.get(link.session)
            same = known is not None and (known.version, known.modes, known.interrupt) == (
                record.version,
                agreement.modes,
                record.interrupt,
            )
            written = [] if same else submitted(snapshot.group.group_id, [record])
            return Plan(written, lambda _committed: None)

        await self._ledger.act(link.group_id, rule)

    # -- acceptance

    def accepted(self, link: Link, event_id: str) -> None:
        """A harness has taken an event in; written down with everything else of this tick (C2A-160)."""
        key = (link.group_id, link.session)
        if not self._accepted[key]:
            asyncio.get_running_loop().call_soon(self._write_accepted, key)
        self._accepted[key].append(event_id)

    def _write_accepted(self, key: tuple[str, str]) -> None:
        event_ids = self._accepted.pop(key, [])
        if event_ids:
            self.spawn(self._append_accepted(key, event_ids))

    async def _append_accepted(self, key: tuple[str, str], event_ids: list[str]) -> None:
        group_id, session = key
        # If this fails the event is sent once more after a reconnect, and the harness drops the repeat.
        await self._append(group_id, records.Accepted(session=session, event_ids=event_ids, for_=[session]))

    def refused(self, link: Link, event_id: str | None, error: object) -> None:
        """A harness refused a delivery: it is not sent again as it is, and the audit has it (C2A-030)."""
        number: object = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
        audit = records.Audit(
            what="delivery",
            session=link.session,
            event_id=event_id,
            code="refused",
            row="C2A-030",
            details={"number": number} if isinstance(number, int) else {},
            for_=[link.session],
        )
        self.spawn(self._append(link.group_id, audit))

    async def _append(self, group_id: str, record: records.Record) -> None:
        try:
            await self._ledger.append(submitted(group_id, [record])[0])
        except TacitError as error:
            log.warning("a record was not written", extra={"fault": type(error).__name__})

    def pace(self, group_id: str, per_minute: int) -> None:
        """The group's limit of injected events has changed (C2A-205)."""
        for link in self.links(group_id):
            link.pace(per_minute)

    def whisper(self, group_id: str, by: str, said: dict[str, Any], parties: set[str] | None) -> None:
        """A message that is kept nowhere, to the sessions that are there."""
        told = Ephemeral(said["where"], by, said["text"])
        for link in self.links(group_id):
            if link.session != by and (parties is None or link.session in parties):
                link.notify(told)

    def typing(self, group_id: str, by: str, conversation_id: str | None) -> None:
        """Somebody is writing: harnesses hold their windows open (C2A-084)."""
        told = Typing(conversation_id or "main", by, typing=True)
        for link in self.links(group_id):
            if link.session == by or (
                conversation_id is not None
                and conversation_id.startswith("dm:")
                and link.session not in conversation_id[3:].split("+")
            ):
                continue
            link.notify(told)
