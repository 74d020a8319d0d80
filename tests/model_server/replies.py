"""What a scripted model can answer."""

import asyncio
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tokens:
    """The tokens a reply claims to have cost; `cached` is part of `input`."""

    input: int = 100
    output: int = 20
    cached: int = 40


@dataclass(frozen=True)
class Say:
    """A final text."""

    text: str
    tokens: Tokens = Tokens()


@dataclass(frozen=True)
class Call:
    """A tool call. `tool` is the tool's bare name; the server finds the name under which it was offered."""

    tool: str
    arguments: dict = field(default_factory=dict)
    tokens: Tokens = Tokens()


@dataclass(frozen=True)
class Status:
    """An HTTP error in the format's own error shape."""

    status: int
    retry_after: int | None = None
    kind: str = ""


@dataclass(frozen=True)
class Rubbish:
    """Status 200 and a body that is no answer in any format."""


@dataclass(frozen=True)
class Cut:
    """The beginning of an answer, and then the line is dropped."""

    text: str = "I was about to"


class Held:
    """A reply that waits: `arrived` is set when the call came in, `release` lets the answer go.

    With `begun`, the first bytes of the answer leave before the wait, as from a model that is already speaking.
    """

    def __init__(self, then, *, begun: bool = False):
        self.then = then
        self.begun = begun
        self.arrived = asyncio.Event()
        self._released = asyncio.Event()

    def release(self) -> None:
        self._released.set()

    async def wait(self) -> None:
        self.arrived.set()
        await self._released.wait()


Reply = Say | Call | Status | Rubbish | Cut | Held  # or a `Step`, of the second script
