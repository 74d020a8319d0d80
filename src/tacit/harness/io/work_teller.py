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
from tacit.harness.work import WorkReport

if TYPE_CHECKING:
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
        told = [*ended, *self._report.due([*asked, *self._conduct.work(now)], now)]
        for first in range(0, len(told), BATCH):
            if first:
                await _rest(BREATH)
            for place, work in enumerate(told[first : first + BATCH], first):
                if not await self._context.session.tell(work) and place < len(ended):
                    self._ended.append(work)
