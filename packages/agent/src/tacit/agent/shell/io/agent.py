"""The personal agent: it arranges things for its owner, and tells nobody what the owner did not allow.

A2ACP-008, A2ACP-067, A2ACP-072, A2ACP-087, A2ACP-131, A2ACP-211, A2ACP-215, A2ACP-216, A2ACP-217.

Theory of operation. One process for a folder. Everything it does is a decision: a layer over the state,
records, values. The values are kept in the vault and the records appended to the journal in one transaction,
then the layer becomes the state; only after that does anything leave. What must leave is read from the
state, not remembered: packets that the post may not have (`unposted`), threads whose turn is ours
(`considering`), actions under way (`acting`), moments that have come (`due`). So a kill at any point is a
pause: at the next start the same wheel turns on. Each turn of the wheel takes what arrived, lets time
pass, considers, acts and posts; it stops when nothing of that is left to do.

Decisions are made one at a time, under a lock. Calendars and brains are asked outside of it, and what they
say counts only if the thread still waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Final, Self, cast

from msgspec import UNSET

from tacit.a2acp.consent.filter import PacketDraft, restored
from tacit.a2acp.packets.windows import read_windows
from tacit.a2acp.post.io import purging
from tacit.a2acp.post.io.post import Post
from tacit.a2acp.post.io.store import OWN_FAULTS, require_agent
from tacit.a2acp.post.settings import FOR_EVER, HISTORY_DAYS
from tacit.a2acp.threads.states import TERMINAL, State
from tacit.agent.brain.configured import SETTING
from tacit.agent.brain.io.minding import Mind
from tacit.agent.brain.io.thinking import THOUGHT
from tacit.agent.brain.rules import Rules
from tacit.agent.consent.consenting import facts_name
from tacit.agent.features import FEATURES, FOLD, LASTING, NOTICES
from tacit.agent.guests import records as guest_records
from tacit.agent.guests.fold import GuestTables
from tacit.agent.guests.io.hosting import Hosting
from tacit.agent.kernel import records
from tacit.agent.kernel.io.changes import Changes
from tacit.agent.kernel.io.journal import Journal
from tacit.agent.kernel.io.setting_values import SettingValues
from tacit.agent.kernel.io.vault import Vault
from tacit.agent.kernel.workspace import Peer, Workspace
from tacit.agent.memory import records as memory_records
from tacit.agent.memory import relationship, remembering
from tacit.agent.memory.io import erasing
from tacit.agent.owner.io import setting_up
from tacit.agent.scheduling import acting, considering, proposal_slots, proposing, ticking, turns
from tacit.agent.scheduling.actions import port as actions
from tacit.agent.scheduling.calendars.busy import CalendarUnreadable, together
from tacit.agent.scheduling.facts import busy_within
from tacit.agent.scheduling.io import unreadable
from tacit.agent.scheduling.io.outside import OWN_BEGUN, Outside
from tacit.agent.scheduling.view import view_of
from tacit.agent.shell.io.commands import Commands
from tacit.agent.shell.io.taking import Taking
from tacit.agent.spaces.io import operations as spaces
from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.faults import place_of
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import time_of
from tacit.base.language_model import ModelAway
from tacit.base.moment import SECOND, Moment, earlier
from tacit.base.strict_json import parse

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path

    from tacit.a2acp.post.io.relay_connection import RelayConnection
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.agent.brain.minded import Waiting
    from tacit.agent.brain.port import Brain
    from tacit.agent.kernel.io.core import Decided
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.base.language_model import Models
    from tacit.base.moment import Span
    from tacit.base.ports import Clock, Entropy

_log: Final = logging.getLogger("tacit.agent")
DAY: Final = 24 * 3600 * SECOND
PAUSE: Final = Moment(30 * SECOND)
"""Before something that could not be done now, as a brain or a server was away, is tried again."""
LOOK_AROUND: Final = 5.0


class Agent(Taking, Commands, Hosting):
    """One person's agent, open; an async context."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        brain: Brain | None = None,
        models: Models | None = None,
        waiting: Waiting | None = None,
        trust: ssl.SSLContext | None = None,
        unlock: Callable[[AgentStore], None] | None = None,
        vfs: str | None = None,
    ) -> None:
        self.folder = folder
        self.clock = time_of(clock)
        self.entropy = entropy or SystemEntropy()
        self._rules = brain or Rules(read_windows)
        self._models = models
        self._waiting = waiting
        self.unminded: set[str] = set()
        self._trust = trust
        self._unlock = unlock
        self._vfs = vfs
        self._deciding = asyncio.Lock()
        self._turning = asyncio.Lock()
        self.woken = asyncio.Event()
        self._resting: dict[str, Moment] = {}
        self.unreadable: dict[str, set[str]] = {}
        """What the owner was told of calendars that cannot be read, by the threads that wait for them."""
        self.states = {}
        self.sentences = NOTICES
        self.deeds: dict[str, asyncio.Task[bool]] = {}
        self._tidied: Moment | None = None
        self.changes = Changes([feature.change for feature in FEATURES])
        self._line: asyncio.Task[None] | None = None
        self.connection: RelayConnection | None = None
        self._lost_since: Moment | None = None
        self._running = False
        """Whether the wheel turns by itself: then a thought under way ends by itself too."""

    # Opening and closing.

    async def __aenter__(self) -> Self:
        require_agent(self.folder)
        async with contextlib.AsyncExitStack() as stack:
            self.post = Post(
                self.folder, clock=self.clock, entropy=self.entropy, trust=self._trust, vfs=self._vfs
            )
            stack.callback(self.post.store.close)
            if self._unlock is not None:
                self._unlock(self.post.store)
            lock = FolderLock(self.folder, purpose="tacit agent")
            stack.callback(lock.release)
            self.me = self.post.store.me().address
            self.journal = Journal(self.folder, FOLD, clock=self.clock, entropy=self.entropy, vfs=self._vfs)
            stack.callback(self.journal.close)
            self.vault = Vault(self.post.store, self.entropy, lasting=LASTING, vfs=self._vfs)
            stack.callback(self.vault.close)
            await stack.enter_async_context(self.post)
            self._setting = SettingValues(self.journal, self.vault)
            self.settings = self.outside = Outside(self.folder, self._setting, self.clock)
            stack.push_async_callback(self.outside.close)
            self.mind = Mind(
                self._rules,
                self._models,
                setting=self._setting,
                zone=self.outside.zone,
                store=self.post.store,
                clock=self.clock,
                entropy=self.entropy,
                waiting=self._waiting,
            )
            stack.push_async_callback(self.mind.close)
            await self._purge_due()
            spaces.erase_left(self)
            await setting_up.resume(self)
            self._stack = stack.pop_all()
        return self

    async def _purge_due(self) -> bool:
        """Let go of contacts that were blocked or removed, and are not gone yet (A2ACP-196).

        Before anything else at a start: while no agent ran, or as the disk was full or the process ended.
        """
        found = purging.due(self.post.store)
        for peer in found:
            await self.forget(peer)
        return bool(found)

    async def __aexit__(self, *_: object) -> None:
        for task in self.deeds.values():
            # What it did is known to whoever did it; under its id it is asked again at the next start.
            task.cancel()
        await asyncio.gather(*self.deeds.values(), return_exceptions=True)
        await self.disconnect()
        await self._stack.aclose()

    def connect(self) -> RelayConnection:
        """Begin to hold the line to the relay."""
        if self.connection is None:
            self.connection = self.post.connection(self.woken.set)
            self._line = asyncio.get_running_loop().create_task(self.connection.run())
        return self.connection

    async def disconnect(self) -> None:
        """Let go of the line; what waits stays."""
        if self._line is not None:
            self._line.cancel()
            await asyncio.gather(self._line, return_exceptions=True)
        self._line = self.connection = None

    # Decisions.

    def workspace(self, now: Moment | None = None) -> Workspace:
        """For one decision."""
        return Workspace(
            book=self.journal.layer(),
            values=self.vault,
            me=self.me,
            now=self.clock.now() if now is None else now,
            draw=self.entropy.draw,
            peer_of=self._peer,
            signer=lambda: self.post.store.me().identity,
            policy=self.outside.policy(),
            profile=self.outside.profile(),
            handlers=self.outside.handlers(),
            choices=self.outside.choices(),
            minded=self.mind.has_models,
            ended=remembering.finished,
        )

    def _peer(self, peer: str) -> Peer:
        known = self.post.store.contact(peer)
        if known is None:
            return Peer(peer)
        # What is held waits for the packet before it, and with the first of them comes what they can do.
        told = "SELECT 1 FROM history WHERE direction='in' AND peer=? AND state<>'held' LIMIT 1"
        heard = self.post.store.row(told, peer)
        version = self.post.outbox.version_with(peer)
        blocked = known.reputation.blocked
        return Peer(
            peer,
            known.features,
            heard is not None,
            version=version,
            welcome=known.welcome,
            blocked=blocked,
            key=known.pin.keys.signing if known.pin is not None else b"",
        )

    async def decide(self, decision: Callable[[Workspace], Decided], now: Moment | None = None) -> Decided:
        """Make one decision and everything of it durable; what it gives back."""
        async with self._deciding:
            ws = self.workspace(now)
            decided = decision(ws)
            await self._keep(ws)
        return decided

    async def _keep(self, ws: Workspace) -> bool:
        if not ws.records:
            return False
        names = {one.name for one in ws.records if isinstance(one, records.Set)}
        for name in names:
            self._setting(name)
        gone = self._replaced(ws)
        await self.journal.append(ws.book, ws.records, ws.now, keep=ws.kept, gone=gone)
        replaced = spaces.replaces(ws.kept) or any(
            isinstance(one, memory_records.Remembered) for one in ws.records
        )
        self.vault.owes_erasing = self.vault.owes_erasing or bool(gone) or replaced
        spaces.erase_left(self, ws.records)
        for one in ws.records:
            self.changes.tell(one)
            if isinstance(one, memory_records.Remembered) and one.why == memory_records.LEARNED:
                erasing.over(self, one.peer, one.thread_id)
            if isinstance(one, records.Moved) and one.after in TERMINAL:
                thread = self.journal.book.threads[one.thread_id]
                self.post.inbox.threads.over(thread.peer, thread.wire)
        if names:
            self.outside.changed()
            for thread_id in self.unreadable:
                self._resting.pop(thread_id, None)
        if SETTING in names:
            self.mind.changed()
        self.woken.set()
        return True

    def _replaced(self, ws: Workspace) -> list[str]:
        """The values that a decision puts others in the place of, and packets that the post has."""
        found: list[str] = []
        book = self.journal.book
        for one in ws.records:
            if isinstance(one, records.Set):
                found.append(book.settings.get(one.name, ""))
            elif isinstance(one, records.Changed) and (before := book.threads.get(one.thread_id)) is not None:
                named = [name for name in ("goal", "intent", "why") if getattr(one, name) is not UNSET]
                found.extend(getattr(before, name) for name in named)
            elif isinstance(one, records.Posted):
                found.append(one.packet_id)
            elif isinstance(one, guest_records.GuestEnded):
                found.append(book.part(GuestTables).guests[one.guest_id].secret)
            elif isinstance(one, memory_records.Unlearned) and relationship.name_of(one.peer) not in ws.kept:
                found.append(relationship.name_of(one.peer))
            else:
                found.extend(spaces.gone(book, one))
        return [one for one in found if one]

    async def tidy(self) -> None:
        """Let go of values that nothing needs any more; not while a decision is about to name its own."""
        async with self._deciding:
            self._tidied_up()

    def _tidied_up(self) -> None:
        book = self.journal.book
        threads = [book.threads.get(name) for name in book.open_threads]
        days = self.post.store.choice(HISTORY_DAYS)
        until = None if days == FOR_EVER else earlier(self.clock.confirmed(), int(days) * DAY)
        peers = [one.peer for one in threads if one is not None]
        peers += [book.part(GuestTables).guests[name].address for name in book.part(GuestTables).open_guests]
        self.vault.tidy(book.settings.values(), peers, until)

    # The wheel.

    async def settle(self) -> None:
        """Do all that can be done now, and what is under way; returns when everything waits for others."""
        async with self._turning:
            while await self._turn() or await self.any_deed():
                pass

    async def refresh(self) -> None:
        """The same, unless it is being done: nobody waits for a slow service or a model only to look."""
        if self._turning.locked():
            self.woken.set()
            return
        async with self._turning:
            while await self._turn() or await self.any_deed(thoughts=not self._running):
                pass

    async def _turn(self) -> bool:
        did = await self._purge_due()
        did = await self.arrived() or did
        did = await self._time() or did
        for thread_id in self.in_order():
            # A server that does not answer is waited for beside the wheel, as a model is.
            if not self.mind.has_models and thread_id not in self.unreadable:
                did = await self._isolated(thread_id, self._consider) or did
            elif f"{THOUGHT}{thread_id}" not in self.deeds and self.may_think(thread_id):
                self.beside(f"{THOUGHT}{thread_id}", self._isolated(thread_id, self._consider))
        did = self.reap() or did
        for thread_id in list(self.journal.book.acting):
            if thread_id not in self.deeds:
                did = await self._isolated(thread_id, self._act) or did
        for feature in FEATURES:
            did = await feature.turn(self) or did
        return await self._post_all() or did

    async def _isolated(self, thread_id: str, work: Callable[[str], Any]) -> bool:
        """One thread's trouble is not another's."""
        if self._resting.get(thread_id, Moment(0)) > self.clock.now():
            return False
        try:
            return await work(thread_id)
        except ModelAway:
            self.unminded.add(thread_id)
            return False
        except CalendarUnreadable as fault:
            await unreadable.waits(self, thread_id, fault.reasons)
            self._resting[thread_id] = Moment(self.clock.now() + PAUSE)
            return False
        except Unavailable as away:
            _log.info("a thread waits: %s", away)
            if thread_id not in self._resting:
                await self.decide(lambda ws: ws.notice(thread_id, "waits"))
            self._resting[thread_id] = Moment(self.clock.now() + PAUSE)
            return False
        except (Refused, PeerFault) as fault:
            code = fault.code if isinstance(fault, Refused) else "peer_fault"
            _log.warning("a thread is paused: %s", code)
            await self.decide(lambda ws: _pause(ws, thread_id, code))
            return True
        except OWN_FAULTS:
            raise
        except Exception as fault:  # noqa: BLE001 - a mistake of ours costs one thread, not all of them
            _log.error("a thread is paused: %s", place_of(fault))
            await self.decide(lambda ws: _pause(ws, thread_id, "fault"))
            return True

    async def _time(self) -> bool:
        # A clock that leapt ends nothing: what is due by it alone waits.
        confirmed = self.clock.confirmed()
        if not any(at <= confirmed for at in self.journal.book.due.values()):
            return await self._outage()
        return bool(await self.decide(ticking.tick, confirmed))

    async def _outage(self) -> bool:
        """Tell the owner of threads that a lost line has held up for too long (A2ACP-211)."""
        if self.connection is None or self.connection.connected.is_set():
            self._lost_since = None
            return False
        now = self.clock.now()
        self._lost_since = self._lost_since or now
        lost = now - self._lost_since
        waiting = ticking.held_up(self.workspace(), lost)
        for thread_id in waiting:
            await self.decide(lambda ws, thread_id=thread_id: ticking.outage(ws, thread_id))
        return bool(waiting)

    async def _consider(self, thread_id: str) -> bool:
        """Our turn in one thread."""
        ws = self.workspace()
        thread = ws.thread(thread_id)
        token = thread.consider
        waits = ws.open_questions(thread_id, "consent", "scope", "escalation")
        # An urgent thread's question takes in what came after it; what it was asked for is not asked again.
        stands = bool(waits) and (not thread.urgent or any(one.subject == token for one in waits))
        if not token or thread.paused or stands:
            return False
        task = considering.reading_task(ws, thread)
        if task is not None:
            read = await self.thought(thread_id, token, task)
            if read is not None:
                await self.decide(lambda ws: considering.goal_read(ws, thread_id, token, read))
            return True
        busy = await self._busy(considering.calendar_span(ws, view_of(ws, thread)), thread_id)
        seen = turns.outlook(ws, thread, busy)
        thought = await self.thought(thread_id, token, seen.task) if seen.task is not None else None
        if seen.task is not None and thought is None:
            return True
        async with self._deciding:
            ws = self.workspace()
            turns.take(ws, seen, thought)
            did = await self._keep(ws)
        self._resting.pop(thread_id, None)
        self.unreadable.pop(thread_id, None)
        return did

    async def _busy(self, span: Span | None, thread_id: str) -> Busy | None:
        """When the owner is busy; `CalendarUnreadable` when that cannot be known now."""
        if span is None:
            return None
        facts = cast("dict[str, Any]", self.vault.value(facts_name(thread_id)) or {})
        known = busy_within({**self.outside.facts(), **facts}, span)
        if known is None:
            busy = await self.outside.busy(span)
        else:
            # Another program's facts stand in the place of our connectors, beside what we entered ourselves.
            busy = together((known, await self.outside.own_busy(span)))
        if not busy.complete:
            raise CalendarUnreadable(busy.notices)
        return busy

    async def slot_free(self, slot: Span | None, thread_id: str) -> bool:
        """Whether a slot is still free in every calendar, asked now."""
        busy = await self._busy(slot, thread_id)
        if slot is None or busy is None:
            return True
        return not any(one.start < slot.end and slot.start < one.end for one in busy.spans)

    async def _act(self, thread_id: str) -> bool:
        """Go on with what was confirmed."""
        ws = self.workspace()
        thread = ws.thread(thread_id)
        found = acting.next_deed(ws, thread)
        if found is None:
            slot_free = True
            if thread.state is State.CONFIRMED and thread.proposal is not None:
                choice = proposing.choice_of(thread.proposal)
                slot_free = await self.slot_free(
                    proposal_slots.slot_of(proposal_slots.chosen_details(ws, thread, choice), ws), thread_id
                )
            async with self._deciding:
                ws = self.workspace()
                acting.advance(ws, thread_id, slot_free=slot_free)
                return await self._keep(ws)
        deed, undoing = found
        self.beside(
            thread_id,
            self._isolated(thread_id, lambda _: self._carry_out(thread_id, deed, undoing=undoing)),
        )
        return False

    async def _carry_out(self, thread_id: str, deed: actions.Deed, *, undoing: bool) -> bool:
        handler = self.outside.handler(deed.action)
        if not undoing and self.outside.begins_own(deed.action):
            await self.set_to(OWN_BEGUN, True)
        if handler is None:
            result = actions.Result(actions.FAILED, "no such action is set up here any more")
        else:
            result = await (handler.undo(deed) if undoing else handler.do(deed))
        if undoing or result.status != actions.UNKNOWN:
            ended = acting.undone if undoing else acting.ended
            await self.decide(lambda ws: ended(ws, thread_id, deed.action_id, result))
        # What did not succeed and is still to be done is tried again after a pause.
        if result.status != actions.DONE and acting.is_under_way(self.workspace(), thread_id, deed.action_id):
            raise Unavailable("an action's outcome is not known yet")
        self._resting.pop(thread_id, None)
        return True

    async def _post_all(self) -> bool:
        """Hand to the post what was decided; under its own id, so that a repeat changes nothing."""
        did = False
        for packet_id, thread_id in list(self.journal.book.unposted.items()):
            cleared = self._cleared(packet_id, thread_id)
            if cleared is not None:
                try:
                    self.post.outbox.post(cleared)
                except Refused as refused:
                    code = refused.code
                    await self.decide(lambda ws, one=thread_id, code=code: ws.notice(one, "not_sent", code))
            await self.decide(lambda ws, one=packet_id: ws.say(records.Posted(one)))
            did = True
        if did and self.connection is not None:
            self.connection.wake()
        return did

    def _cleared(self, packet_id: str, thread_id: str) -> Any:
        thread = self.journal.book.threads.get(thread_id)
        kept = self.vault.raw(packet_id)
        entry = next((one for one in thread.packets if one.packet_id == packet_id), None) if thread else None
        if thread is None or entry is None or kept is None:
            return None
        draft = PacketDraft(
            thread.peer, entry.type, thread.wire, packet_id, entry.at, cast("dict[str, Any]", parse(kept))
        )
        return restored(draft, named=entry.mac, hashed=self.vault.keyed_hash(kept))

    async def _tidy_daily(self) -> None:
        now = self.clock.now()
        if self._tidied is None or abs(now - self._tidied) >= DAY:
            self._tidied = now
            await self.tidy()

    async def carried(self, patience: float, *, quiet: float = 0.0) -> None:
        """Wait until the relay has what waits to leave, and what it had for us is dealt with.

        `quiet` is for how many seconds nothing may have come: a relay does not say that it has no more.
        """
        loop = asyncio.get_running_loop()
        last = loop.time()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while True:
                    self.woken.clear()
                    await self.settle()
                    busy = self.post.outbox.waiting(limit=1) or self.post.inbox.unhandled(limit=1)
                    last = loop.time() if busy or self.woken.is_set() else last
                    if not busy and loop.time() - last >= quiet:
                        break
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(0.05):
                            await self.woken.wait()
                        last = loop.time()
        await self.settle()

    async def run(self, stopped: asyncio.Event) -> None:
        """Hold the line and turn the wheel until told to stop."""
        self.connect()
        self._running = True
        while not stopped.is_set():
            self.woken.clear()
            away = await self._turned_or_away()
            if self._line is not None and self._line.done():
                # It ends by itself only for a reason the owner must hear.
                self._line.result()
            moment = min(self.journal.book.due.values(), default=None)
            wait = LOOK_AROUND
            if moment is not None and not away:
                wait = min(wait, max(0.0, (moment - self.clock.confirmed()) / SECOND))
            waiting = [asyncio.ensure_future(self.woken.wait()), asyncio.ensure_future(stopped.wait())]
            await asyncio.wait(waiting, timeout=wait or 0.01, return_when=asyncio.FIRST_COMPLETED)
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            if not self.woken.is_set() and not away:
                # At rest: nobody waits for it.
                self.vault.erase()

    async def _turned_or_away(self) -> bool:
        """Turn the wheel; True when this device could not write: nothing was lost, it is tried again."""
        try:
            async with self._turning:
                while await self._turn():
                    pass
            await self._tidy_daily()
        except Unavailable as away:
            _log.warning("the agent waits: %s", away)
            return True
        return False


def _pause(ws: Workspace, thread_id: str, code: str) -> None:
    ws.change(thread_id, paused=True)
    ws.notice(thread_id, "paused", code)
