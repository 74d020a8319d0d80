"""What a model does in one call, as its documentation lets it: several parts, and how it stopped. Values only."""

import asyncio
from dataclasses import dataclass, field

from .replies import Tokens


@dataclass(frozen=True)
class Thought:
    """Reasoning that is shown and not said."""

    text: str


@dataclass(frozen=True)
class Words:
    """Something said aloud; before a tool call it is only an announcement."""

    text: str


@dataclass(frozen=True)
class Use:
    """A tool call. A tool that nobody offered is called by the name given here."""

    tool: str
    arguments: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Refusal:
    """The model will not do it, and says so in the form's own part for that."""

    text: str


class Hush:
    """A silence in mid-answer, for as long as the test wants: nothing but the format's signs of life.

    `arrived` is set when it is reached. No time passes by itself.
    """

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self._over = asyncio.Event()

    def release(self) -> None:
        self._over.set()

    async def wait(self) -> None:
        self.arrived.set()
        await self._over.wait()


Part = Thought | Words | Use | Refusal | Hush


@dataclass(frozen=True)
class Step:
    """One call's output. `stop`: `done`, `tools`, `refused`, `length`."""

    parts: tuple[Part, ...]
    stop: str = "done"
    tokens: Tokens = Tokens()
    chop: int = 0
    """In pieces of so many bytes on the wire, across characters and frames; 0: frame by frame."""

    def of(self, kind: type) -> list:
        return [part for part in self.parts if isinstance(part, kind)]


def says(*parts: Part | str, **more) -> Step:
    """A step from texts and parts; how it stopped follows from them unless it is given."""
    made = tuple(Words(part) if isinstance(part, str) else part for part in parts)
    if any(isinstance(part, Use) for part in made):
        more.setdefault("stop", "tools")
    if any(isinstance(part, Refusal) for part in made):
        more.setdefault("stop", "refused")
    return Step(made, **more)
