"""A deed as an entry in a calendar, named by the action's id, so that there is one of it.

A2ACP-166, A2ACP-167.

An entry that is there already was put there by a try whose end nobody saw. Which calendar it is, and how an
entry is written, comes from the calendars' room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tacit.agent.scheduling.actions.port import DONE, FAILED, REFUSED, UNKNOWN, Deed, Result
from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from tacit.agent.scheduling.calendars.port import WritableSource
    from tacit.base.moment import Moment
    from tacit.base.ports import Clock
    from tacit.base.strict_json import Json


class WriteEntry(Protocol):
    """How a confirmed proposal is written as an entry."""

    def __call__(self, action_id: str, details: Mapping[str, Json], now: Moment) -> bytes:
        """The entry's text; `Refused` when the details say no time."""
        ...


class CalendarHandler:
    """Carries deeds out in one calendar."""

    reversible = True

    def __init__(self, name: str, calendar: WritableSource, write: WriteEntry, clock: Clock) -> None:
        self._name = name
        self._calendar = calendar
        self._write = write
        self._clock = clock

    async def do(self, deed: Deed) -> Result:
        """Have the entry there."""
        try:
            data = self._write(deed.action_id, deed.details, self._clock.now())
        except Refused:
            return Result(FAILED, reason="the proposal does not say when it is")
        return await self._result(
            deed, lambda: self._calendar.put(deed.action_id, data), "did not accept the entry"
        )

    async def undo(self, deed: Deed) -> Result:
        """Have the entry gone."""
        return await self._result(
            deed, lambda: self._calendar.remove(deed.action_id), "did not remove the entry"
        )

    async def _result(self, deed: Deed, call: Callable[[], Awaitable[str]], refused: str) -> Result:
        """What became of a call, in words for the calendar's owner."""
        calendar = f'Your calendar "{self._name}"'
        try:
            await call()
        except Unavailable:
            return Result(UNKNOWN, reason=f"{calendar} does not answer.")
        except Refused as refusal:
            why = refusal.details.get("status", refusal.message)
            return Result(FAILED, reason=f"{calendar} {refused} ({why}).", code=REFUSED)
        return Result(DONE, reference=deed.action_id)
