"""A brain of several models over the rules: the cheapest that will do, a larger one when it is unsure.

A2ACP-081, A2ACP-082, A2ACP-083, A2ACP-084, A2ACP-085, A2ACP-086, A2ACP-087, A2ACP-088.

Theory of operation. The rules and the models of the owner's tiers are the rungs of a ladder. A task begins
on the rung that is enough for its kind; where the owner and this counterpart have come to an end three times
in the same category, on the lowest, which is the rules. An answer that is less than 0.6 sure is asked of the
next rung, at most twice; after that the owner is asked (`Thought.ask_owner`).

On one rung: a model that is away is asked again after 1, 2 and 4 seconds, or when it says, and then the
secondary model in its place by the same schedule. An answer that cannot be used is asked for anew, three
times; when none can, `GenerationFailed` pauses the thread. When no model answers, `ModelAway` leaves a
counterpart's packet where it is: it is not guessed at. A request of the owner's and words for a proposal are
left to the rules then (`without_models`), which say when they did not understand. When the day's budget is
spent, the rules think alone.

Every answer is noted with its model, its task, how sure it was and what it took; no word of it is. Waiting,
time and chance come from outside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from tacit.agent.brain import layers, replies
from tacit.agent.brain.configured import LARGE, MEDIUM, RULES, SMALL
from tacit.agent.brain.port import (
    READ_PACKET,
    READ_REQUEST,
    WRITE_PROPOSAL,
    GenerationFailed,
    Task,
    Thought,
)
from tacit.base.language_model import ModelAway

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.agent.brain.port import Brain
    from tacit.base.language_model import Model, ModelReply, Prompt
    from tacit.base.moment import Moment
    from tacit.base.ports import Clock

ENOUGH: Final = 0.6
MOST_CLIMBS: Final = 2
ESTABLISHED: Final = 3
"""Threads with a counterpart in one category that came to their end: a pattern (A2ACP-084)."""
PAUSES: Final = (1.0, 2.0, 4.0)
JITTER: Final = 0.2
LONGEST_WAIT: Final = 60.0
REGENERATIONS: Final = 3

TAKEN: Final = "taken"
UNSURE: Final = "unsure"
MALFORMED: Final = "malformed"
AWAY: Final = "away"


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: a tier's model, and the one that stands in for it. Without any, the rules."""

    tier: str
    models: tuple[Model, ...] = ()


@dataclass(frozen=True, slots=True)
class Noted:
    """What is remembered of one answer; no word of anybody's is in it (A2ACP-082)."""

    at: Moment
    thread_id: str
    task: str
    tier: str
    model: str
    outcome: str
    confidence: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


class Notes(Protocol):
    """Where answers are noted, and what a day has cost."""

    def note(self, noted: Noted) -> None:
        """Remember one answer, durably."""
        ...

    def may_spend(self) -> bool:
        """Whether something of the day's budget is left."""
        ...


class Waiting(Protocol):
    """Lets time pass."""

    async def wait(self, seconds: float) -> None:
        """Wait so long."""
        ...


class _BudgetSpent(Exception):
    """The day's budget is spent."""


class Minded:
    """The port `Brain` by models, over the rules."""

    def __init__(
        self,
        rules: Brain,
        rungs: tuple[Rung, ...],
        *,
        notes: Notes,
        waiting: Waiting,
        clock: Clock,
        draw: Callable[[int], bytes],
    ) -> None:
        self._rules = rules
        self._rungs = (Rung(RULES), *rungs)
        self._notes = notes
        self._waiting = waiting
        self._clock = clock
        self._draw = draw

    async def think(self, task: Task) -> Thought:
        """The thought of the cheapest rung that is sure enough."""
        if task.scene is None:
            return await self._rules.think(task)
        try:
            return await self._climbed(task)
        except _BudgetSpent:
            return replace(await self._ruled(task), over_budget=True)
        except GenerationFailed:
            if task.kind != READ_REQUEST:
                raise
            # The owner is here, and hears at once what was not understood.
            return await self._ruled(task)

    async def without_models(self, task: Task) -> Thought:
        """The rules' thought while no model answers; `ModelAway` for what they may not guess (A2ACP-087)."""
        thought = await self._ruled(task)
        alone = task.kind == WRITE_PROPOSAL or task.scene is None or self._first(task) == 0
        if thought.confidence < ENOUGH or not (alone or task.kind == READ_REQUEST):
            raise ModelAway("no model answers now")
        return thought

    async def _ruled(self, task: Task) -> Thought:
        thought = await self._rules.think(task)
        self._note(task, RULES, RULES, TAKEN, thought.confidence)
        return thought

    async def _climbed(self, task: Task) -> Thought:
        at = self._first(task)
        thought = await self._on(self._rungs[at], task)
        for rung in self._rungs[at + 1 : at + 1 + MOST_CLIMBS]:
            if thought.confidence >= ENOUGH:
                break
            thought = await self._on(rung, task)
        return thought if thought.confidence >= ENOUGH else replace(thought, ask_owner=True)

    def _first(self, task: Task) -> int:
        """The rung on which a task begins (A2ACP-081)."""
        if established(task):
            return 0
        wanted = {READ_PACKET: SMALL, READ_REQUEST: MEDIUM, WRITE_PROPOSAL: MEDIUM}[task.kind]
        if task.kind == WRITE_PROPOSAL and len(task.options) > 1:
            wanted = LARGE
        order = (RULES, SMALL, MEDIUM, LARGE)
        return max(
            number for number, rung in enumerate(self._rungs) if order.index(rung.tier) <= order.index(wanted)
        )

    async def _on(self, rung: Rung, task: Task) -> Thought:
        base = await self._rules.think(task)
        if not rung.models:
            self._note(task, rung.tier, RULES, _outcome(base), base.confidence)
            return base
        prompt = first = layers.assembled(task)
        for _ in range(1 + REGENERATIONS):
            reply = await self._reply(rung, task, prompt)
            try:
                thought = replies.read(task, reply.text, base)
            except replies.MalformedAnswer as wrong:
                self._note(task, rung.tier, reply.model, MALFORMED, 0.0, reply)
                said = f"{first.words}\n\nYour last answer could not be used: {wrong}. Answer anew."
                prompt = replace(first, words=said)
                continue
            self._note(task, rung.tier, reply.model, _outcome(thought), thought.confidence, reply)
            return thought
        raise GenerationFailed("no answer of a model could be used")

    async def _reply(self, rung: Rung, task: Task, prompt: Prompt) -> ModelReply:
        """One answer, of the rung's model or of the one that stands in for it (A2ACP-085, A2ACP-086)."""
        for model in rung.models:
            for pause in (*PAUSES, None):
                if not self._notes.may_spend():
                    raise _BudgetSpent
                try:
                    return await model.complete(prompt)
                except ModelAway as away:
                    self._note(task, rung.tier, model.name, AWAY, 0.0)
                    if away.lasting or pause is None:
                        break
                    await self._waiting.wait(self._seconds(pause, away.retry_after))
        raise ModelAway("no model answers now")

    def _seconds(self, pause: float, asked: float | None) -> float:
        """The pause, give or take a fifth; longer if the model asks for it, up to a minute."""
        share = int.from_bytes(self._draw(4), "big") / (2**32 - 1)
        seconds = pause * (1 - JITTER + 2 * JITTER * share)
        return max(seconds, min(asked, LONGEST_WAIT)) if asked is not None and asked > 0 else seconds

    def _note(
        self,
        task: Task,
        tier: str,
        model: str,
        outcome: str,
        confidence: float,
        reply: ModelReply | None = None,
    ) -> None:
        scene = task.scene
        self._notes.note(
            Noted(
                at=self._clock.now(),
                thread_id=scene.thread_id if scene is not None else "",
                task=task.kind,
                tier=tier,
                model=model,
                outcome=outcome,
                confidence=confidence,
                input_tokens=max(reply.input_tokens, 0) if reply is not None else 0,
                output_tokens=max(reply.output_tokens, 0) if reply is not None else 0,
                cost_usd=max(reply.cost_usd or 0.0, 0.0) if reply is not None else 0.0,
            )
        )


def established(task: Task) -> bool:
    """Whether a task follows a pattern: three ends with this counterpart in this category (A2ACP-084)."""
    if task.scene is None:
        return False
    if task.kind == WRITE_PROPOSAL:
        category = task.goal.category if task.goal is not None else ""
    elif task.kind == READ_PACKET:
        intent = task.packet.get("intent")
        category = intent.get("category") if isinstance(intent, dict) else None
    else:
        return False
    return isinstance(category, str) and task.scene.completed.get(category, 0) >= ESTABLISHED


def _outcome(thought: Thought) -> str:
    return TAKEN if thought.confidence >= ENOUGH else UNSURE
