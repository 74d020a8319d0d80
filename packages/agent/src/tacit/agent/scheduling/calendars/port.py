"""The ports to one calendar: reading when its owner is busy, and keeping entries of our own in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.base.moment import Span

CREATED: Final = "created"
EXISTED: Final = "existed"
REMOVED: Final = "removed"
ABSENT: Final = "absent"


class Source(Protocol):
    """A calendar that can be read."""

    async def busy(self, asked: Span) -> Busy:
        """When its owner is busy inside `asked`.

        `Unavailable` when it cannot be read now, `Refused` when it will not be.
        """
        ...


class WritableSource(Source, Protocol):
    """A calendar that also takes entries, each under its action's id and once."""

    async def put(self, name: str, data: bytes) -> str:
        """CREATED, or EXISTED when an entry of that name is there already."""
        ...

    async def remove(self, name: str) -> str:
        """REMOVED, or ABSENT when there is none."""
        ...
