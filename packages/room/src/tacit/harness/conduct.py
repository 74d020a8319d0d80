"""Conduct: what an agent does about everything it hears, one thing at a time.

Rows: C2A-080, C2A-081, C2A-082, C2A-083, C2A-084, C2A-085, C2A-086, C2A-087, C2A-090, C2A-163, C2A-180,
C2A-185, C2A-187, C2A-188, C2A-219.

Theory of operation
-------------------

A chat is many people talking at once; a model does one thing at a time and cannot be told more once it has
begun. Everything here stands between the two. `Conduct` is a machine that does nothing itself: a method takes
one input, changes the state, and returns effects (`tacit.harness.effects`) in the order in which they must be
done. The shell (`tacit.harness.io.harness`) calls it under one lock, writes what must survive into the store
in one transaction, and only then acts. So the inputs are serial, and no input sees the half of another.

State. An event that reached the agent is in exactly one of these places until it is settled:

    _beside              knocks and digests: shown beside the next turn whose audience may know of them,
                         and settled when it ends
    _questions           fragments of one author in one place (`tacit.harness.question`), each open until its
                         author is quiet, or closed and waiting for a slot or for a later time
    turns                at most one turn in each slot: its question, and what the model did by its tools
    turn.waiting         immediate events, and late fragments, that wait for the model's next tool boundary
    turn.inserted        immediate ones that the model has been given at one, beside its question
    an effect            on its way: a `Claim` or a `SteerTurn`, whose answer comes back as an input

`_gone` remembers ids that were taken back while they were in none of these, that is, on their way as an
effect or not here yet: when such an event comes by, it ends as superseded. `_runs` numbers the turns of an
event, so that every run has a name of its own and the hub can tell a rerun from a new answer (C2A-164,
C2A-166); the count survives in the store and comes back through `restore` or `heard`.

Slots. An agent has one, or as many as its owner allows; each has a driver, sessions and, where it writes, a
working tree of its own. A question takes any slot that is free. What was begun in a slot goes on there, with
what belongs to it: only there is the half-finished work, and a model that remembers it.

Whose is a message? Only what belongs to a question (`tacit.harness.belonging`) changes it: the newest waiting
one first, then the one that runs. Everything else that comes while a turn runs is a question of its own and
waits its turn; so no job ends because somebody asked something else.

What moves it. Deliveries, cancellations and typing come from the hub; `steered`, `tool_started`, `boundary`
and `ended` from the driver; `due` from the clock, which is asked to ring at `next_due`; `pause` from the
budget. Every input that can make a turn possible ends in `due`, which begins the most pressing questions
that are whole. A turn begins only there, and only in a slot in which none runs.

How a turn ends. Either the driver is done (`ended`, judged by `tacit.harness.outcome`: an answer, silence,
another try, failure), or we end it (`_end_turn`): its question was edited, taken back or called off, more of
it came and it may be begun again, or something urgent waited for too long. A turn that we end is not over: it
`is_ending` until the driver says `ended`, and all that comes out of it until then is dropped. It counts as
the running one meanwhile, because the process behind it still works; hence the many `is_ending` below.

What can go wrong, and what holds then:

- A crash at any moment. Nothing is lost: the inbox holds what was accepted, and an event leaves it only by a
  `Settle` or `Postpone` that is written in the transaction of what it follows from. Nothing is said twice: a
  `Post` is stored under a key made of its event, and a turn that has spoken is finished, not run again
  (`tacit.harness.io.recovery`). This is why state lives in memory and survival in the effects.
- A side effect in the middle. A call that may have changed something is never cut: `_end_turn` withholds the
  `Abort` until the call's boundary (C2A-180). Once anything was said or done, a turn is not begun again for a
  late fragment (`_may_restart`); the fragment becomes a question of its own. The model may then answer two
  halves apart, which is better than doing the work twice.
- An author who never stops writing, and restarts without end. Windows have a cap, restarts a limit, and an
  urgent event interrupts after a fixed time at most (C2A-219); each moves a question forward for good.
- An answer that crosses a cancellation. Before anything is said the cancellation wins; after that the answer
  stands, and the hub judges it.
- A driver that takes text into a turn which is just ending. Whether its last words knew of the text cannot be
  told, so the event is asked again: a second answer the hub can refuse, a missing one nobody would notice.

Audiences. An event has an audience: the room, or the parties of a private conversation. A turn has one too,
and a session of the model's for it, which no other audience shares. So only what has the turn's audience
enters it, at its beginning or on the way: an urgent event of another waits, and interrupts.

A turn that waits for a person's permission makes room for other work, and goes on with the answer
(`tacit.harness.orders`).

Why one turn in a slot: an agent keeps one folder there, and two turns in it would read each other's
half-finished work. Why effects instead of calls: order and durability are then one list that a test can
read, and the state machine in `tests/harness/test_conduct_machine.py` tries inputs in any order without
waiting. Why events are kept as delivered: the hub decided what they mean, and nothing decides it again here.

Knows no clock, no store and no driver: time is an argument, ids are made of other ids.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.settings import DEFAULTS, Settings
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Directedness, Mode, Policy, Priority, Reason
from tacit.harness import belonging, orders
from tacit.harness import outcome as outcomes
from tacit.harness import question as questions
from tacit.harness import work as working
from tacit.harness.drivers.port import BoundaryOrder, Insert, Proceed, Stop
from tacit.harness.effects import (
    Abort,
    Begin,
    Claim,
    Defer,
    Effect,
    Join,
    ModelTurn,
    Postpone,
    React,
    Return,
    Settle,
    Spent,
    SteerTurn,
)
from tacit.harness.failing import Failing
from tacit.harness.prompt import inserted_block, more_block
from tacit.harness.question import QuestionQueue, TurnQuestion, key_of
from tacit.harness.running import RunningTurn
from tacit.harness.session_view import Runs, ShownBeside

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from tacit.c2a.messages import Delivered
    from tacit.c2a.notifications import Work
    from tacit.harness.drivers.port import TurnOutcome

INTERRUPT_AFTER: Final = 10 * SECOND
"""How long an urgent event waits for a tool boundary (C2A-219)."""
GONE: Final = 1_000
"""How many cancelled events are remembered that were nowhere to be found."""


@dataclass(frozen=True, slots=True)
class ConductOptions:
    """What holds for an agent: what its driver can do and what its owner allows."""

    steers: bool = False
    inserts: bool = False
    boundaries: bool = False
    interrupt: bool = True
    """Was aborting a generation for urgency agreed with the hub?"""
    claims_roles: bool = True
    """Claim what is put up for one of the agent's roles, without asking the model."""
    ambient: frozenset[str] = frozenset()
    """Conversations whose ambient traffic the owner explicitly lets through (C2A-080)."""
    slots: int = 1
    """How many turns may run side by side."""
    draw: Callable[[], str] = str
    """Draws the word for the titles of a turn's prompt; without one no prompt is made."""


class Conduct:
    """One agent's conduct."""

    def __init__(self, options: ConductOptions, settings: Settings = DEFAULTS) -> None:
        self.options = options
        self.settings = settings
        self.turns: dict[int, RunningTurn] = {}
        """What runs, by slot."""
        self.turns_left: int | None = None
        """How many the day's budget has left, running ones included; None is no limit."""
        self.paused_until: Moment | None = None
        self.pause_reason = ""
        self._questions = QuestionQueue()
        self._beside = ShownBeside()
        self._runs = Runs()
        self._gone: dict[str, None] = {}
        self._failing = Failing()

    def turn(self, turn_id: str) -> RunningTurn | None:
        """A turn under way, by its name."""
        return next((one for one in self.turns.values() if one.turn.id == turn_id), None)

    @property
    def _live(self) -> list[RunningTurn]:
        """The turns that are not ending, the newest first."""
        found = [one for one in self.turns.values() if not one.is_ending]
        return sorted(found, key=lambda one: one.began, reverse=True)

    # -- what is heard

    def heard(self, event: Delivered, now: Moment, *, claimed: bool = False, runs: int = 0) -> list[Effect]:
        """A delivery, accepted and stored; `runs` it has behind it when it was deferred and comes again."""
        self._go_on(now)
        if runs:
            self._runs.behind(event.event_id, runs, asked_anew=True)
        return self._let_go([*self._heard(event, now, claimed=claimed), *self.due(now)])

    def _heard(self, event: Delivered, now: Moment, *, claimed: bool) -> list[Effect]:
        if event.event_id in self._gone:
            return [Settle(event.event_id, "superseded")]
        if not claimed and not belonging.is_for_a_model(event, self.options.ambient):
            return [Settle(event.event_id)]
        if event.reason == Reason.CANCELLATION and event.directedness is Directedness.TO_ME:
            return self._called_off(event, now)
        if event.reason == Reason.HOLD and (
            held := orders.hold(event, self._questions, self._live, self._end_turn, now, self.settings)
        ):
            return held
        orders.go_on(self._questions, now, lambda one: one.key[:2] == key_of(event)[:2])
        if event.mode is Mode.DIGEST:
            self._beside.digests.append(event)
            return []
        if event.mode is Mode.NOTIFY and event.policy is not Policy.MUST_RESPOND:
            return self._knocked(event)
        effects = self._deferred(event)
        old = event.supersedes or ""
        if old and (found := self._questions.take_out(old)) is not None:
            self._questions.add(questions.added(found, event, now))
        elif running := next((one for one in self._live if one.holds(old)), None):
            effects += self._withdraw(running, old, event, now)
        elif event.mode is Mode.BUFFERED:
            effects += self._fragment(event, now)
        else:
            effects += self._at_once(event, now)
        return effects

    def continued(self, event_id: str, now: Moment) -> list[Effect]:
        """Its author said more, to nobody by name: what waits for their word goes on."""
        orders.go_on(self._questions, now, lambda one: one.holds(event_id))
        return self.due(now)

    def cancelled(self, event_id: str, now: Moment) -> list[Effect]:
        """The hub takes an event back: no later outbound action for it (C2A-180)."""
        return self._let_go([*self._cancelled(event_id, now), *self.due(now)])

    def _cancelled(self, event_id: str, now: Moment) -> list[Effect]:
        if self._beside.drop(event_id):
            return [Settle(event_id, "superseded")]
        if (found := self._questions.take_out(event_id)) is not None:
            left = questions.withdrew(found, event_id)
            if left.live or left.window is not None:
                self._questions.add(left)
            return [Settle(event_id, "superseded")]
        if any(one.drop_waiting(event_id) for one in self.turns.values()):
            return [Settle(event_id, "superseded")]
        running = next((one for one in self._live if one.holds(event_id)), None)
        if running is None:
            self._forget(event_id)
            return []
        if running.has_spoken:
            return []
        if any(one.event_id == event_id for one in running.inserted):
            running.inserted = [one for one in running.inserted if one.event_id != event_id]
            return [Settle(event_id, "superseded")]
        return [Settle(event_id, "superseded"), *self._withdraw(running, event_id, None, now)]

    def ask_again(self, event: Delivered, note: str, now: Moment, *, runs: int) -> list[Effect]:
        """What the model answered may not be said: it gets the question once more, and is told why."""
        self._runs.behind(event.event_id, runs, asked_anew=True)
        return [*self._ask(replace(questions.asked(event, now), note=note)), *self.due(now)]

    def typing(self, conversation: str, author: str, now: Moment, *, typing: bool) -> None:
        """Somebody writes: a question of theirs is held open (C2A-084)."""
        for one in list(self._questions.all):
            if one.key[:2] == (author, conversation):
                self._questions.replace(one, questions.typed(one, now, typing=typing))

    def steered(self, steer: SteerTurn, now: Moment, *, taken: bool) -> list[Effect]:
        """Whether the driver could give an event to the turn it was meant for; another may run by now."""
        event, running = steer.event, self.turn(steer.turn_id)
        if event.event_id in self._gone:
            return self._let_go([Settle(event.event_id, "superseded")])
        if running is None or running.is_ending:
            # Whether the last words of a turn that is over knew of the event cannot be told.
            anew = self._at_once if event.mode is Mode.IMMEDIATE else self._fragment
            asked = self._ask(questions.asked(event, now)) if taken else anew(event, now)
            return [*asked, *self.due(now)]
        if taken:
            running.let_in(event)
            return [Join(running.turn.id, (event,))]
        if event.mode is Mode.IMMEDIATE:
            return self._wait_for_boundary(running, event, now)
        return [*self._late(running, event, now), *self.due(now)]

    # -- the running turns

    def boundary(self, turn_id: str, call_id: str, now: Moment) -> tuple[BoundaryOrder, list[Effect]]:
        """A tool call of a turn ended: what the model does next, and what follows."""
        running = self.turn(turn_id)
        if running is None:
            return Proceed(), []
        running.tools.pop(call_id, None)
        if running.is_ending and not running.is_in_effect:
            return Stop(), []
        if not running.waiting:
            return Proceed(), []
        is_ripe = running.interrupt_at is not None and now >= running.interrupt_at
        if self.options.inserts and (events := running.enter()):
            return Insert(inserted_block(events, running.turn.boundary)), [Join(running.turn.id, events)]
        if self._may_restart(running) or (is_ripe and not running.is_in_effect):
            effects = self._give_way(running, now)
            return Stop(), [one for one in effects if not isinstance(one, Abort)]
        return Proceed(), []

    def ended(self, outcome: TurnOutcome, now: Moment) -> list[Effect]:
        """The driver is done with a turn."""
        running = self.turn(outcome.turn_id)
        if running is None:
            return []
        del self.turns[running.turn.slot]
        how = "aborted" if running.is_ending else (outcome.failure.code if outcome.failure else "done")
        took = (now - running.began) // 1000
        spent = Spent(running.turn, outcome.usage, outcome.cost_usd, took, how, outcome.estimated)
        effects: list[Effect] = [spent]
        if not running.is_ending:
            effects += self._finished(running, outcome, now)
        for event in running.waiting:
            slot = None if event.mode is Mode.IMMEDIATE else running.turn.slot
            self._ask(replace(questions.asked(event, now), slot=slot))
        for event in running.inserted:
            effects += self._after_insert(running, event, now)
        return [*self._let_go(effects), *self.due(now)]

    def _let_go(self, effects: list[Effect]) -> list[Effect]:
        """Of what is settled, or comes again from the hub, nothing is remembered here."""
        for effect in effects:
            if isinstance(effect, Settle | Postpone):
                self._runs.over(effect.event_id)
                self._failing.over(effect.event_id)
        return effects

    # -- time

    def due(self, now: Moment) -> list[Effect]:
        """What the time asks for: interruptions, and the next turns."""
        effects: list[Effect] = []
        for running in self._live:
            ripe = running.interrupt_at is not None and now >= running.interrupt_at
            if ripe and not running.is_in_effect:
                effects += self._give_way(running, now)
        self._go_on(now)
        if self.paused_until is None:
            while begun := self._begin_next(now):
                effects += begun
            if self._free_slot is None:
                for running in orders.give_way(self.turns, self._questions, now, self.settings):
                    effects += self._give_way(running, now, orders.parked(running))
        return effects

    def _go_on(self, now: Moment) -> None:
        """A pause is over at its end, whatever comes first then."""
        if self.paused_until is not None and now >= self.paused_until:
            self.paused_until = None

    @property
    def next_due(self) -> Moment | None:
        """When `due` has something to do if nothing else happens; None when never."""
        waits = [one.interrupt_at for one in self._live if not one.is_in_effect]
        found = [at for at in waits if at is not None]
        if (free := self._free_slot) is not None:
            at = self._questions.next_due(self.settings, self.turns, free)
            found += [one for one in (self.paused_until or at,) if one is not None]
        return min(found, default=None)

    def pause(self, until: Moment, reason: str) -> list[Effect]:
        """No further turns until then; whoever is owed an answer is told why."""
        self.paused_until, self.pause_reason = until, reason
        return [effect for one in self._questions.owed for effect in self._deferred(one)]

    def waits(self, turn_id: str, message: str, now: Moment) -> list[Effect]:
        """A turn waits for a person's permission, which a message says; or it goes on, without one."""
        if (running := self.turn(turn_id)) is not None:
            running.waits_for = (orders.PERMISSION, message) if message else ("", "")
        return self.due(now)

    def has_work_on(self, event_ids: Collection[str]) -> bool:
        """Does any of these wait for a turn, or belong to one that is not ending?"""
        holders = (*self._questions.all, *self._live)
        return any(holder.holds(event_id) for holder in holders for event_id in event_ids)

    def permitted(self, event_ids: Collection[str], note: str, now: Moment) -> list[Effect]:
        """A person has answered what these events waited for."""
        orders.answered(self._questions, event_ids, note, now)
        return self.due(now)

    def restore(
        self,
        waiting: Iterable[tuple[Delivered, str, int, int]],
        now: Moment,
        held: Mapping[str, str] | None = None,
    ) -> list[Effect]:
        """What an earlier process left: each event with its last turn, failed attempts and runs."""
        asked: list[tuple[Delivered, str, int]] = []
        claims: list[Effect] = []
        for event, turn_id, attempts, runs in waiting:
            self._runs.behind(event.event_id, runs, asked_anew=False)
            if event.mode is Mode.DIGEST:
                self._beside.digests.append(event)
            elif event.mode is Mode.NOTIFY and event.policy is not Policy.MUST_RESPOND:
                claims += self._knocked(event)
            else:
                asked.append((event, turn_id, attempts))
        self._questions.all += belonging.restored(asked, now, self.settings, self.options.slots, held or {})
        return claims

    def work(self, now: Moment) -> list[Work]:
        """How every piece of work stands: what runs, then what waits, in its order."""
        waiting = self._questions.in_order(self.settings)
        running = [one for slot in sorted(self.turns) for one in working.running_states(self.turns[slot])]
        pause = None if self.paused_until is None else (self.paused_until, self.pause_reason)
        before = int(self._free_slot is None)
        return [*running, *working.queued_states(waiting, self._failing, now, before=before, pause=pause)]

    @property
    def owed(self) -> int:
        """How many questions wait, running ones included."""
        return len(self._questions.all) + len(self.turns)

    # -- inside

    def _knocked(self, event: Delivered) -> list[Effect]:
        """A knock waits for the next turn; work put up for a role is taken on first (C2A-071, C2A-090)."""
        wanted = event.policy is Policy.MAY_RESPOND and event.reason == Reason.ROLE_MENTION
        if self.options.claims_roles and wanted and self.paused_until is None:
            return [Claim(event)]
        self._beside.knocks.append(event)
        return []

    def _deferred(self, event: Delivered) -> list[Effect]:
        if self.paused_until is None or event.policy is not Policy.MUST_RESPOND:
            return []
        return [Defer(event.event_id, self.pause_reason, self.paused_until)]

    def _fragment(self, event: Delivered, now: Moment) -> list[Effect]:
        """More of a question that waits, the newest first; more of the one that runs; or one of its own."""
        for question in reversed(self._questions.all):
            since = question.window.since if question.window is not None else None
            is_open = questions.takes(question, event, now, self.settings) and not belonging.is_apart(event)
            if is_open or belonging.belongs(event, question, since, now, self.settings):
                self._questions.replace(question, questions.added(question, event, now))
                return []
        running = self._whose(event, now)
        if running is None:
            return self._ask(questions.begun(event, now))
        if self.options.steers and not running.has_spoken:
            return [SteerTurn(running.turn.id, event, more_block([event], running.turn.boundary))]
        return self._late(running, event, now)

    def _whose(self, event: Delivered, now: Moment) -> RunningTurn | None:
        """The turn to whose question an event belongs."""
        for one in self._live:
            if belonging.belongs(event, one.question, one.began, now, self.settings):
                return one
        return None

    def _late(self, running: RunningTurn, event: Delivered, now: Moment) -> list[Effect]:
        """A fragment while the model thinks: restart with it, or at a boundary, or a turn of its own.

        Row C2A-188. What was done already is not done again for it; a model that takes text between two tools
        gets it there. A turn of its own comes behind this one, in the same slot.
        """
        if self._may_restart(running):
            return self._end_turn(running, questions.reopened(running.question, event, now))
        if self.options.inserts and not running.has_spoken:
            running.waiting.append(event)
            return []
        return self._ask(replace(questions.begun(event, now), slot=running.turn.slot))

    def _at_once(self, event: Delivered, now: Moment) -> list[Effect]:
        """Immediate content, or a knock that obliges: no compose window (C2A-081)."""
        live = self._live
        if not live or event.mode is not Mode.IMMEDIATE:
            return self._ask(questions.asked(event, now))
        running = self._whose(event, now)
        if running is None and self._free_slot is not None:
            return self._ask(questions.asked(event, now))
        running = running or next((one for one in live if one.turn.audience == event.audience), live[0])
        if self.options.steers and event.audience == running.turn.audience:
            return [SteerTurn(running.turn.id, event, inserted_block([event], running.turn.boundary))]
        return self._wait_for_boundary(running, event, now)

    def _wait_for_boundary(self, running: RunningTurn, event: Delivered, now: Moment) -> list[Effect]:
        running.waiting.append(event)
        if event.priority is Priority.URGENT and self.options.interrupt and running.interrupt_at is None:
            running.interrupt_at = Moment(now + INTERRUPT_AFTER)
        return []

    def _called_off(self, event: Delivered, now: Moment) -> list[Effect]:
        """Somebody calls work off: what they mean ends, and a signal says so (C2A-082)."""
        effects = orders.call_off(event, self._questions, self._live, self._end_turn)
        if event.policy is Policy.MUST_NOT_RESPOND:
            return [*effects, Settle(event.event_id, "ignored")]
        if not effects:
            # Nothing of ours is under way: the model may know what is meant.
            return [*self._deferred(event), *self._at_once(event, now)]
        return [*effects, React(event.event_id, "done"), Settle(event.event_id)]

    def _withdraw(
        self, running: RunningTurn, event_id: str, instead: Delivered | None, now: Moment
    ) -> list[Effect]:
        """Part of the running question was taken back or rewritten before anything was said (C2A-185)."""
        left = questions.withdrew(running.question, event_id)
        if instead is not None:
            return self._end_turn(running, questions.reopened(left, instead, now))
        # An edit follows its cancellation at once; what is left waits for it in an open window.
        return self._end_turn(running, questions.reopened(left, None, now) if left.live else None)

    def _may_restart(self, running: RunningTurn) -> bool:
        may = questions.may_restart(
            sent=running.has_spoken,
            side_effects=running.side_effects,
            restarts=running.question.restarts,
            settings=self.settings,
        )
        return may and not running.is_ending

    def _give_way(self, running: RunningTurn, now: Moment, again: TurnQuestion | None = None) -> list[Effect]:
        """A turn ends for what is urgent (C2A-219) or is parked; unless it has spoken it comes again."""
        waiting, running.waiting = running.waiting, []
        for event in waiting:
            self._ask(questions.asked(event, now))
        if running.has_spoken:
            return [*outcomes.cut(running), *self._end_turn(running, None)]
        note = "You were interrupted on this; check what is done already." if running.side_effects else ""
        old = running.question
        anew = replace(old, restarts=old.restarts + 1, not_before=now, note=note)
        return self._end_turn(running, again or anew)

    def _end_turn(self, running: RunningTurn, again: TurnQuestion | None) -> list[Effect]:
        """Abort what runs; a side-effecting call is let to its end (C2A-180)."""
        running.is_ending = True
        running.interrupt_at = None
        self._beside.give_back(running.turn)
        if again is not None:
            self._questions.add(replace(again, slot=running.turn.slot))
        returned = tuple(one.event_id for one in again.live) if again is not None else ()
        effects: list[Effect] = [Return(returned)] if returned else []
        if running.is_in_effect and self.options.boundaries:
            return effects
        return [*effects, Abort(running.turn.id)]

    def _forget(self, event_id: str) -> None:
        """It is on its way to us or from us: when it comes by, it is gone."""
        self._gone[event_id] = None
        while len(self._gone) > GONE:
            del self._gone[next(iter(self._gone))]

    def _ask(self, question: TurnQuestion) -> list[Effect]:
        self._questions.add(question)
        return []

    def _finished(self, running: RunningTurn, outcome: TurnOutcome, now: Moment) -> list[Effect]:
        carrier = running.question.carrier.event_id
        found = outcomes.ended(running, outcome, self._failing.faults(carrier))
        if outcome.failure is None:
            self._questions.put(self._failing.is_back(self._questions.all, now))
        if not isinstance(found, outcomes.RetryTurn):
            shown = (*running.turn.knocks, *running.turn.digests)
            return [*found, *(Settle(one.event_id) for one in shown)]
        later = Moment(now + int(found.pause * SECOND))
        question = running.question
        note = found.note or question.note
        again = replace(question, attempt=question.attempt + 1, not_before=later, note=note)
        if found.fresh:
            self._runs.in_a_new_session(carrier)
            again = replace(question, not_before=now, note=outcomes.AFRESH)
        else:
            self._failing.note(carrier, found.failure)
        self._questions.add(replace(again, slot=running.turn.slot))
        self._beside.give_back(running.turn)
        return [Return(tuple(one.event_id for one in again.live), failed=not found.fresh)]

    def _after_insert(self, running: RunningTurn, event: Delivered, now: Moment) -> list[Effect]:
        """An event that came in at a boundary: answered there, or a question of its own."""
        acts = running.acts
        if event.event_id in acts.replied | acts.discharged:
            return [Settle(event.event_id)]
        if event.policy is not Policy.MUST_RESPOND:
            return [Settle(event.event_id, "ignored")]
        self._questions.add(
            replace(
                questions.asked(event, now),
                note="This was shown to you in your last turn and waits for a reply.",
                slot=running.turn.slot,
            )
        )
        return [Return((event.event_id,))]

    @property
    def _free_slot(self) -> int | None:
        """The first slot in which nothing runs; a turn that is ending still has its own.

        Side by side run no more than the day has left. Whether it has any is for the pause to say.
        """
        if self.turns_left is not None and len(self.turns) >= max(1, self.turns_left):
            return None
        return next((slot for slot in range(self.options.slots) if slot not in self.turns), None)

    def _begin_next(self, now: Moment) -> list[Effect]:
        """Of the questions that are whole the most pressing one, then the one that was whole first."""
        free = self._free_slot
        taken = None if free is None else self._questions.take_next(now, self.settings, self.turns, free)
        if free is None or (whole := taken) is None:
            return []
        slot, word = free if whole.slot is None else whole.slot, self.options.draw()
        name, series, run, fresh = self._runs.next_of(whole, slot)
        knocks, digests = self._beside.take(whole.carrier.audience)
        turn = ModelTurn(
            name, whole.events, knocks, digests, whole.attempt, whole.note, series, run, fresh, slot, word
        )
        self.turns[slot] = RunningTurn(turn, whole, now)
        return [Begin(turn)]
