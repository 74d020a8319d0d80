"""The questions that wait: whole or still being written, each for a slot of the agent's, or for any.

The order is theirs who press first, then of those who were whole first. A question that belongs to a turn
that ran is kept for its slot: there lies the work, and there the model remembers it. Values in, values out;
the time and which slots are busy are arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.harness import question as questions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tacit.attention.settings import Settings
    from tacit.base.moment import Moment
    from tacit.harness.question import Question


class QuestionQueue:
    """What waits for one agent's model."""

    def __init__(self) -> None:
        self._all: list[Question] = []

    def __iter__(self) -> Iterator[Question]:
        return iter(tuple(self._all))

    def __len__(self) -> int:
        return len(self._all)

    def add(self, question: Question) -> None:
        """One more."""
        self._all.append(question)

    def remove(self, question: Question) -> None:
        """It waits no longer."""
        self._all.remove(question)

    def replace(self, question: Question, changed: Question) -> None:
        """The same one, in its place."""
        self._all[self._all.index(question)] = changed

    def put(self, changed: list[Question]) -> None:
        """All of them, as they stand now."""
        self._all = changed

    def take_out(self, event_id: str) -> Question | None:
        """The question that holds an event, out of the queue."""
        for place, question in enumerate(self._all):
            if question.holds(event_id):
                return self._all.pop(place)
        return None

    def in_order(self, settings: Settings) -> list[Question]:
        """As they will be begun."""
        return sorted(self._all, key=lambda one: (not one.is_pressing, questions.closes_at(one, settings)))

    def next_due(self, settings: Settings, busy: Collection[int], free: int) -> Moment | None:
        """When the next one is whole for which there is a slot; None when there is none."""
        waiting = [one for one in self._may_begin(free) if one.slot is None or one.slot not in busy]
        return min((questions.closes_at(one, settings) for one in waiting), default=None)

    def _may_begin(self, free: int) -> list[Question]:
        """Without those that would take the free slot from one whose turn there is begun anew."""
        kept = any(one.slot == free and one.restarts and one.window is not None for one in self._all)
        return [one for one in self._all if not kept or one.slot is not None or one.is_pressing]

    def take_next(self, now: Moment, settings: Settings, busy: Collection[int], free: int) -> Question | None:
        """The first that is whole and has a slot, out of the queue; what was taken back whole goes too."""
        may = self._may_begin(free)
        for question in self.in_order(settings):
            if questions.closes_at(question, settings) > now or question.slot in busy or question not in may:
                continue
            self._all.remove(question)
            whole = questions.closed(question)
            if whole is not None:
                return whole
        return None
