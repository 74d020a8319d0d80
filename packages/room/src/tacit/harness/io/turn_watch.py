"""The driver's `Watch` of a running turn, as inputs of the conduct and as questions to the room."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.harness.drivers.port import (
    BoundaryOrder,
    Insert,
    NotPermitted,
    ObservedActivity,
    PermissionAnswer,
    PermissionRequest,
    Permitted,
    ToolEnded,
    ToolStarted,
    TurnEvent,
)
from tacit.harness.effects import Join
from tacit.harness.io.context import keep_session
from tacit.harness.io.permissions import CALLED_OFF
from tacit.harness.session_view import session_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.base.moment import Moment
    from tacit.c2a.messages import Delivered
    from tacit.harness.conduct import Conduct
    from tacit.harness.effects import Effect, ModelTurn
    from tacit.harness.io.activity_log import TurnRecorder
    from tacit.harness.io.context import HarnessContext
    from tacit.harness.io.files import AgentFiles
    from tacit.harness.io.permissions import Permissions
    from tacit.harness.running import RunningTurn

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
        files: AgentFiles,
        context: HarnessContext,
    ) -> None:
        self._conduct = conduct
        self._judged = judged
        self._turn = turn
        self._permissions = permissions
        self._recorder = recorder
        self._files = files
        self._context = context

    async def saw(self, event: TurnEvent) -> None:
        """Remember which calls run, and let people see them."""
        self._recorder.saw(event)
        if isinstance(event, ToolStarted) and (running := self._running) is not None:
            running.tool_started(event.call_id, event.name)

    async def at_boundary(self, ended: ToolEnded) -> BoundaryOrder:
        """Ask the conduct what comes next; what is put before the model has its files with it."""
        joined: list[Delivered] = []

        def judge(now: Moment) -> tuple[BoundaryOrder, list[Effect]]:
            order, effects = self._conduct.boundary(self._turn.id, ended.call_id, now)
            joined.extend(event for one in effects if isinstance(one, Join) for event in one.events)
            self._recorder.joined(joined)
            return order, effects

        order: BoundaryOrder = await self._judged(judge)
        if not isinstance(order, Insert):
            return order
        return replace(order, files=await self._files.of_events(self._turn.id, joined))

    async def did(self, activity: ObservedActivity) -> None:
        """Let people see it."""
        self._recorder.did(activity)

    async def in_session(self, session_id: str) -> None:
        """Keep it: whoever takes up the question after a crash goes on where this turn was."""
        name = session_name(self._turn.audience, self._turn.slot)
        if self._context.store.session_for(name) != session_id:
            await keep_session(self._context, name, session_id)

    async def asked(self, wanted: PermissionRequest) -> PermissionAnswer:
        """Ask the room. A call that waits for leave has done nothing: the turn may be ended meanwhile.

        A turn that is ending may still have a call under way that is let to its end; it gets no leave for
        more (C2A-180), and nobody is asked for it.
        """
        if self._is_ending:
            return NotPermitted(CALLED_OFF)
        self._waits(wanted.call_id, waits=True)
        answer = await self._permissions.ask(self._turn, wanted, self._events)
        if self._is_ending:
            answer = NotPermitted(CALLED_OFF)
        self._waits(wanted.call_id, waits=not isinstance(answer, Permitted))
        return answer

    def _waits(self, call_id: str, *, waits: bool) -> None:
        if (running := self._running) is not None:
            running.tool_waits(call_id, waits=waits)

    @property
    def _events(self) -> tuple[str, ...]:
        """What the turn works on by now, its carrier first."""
        turn, running = self._turn, self._running
        more = (*running.turn.events, *running.inserted) if running is not None else ()
        return tuple(dict.fromkeys(one.event_id for one in (turn.carrier, *turn.events, *more)))

    @property
    def _running(self) -> RunningTurn | None:
        return self._conduct.turn(self._turn.id)

    @property
    def _is_ending(self) -> bool:
        running = self._running
        return running is None or running.is_ending
