"""Following a ledger: replay from the cursor, then live, with no gap and no repeat between the two.

The same for the WebSocket and for server-sent events. The replay reads pages from the store; the step to live
happens on the loop's thread without a pause, and only when nothing newer was published meanwhile. Signals
come from the moment the reader is told that it follows. A page has so many bytes, and the next one is read
when the last is on the wire: a follower that does not read costs one page, however long the ledger is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tacit.hub.live import LiveSubscription
from tacit.hub.operations import room as operations

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.hub.hub import RunningHub
    from tacit.hub.live import Outlet
    from tacit.hub.operations import requests
    from tacit.hub.people.credentials import Credential
    from tacit.ledger.cursor import Selection
    from tacit.ledger.io.reader import EventPage


STEP: Final = 1000


class EventStream:
    """One subscription on its way from replay to live."""

    def __init__(self, hub: RunningHub, credential: Credential, request: requests.EventsRequest) -> None:
        self._hub = hub
        self._credential = credential
        self._request = request
        self._wanted: Selection = operations.chosen(request)
        self.at = 0

    async def begin(self) -> None:
        """Find the place to begin; everything that can be refused is refused here."""
        await operations.group_of(self._hub, self._credential, self._request.group_id)
        await self._hub.ledger.stay_awake(self._request.group_id)
        page = await self._read(self._wanted, 1)
        self.at = page.events[0].seq - 1 if page.events else page.next_seq

    async def _read(self, wanted: Selection, most_bytes: int) -> EventPage:
        group_id, principal = self._request.group_id, self._credential.principal
        return await self._hub.ledger.read(
            lambda reader: reader.page(reader.group(group_id), principal, wanted, most_bytes)
        )

    def enter(self, outlet: Outlet, subscription: int) -> LiveSubscription:
        """Be there, before the reader is told so; whoever calls it detaches the follower in the end."""
        follower = LiveSubscription(
            outlet, subscription, self._request.group_id, self._credential.principal, self._wanted
        )
        follower.seq = self.at
        self._hub.live.enter(follower)
        return follower

    async def go_live(self, follower: LiveSubscription, drain: Callable[[], Awaitable[None]]) -> None:
        """Replay, then attach. `drain` waits until the outlet has room: a replay floods no slow reader.

        Whatever ends it early leaves in `at` the position from which the reader can resume.
        """
        outlet = follower.outlet
        left = self._request.limit
        while True:
            # One replay at a time reads for an outlet: those of one connection share what it may hold.
            async with outlet.replaying:
                await drain()
                last, count = await self._next(follower, left)
            if not self._hub.live.is_there(follower):
                return
            if left is not None:
                left -= count
                if left <= 0:
                    # A limit bounds the replay alone (CCCS-108): what lies before the end is left out.
                    self.at, left = max(self.at, last), None
                    follower.seq = self.at
            if self.at >= last and self._hub.live.attach(follower, self.at):
                return

    async def _next(self, follower: LiveSubscription, left: int | None) -> tuple[int, int]:
        """Send the next page to one that is still there; the ledger's end, and how many there were."""
        page = await self._read(
            replace(self._wanted, since_seq=self.at, since_event_id=None, since_ts=None, limit=left or STEP),
            self._hub.config.limits.page_bytes,
        )
        if self._hub.live.is_there(follower):
            if page.events:
                follower.outlet.push(follower.outlet.encode(follower.subscription, page.events))
            self.at = follower.seq = page.next_seq
        return page.last_seq, len(page.events)
