"""Following a ledger from a client: one connection of its own, renewed with the last seen cursor.

Adapts to the hub (CCCS-109): without `since_seq` it resumes by event id or time and drops repeats by id;
without a `kinds` filter it filters here.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import PeerFault, Unavailable
from tacit.c2a.rpc import error_of
from tacit.client.retrying import pause
from tacit.client.rpc_connection import answers, connect, encode_call
from tacit.ledger.cursor import Selection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import aiohttp

    from tacit.client.ports import FollowableHub
    from tacit.ledger.envelope import Event

log: Final = logging.getLogger("tacit.client")


class FollowState:
    """The state of one follow: where it stands and what it wants."""

    def __init__(self, hub: FollowableHub, group_id: str, since_seq: int, kinds: tuple[str, ...]) -> None:
        self._hub = hub
        self._group_id = group_id
        self._seq = since_seq
        self._wanted = Selection(kinds=kinds)
        self._last: Event | None = None
        self._seen: set[str] = set()

    def _params(self, capabilities: dict[str, Any]) -> dict[str, Any]:
        """What to ask for, in the hub's own terms."""
        params: dict[str, Any] = {"group_id": self._group_id}
        if self._wanted.kinds and "kinds" in capabilities.get("filters", ()):
            params["kinds"] = list(self._wanted.kinds)
        cursors = capabilities.get("cursors", ("since_seq",))
        if "since_seq" in cursors:
            params["since_seq"] = self._seq
        elif self._last is not None and "since_event_id" in cursors:
            params["since_event_id"] = self._last.id
        elif self._last is not None and "since_ts" in cursors:
            params["since_ts"] = self._last.ts
        return params

    def _fresh(self, event: Event) -> bool:
        """Not seen before: repeats come from inclusive time cursors, and from nowhere else."""
        if event.seq <= self._seq or event.id in self._seen:
            return False
        if self._last is None or self._last.ts != event.ts:
            self._seen.clear()
        self._seen.add(event.id)
        self._seq, self._last = event.seq, event
        return True

    async def events(self) -> AsyncIterator[Event]:
        """Every event once, in append order."""
        attempt = 0
        while True:
            try:
                params = self._params(await self._hub.capabilities())
                socket = await connect(self._hub.session(), self._hub.url, self._hub.token)
                self._hub.looking.add(socket)
                try:
                    async for event in self._from(socket, params):
                        attempt = 0
                        yield event
                finally:
                    self._hub.looking.drop(socket)
                    await socket.close()
            except Unavailable:
                log.info("the hub is away", extra={"attempt": attempt})
            await asyncio.sleep(pause(attempt))
            attempt += 1

    async def _from(
        self, socket: aiohttp.ClientWebSocketResponse, params: dict[str, Any]
    ) -> AsyncIterator[Event]:
        """Events of one connection, until it ends or the hub cuts it."""
        await self._hub.looking.restate(socket)
        await socket.send_str(encode_call(1, "follow", params))
        async for answer in answers(socket):
            if "error" in answer:
                raise error_of(answer["error"])
            if answer.get("method") == "cut":
                if "error" in answer["params"]:
                    raise error_of(answer["params"]["error"])
                return
            if answer.get("method") != "event":
                continue
            value = answer["params"]["event"]
            if not isinstance(value.get("seq", 0), int):
                raise PeerFault("the hub sent an event without a position")
            for event in self._hub.known([value]):
                if self._fresh(event) and self._wanted.wants(event.kind):
                    yield event
