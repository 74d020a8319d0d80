"""The host: which sessions are there, what they accepted, and the passing of time.

Rows: C2A-006, C2A-027, C2A-028, C2A-173, C2A-174, C2A-175, C2A-176, C2A-177, C2A-178. Composition only:
decisions and records are made in the writer by the engine; `dispatch` sends what became durable. When time
will bring something to a group the engine says so as an effect; the host keeps those moments and, when one
has come, asks the writer to take the step. A moment that is lost with the process is found again in the folds
at the next start.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import structs

from tacit.attention.commands import (
    DeliveryDraft,
    RecordSession,
    ReportWork,
    RunDueTimers,
    SetPresence,
    TimerDue,
    WorkHeard,
)
from tacit.attention.io.state_store import Archive
from tacit.attention.send.tools import SENTENCE
from tacit.attention.state import records, timers
from tacit.attention.state.records import submitted
from tacit.attention.state.work import AgentStatus, Lives, SessionLife
from tacit.base.errors import TacitError
from tacit.base.moment import SECOND, Moment, parse_rfc3339
from tacit.c2a.notifications import Continued, Ephemeral, PermissionDecided, Typing
from tacit.hub.bounds.quotas import for_the_house
from tacit.hub.host.dispatch import RECORDS_THAT_GO_OUT, Dispatch, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tacit.attention.commands import AuthorContinued, Effect, TimersRun
    from tacit.c2a.notifications import Work
    from tacit.hub.host.dispatch import Link
    from tacit.hub.nodes.codec import NodePresence
    from tacit.hub.store.async_ledger import AsyncLedger
    from tacit.ledger.commands import Committed
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.store import Store

log: Final = logging.getLogger("tacit.hub")
SUPERSEDED_CODE: Final = 4009
LONGEST_SLEEP: Final = 60.0
TRIED_AGAIN: Final = SECOND
"""How soon time is kept again in a group where it could not be."""


def _next_due(reader: Reader, among: frozenset[str] | None = None) -> list[tuple[Moment, str]]:
    """When time next brings something, for each group that has sessions."""
    found: list[tuple[Moment, str]] = []
    for group in reader.groups(among):
        attention = Archive.on(reader, group).attention
        due = timers.next_due(attention) if attention.sessions else None
        if due is not None:
            found.append((due, group.group_id))
    return found


def _nearness(life: SessionLife) -> tuple[bool, Moment]:
    return life.connected, life.heard_at


class Host:
    """All C2A sessions of one hub."""

    def __init__(self, store: Store, ledger: AsyncLedger) -> None:
        self._store = store
        self._ledger = ledger
        self._links: dict[str, dict[str, Link]] = {}
        """By group and session; no group is kept in which nobody is."""
        self._present: dict[str, frozenset[str]] = {}
        self._accepted: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self.presence: Callable[[str, str, str], None] = lambda _group, _session, _status: None
        self.gone: Callable[[Link], None] = lambda _link: None
        self.acts: Callable[[str], bool] = lambda _group_id: True
        """Are time and webhooks of a group seen to here? Of several nodes by the one that writes to it."""
        self.elsewhere: Callable[[str], Sequence[NodePresence]] = lambda _group_id: ()
        """Who is connected in a group to other nodes of the ledger."""
        self.elsewhere_late_by = 0
        """How many microseconds later than here a sign of life at another node is known, at most."""
        self.on_present: Callable[[str], None] = lambda _group_id: None
        """Told of a group in which an agent came, went, or is at something else."""
        self.on_heard: Callable[[str], None] = lambda _group_id: None
        """Told of a group in which an agent gave a sign of life."""
        self.goes_on: Callable[[str, AuthorContinued], None] = lambda _group_id, _effect: None
        """Tells a session that is not here that its author goes on."""
        self._due: list[tuple[Moment, str]] = []
        self._since = store.options.clock.now()
        self.is_unsure = False
        """Whether the machine's clock was in doubt when this began."""
        self._since_in: dict[str, Moment] = {}
        self._gone: defaultdict[str, dict[str, SessionLife]] = defaultdict(dict)
        self.dispatch = Dispatch(ledger, self)

    # -- starting and stopping

    async def open(self) -> None:
        """Find out what time will bring, then let it."""
        await self.take_up_time(None)
        self.spawn(self._run())

    async def take_up_time(self, among: frozenset[str] | None) -> None:
        """See to what time brings, from now on, in these groups, or in all that are this node's."""
        now = self._store.options.clock.now()
        if among is None:
            self._since = now
        else:
            self._since_in |= dict.fromkeys(among, now)
        for at, group_id in await self._ledger.read(lambda reader: _next_due(reader, among)):
            self._schedule(group_id, at)

    async def timed(self) -> set[str]:
        """The groups to which time will bring something."""
        return {group_id for _at, group_id in await self._ledger.read(_next_due)}

    def leave_time(self, groups: frozenset[str]) -> None:
        """Another node sees to what time brings in these groups."""
        self._due = [one for one in self._due if one[1] not in groups]
        heapq.heapify(self._due)
        for group_id in groups:
            self._since_in.pop(group_id, None)

    def committed(self, committed: Committed) -> None:
        """An event became durable: send what it brings, remember when time will bring more."""
        draft: DeliveryDraft | None = None
        effects: tuple[Effect, ...] = committed.effects
        for effect in effects:
            if isinstance(effect, TimerDue):
                self._schedule(committed.group_id, effect.at)
            elif isinstance(effect, DeliveryDraft):
                draft = effect
                self._forget_report(committed.group_id, draft.session, draft.event_id)
            elif not self.go_on(committed.group_id, effect.session, effect.event_id):
                self.goes_on(committed.group_id, effect)
        self._ended(committed)
        if draft is not None:
            self.dispatch.want(committed.group_id, Wanted(draft.session, draft.event_id), draft)
        elif committed.event.kind in RECORDS_THAT_GO_OUT:
            self.dispatch.committed(committed)
        if committed.event.kind == "x.c2a.rules":
            self._pace(committed.group_id, committed.event.data["values"].get("injected_per_minute"))
        if committed.event.kind == "x.c2a.approval":
            self._decided(committed.group_id, committed.event.data)

    def go_on(self, group_id: str, session: str, event_id: str) -> bool:
        """The author of what a session has not answered said more: tell it; False when it is not here."""
        link = self.link(group_id, session)
        if link is not None and link.was_greeted:
            link.notify(Continued(event_id))
        return link is not None

    def _ended(self, committed: Committed) -> None:
        """What is closed is no longer worked on, and what is claimed begins anew: nothing is kept of it."""
        kind, group_id = committed.event.kind, committed.group_id
        if kind == "x.c2a.disposition" and (data := committed.event.data).get("closes"):
            self._forget_report(group_id, str(data["session"]), str(data["event_id"]))
        elif kind == "x.c2a.claim" and (data := committed.event.data)["action"] in {"take", "assign"}:
            self._forget_report(group_id, str(data["session"]), str(data["target"]).partition(":")[2])

    def _forget_report(self, group_id: str, session: str, event_id: str) -> None:
        """What a session says of an event from here on is put to the writer again, were it the same words."""
        link = self.link(group_id, session)
        if link is not None:
            link.work.pop(event_id, None)

    def _decided(self, group_id: str, data: Mapping[str, Any]) -> None:
        """A person answered what an agent's own program asked: its harness waits for it (C2A-207)."""
        link = self.link(group_id, str(data.get("session")))
        if link is None or not link.was_greeted or data.get("kind", "send") == "send":
            return
        if data.get("state") in {"granted", "denied", "revoked"}:
            words = {name: str(data.get(name, "")) for name in ("scope", "reason")}
            by = str(data.get("answered_by", ""))
            link.notify(PermissionDecided(str(data["approval_id"]), str(data["state"]), by=by, **words))

    def spawn(self, work: Any) -> None:
        """Run something beside, for the hub itself; its failure is logged."""
        task = asyncio.get_running_loop().create_task(work, context=for_the_house())
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("attention work failed", exc_info=error)

    async def close(self) -> None:
        """End every link and every task."""
        for link in [link for links in self._links.values() for link in links.values()]:
            link.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- time

    def _schedule(self, group_id: str, at: Moment) -> None:
        if not self.acts(group_id):
            return
        sooner = not self._due or at < self._due[0][0]
        heapq.heappush(self._due, (at, group_id))
        if sooner:
            self._wake.set()

    def wake(self, group_ids: Iterable[str]) -> None:
        """Look what time will bring in these groups: something was written there that said nothing of it."""
        for group_id in group_ids:
            self._schedule(group_id, self._store.options.clock.now())

    async def _run(self) -> None:
        clock = self._store.options.clock
        while True:
            self._wake.clear()
            now = clock.now()
            due = self._due[0][0] if self._due else None
            if due is not None and due <= now:
                await self.tick()
                continue
            wait = LONGEST_SLEEP if due is None else min((due - now) / SECOND, LONGEST_SLEEP)
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def tick(self) -> int:
        """Do everything that is due now; how many steps it took. One group's trouble is its own."""
        steps = 0
        now = self._store.options.clock.now()
        groups: dict[str, None] = {}
        while self._due and self._due[0][0] <= now:
            groups[heapq.heappop(self._due)[1]] = None
        for group_id in filter(self.acts, groups):
            try:
                steps += await self._keep_time(group_id)
            except TacitError as error:
                # What was due stays due: it is tried again, and nobody waits for ever.
                log.warning("time could not be kept", extra={"fault": type(error).__name__})
                self._schedule(group_id, Moment(now + TRIED_AGAIN))
        return steps

    async def _keep_time(self, group_id: str) -> int:
        steps = 0
        while True:
            lives = self.known_lives(group_id)
            due = RunDueTimers(group_id, tuple(lives.sessions.values()), lives.since, lives.is_unsure)
            ran: TimersRun = (await self._ledger.decide(due)).answer
            if not ran.stepped:
                if ran.next_due is not None:
                    self._schedule(group_id, ran.next_due)
                return steps
            steps += 1

    # -- signs of life

    def heard(self, link: Link) -> None:
        """A harness said something: whatever it is at, it is at it still (C2A-173)."""
        if link.life is not None:
            link.life = structs.replace(link.life, heard_at=self._store.options.clock.now())
            self.on_heard(link.group_id)

    def lives(self, group_id: str) -> tuple[SessionLife, ...]:
        """Who is here, and when each was last heard of; who is gone keeps the last word."""
        there = [
            structs.replace(link.life, reported=frozenset(link.work))
            for link in self.links(group_id)
            if link.life is not None
        ]
        return (*self._gone.get(group_id, {}).values(), *there)

    def known_lives(self, group_id: str) -> Lives:
        """What the writer cannot know, at every node; whoever is connected somewhere is connected."""
        known = [*self.lives(group_id), *self._lives_elsewhere(group_id)]
        sessions = {life.session: life for life in sorted(known, key=_nearness)}
        since = self._since_in.get(group_id)
        if since is not None:
            return Lives(since, sessions)
        return Lives(self._since, sessions, is_unsure=self.is_unsure)

    def _lives_elsewhere(self, group_id: str) -> Iterator[SessionLife]:
        """As other nodes have told; what an agent said there since then is on its way."""
        now = self._store.options.clock.now()
        for life in (life for one in self.elsewhere(group_id) for life in one.lives):
            heard_at = min(now, life.heard_at + self.elsewhere_late_by) if life.connected else life.heard_at
            yield structs.replace(life, heard_at=Moment(max(life.heard_at, heard_at)))

    async def report_work(self, link: Link, told: Work) -> None:
        """How work stands at an agent: a change is for the ledger, a sign of life for the host alone."""
        told = replace(told, turn=told.turn[:200], code=told.code[:100], message=told.message[:SENTENCE])
        before = link.work.get(told.event_id)
        link.work[told.event_id] = told
        self.on_heard(link.group_id)
        if before is not None and replace(before, position=told.position) == told:
            return
        retry_at = parse_rfc3339(told.retry_at) if told.retry_at else None
        command = ReportWork(
            link.group_id,
            link.session,
            told.event_id,
            told.state,
            told.turn,
            told.position,
            told.code,
            told.message,
            retry_at or Moment(0),
        )
        known = before
        try:
            heard: WorkHeard = (await self._ledger.decide(command)).answer
            known = told if heard.own else None
        finally:
            # What could not be written down is news when it is said again; what is not its own is nobody's.
            if link.work.get(told.event_id) is told:
                del link.work[told.event_id]
                if known is not None:
                    link.work[told.event_id] = known

    def position(self, group_id: str, session: str, event_id: str) -> int | None:
        """How many pieces of work are before one, as its harness said last."""
        link = self.link(group_id, session)
        told = link.work.get(event_id) if link is not None else None
        return told.position if told is not None and told.state == "queued" else None

    # -- presence

    def online(self, group_id: str) -> frozenset[str]:
        """Who is connected, to whatever node."""
        here = self._present.get(group_id, frozenset())
        return here.union(*(one.agents for one in self.elsewhere(group_id)))

    def statuses(self, group_id: str) -> dict[str, AgentStatus]:
        """What everybody who is connected says to be at."""
        found: dict[str, AgentStatus] = {}
        for one in self.elsewhere(group_id):
            found |= one.agents
        return found | self.statuses_here(group_id)

    def statuses_here(self, group_id: str) -> dict[str, AgentStatus]:
        """The same of those who are connected to this node."""
        now = self._store.options.clock.now()
        return {link.session: link.status_at(now) for link in self.links(group_id)}

    def groups(self) -> list[str]:
        """The groups in which somebody is connected here."""
        return list(self._links)

    def link(self, group_id: str, session: str) -> Link | None:
        """The session's connection."""
        return self._links.get(group_id, {}).get(session)

    def links(self, group_id: str) -> list[Link]:
        """All connections of a group."""
        return list(self._links.get(group_id, {}).values())

    async def attach(self, link: Link) -> None:
        """A session is here; the last connection wins. Everything that it has not accepted goes out again.

        What is new while the agreement is written down waits in the ledger: the link is known only when the
        older deliveries are first in its queue, so that none overtakes another (C2A-008).
        """
        await self._ledger.stay_awake(link.group_id)
        await self.record_session(link)
        self._supersede(link.group_id, link.session)
        now = self._store.options.clock.now()
        self._gone.get(link.group_id, {}).pop(link.session, None)
        link.life = SessionLife(link.session, now, now)
        self._links.setdefault(link.group_id, {})[link.session] = link
        self._see(link.group_id)
        self.presence(link.group_id, link.session, "online")
        self.dispatch.want(link.group_id, Wanted(link.session))

    def _supersede(self, group_id: str, session: str) -> bool:
        before = self.link(group_id, session)
        if before is None:
            return False
        self._drop(before)
        before.close()
        self.gone(before)
        before.wire.end(SUPERSEDED_CODE, "superseded by a newer connection")
        return True

    def _drop(self, link: Link) -> None:
        links = self._links[link.group_id]
        del links[link.session]
        if not links:
            del self._links[link.group_id]

    def connected_elsewhere(self, group_id: str, life: SessionLife) -> None:
        """A session is connected to another node; if later than here, that connection wins."""
        here = self.link(group_id, life.session)
        later = here is not None and here.life is not None and life.connected_at > here.life.connected_at
        if life.connected and later and self._supersede(group_id, life.session):
            self._see(group_id)

    def detach(self, link: Link) -> None:
        """A connection ended; nothing else changes (C2A-028)."""
        link.close()
        if self.link(link.group_id, link.session) is link:
            self._drop(link)
            if link.life is not None:
                # Its last word counts until it is back: a short absence is no silence.
                last = structs.replace(link.life, reported=frozenset(link.work), connected=False)
                self._gone[link.group_id][link.session] = last
            self._see(link.group_id)
            self.presence(link.group_id, link.session, "offline")
            self.gone(link)

    def _see(self, group_id: str) -> None:
        """Who is there has changed; the writer hears of it in its turn, behind what was asked before."""
        self._present[group_id] = frozenset(self._links.get(group_id, ()))
        self._tell_writer(group_id)

    def _tell_writer(self, group_id: str) -> None:
        self.on_present(group_id)
        self.tell_writer(group_id)

    def tell_writer(self, group_id: str) -> None:
        """Tell the writer who is connected, to whatever node, if it is this node's."""
        sessions = tuple(sorted(self.online(group_id)))
        if self.acts(group_id) and not self._ledger.is_closing:
            self._ledger.submit(SetPresence(group_id, sessions), lambda _outcome: None)

    def begin_anew(self) -> None:
        """The writer was started again: it knows nobody, and nobody may have heard what it wrote last."""
        for group_id in self._present:
            self.tell_writer(group_id)
        for group_id, links in self._links.items():
            for session in links:
                self.dispatch.want(group_id, Wanted(session))
        self.wake(filter(self.acts, self._present))

    async def record_session(self, link: Link) -> None:
        """Write down what was agreed, when it differs from what is known."""
        agreement = link.agreement
        modes = tuple(sorted(mode.value for mode in agreement.modes))
        interrupt = agreement.has("injection", "interrupt")
        await self._ledger.decide(
            RecordSession(link.group_id, link.session, agreement.version, modes, interrupt)
        )

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
        await self._append(
            group_id, records.AcceptedRecord(session=session, event_ids=event_ids, for_=[session])
        )

    def refused(self, link: Link, event_id: str | None, error: object) -> None:
        """A harness refused a delivery: it is not sent again as it is, and the audit has it (C2A-030)."""
        number: object = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
        audit = records.AuditRecord(
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

    def _pace(self, group_id: str, per_minute: int | None) -> None:
        """The group's limit of injected events may have changed (C2A-205)."""
        if per_minute is not None:
            for link in self.links(group_id):
                link.pace(per_minute)

    def whisper(self, group_id: str, by: str, said: dict[str, Any], parties: set[str] | None) -> None:
        """A message that is kept nowhere, to the sessions that are there."""
        told = Ephemeral(said["where"], by, said["text"])
        for link in self.links(group_id):
            if link.session != by and (parties is None or link.session in parties):
                link.notify(told)

    def typing(
        self, group_id: str, by: str, conversation_id: str | None, parties: frozenset[str] | None
    ) -> None:
        """Somebody is writing: harnesses hold their windows open (C2A-084)."""
        told = Typing(conversation_id or "main", by, typing=True)
        for link in self.links(group_id):
            if link.session != by and (parties is None or link.session in parties):
                link.notify(told)
