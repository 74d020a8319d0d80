"""How an agent comes to a thought: in which order, beside what else it does, and what its owner hears of it.

A2ACP-087, A2ACP-088, A2ACP-089.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from tacit.agent.brain.port import GenerationFailed
from tacit.agent.kernel.io.core import AgentCore
from tacit.agent.scheduling import considering
from tacit.base.language_model import ModelAway

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tacit.agent.brain.io.minding import Mind
    from tacit.agent.brain.port import Task, Thought
    from tacit.base.moment import Moment

_log: Final = logging.getLogger("tacit.agent")
THOUGHT: Final = "thought of "
"""Before a thread's id: the name of a thought under way."""


class Thinking(AgentCore):
    """The thoughts of an agent."""

    mind: Mind
    unminded: set[str]
    """Threads that wait for a model to answer again."""
    deeds: dict[str, asyncio.Task[bool]]
    """What is under way beside the wheel: actions by their thread, thoughts by theirs."""
    woken: asyncio.Event

    async def any_deed(self, *, thoughts: bool = True) -> bool:
        """Wait for one of the actions and thoughts under way, if there is any; whether it did something."""
        while under_way := [
            task for name, task in self.deeds.items() if thoughts or not name.startswith(THOUGHT)
        ]:
            await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            if self.reap():
                return True
        return False

    def reap(self) -> bool:
        """Let go of actions and thoughts that have ended; whether any did something.

        A fault of ours is heard here.
        """
        ended = [name for name, task in self.deeds.items() if task.done()]
        results = [self.deeds.pop(name).result() for name in ended]
        return any(results)

    def beside(self, name: str, work: Coroutine[None, None, bool]) -> None:
        """Do something slow beside the wheel: it holds up its own thread and no other."""
        self.deeds[name] = asyncio.get_running_loop().create_task(work)
        self.deeds[name].add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[bool]) -> None:
        if task.cancelled() or task.exception() is not None or task.result():
            self.woken.set()

    def in_order(self) -> list[str]:
        """The threads whose turn is ours, as what they wait for came (A2ACP-087)."""
        book = self.journal.book

        def came(thread_id: str) -> Moment:
            thread = book.threads[thread_id]
            return next((one.at for one in thread.packets if one.packet_id == thread.consider), thread.since)

        names = list(book.considering)
        return sorted(names, key=came) if len(names) > 1 else names

    def may_think(self, thread_id: str) -> bool:
        """Whether a thread is not one of those that wait for a model to answer again."""
        if self.mind.is_away and thread_id in self.unminded:
            return False
        self.unminded.discard(thread_id)
        return True

    async def thought(self, thread_id: str, token: str, task: Task) -> Thought | None:
        """What a brain makes of a task; None when the thread was paused, as no answer could be used."""
        try:
            return await self.think(task)
        except GenerationFailed:
            _log.warning("a thread is paused: no answer of a model could be used")
            await self.decide(lambda ws: considering.unwritten(ws, thread_id, token))
            return None

    async def think(self, task: Task) -> Thought:
        """The thought of the owner's brain; the owner hears once what became of it (A2ACP-087)."""
        try:
            thought = await self.mind.think(task)
        except ModelAway:
            await self._tell(None)
            raise
        await self._tell(thought)
        return thought

    async def _tell(self, thought: Thought | None) -> None:
        news = self.mind.news(thought)
        if news is not None:
            await self.decide(lambda ws: ws.notice("", news[0]))
            self.mind.told(news[1])
