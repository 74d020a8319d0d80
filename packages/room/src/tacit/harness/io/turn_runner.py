"""Runs the turns that the conduct begins: prepared, with their files, by the driver, to their one end.

Rows: C2A-082, C2A-163, C2A-180. What is asked of a driver is made here, and what comes back is priced, told
and given to the conduct. A fault of ours or of a driver costs the turn and not the agent.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tacit.base.errors import Bug, TacitError
from tacit.base.quoting import set_off
from tacit.harness.activity import struck
from tacit.harness.budget import day_of, next_day, until_next_day
from tacit.harness.drivers.port import Failure, FailureKind, StandingInstructions, TurnOutcome, TurnRequest
from tacit.harness.io.context import at_hand, prepared, remember
from tacit.harness.io.turn_lock import at_work
from tacit.harness.io.turn_watch import TurnWatch
from tacit.harness.prices import priced
from tacit.harness.prompt import standing_rules, turn_prompt
from tacit.harness.session_view import session_name, slot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from tacit.base.moment import Moment
    from tacit.harness.conduct import Conduct
    from tacit.harness.drivers.port import Driver, TurnAllowance, TurnFile
    from tacit.harness.effects import Effect, ModelTurn, SteerTurn
    from tacit.harness.io.activity_log import ActivityLog
    from tacit.harness.io.agent_config import AgentConfig
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.files import AgentFiles
    from tacit.harness.io.permissions import Permissions
    from tacit.harness.io.tool_door import ToolDoor

log: Final = logging.getLogger("tacit.harness")
Answer = TypeVar("Answer")


class Shell(Protocol):
    """What the harness does for a turn: one input at a time, and nothing that a stop has to wait for."""

    @property
    def is_stopping(self) -> bool:
        """Has the harness been asked to end?"""
        ...

    async def step(self, work: Callable[[Moment], list[Effect]]) -> None:
        """One input: judged, written, then acted on."""
        ...

    async def one_step(self, work: Callable[[Moment], tuple[Any, list[Effect]]]) -> Any:
        """As `step`, with something to give back at once."""
        ...

    async def unless_stopped(self, asking: Coroutine[Any, Any, Answer]) -> Answer | None:
        """What is asked for; None when the harness is asked to stop before."""
        ...

    async def answer(self) -> None:
        """Let what is ready to be said go first."""
        ...

    async def status(self) -> None:
        """Tell the hub whether the agent is busy."""
        ...


class TurnRunner:
    """One agent's turns."""

    def __init__(
        self,
        config: AgentConfig,
        drivers: Sequence[Driver],
        context: HarnessContext,
        conduct: Conduct,
        shell: Shell,
        *,
        files: AgentFiles,
        permissions: Permissions,
        activity: ActivityLog,
    ) -> None:
        self._config = config
        self._drivers = tuple(drivers)
        self._context = context
        self._conduct = conduct
        self._shell = shell
        self._files = files
        self._permissions = permissions
        self._activity = activity
        self._door: ToolDoor | None = None
        self._roles: tuple[str, ...] = ()
        self._steering = asyncio.Lock()
        self._secrets = (config.token, *config.secrets)
        self.prompt_bytes: dict[str, int] = {}
        """By turn: how much its model was given, until the turn is accounted for."""

    async def start(self, door: ToolDoor) -> None:
        """Open the agent for the room; in its further slots it is opened when they are needed."""
        self._door = door
        await self._shell.unless_stopped(self._drivers[0].start(self._standing("", 0), self._earlier("", 0)))

    async def close(self) -> None:
        """End every process of the agent's."""
        await asyncio.gather(*(driver.close() for driver in self._drivers))

    async def cancel(self, turn_id: str) -> None:
        """End a turn."""
        await self._drivers[slot_of(turn_id)].cancel(turn_id)

    def workplace(self, turn: ModelTurn) -> str | None:
        """The folder from which files may go into the room."""
        return self._config.slots[turn.slot].directory or self._drivers[turn.slot].workplace(turn.audience)

    async def run(self, turn: ModelTurn) -> None:
        """One turn, from its beginning to its end in the conduct."""
        self._context.tell("turn", turn_id=turn.id, events=len(turn.events), attempt=turn.attempt)
        try:
            outcome = await self._outcome(turn)
        except Bug:
            failure = Failure(FailureKind.PERMANENT, "agent_error", "the prompt could not be built")
            outcome = TurnOutcome(turn.id, failure=failure)
        except TacitError:
            outcome = TurnOutcome(turn.id, failure=Failure(FailureKind.RETRYABLE, "agent_died"))
        except Exception:
            # A fault of ours, or of a driver, costs the turn and not the agent.
            log.exception("a turn failed")
            outcome = TurnOutcome(turn.id, failure=Failure(FailureKind.RETRYABLE, "agent_error"))
        finally:
            self._files.over(turn.id)
            self._permissions.over(turn.id)
        if outcome is None:
            return
        if not self._shell.is_stopping or outcome.failure is None:
            outcome = priced(outcome, self._config.price, self.prompt_bytes.get(turn.id, 0))
            await remember(self._context, turn, outcome)
            self._tell_end(turn, outcome.failure)
            await self._shell.step(lambda now: self._ended(outcome, now))
            # The hub hears one thing after the other: first the answer, then how it came about.
            await self._shell.answer()
            await self._shell.status()
        await self._activity.end(turn.id, outcome)

    def count(self, now: Moment) -> None:
        """Let the conduct know how many turns the day has left, where that is limited."""
        if self._config.budget.turns is not None:
            spent = self._context.store.spent_on(day_of(now))
            self._conduct.turns_left = self._config.budget.turns_left(spent)

    async def steer(self, effect: SteerTurn) -> None:
        """Offer an event to a running turn, with its files."""
        async with self._steering:  # in the order in which it was said, whatever has to be fetched
            files = await self._files.of_events(effect.turn_id, (effect.event,))
            driver = self._drivers[slot_of(effect.turn_id)]
            taken = await driver.steer(effect.turn_id, effect.text, files)
        if taken:
            self._activity.joined(effect.turn_id, (effect.event,))
        self._context.tell("steered", event_id=effect.event.event_id, taken=taken)
        await self._shell.step(lambda now: self._conduct.steered(effect, now, taken=taken))

    # -- inside

    async def _outcome(self, turn: ModelTurn) -> TurnOutcome | None:
        """How the turn went; None when the harness was asked to stop before it began."""
        if self._shell.is_stopping:
            return None
        whole = at_hand(self._context, turn)
        if whole is None:
            whole = await self._shell.unless_stopped(prepared(self._context, self._conduct, turn))
        if whole is None:
            return None
        files: tuple[TurnFile, ...] = ()
        if any(one.attachments for one in whole.events):
            files = await self._shell.unless_stopped(self._files.of_events(turn.id, whole.events)) or ()
        request = await self._request(whole, files)
        running = self._conduct.turn(turn.id)
        if running is None or running.is_ending:
            return _called_off(turn)
        running.at_model = True
        self._context.work_changed.set()
        await self._shell.status()
        return await self._watched(whole, request)

    def _tell_end(self, turn: ModelTurn, failure: Failure | None) -> None:
        """For the agent's own log: what its program said, without the secrets that we know."""
        if failure is None:
            self._context.tell("turn_ended", turn_id=turn.id, failure="", hint="")
            return
        cause = {"cause": struck(failure.cause, self._secrets)} if failure.cause else {}
        hint = struck(failure.hint, self._secrets)
        self._context.tell("turn_ended", turn_id=turn.id, failure=failure.code, hint=hint, **cause)

    async def _request(self, turn: ModelTurn, files: tuple[TurnFile, ...]) -> TurnRequest:
        """What the driver is asked for a turn."""
        standing = self._standing(turn.audience, turn.slot)
        around = await asyncio.to_thread(look) if (look := self._config.surroundings) is not None else ""
        notes = (turn.note, self._told_in_vain(turn.audience), around)
        prompt = turn_prompt(
            standing.rules,
            turn.events,
            boundary=turn.boundary,
            ours=standing.rules,
            knocks=turn.knocks,
            digests=turn.digests,
            note="\n".join(filter(None, notes)),
        )
        self.prompt_bytes[turn.id] = prompt.size
        return TurnRequest(
            turn.id,
            standing,
            prompt.user,
            self._config.time_limit,
            turn.audience,
            self._earlier(turn.audience, turn.slot),
            files,
            fresh=turn.fresh,
            allowance=self._allowance(),
            boundary=turn.boundary,
        )

    def _standing(self, audience: str, slot: int) -> StandingInstructions:
        """What holds in a session of the model's: the rules for all, and a door that knows whom it is for."""
        if self._door is None:
            raise Bug("a turn needs the tool door")
        door = self._door.program(session_name(audience, slot))
        return StandingInstructions(self._rules(), (door,), self._config.slots[slot].directory)

    def _rules(self) -> str:
        agreed = self._context.session.agreed
        self._roles = agreed.roles if agreed is not None else self._roles
        return standing_rules(self._config.name, self._config.instructions, self._roles)

    def _earlier(self, audience: str, slot: int) -> str | None:
        """The session of an earlier process, where the driver can go on with one."""
        if not self._drivers[slot].traits.resumes:
            return None
        return self._context.store.session_for(session_name(audience, slot))

    def _allowance(self) -> TurnAllowance:
        """What a turn that begins now may use: its slot's share of what is left, so that all keep to it."""
        spent = self._context.store.spent_on(day_of(self._context.clock.now()))
        return self._config.budget.left(spent, self._config.price).shared_by(len(self._drivers))

    def _told_in_vain(self, audience: str) -> str:
        """That the last answer named somebody who was not reached."""
        named = self._context.unreached.pop(audience, None)
        if named is None:
            return ""
        names = ", ".join(f"@{name} ({why})" for name, why in named.unreached)
        return f"Your last answer did not reach everybody whom it named:\n{set_off(names)}"

    async def _watched(self, turn: ModelTurn, request: TurnRequest) -> TurnOutcome:
        """Run the turn, with people looking on."""
        recorder = self._activity.begin(turn)
        try:
            watch = TurnWatch(
                self._conduct,
                self._shell.one_step,
                turn,
                self._permissions,
                recorder,
                self._files,
                self._context,
            )
            async with at_work(self._config.slots[turn.slot].state):
                # A driver ends only what it runs: what was called off while this waited is ended here.
                running = self._conduct.turn(turn.id)
                is_over = running is None or running.is_ending
                driver = self._drivers[turn.slot]
                return _called_off(turn) if is_over else await driver.run(request, watch)
        finally:
            self._activity.over(recorder)

    def _ended(self, outcome: TurnOutcome, now: Moment) -> list[Effect]:
        """The end of a turn; where it used up the budget, no other begins in the same breath."""
        spent = self._context.store.spent_on(day_of(now)).and_turn(outcome.usage, outcome.cost_usd)
        self._conduct.turns_left = self._config.budget.turns_left(spent)
        if reason := self._config.budget.used_up(spent):
            self._conduct.pause(next_day(now), until_next_day(reason, now))
        return self._conduct.ended(outcome, now)


def _called_off(turn: ModelTurn) -> TurnOutcome:
    """The turn was ended before the driver had it."""
    return TurnOutcome(turn.id, failure=Failure(FailureKind.CANCELLED, "cancelled"))
