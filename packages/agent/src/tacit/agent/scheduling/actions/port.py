"""The port to what an agent does in the world once all have confirmed: each deed once, each with its undo.

A2ACP-166, A2ACP-167, A2ACP-168. Knows nothing of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from tacit.base.strict_json import Json, JsonObject

DONE: Final = "done"
FAILED: Final = "failed"
UNKNOWN: Final = "unknown"
"""Nobody can say whether it happened: to be asked again under the same id, never to be begun anew."""
REFUSED: Final = "refused"
"""Why it failed: whatever was asked to do it said no."""
TAKEN: Final = "taken"
"""Why it failed: the time is no longer free."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One action to carry out, the same each time it is tried."""

    action_id: str
    """Its identity in the world: the name of the entry, the idempotency key of the request."""
    action: str
    details: JsonObject
    """The confirmed proposal's details, with `summary`."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of it."""

    status: str
    reason: str = ""
    """In words for the owner alone."""
    code: str = ""
    """REFUSED or TAKEN, where that is known: what the others are told of why."""
    reference: str = ""
    """What the service calls it."""
    details: JsonObject = field(default_factory=dict[str, Json])


class Handler(Protocol):
    """Carries out one kind of deed."""

    reversible: bool

    async def do(self, deed: Deed) -> Result:
        """Have it done; asked again after an unknown end it recognises what it did."""
        ...

    async def undo(self, deed: Deed) -> Result:
        """Have it undone; undoing twice, or what was never done, is done."""
        ...
