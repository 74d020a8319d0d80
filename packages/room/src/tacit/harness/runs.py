"""The numbers of turns: each run of a question has a name of its own (C2A-164, C2A-166).

A turn is named by the event that carries it, which run of it this is, and the slot that runs it. Runs are
counted on over restarts of the process, by the store; the series says since when, so that the hub can tell a
rerun from a new answer. What is settled is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tacit.harness.question import TurnQuestion

_SIGN: Final = "~"


def turn_name(carrier: str, run: int, slot: int) -> str:
    """A turn's id."""
    return f"{carrier}.{run}{_SIGN}{slot}" if slot else f"{carrier}.{run}"


def slot_of(turn_id: str) -> int:
    """In which slot a turn ran."""
    _, sign, slot = turn_id.rpartition(".")[2].partition(_SIGN)
    return int(slot) if sign and slot.isascii() and slot.isdigit() else 0


def session_name(audience: str, slot: int) -> str:
    """The name of the model's session for an audience in a slot; no two of either share it."""
    return f"{audience}\n{slot}" if slot else audience


@dataclass(slots=True)
class Runs:
    """How often the events that are not settled were begun."""

    _runs: dict[str, int] = field(default_factory=dict[str, int])
    _since: dict[str, int] = field(default_factory=dict[str, int])
    _fresh: set[str] = field(default_factory=set[str])

    def __len__(self) -> int:
        return len(self._runs.keys() | self._since.keys() | self._fresh)

    def behind(self, event_id: str, runs: int, *, asked_anew: bool) -> None:
        """So many runs lie behind an event; where it is asked anew, they belong to an answer before."""
        self._runs[event_id] = runs
        if asked_anew:
            self._since[event_id] = runs

    def in_a_new_session(self, event_id: str) -> None:
        """The next run begins a new session of the model's."""
        self._fresh.add(event_id)

    def next_of(self, question: TurnQuestion, slot: int) -> tuple[str, str, int, bool]:
        """The next run's name, its series, its number in that, and whether its session is new."""
        carrier = question.events[-1].event_id
        run = self._runs[carrier] = self._runs.get(carrier, 0) + 1
        since = self._since.get(carrier, 0)
        is_fresh = carrier in self._fresh
        self._fresh.discard(carrier)
        return turn_name(carrier, run, slot), f"{carrier}.{since}", run - since, is_fresh

    def over(self, event_id: str) -> None:
        """It is settled, or the hub brings it again and says how often it ran."""
        self._runs.pop(event_id, None)
        self._since.pop(event_id, None)
        self._fresh.discard(event_id)
