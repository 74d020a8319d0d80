"""Knocks and digests: shown beside the next turn whose audience may know of them, whatever that is about.

Of a turn that does not count they come back here, and wait for the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.c2a.messages import Delivered
    from tacit.harness.effects import ModelTurn


@dataclass(slots=True)
class ShownBeside:
    """What waits to be shown."""

    knocks: list[Delivered] = field(default_factory=list["Delivered"])
    digests: list[Delivered] = field(default_factory=list["Delivered"])

    def drop(self, event_id: str) -> bool:
        """It was taken back; false when it is not here."""
        before = len(self.knocks) + len(self.digests)
        self.knocks = [one for one in self.knocks if one.event_id != event_id]
        self.digests = [one for one in self.digests if one.event_id != event_id]
        return len(self.knocks) + len(self.digests) < before

    def take(self, audience: str) -> tuple[tuple[Delivered, ...], tuple[Delivered, ...]]:
        """Knocks and digests for a turn that begins."""
        knocks, self.knocks = _apart(self.knocks, audience)
        digests, self.digests = _apart(self.digests, audience)
        return knocks, digests

    def give_back(self, turn: ModelTurn) -> None:
        """The run does not count."""
        self.knocks = [*turn.knocks, *self.knocks]
        self.digests = [*turn.digests, *self.digests]


def _apart(waiting: Iterable[Delivered], audience: str) -> tuple[tuple[Delivered, ...], list[Delivered]]:
    """What may be shown beside a turn for an audience, and what goes on waiting for its own.

    What the room may know, anybody may.
    """
    events = tuple(waiting)
    shown = tuple(one for one in events if one.audience in {"", audience})
    return shown, [one for one in events if one not in shown]
