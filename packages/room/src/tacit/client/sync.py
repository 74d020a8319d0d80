"""The twin of `Hub` for programs without an event loop: the same calls, blocking.

One background thread runs the asyncio client, so that several threads may call at once and a follow goes on
beside them. For a program that makes a few calls and ends there is `SocketHub`.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.client.blocking import BlockingHub
from tacit.client.hub import Hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
    from pathlib import Path

    from tacit.ledger.envelope import Event

T = TypeVar("T")


class SyncHub(BlockingHub):
    """A hub as one credential sees it, blocking."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry_for: float = 30.0,
        proven_by: bytes | None = None,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tacit-client", daemon=True)
        self._thread.start()
        self._hub = self._operations = self._wait(self._make(url, token, retry_for, proven_by))

    async def _make(self, url: str, token: str | None, retry_for: float, proven_by: bytes | None) -> Hub:
        return Hub(url, token, retry_for=retry_for, proven_by=proven_by)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Let go of all connections and of the thread."""
        self._wait(self._hub.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def away(self, *, away: bool = True) -> None:
        """Say that nobody looks at what this client follows, or that somebody does again."""
        self._wait(self._hub.away(away=away))

    def follow(
        self, group_id: str, *, since_seq: int = 0, kinds: Sequence[str] | None = None
    ) -> Iterator[Event]:
        """Every event after a position, then live, for ever."""
        stream: AsyncIterator[Event] = self._hub.follow(group_id, since_seq=since_seq, kinds=kinds)
        try:
            while True:
                yield self._wait(_next(stream))
        finally:
            self._wait(_end(stream))

    def upload(self, group_id: str, path: Path) -> dict[str, Any]:
        """Store a file; returns the attachment to send with a message."""
        return self._wait(self._hub.files.upload(group_id, path))

    def download(self, group_id: str, path: str) -> bytes:
        """A blob's bytes, checked against its name."""
        return self._wait(self._hub.files.download(group_id, path))


async def _next(stream: AsyncIterator[T]) -> T:
    return await anext(stream)


async def _end(stream: Any) -> None:
    await stream.aclose()
