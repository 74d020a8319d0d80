"""Comparing threads after a connect, below the mail and little by little (A2ACP-213, A2ACP-214, A2ACP-218).

Each open thread is compared once a connection: first those that were last spoken in, then those that were
compared longest ago. A burst goes at once, the rest at a third of what a relay takes from one agent, so that
a person's own packets always find room; with 5,000 contacts that is four hours, and nobody waits for it. No
step takes longer than a few threads need: whatever reads the connection comes in between.

Tags of packets that a relay refused while we were away are looked for in the same way: a tag tells its thread
only to whoever computes the tags of all threads.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tacit.a2acp.post import reception
from tacit.seal.primitives import CannotOpen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.a2acp.post.io.inbox import PacketInbox
    from tacit.a2acp.post.io.store import AgentStore

AT_ONCE: Final = 40
PAUSE_SECONDS: Final = 3.0
_STEP: Final = 16


class Comparisons:
    """One agent's comparisons; `wake` is told when there is something to send."""

    def __init__(self, store: AgentStore, inbox: PacketInbox, wake: Callable[[], None]) -> None:
        self._store = store
        self._inbox = inbox
        self._wake = wake
        self._refused: set[str] = set()
        self._asked = asyncio.Event()

    async def compare_open(self, after: float = 0.0) -> None:
        """A summary of every open thread, `after` some seconds."""
        sent = 0
        if after:
            await asyncio.sleep(after)
        threads = self._inbox.open_threads()
        await asyncio.sleep(0)
        for thread_id, peer in threads:
            with self._store.transaction():
                said = self._inbox.summarise(peer, thread_id, answer=False)
            sent += said
            if said:
                self._wake()
            await asyncio.sleep(PAUSE_SECONDS if said and sent > AT_ONCE else 0)

    def ask_about(self, tag: str) -> None:
        """Packets of a tag were refused while we were away: ask that thread's other side."""
        self._refused.add(tag)
        self._asked.set()

    async def find_refused(self) -> None:
        """Find the threads of refused tags, all that were named meanwhile in one walk."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            tags, self._refused = self._refused, set()
            threads = self._inbox.open_threads()
            for start in range(0, len(threads), _STEP):
                self._match(tags, threads[start : start + _STEP])
                await asyncio.sleep(0)

    def _match(self, tags: set[str], threads: list[tuple[str, str]]) -> None:
        store, me = self._store, self._store.me()
        with store.transaction():
            for thread_id, peer in threads:
                contact = store.contact(peer)
                if contact is None or contact.pin is None:
                    continue
                try:
                    known = reception.queue_tag(
                        me.identity, contact.pin, sender=peer, recipient=me.address, thread_id=thread_id
                    )
                except CannotOpen:
                    continue
                if known in tags and self._inbox.summarise(peer, thread_id, answer=False):
                    self._wake()
