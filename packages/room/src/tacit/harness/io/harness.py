"""The harness: one agent in one room, from the hub to the model and back, for as long as it is asked to run.

Rows: C2A-080, C2A-082, C2A-160, C2A-162, C2A-163, C2A-167, C2A-180, C2A-201, C2A-219. Composition and order
only: an input is judged by `tacit.harness.conduct` under one lock, what must survive is written, and only
then is anything done. Nothing that matters is in memory alone: killed at any moment it carries on from its
store, and says nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from tacit.base.errors import Bug, Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import time_of
from tacit.c2a.activity import ActivityWanted
from tacit.c2a.io.session import AgentSession, Delivery, Disconnected, Incoming
from tacit.c2a.messages import Connected, Delivered, read_delivered, without_lines
from tacit.c2a.notifications import Cancelled, Continued, PermissionDecided, Status, Typing, Usage
from tacit.c2a.retry import OutcomeUnknown, passes
from tacit.c2a.vocabulary import EXPOSURE, STRENGTH, Mode, Policy
from tacit.harness.budget import day_of, next_day, until_next_day
from tacit.harness.conduct import Conduct, ConductOptions
from tacit.harness.effects import (
    Abort,
    Begin,
    Claim,
    Defer,
    Effect,
    ModelTurn,
    PostAnswer,
    Postpone,
    React,
    Report,
    Settle,
    Spent,
    SteerTurn,
    Tell,
)
from tacit.harness.io.activity_log import ActivityLog
from tacit.harness.io.context import HarnessContext, Teller, tell_nobody, whole_event
from tacit.harness.io.files import AgentFiles
from tacit.harness.io.kept_patterns import KeptPatterns
from tacit.harness.io.model_calls import ModelCalls
from tacit.harness.io.outbox_sender import REST, OutboxSender
from tacit.harness.io.permissions import Permissions
from tacit.harness.io.persist import persist
from tacit.harness.io.recovery import recovered
from tacit.harness.io.store import HarnessStore, StoreTransaction
from tacit.harness.io.tool_door import ToolDoor
from tacit.harness.io.turn_runner import TurnRunner
from tacit.harness.io.work_teller import WorkTeller
from tacit.harness.prompt import BOUNDARY_BYTES
from tacit.harness.session_view import SessionView, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from tacit.base.moment import Moment
    from tacit.base.ports import Clock
    from tacit.harness.drivers.port import Driver
    from tacit.harness.io.agent_config import AgentConfig

log: Final = logging.getLogger("tacit.harness")
Answer = TypeVar("Answer")
Write: TypeAlias = "Callable[[StoreTransaction], None]"
TIDY_EVERY: Final = 1_000
"""Deliveries after which old ones are forgotten."""
REMEMBERED_WHOLE: Final = 1_000
"""Events that are known to be whole; of the oldest it is then no longer known, and it is looked up."""
STOP_WITHIN: Final = 3.0
"""Seconds in which what is in the outbox may still leave when the harness is asked to stop."""


class Harness:
    """One agent's harness."""

    def __init__(
        self,
        config: AgentConfig,
        driver: Driver,
        *,
        beside: Sequence[Driver] = (),
        clock: Clock | None = None,
        tell: Teller = tell_nobody,
    ) -> None:
        """`beside` are the drivers of the further slots, in their order."""
        if len(beside) != len(config.more_slots):
            raise Bug("every slot has a place and a driver")
        self.config = config
        self._driver = driver
        self._beside_drivers = tuple(beside)
        self._clock = time_of(clock)
        self._tell = tell
        self._one = asyncio.Lock()
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._known: dict[str, tuple[str, str, str]] = {}
        self._paused_for = ""
        self._taken = 0

    @property
    def is_stopping(self) -> bool:
        """Has it been asked to end?"""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ask it to end; `run` returns when it has."""
        self._stopping.set()

    async def run(self) -> None:
        """Until `stop`. `Refused`: the hub or the driver does not want it; `Unavailable`: cannot start."""
        try:
            self.config.state.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = FolderLock(
                self.config.state,
                purpose=f"tacit join as {self.config.name}",
                otherwise="join under another name",
            )
        except OSError as error:
            raise Unavailable(f"the agent's folder cannot be used: {error.strerror}") from error
        try:
            store = HarnessStore(self.config.state / "harness.db")
            self._clock.remember_in(self.config.state, store.newest)
            try:
                await self._run(store)
            finally:
                store.close()
        finally:
            lock.release()

    async def _run(self, store: HarnessStore) -> None:
        config, traits = self.config, self._driver.traits
        self._known = store.known()
        options = ConductOptions(
            traits.steers,
            traits.inserts,
            traits.boundaries,
            claims_roles=config.claims_roles,
            ambient=config.ambient,
            slots=len(config.slots),
            draw=lambda: SystemEntropy().draw(BOUNDARY_BYTES).hex(),
        )
        self._conduct = Conduct(options)
        session = AgentSession(
            config.url, config.token, habits=config.habits, known=self._drops, proven_by=config.proven_by
        )
        self._context = context = HarnessContext(
            config.name, session, store, SessionView(config.name), self._clock, self._tell, config.model
        )
        context.ask_again = self._ask_again
        self._sender = OutboxSender(context)
        self._work = WorkTeller(context, self._conduct)
        files = AgentFiles(config.url, config.token, config.proven_by)
        calls = ModelCalls(context, self._conduct, self._sender, self._one, files, self._workplace)
        kept = KeptPatterns(config.state / "permissions.json")
        secrets = (config.token, *config.secrets)
        self._permissions = Permissions(context, kept, self._beside, self, secrets=secrets)
        self._activity = ActivityLog(context, config.state / "activity", self._beside, secrets)
        self._turns = TurnRunner(
            config,
            (self._driver, *self._beside_drivers),
            context,
            self._conduct,
            self,
            files=files,
            permissions=self._permissions,
            activity=self._activity,
        )
        try:
            async with session, ToolDoor(calls.call, calls.tools) as door:
                await self.unless_stopped(session.is_up())  # agents ask only once which tools there are
                await self._turns.start(door)
                if self._stopping.is_set():
                    return
                self._tell("started", driver=traits.name)
                await self._live(context)
        finally:
            await self._turns.close()

    def _workplace(self, turn: ModelTurn) -> str | None:
        """The folder from which files may go into the room."""
        return self._turns.workplace(turn)

    # -- for what people are asked

    async def waits(self, turn_id: str, message: str) -> None:
        """A running turn waits for a person, or goes on: the hub hears it with the other work."""
        await self.step(lambda now: self._conduct.waits(turn_id, message, now))

    async def permitted(self, event_ids: Sequence[str], note: str) -> None:
        """A person has answered what these events waited for."""
        await self.step(lambda now: self._conduct.permitted(event_ids, note, now))

    def goes_on(self, event_ids: Sequence[str]) -> bool:
        """Is a turn run for these events, or will one be?"""
        return self._conduct.has_work_on(event_ids)

    def worktree(self, turn: ModelTurn) -> str:
        """The name of the working tree in which a turn runs, where it has one."""
        return self.config.slots[turn.slot].worktree

    # -- living

    async def _live(self, context: HarnessContext) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                held = self._permissions.restore()
                await self.step(lambda now: recovered(context, self._conduct, now, held))
                await self._permissions.follow_all()
                await context.write(lambda writing: writing.forget(self._clock.confirmed()))
                self._check_budget(self._clock.now())
                await self.step(self._conduct.due)
                hearing = tasks.create_task(self._hear(), name="hear")
                timing = tasks.create_task(self._keep_time(), name="time")
                sending = tasks.create_task(self._sender.run(), name="post")
                telling = tasks.create_task(self._work.run(), name="work")
                context.outgoing.set()
                await self._stopping.wait()
                hearing.cancel()
                timing.cancel()
                await self._leave()
                sending.cancel()
                telling.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from group

    async def _leave(self) -> None:
        """Say what is ready, tell the hub, end. A turn under way is begun again by the next process."""
        self._permissions.close()
        await self._turns.close()
        try:
            async with asyncio.timeout(STOP_WITHIN):
                if self._context.session.agreed is not None:
                    await self._sender.drain()
                    await self._context.session.tell(Status("stopped"))
        except TimeoutError:
            self._tell("left_in_outbox")
        self._tell("stopped")

    # -- inputs

    async def step(self, work: Callable[[Moment], list[Effect]]) -> None:
        """One input: judged, written, then acted on."""
        self._do(await self._judged(work))

    async def _judged(
        self, work: Callable[[Moment], list[Effect]], with_it: Write | None = None
    ) -> list[Effect]:
        """What follows from an input, on disk; `with_it` is written in the same transaction, before it."""
        async with self._one:
            now = self._clock.now()
            self._turns.count(now)
            effects = work(now)
            await self._persist(effects, now, with_it)
        return effects

    def _do(self, effects: list[Effect]) -> None:
        self._act(effects)
        self._changed.set()
        self._context.work_changed.set()

    async def _hear(self) -> None:
        async for item in self._context.session.incoming():
            await self._heard(item)
        raise Unavailable("the session with the hub has ended")

    async def _heard(self, item: Incoming) -> None:
        match item:
            case Delivery():
                await self._delivered(item)
            case Cancelled():
                event_id = item.event_id or self._context.store.event_of_request(item.request_id)
                if event_id is not None:
                    self._context.view.withdrawn(event_id)
                    self._tell("cancelled", event_id=event_id)
                    if "deleted" in item.reason:  # what was taken back is not shown by way of its work
                        await self._activity.taken_back(event_id)
                    await self.step(lambda now: self._conduct.cancelled(event_id, now))
            case Continued():
                self._context.whole.pop(item.event_id, None)
                await self.step(lambda now: self._conduct.continued(item.event_id, now))
            case PermissionDecided():
                self._permissions.heard(item)
            case ActivityWanted():
                self._beside(self._activity.wanted(item))
            case Typing():
                self._conduct.typing(item.conversation, item.author, self._clock.now(), typing=item.typing)
                self._changed.set()
            case Connected():
                await self._connected(item)
            case Disconnected():
                self._context.whole.clear()
                self._tell("disconnected", reason=item.reason)

    def _keep_whole(self, event: Delivered, now: Moment) -> None:
        """Is it known to be all that its author said? Only while the hub tells when more comes."""
        whole, agreed = self._context.whole, self._context.session.agreed
        if agreed is None or "continued" not in agreed.tells or event.late or event.attempt > 1:
            whole.pop(event.event_id, None)
            return
        whole[event.event_id] = now
        while len(whole) > REMEMBERED_WHOLE:
            del whole[next(iter(whole))]

    async def _delivered(self, item: Delivery) -> None:
        event, now = item.event, self._clock.now()
        # The lines before it are of use only while this process has them fresh.
        params = without_lines(item.params)
        self._known[event.event_id] = ("waiting", event.mode.value, event.policy.value)
        self._keep_whole(event, now)
        self._context.view.heard(event)
        runs = self._context.store.runs(event.event_id)
        effects = await self._judged(
            lambda now: self._conduct.heard(event, now, runs=runs),
            lambda writing: writing.accept(event.event_id, item.request_id, params, now),
        )
        await item.accept()
        self._tell("heard", event_id=event.event_id, policy=event.policy.value, mode=event.mode.value)
        self._do(effects)
        self._taken += 1
        if self._taken % TIDY_EVERY == 0:
            await self._context.write(lambda writing: writing.forget(self._clock.confirmed()))
            self._known = self._context.store.known()

    async def _connected(self, agreed: Connected) -> None:
        self._tell("connected", version=agreed.version)
        self._context.settings = settings_of(agreed.settings)
        interrupt = bool(agreed.capabilities.get("injection", {}).get("interrupt"))
        self._conduct.settings = self._context.settings
        self._conduct.options = replace(self._conduct.options, interrupt=interrupt)
        for conversation in sorted(self.config.ambient):
            # Letting ambient traffic through is the owner's explicit choice, and on record (C2A-080).
            await self._context.session.log(
                "warning", "ambient traffic is let through", {"conversationId": conversation}
            )
        self._permissions.connected()
        await self._activity.connected()
        await self.status()
        self._work.connected()
        self._context.outgoing.set()

    async def _keep_time(self) -> None:
        while True:
            self._changed.clear()
            due = self._conduct.next_due
            try:
                wait = None if due is None else max(0.0, (due - self._clock.now()) / 1_000_000)
                async with asyncio.timeout(wait):
                    await self._changed.wait()
            except TimeoutError:
                was_away = self._conduct.paused_until is not None
                await self.step(self._conduct.due)
                if was_away:
                    await self.status()

    def _is_repeat(self, params: dict[str, Any]) -> bool:
        """Was this event taken before (C2A-162)?

        Not a repeat: what we deferred ourselves and the hub brings again, and a knock that has become an
        obligation with its text.
        """
        known = self._known.get(str(params["eventId"]))
        if known is None:
            return False
        state, mode, policy = known
        if state == "deferred":
            return False
        more = EXPOSURE.index(Mode(params["injection"]["mode"])) > EXPOSURE.index(Mode(mode))
        stronger = STRENGTH.index(Policy(params["policy"])) > STRENGTH.index(Policy(policy))
        return not (mode == Mode.NOTIFY and more and stronger)

    def _drops(self, params: dict[str, Any]) -> bool:
        """Is this a repeat? Then it is answered by itself, and only what it says of its deadline is new."""
        is_repeat = self._is_repeat(params)
        if is_repeat:
            self._work.brought_again(read_delivered(params))
        return is_repeat

    # -- what must survive

    async def _persist(self, effects: list[Effect], now: Moment, with_it: Write | None) -> None:
        durable = [one for one in effects if not isinstance(one, Abort | SteerTurn | Claim | Tell | Report)]
        if not durable and with_it is None:
            return

        def write(writing: StoreTransaction) -> None:
            if with_it is not None:
                with_it(writing)
            for effect in durable:
                persist(writing, effect, self._context, now)

        await self._context.write(write)
        for effect in durable:
            self._note_end(effect)

    def _note_end(self, effect: Effect) -> None:
        """What the next repeat of an ended event is."""
        if isinstance(effect, Settle | Postpone):
            _, mode, policy = self._known.get(
                effect.event_id, ("", Mode.NOTIFY.value, Policy.MAY_RESPOND.value)
            )
            self._permissions.settled(effect.event_id)
            state = "deferred" if isinstance(effect, Postpone) else "done"
            self._known[effect.event_id] = (state, mode, policy)

    # -- what is done

    def _act(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Begin():
                    self._tasks.create_task(self._turns.run(effect.turn), name="turn")
                case Abort():
                    self._tasks.create_task(self._turns.cancel(effect.turn_id), name="abort")
                case SteerTurn():
                    self._tasks.create_task(self._turns.steer(effect), name="steer")
                case Claim():
                    self._tasks.create_task(self._claim(effect.event), name="claim")
                case Spent():
                    self._tasks.create_task(self._account(effect), name="account")
                case Tell():
                    self._tell("told", level=effect.level, message=effect.message)
                    self._tasks.create_task(self._say_log(effect), name="log")
                case Report():
                    self._work.ended(effect.work)
                case Settle() | React() | Defer() | PostAnswer():
                    self._context.outgoing.set()
                case _:
                    continue

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that nobody waits for; not any more while the harness falls."""
        try:
            self._tasks.create_task(work, name="beside")
        except RuntimeError:
            work.close()

    async def _ask_again(self, event: Delivered, note: str) -> None:
        runs = self._context.store.runs(event.event_id)
        self._known[event.event_id] = ("waiting", event.mode.value, event.policy.value)
        await self.step(lambda now: self._conduct.ask_again(event, note, now, runs=runs))

    async def one_step(self, work: Callable[[Moment], tuple[Any, list[Effect]]]) -> Any:
        """As `_step`, with something to give back at once."""
        found: list[Any] = []

        def judged(now: Moment) -> list[Effect]:
            order, effects = work(now)
            found.append(order)
            return effects

        await self.step(judged)
        return found[0]

    async def _claim(self, event: Delivered) -> None:
        """Take on what was put up for a role; the winner gets the whole event (C2A-158)."""
        try:
            result = await self.unless_stopped(self._claimed(event.event_id))
        except Refused as refused:
            self._tell("claim_lost", event_id=event.event_id, code=refused.code)
            await self.step(lambda _now: [Settle(event.event_id, "ignored")])
            return
        if result is None:
            return
        self._tell("claimed", event_id=event.event_id)
        whole = whole_event(event, result.get("event"))
        self._context.view.heard(whole)
        await self.step(lambda now: self._conduct.heard(whole, now, claimed=True))

    async def _claimed(self, event_id: str) -> dict[str, Any]:
        """What the hub says to a claim, asked for until it says something."""
        while True:
            try:
                return await self._context.session.call("chat.claim", eventId=event_id)
            except Refused as refused:
                if not passes(refused):
                    raise
            except (Unavailable, OutcomeUnknown) as away:
                log.info("a claim waits for the hub", extra={"reason": type(away).__name__})
            await asyncio.sleep(REST)

    async def unless_stopped(self, asking: Coroutine[Any, Any, Answer]) -> Answer | None:
        """What the hub answers; None when the harness is asked to stop before: a stop waits for no hub."""
        answer = asyncio.create_task(asking)
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({answer, stopped}, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else None
        finally:
            answer.cancel()
            stopped.cancel()
            await asyncio.wait({answer, stopped})

    # -- telling

    async def _account(self, spent: Spent) -> None:
        usage = spent.usage
        told = Usage(
            turn=spent.turn.id,
            event_ids=tuple(one.event_id for one in spent.turn.events),
            tokens_in=usage.input,
            tokens_out=usage.output,
            tokens_cached=usage.cached,
            prompt_bytes=self._turns.prompt_bytes.pop(spent.turn.id, 0),
            duration_ms=spent.duration_ms,
            cost=spent.cost_usd or 0.0,
            currency="" if spent.cost_usd is None else "USD",
            model=self.config.model,
            driver=self._driver.traits.name,
            estimated=spent.estimated,
        )
        self._check_budget(self._clock.now())
        await self.answer()
        await self._context.session.tell(told)

    def _check_budget(self, now: Moment) -> None:
        """Stop and tell when the day's budget is used up."""
        reason = self.config.budget.used_up(self._context.store.spent_on(day_of(now)))
        if not reason or self._paused_for == day_of(now):
            return
        self._paused_for = day_of(now)
        words = until_next_day(reason, now)
        self._tell("budget", message=words)
        effects = [Tell("warning", words), *self._conduct.pause(next_day(now), words)]
        self._tasks.create_task(self.step(lambda _now: effects), name="pause")
        self._tasks.create_task(self.status(), name="status")

    async def answer(self) -> None:
        """Let what is ready to be said go first; what the hub cannot take now waits in the outbox."""
        await self._sender.tried()

    async def status(self) -> None:
        """Tell the hub whether the agent is busy."""
        conduct = self._conduct
        busy = bool(conduct.turns)
        status = "away" if conduct.paused_until is not None else "busy" if busy else "idle"
        detail = conduct.pause_reason if status == "away" else ""
        await self._context.session.tell(Status(status, detail))

    async def _say_log(self, effect: Tell) -> None:
        await self._context.session.log(effect.level, effect.message, effect.data)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one failure behind a group's; what follows from it is in its cause."""
    inner = group.exceptions[0]
    if isinstance(inner, BaseExceptionGroup):
        return _first(cast("BaseExceptionGroup[BaseException]", inner))
    return inner
