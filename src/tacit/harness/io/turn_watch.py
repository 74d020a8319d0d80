"""The driver's `Watch` of a running turn, as inputs of the conduct and as questions to the room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.harness.drivers.port import (
    Activity,
    BoundaryOrder,
    NotPermitted,
    PermissionAnswer,
    PermissionRequest,
    Permitted,
    ToolEnded,
    ToolStarted,
    TurnEvent,
)
from tacit.harness.io.permissions import CALLED_OFF
from tacit.harness.io.preparing import keep_session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.base.moment import Moment
    from tacit.harness.conduct import Conduct
    from tacit.harness.effects import Effect, ModelTurn
    from tacit.harness.io.activity_log import TurnRecorder
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.permissions import Permissions

    Judged = Callable[[Callable[[Moment], tuple[Any, list[Effect]]]], Awaitable[Any]]


class TurnWatch:
    """Watches one turn."""

    def __init__(
        self,
        conduct: Conduct,
        judged: Judged,
        turn: ModelTurn,
        permissions: Permissions,
        recorder: TurnRecorder,
        context: HarnessContext,
    ) -> None:
        self._conduct = conduct
        self._judged = judged
        self._turn = turn
        self._permissions = permissions
        self._recorder = recorder
        self._context = context

    async def saw(self, event: TurnEvent) -> None:
        """Remember which calls run, and let people see them."""
        self._recorder.saw(event)
        if isinstance(event, ToolStarted):
            self._conduct.tool_started(event.call_id, event.name)

    async def at_boundary(self, ended: ToolEnded) -> BoundaryOrder:
        """Ask the conduct what comes next."""
        return await self._judged(lambda now: self._conduct.boundary(ended.call_id, now))

    async def did(self, activity: Activity) -> None:
        """Let people see it."""
        self._recorder.did(activity)

    async def in_session(self, session_id: str) -> None:
        """Keep it: whoever takes up the question after a crash goes on where this turn was."""
        audience = self._turn.audience
        if self._context.store.session_for(audience) != session_id:
            await keep_session(self._context, audience, session_id)

    async def asked(self, wanted: PermissionRequest) -> PermissionAnswer:
        """Ask the room. A call that waits for leave has done nothing: the turn may be ended meanwhile.

        A turn that is ending may still have a call under way that is let to its end; it gets no leave for
        more (C2A-180), and nobody is asked for it.
        """
        if self._is_ending:
            return NotPermitted(CALLED_OFF)
        self._conduct.tool_waits(wanted.call_id, waits=True)
        answer = await self._permissions.ask(self._turn, wanted)
        if self._is_ending:
            answer = NotPermitted(CALLED_OFF)
        self._conduct.tool_waits(wanted.call_id, waits=not isinstance(answer, Permitted))
        return answer

    @property
    def _is_ending(self) -> bool:
        running = self._conduct.running
        return running is None or running.is_ending or running.turn.id != self._turn.id
