"""A model that answers by a script, and what else a brain over models needs in a test."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tacit.a2acp.packets.windows import read_windows
from tacit.agent.brain.configured import LARGE, MEDIUM, SMALL
from tacit.agent.brain.minded import Minded, Noted, Rung
from tacit.agent.brain.port import WRITE_PROPOSAL
from tacit.agent.brain.rules import Rules
from tacit.base.language_model import ModelReply, Prompt
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DINNER = {
    "kind": "meeting",
    "summary": "Dinner",
    "event_type": "dinner",
    "times": [{"date": "2026-03-27", "from": "18:00", "to": "22:00"}],
    "minutes": 90,
    "place": "",
    "urgency": "normal",
    "wants": [],
    "flexibility": {},
    "unclear": [],
    "confidence": 0.9,
}
DEFINITION = {"driver": "command", "model": "m", "options": {}}


def honest(prompt: Prompt) -> str:
    """What a decent model would answer in the stories of these tests."""
    if prompt.task == WRITE_PROPOSAL:
        count = int(re.search(r"words for (\d+) option", prompt.words)[1])
        return json.dumps(
            {"summaries": ["Dinner together"] * count, "reasoning": "It suits both", "confidence": 0.9}
        )
    return json.dumps(DINNER)


class Scripted:
    """A `Model`: each answer comes from `says`; an exception in its place is raised."""

    def __init__(self, says: Callable[[Prompt], Any] = honest, name: str = "m", cost: float = 0.01) -> None:
        self.says = says
        self.name = name
        self.cost = cost
        self.prompts: list[Prompt] = []
        self.closed = 0

    async def complete(self, prompt: Prompt) -> ModelReply:
        self.prompts.append(prompt)
        said = self.says(prompt)
        if isinstance(said, BaseException):
            raise said
        return ModelReply(said, self.name, 100, 20, self.cost)

    async def close(self) -> None:
        self.closed += 1


class Opened:
    """A `Models`: every definition is the model of its name."""

    def __init__(self, **models: Scripted) -> None:
        self.models = models
        self.opened: list[Mapping[str, Any]] = []

    def open(self, definition: Mapping[str, Any]) -> Scripted:
        self.opened.append(definition)
        return self.models[str(definition["model"])]


class Kept:
    """A `Notes` in memory."""

    def __init__(self, most: int | None = None) -> None:
        self.noted: list[Noted] = []
        self.most = most

    def note(self, noted: Noted) -> None:
        self.noted.append(noted)

    def may_spend(self) -> bool:
        return (
            self.most is None or sum(one.input_tokens + one.output_tokens for one in self.noted) < self.most
        )


class Waited:
    """A `Waiting` that only remembers."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def wait(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Fixed:
    """A clock that stands."""

    def now(self) -> Moment:
        return Moment(0)


def minded(
    *models: Scripted | tuple[Scripted, ...] | None,
    notes: Kept | None = None,
    waiting: Waited | None = None,
    share: float = 0.5,
) -> Minded:
    """A brain of these models for small, medium and large; None is the tier below, at last the rules."""
    rungs = tuple(
        Rung(tier, one if isinstance(one, tuple) else (one,))
        for tier, one in zip((SMALL, MEDIUM, LARGE), models, strict=False)
        if one is not None
    )
    return Minded(
        Rules(read_windows),
        rungs,
        notes=notes or Kept(),
        waiting=waiting or Waited(),
        clock=Fixed(),
        draw=lambda count: int(share * (256**count - 1)).to_bytes(count, "big"),
    )
