"""The driver's `Watch` of a running turn, turned into inputs of the conduct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.harness.drivers.port import BoundaryOrder, ToolEnded, ToolStarted, TurnEvent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.base.moment import Moment
    from tacit.harness.conduct import Conduct
    from tacit.harness.effects import Effect

    Judged = Callable[[Callable[[Moment], tuple[Any, list[Effect]]]], Awaitable[Any]]


class TurnWatch:
    """Watches one turn."""

    def __init__(self, conduct: Conduct, judged: Judged) -> None:
        self._conduct = conduct
        self._judged = judged

    async def saw(self, event: TurnEvent) -> None:
        """Remember which calls run."""
        if isinstance(event, ToolStarted):
            self._conduct.tool_started(event.call_id, event.name)

    async def at_boundary(self, ended: ToolEnded) -> BoundaryOrder:
        """Ask the conduct what comes next."""
        return await self._judged(lambda now: self._conduct.boundary(ended.call_id, now))
