"""The client of a program that makes a few calls and ends: one blocking socket, nothing else.

The operations are coroutines that wait for `call` alone (`tacit.client.operations`); here `call` blocks, so
that a coroutine runs from its start to its end in one step and needs no loop. What is more than a call and
its answer (following, files) is left to the whole client, which is imported when it is asked for: it is ten
times as heavy. Not for several threads at once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.base.errors import Bug, TacitError
from tacit.client.blocking import BlockingHub
from tacit.client.blocking_socket import BlockingSocket, Redirected
from tacit.client.operations import HubOperations, passing
from tacit.client.retrying import pause

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from pathlib import Path

    from tacit.client.sync import SyncHub
    from tacit.ledger.envelope import Event

T = TypeVar("T")


class SocketHub(BlockingHub):
    """A hub as one credential sees it, over one blocking socket."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry_for: float = 30.0,
        proven_by: bytes | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._retry_for = retry_for
        self._proven_by = proven_by
        self._calls = _SocketCalls(self._connect, retry_for, self._whole)
        self._operations = self._calls
        self._whole_hub: SyncHub | None = None

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            work.send(None)
        except StopIteration as done:
            return done.value
        work.close()
        raise Bug("an operation waited for something else than its call")

    def _whole(self) -> SyncHub:
        if self._whole_hub is None:
            from tacit.client.sync import SyncHub

            self._whole_hub = SyncHub(
                self._url, self._token, retry_for=self._retry_for, proven_by=self._proven_by
            )
        return self._whole_hub

    def _connect(self) -> BlockingSocket:
        return BlockingSocket(self._url, self._token, proven_by=self._proven_by)

    def close(self) -> None:
        """Let go of all connections."""
        self._calls.close()
        if self._whole_hub is not None:
            self._whole_hub.close()
            self._whole_hub = None

    def away(self, *, away: bool = True) -> None:
        """Say that nobody looks at what this client follows, or that somebody does again."""
        self._whole().away(away=away)

    def follow(
        self, group_id: str, *, since_seq: int = 0, kinds: Sequence[str] | None = None
    ) -> Iterator[Event]:
        """Every event after a position, then live, for ever."""
        return self._whole().follow(group_id, since_seq=since_seq, kinds=kinds)

    def upload(self, group_id: str, path: Path) -> dict[str, Any]:
        """Store a file; returns the attachment to send with a message."""
        return self._whole().upload(group_id, path)

    def download(self, group_id: str, path: str) -> bytes:
        """A blob's bytes, checked against its name."""
        return self._whole().download(group_id, path)


class _SocketCalls(HubOperations):
    """The operations over the socket; renewed when it breaks, as the whole client's."""

    def __init__(
        self, connect: Callable[[], BlockingSocket], retry_for: float, whole: Callable[[], SyncHub]
    ) -> None:
        super().__init__()
        self._connect = connect
        self._retry_for = retry_for
        self._whole = whole
        self._connection: BlockingSocket | None = None

    async def call(self, method: str, params: dict[str, Any], *, repeatable: bool = True) -> Any:
        """Any operation of the hub; blocks."""
        deadline = time.monotonic() + self._retry_for
        attempt = 0
        while True:
            try:
                return self._connected().call(method, params)
            except Redirected:
                return self._whole().call(method, params, repeatable=repeatable)
            except TacitError as error:
                problem = passing(error, method, repeatable=repeatable)
            wait = pause(attempt)
            attempt += 1
            if time.monotonic() + wait > deadline:
                raise problem
            time.sleep(wait)  # noqa: ASYNC251 - there is no loop: blocking is what this client does

    def _connected(self) -> BlockingSocket:
        if self._connection is None or not self._connection.is_open:
            self._connection = self._connect()
        return self._connection

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
