"""The server-sent events door: `id:` is the position, `Last-Event-ID` resumes."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import msgspec
from aiohttp import web

from tacit.base.errors import TacitError
from tacit.hub.doors.follow import EventStream
from tacit.hub.doors.http import (
    Unauthenticated,
    credential_of,
    error_answer,
    query_of,
    typed,
    unauthenticated_answer,
)
from tacit.hub.operations import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.hub.hub import RunningHub
    from tacit.ledger.envelope import StoredEvent

log: Final = logging.getLogger("tacit.hub")
GRACE_SECONDS: Final = 10.0


class SseOutlet:
    """A bounded hand-over from the loop to one response."""

    def __init__(self, owner: str, heartbeat: float, drop: Callable[[], None]) -> None:
        self.owner = owner
        self.replaying = asyncio.Lock()
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._wake = asyncio.Event()
        self._empty = asyncio.Event()
        self._heartbeat = heartbeat
        self._ended = False
        self._drop = drop
        self._dropping: asyncio.TimerHandle | None = None
        self.is_away = False

    @property
    def pending(self) -> int:
        """Bytes that are not on the wire yet."""
        return self._bytes

    def encode(self, subscription: int, events: Sequence[StoredEvent]) -> bytes:  # noqa: ARG002 - one per response
        """One message an event; an event's bytes never hold a line break."""
        return b"".join(b"id: %d\ndata: %b\n\n" % (event.seq, event.raw) for event in events)

    def push(self, data: bytes) -> None:
        """Queue bytes for the response."""
        if self._ended:
            return
        self._waiting.append(data)
        self._bytes += len(data)
        self._empty.clear()
        self._wake.set()

    def signal(self, name: str, said: dict[str, Any]) -> None:
        """A signal; without an id, so that it never becomes a place to resume from."""
        self.push(b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(said)))

    def cut(self, subscription: int, resume: int, reason: str) -> None:  # noqa: ARG002 - one per response
        """Say where to resume, then end."""
        note = msgspec.json.encode({"reason": reason, "since_seq": resume})
        self.push(b"event: cut\ndata: %b\n\n" % note)
        self._ended = True
        self._dropping = asyncio.get_running_loop().call_later(GRACE_SECONDS, self._drop)

    def release(self) -> None:
        """The response is over: what happens to the connection is no longer this outlet's business."""
        if self._dropping is not None:
            self._dropping.cancel()

    async def drained(self) -> None:
        """Return when everything queued is on the wire."""
        if self._bytes:
            await self._empty.wait()

    async def pump(self, response: web.StreamResponse) -> None:
        """Write what comes until cut or gone; a comment line keeps idle connections open."""
        while self._waiting or not self._ended:
            try:
                async with asyncio.timeout(self._heartbeat):
                    await self._wake.wait()
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            self._wake.clear()
            data = b"".join(self._waiting)
            self._waiting.clear()
            await response.write(data)
            self._bytes -= len(data)
            if not self._bytes:
                self._empty.set()


async def stream(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """Follow a group's ledger as server-sent events."""
    try:
        credential = credential_of(hub, request)
        given = query_of(request, requests.EventsRequest)
        given.update(request.match_info)
        if last := request.headers.get("Last-Event-ID"):
            kept = {name: value for name, value in given.items() if not name.startswith("since_")}
            given = {**kept, "since_seq": last}
        following = EventStream(hub, credential, typed(given, requests.EventsRequest, strict=False))
        await following.begin()
        transport = request.transport
        outlet = SseOutlet(
            credential.token_id,
            hub.config.limits.heartbeat_seconds / 2,
            transport.abort if transport is not None else lambda: None,
        )
        follower = following.enter(outlet, 0)
    except Unauthenticated:
        return unauthenticated_answer()
    except TacitError as error:
        return error_answer(error)
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )
    live = asyncio.ensure_future(following.go_live(follower, outlet.drained))

    def failed(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None and hub.live.detach(follower):
            outlet.cut(0, following.at, "stopping" if hub.ledger.is_closing else "failed")

    def revoked(token_id: str) -> None:
        if token_id == credential.token_id and hub.live.detach(follower):
            live.cancel()
            outlet.cut(0, follower.seq, "token revoked")

    live.add_done_callback(failed)
    hub.on_revoked[revoked] = None
    try:
        await response.prepare(request)
        await response.write(b": tacit\n\n")
        await outlet.pump(response)
    except ConnectionResetError:
        log.debug("a stream's reader went away")
    finally:
        hub.on_revoked.pop(revoked, None)
        outlet.release()
        live.cancel()
        await asyncio.wait({live})
        hub.live.detach(follower)
    return response
