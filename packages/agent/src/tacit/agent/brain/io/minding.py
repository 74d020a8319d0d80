"""The brain that an owner has chosen, open: its models, its log, and what its owner is told of it.

A2ACP-081, A2ACP-082, A2ACP-085, A2ACP-086, A2ACP-087. The setting is read when a brain is needed and read
again when it changes. While no model answers, nothing is asked of any for a moment: what waits then goes on
in its order.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from tacit.agent.brain import configured
from tacit.agent.brain.io.thoughts import Thoughts
from tacit.agent.brain.minded import Minded, Rung
from tacit.base.errors import Refused, TacitError
from tacit.base.language_model import ModelAway
from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.a2acp.post.io.store import AgentStore
    from tacit.agent.brain.minded import Waiting
    from tacit.agent.brain.port import Brain, Task, Thought
    from tacit.base.language_model import Model, ModelReply, Models, Prompt
    from tacit.base.ports import Clock, Entropy

_log: Final = logging.getLogger("tacit.agent")
AWAY_FOR: Final = Moment(30 * SECOND)
"""After no model has answered, none is asked for so long."""
GRACE: Final = 5.0
"""Seconds beyond a prompt's own patience after which a driver that still holds on is let go."""
AWAY: Final = "model_away"
SPENT: Final = "budget_spent"
REFUSED: Final = "brain_refused"
_TOLD_BUDGET: Final = "brain_budget_told"
_TOLD_AWAY: Final = "brain_away_told"
_TOLD_REFUSED: Final = "brain_refused_told"


class Sleeping:
    """The port `Waiting` by the loop's own clock."""

    async def wait(self, seconds: float) -> None:
        """Wait so long."""
        await asyncio.sleep(seconds)


class Patient:
    """A model whose driver cannot hang, nor fail in a way that costs a thread."""

    def __init__(self, model: Model, heard: Callable[[], None]) -> None:
        self._model = model
        self._heard = heard

    @property
    def name(self) -> str:
        """By which the log knows it."""
        return self._model.name

    async def complete(self, prompt: Prompt) -> ModelReply:
        """One answer, in time, or `ModelAway`."""
        try:
            async with asyncio.timeout(prompt.longest + GRACE):
                reply = await self._model.complete(prompt)
        except ModelAway:
            raise
        except TimeoutError:
            raise ModelAway("the model did not answer in time") from None
        except (TacitError, OSError, ValueError, RuntimeError, LookupError, TypeError) as fault:
            # Its text may hold somebody's words.
            _log.warning("a model's driver failed: %s", type(fault).__name__)
            raise ModelAway("the model's driver failed") from None
        self._heard()
        return reply

    async def close(self) -> None:
        """Let go of it."""
        await self._model.close()


class Mind:
    """The brain of one agent, made of its setting."""

    def __init__(
        self,
        rules: Brain,
        models: Models | None,
        *,
        setting: Callable[[str], object],
        zone: Callable[[], str],
        store: AgentStore,
        clock: Clock,
        entropy: Entropy,
        waiting: Waiting | None = None,
    ) -> None:
        self._rules = rules
        self._models = models
        self._setting = setting
        self._zone = zone
        self._store = store
        self._clock = clock
        self._entropy = entropy
        self._waiting = waiting or Sleeping()
        self._brain: Brain | None = None
        self._open: list[Model] = []
        self._gone: list[Model] = []
        self._away_until = Moment(0)
        self._one_at_a_time = asyncio.Lock()
        self.thoughts: Thoughts | None = None
        self.refused = False

    # Opening.

    def changed(self) -> None:
        """The setting has changed: what was opened is let go, and read again when it is needed."""
        self._gone += self._open
        self._open, self._brain, self.thoughts = [], None, None
        self._away_until, self.refused = Moment(0), False
        with self._store.transaction():
            for name in (_TOLD_AWAY, _TOLD_REFUSED):
                self._store.choose(name, "")

    async def close(self) -> None:
        """Let go of every model."""
        self._gone += self._open
        self._open, self._brain = [], None
        await self._let_go()

    async def _let_go(self) -> None:
        gone, self._gone = self._gone, []
        for one in gone:
            try:
                await one.close()
            except Exception as fault:  # noqa: BLE001 - a driver that cannot close must not hold up the agent
                _log.warning("a model could not be closed: %s", type(fault).__name__)

    @property
    def has_models(self) -> bool:
        """Whether a thought may take a while."""
        return self._ready() is not self._rules

    def _ready(self) -> Brain:
        if self._brain is None:
            self._brain = self._rules
            try:
                chosen = configured.configured(self._setting(configured.SETTING))
                self._brain = self._made(chosen) if chosen.has_models else self._rules
            except Refused as refused:
                # What worked when it was chosen may not work today; the rules go on, and the owner is told.
                _log.warning("the chosen brain cannot be opened: %s", refused.code)
                self.refused = True
        return self._brain

    def _made(self, chosen: configured.Configured) -> Brain:
        if self._models is None:
            raise Refused("no_models", "this agent was started without a way to open models")
        opened: dict[str, Model] = {}
        secondary = (self._opened(chosen.secondary, opened),) if chosen.secondary is not None else ()
        rungs: list[Rung] = []
        before: configured.Definition | None = None
        for tier in configured.TIERS:
            definition = chosen.tier(tier)
            if definition is not None and definition != before:
                rungs.append(Rung(tier, (self._opened(definition, opened), *secondary)))
                before = definition
        self.thoughts = Thoughts(self._store, self._clock, self._zone, chosen.budget)
        return Minded(
            self._rules,
            tuple(rungs),
            notes=self.thoughts,
            waiting=self._waiting,
            clock=self._clock,
            draw=self._entropy.draw,
        )

    def _opened(self, definition: configured.Definition, opened: dict[str, Model]) -> Model:
        plain = configured.plain(definition)
        key = repr(plain)
        if key not in opened and self._models is not None:
            opened[key] = Patient(self._models.open(plain), self._heard)
            self._open.append(opened[key])
        return opened[key]

    # Thinking.

    async def think(self, task: Task) -> Thought:
        """The thought of a task; one at a time, in the order in which they are asked."""
        brain = self._ready()
        if not isinstance(brain, Minded):
            if self._gone and not self._one_at_a_time.locked():
                await self._let_go()
            return await brain.think(task)
        async with self._one_at_a_time:
            # No thought is under way here, so nothing that is let go of is in use.
            await self._let_go()
            brain = self._ready()
            if not isinstance(brain, Minded):
                return await brain.think(task)
            if self.is_away:
                return await brain.without_models(task)
            try:
                return await brain.think(task)
            except ModelAway:
                self._away_until = Moment(self._clock.now() + AWAY_FOR)
                return await brain.without_models(task)

    @property
    def is_away(self) -> bool:
        """Whether no model answered a moment ago."""
        return self._clock.now() < self._away_until

    def _heard(self) -> None:
        """A model has answered: the next outage is another."""
        self._away_until = Moment(0)
        self.told("")

    def spent(self) -> tuple[float, int]:
        """What the models of this day have taken: USD and tokens."""
        log = self.thoughts or Thoughts(self._store, self._clock, self._zone, configured.Budget())
        return log.spent()

    # What the owner is told, once: also after a restart.

    def news(self, thought: Thought | None) -> tuple[str, str] | None:
        """What the owner is to hear and has not heard yet: a code, and the mark that it was said."""
        if self.refused and self._store.setting(_TOLD_REFUSED, "") != REFUSED:
            return REFUSED, REFUSED
        if self.is_away and self._store.setting(_TOLD_AWAY, "") != AWAY:
            return AWAY, AWAY
        if thought is not None and thought.over_budget and self.thoughts is not None:
            mark = f"{SPENT} {self.thoughts.today()}"
            if self._store.setting(_TOLD_BUDGET, "") != mark:
                return SPENT, mark
        return None

    def told(self, mark: str) -> None:
        """It was said; an empty mark says that models answer."""
        name = _TOLD_REFUSED if mark == REFUSED else _TOLD_BUDGET if mark.startswith(SPENT) else _TOLD_AWAY
        if self._store.setting(name, "") != mark:
            with self._store.transaction():
                self._store.choose(name, mark)
