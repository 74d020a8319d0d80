"""What a node asks of every other node of its ledger, and what it answers when it is asked itself.

For what one node alone has: the sign-in links and its crew's codes that it made, and what the agents that are
connected to it do. A node is asked once and answers once. Who asks waits until all have answered that it
knows of, or one has said enough, or time is up: an answer that was lost is as one from a node that is gone.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tacit.base.errors import TacitError
from tacit.hub.nodes.codec import Informs, Inquires

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tacit.hub.nodes.codec import Finding, Inquiry
    from tacit.hub.nodes.transport import NodeTransport

log: Final = logging.getLogger("tacit.hub")
WITHIN: Final = 2.0
"""Seconds for what other nodes have at hand."""


async def _nothing(_inquiry: Inquiry) -> Finding:
    """Nobody answers for this node yet."""
    return None


def _never(_finding: Finding) -> bool:
    """Only all answers are enough."""
    return False


class _Asked:
    """What was asked, of whom no answer has come yet, and what was found."""

    def __init__(self, waiting: Iterable[str], is_enough: Callable[[Finding], bool]) -> None:
        self._waiting = set(waiting)
        self._is_enough = is_enough
        self.found: list[Finding] = []
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(self, address: str, finding: Finding) -> None:
        """A node has answered."""
        self.found.append(finding)
        self.without(address)
        if self._is_enough(finding):
            self._end()

    def without(self, address: str) -> None:
        """Nothing more is to come from a node."""
        self._waiting.discard(address)
        if not self._waiting:
            self._end()

    def _end(self) -> None:
        if not self.over.done():
            self.over.set_result(None)


class Inquiries:
    """Asks all other nodes, and answers them. Lives on the loop's thread."""

    def __init__(self, nodes: NodeTransport, others: Callable[[], Iterable[str]]) -> None:
        """`others`: where the other nodes are spoken to that are known to live."""
        self._nodes = nodes
        self._others = others
        self._asked: dict[int, _Asked] = {}
        self._numbers = itertools.count(1)
        self.answer: Callable[[Inquiry], Awaitable[Finding]] = _nothing
        """What this node finds when it is asked."""

    async def ask(
        self, inquiry: Inquiry, within: float = WITHIN, is_enough: Callable[[Finding], bool] = _never
    ) -> list[Finding]:
        """What the other nodes find."""
        others = list(self._others())
        if not others:
            return []
        number = next(self._numbers)
        asked = self._asked[number] = _Asked(others, is_enough)
        self._nodes.say_to_all(Inquires(self._nodes.address, number, inquiry))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await asked.over
        finally:
            del self._asked[number]
        return asked.found

    async def inform(self, asked: Inquires) -> None:
        """Another node asks: tell it what is found here; nothing, where that fails or is too much to say."""
        mine, finding = self._nodes.address, None
        try:
            finding = await self.answer(asked.inquiry)
        except TacitError as error:
            log.warning("another node's question has no answer now", extra={"fault": type(error).__name__})
        if not self._nodes.say_to(asked.address, Informs(mine, asked.number, finding)):
            self._nodes.say_to(asked.address, Informs(mine, asked.number, None))

    def heard(self, told: Informs) -> None:
        """Another node has answered."""
        if (asked := self._asked.get(told.number)) is not None:
            asked.take(told.address, told.finding)

    def gone(self, address: str) -> None:
        """A node is no more: nobody waits for it."""
        for asked in self._asked.values():
            asked.without(address)
