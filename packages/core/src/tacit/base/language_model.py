"""The port to a language model: one prompt, one answer, nothing remembered (A2ACP-064, A2ACP-085).

A model is asked for one JSON object by a schema. It has no tools, no folder and no memory of an earlier
prompt: what it may know stands in the prompt, so that a word of one contact can never stand in a prompt about
another. What it answers is text of a stranger until it was checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tacit.base.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked."""

    task: str
    """The task's kind: for the log, and for a name of the answer's schema."""
    standing: str
    """Ours alone: the protocol, the owner's profile, the permissions. Where a model keeps system text."""
    words: str
    """What is known of the counterpart and the thread, others' text as quoted data. The user role."""
    schema: Mapping[str, Any]
    """The JSON Schema of the answer: one object."""
    longest: float = 120.0
    """Seconds until it is given up."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered, and what it took."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class ModelAway(Unavailable):
    """A model that does not answer now: it timed out, refused for its rate, or cannot be reached."""

    def __init__(self, message: str, *, retry_after: float | None = None, lasting: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that it asked us to wait."""
        self.lasting = lasting
        """Trying again is of no use: the key is wrong, the model is unknown, the program is missing."""


class Model(Protocol):
    """One model by one driver."""

    @property
    def name(self) -> str:
        """By which the log and the owner know it."""
        ...

    async def complete(self, prompt: Prompt) -> ModelReply:
        """One answer; `ModelAway` when there is none."""
        ...

    async def close(self) -> None:
        """Let go of whatever it holds."""
        ...


class Models(Protocol):
    """Opens the models that an owner has chosen: given to the agent by whoever runs it."""

    def open(self, definition: Mapping[str, Any]) -> Model:
        """The model of a definition `{"driver", "model", "options"}` (see `brain.configured`).

        `Refused` (code `bad_brain`) when the definition can never work; a model that is merely away now is
        opened, and says so with `ModelAway` when it is asked.
        """
        ...
