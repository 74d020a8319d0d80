"""The questions on which the model failed and which are tried again: with what, and how often (C2A-163).

Keyed by the event that carries the question. Decides nothing: whether and when to try again is for
`tacit.harness.outcome`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.harness.outcome import PASSING

if TYPE_CHECKING:
    from tacit.base.moment import Moment
    from tacit.harness.drivers.port import Failure
    from tacit.harness.question import TurnQuestion


class Failing:
    """What failed last, and how many faults of the agent's own lie behind it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Failure, int]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, event_id: str) -> Failure | None:
        """Why it waits; None when it has not failed."""
        known = self._known.get(event_id)
        return known[0] if known is not None else None

    def faults(self, event_id: str) -> int:
        """How often the agent itself was at fault."""
        known = self._known.get(event_id)
        return known[1] if known is not None else 0

    def note(self, event_id: str, failure: Failure) -> None:
        """Once more."""
        self._known[event_id] = failure, self.faults(event_id) + (failure.code not in PASSING)

    def over(self, event_id: str) -> None:
        """It waits no longer."""
        self._known.pop(event_id, None)

    def is_back(self, questions: list[TurnQuestion], now: Moment) -> list[TurnQuestion]:
        """The model answers: whoever waits for it to come back is asked at once."""
        return [
            replace(one, not_before=min(one.not_before, now)) if self._waits_for_the_model(one) else one
            for one in questions
        ]

    def _waits_for_the_model(self, question: TurnQuestion) -> bool:
        failure = self.of(question.carrier.event_id)
        return failure is not None and failure.code in PASSING
