"""Which groups somebody reads at this node: of the others its writer only notes what is new.

A group that was asked for stays awake for a while, as one is asked for again; one in which somebody is
connected stays awake as long as they are. That a read misses nothing does not depend on this: whoever reads a
group that is behind is told so, and has it brought up (`tacit.ledger.io.noted`). What does depend on it is
that whoever follows a group hears of everything. Time is an argument, in seconds.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

AWAKE_SECONDS: Final = 600.0
"""How long a group stays awake that somebody has asked for."""
GLANCE_SECONDS: Final = 10.0
"""How long groups do of which somebody has asked for many together, as in a list."""


class Wakefulness:
    """Until when each group is awake at least, and which the writer is being asked to awaken."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._asked: Counter[str] = Counter()

    @property
    def groups(self) -> tuple[str, ...]:
        """Those that are awake."""
        return tuple(self._until)

    def is_awake(self, group_id: str, until: float) -> bool:
        """Is a group awake? Then it stays so until then at least."""
        known = self._until.get(group_id)
        if known is not None and known < until:
            self._until[group_id] = until
        return known is not None

    def is_asked(self, group_id: str) -> bool:
        """Is the writer being asked to awaken it?"""
        return group_id in self._asked

    def ask(self, groups: Iterable[str]) -> None:
        """The writer is asked to awaken these; none of them is let rest before it has answered."""
        self._asked.update(groups)

    def answered(self, groups: Iterable[str], until: float | None) -> None:
        """It has: they are awake until then at least. None: it could not."""
        for group_id in groups:
            self._asked[group_id] -= 1
            if not self._asked[group_id]:
                del self._asked[group_id]
            if until is not None:
                self._until[group_id] = max(until, self._until.get(group_id, until))

    def resting(self, now: float, connected: Container[str]) -> tuple[str, ...]:
        """The groups that nobody has asked for since, and where nobody is: they are awake no more."""
        found = tuple(
            group_id
            for group_id, until in self._until.items()
            if until <= now and group_id not in connected and group_id not in self._asked
        )
        for group_id in found:
            del self._until[group_id]
        return found
