"""Tells the hub how work stands: at every change, and as a sign of life while anything is not finished.

Only a hub that said in its greeting that it hears of work is told. What many pieces of work have to say
leaves in batches, in order, with a breath between, so that a long queue after a restart drowns nothing else.
What is told and when is decided by `tacit.harness.work`; what is lost with a connection is told anew on the
next. Only how work ended is kept until then: nobody would come upon it again.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND
from tacit.c2a.notifications import Work
from tacit.harness.work import WorkReport, between_signs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tacit.c2a.messages import Delivered
    from tacit.harness.conduct import Conduct
    from tacit.harness.io.context import HarnessContext

BATCH: Final = 20
"""Pieces of work that are told at once."""
UNTOLD: Final = 100
"""Ends that are kept for a hub that is away."""
BREATH: Final = 0.1
"""Seconds between two batches."""
_rest: Final = asyncio.sleep


class WorkTeller:
    """One agent's reports on its work."""

    def __init__(self, context: HarnessContext, conduct: Conduct) -> None:
        self._context = context
        self._conduct = conduct
        self._report = WorkReport()
        self._ended: list[Work] = []

    def ended(self, work: Work) -> None:
        """Work has come to an end that the hub does not see by itself."""
        self._ended.append(work)
        self._context.work_changed.set()

    def brought_again(self, event: Delivered) -> None:
        """The hub brings what is known: somebody else may have had it, and the deadline may differ."""
        self._context.view.brought_again(event)
        self._report.brought_again(event.event_id)
        self._context.work_changed.set()

    def connected(self) -> None:
        """Another connection: everything is told again."""
        self._report.forget()
        self._context.work_changed.set()

    async def run(self) -> None:
        """For as long as the harness runs."""
        while True:
            due = self._report.life_due
            wait = None if due is None else max(0.0, (due - self._context.clock.now()) / SECOND)
            try:
                async with asyncio.timeout(wait):
                    await self._context.work_changed.wait()
            except TimeoutError:
                pass  # a sign of life is due
            self._context.work_changed.clear()
            await self._tell()

    def _deadlines(self, states: Iterable[Work]) -> Iterator[int]:
        """How long each question bears silence: as it was delivered, or as the claim that holds it."""
        for work in states:
            event = self._context.view.event(work.event_id)
            named = event.deadline_ms if event is not None else None
            yield named if named is not None else self._context.settings.claim_ttl_ms

    async def _tell(self) -> None:
        agreed = self._context.session.agreed
        if agreed is None or "work" not in agreed.hears:
            # An end is told once the hub is back: of all else it hears anew how it stands then.
            self._ended = self._ended[-UNTOLD:] if agreed is None else []
            self._report.forget()
            return
        ended, self._ended = self._ended, []
        now = self._context.clock.now()
        asked = [
            Work(event_id, "waiting", code="approval_required", message=why)
            for event_id, why in self._context.asked.items()
        ]
        states = [*asked, *self._conduct.work(now)]
        told = [*ended, *self._report.due(states, now, between_signs(self._deadlines(states)))]
        for first in range(0, len(told), BATCH):
            if first:
                await _rest(BREATH)
            for place, work in enumerate(told[first : first + BATCH], first):
                if not await self._context.session.tell(work) and place < len(ended):
                    self._ended.append(work)
