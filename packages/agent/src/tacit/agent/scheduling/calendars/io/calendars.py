"""All calendars of one owner as one answer (A2ACP-077): read at the same time, and one that fails blocks all.

A calendar that cannot be read may hold anything, so the whole stretch counts as busy until it can be; the
notice names it by the name that its owner gave it. Knows nothing of the kinds of calendars.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.agent.scheduling.calendars.busy import together, unknown
from tacit.base.errors import Bug, Refused, TacitError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.agent.scheduling.calendars.busy import Busy
    from tacit.agent.scheduling.calendars.port import Source
    from tacit.base.moment import Span


class Calendars:
    """The calendars that somebody added, by name."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = dict(sources)

    async def busy(self, asked: Span) -> Busy:
        """When their owner is busy, all calendars together."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_answer(name, source, asked)) for name, source in self._sources.items()
            ]
        return together(task.result() for task in tasks)


async def _answer(name: str, source: Source, asked: Span) -> Busy:
    try:
        answer = await source.busy(asked)
    except Bug:
        raise
    except TacitError as fault:
        answer = unknown(asked, fault.message if isinstance(fault, Refused) else str(fault))
    about = f'calendar "{name}"' if answer.complete else f'calendar "{name}" cannot be read'
    return replace(answer, notices=tuple(f"{about}: {notice}" for notice in answer.notices))
