"""Following a ledger: replay from the cursor, then live, with no gap and no repeat between the two.

The same for the WebSocket and for server-sent events. The replay reads pages from the store; the step to live
happens on the loop's thread without a pause, and only when nothing newer was published meanwhile. Signals
come from the moment the reader is told that it follows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.hub import operations
from tacit.hub.live import Follower

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.hub import requests
    from tacit.hub.credentials import Credential
    from tacit.hub.hub import Hub
    from tacit.hub.live import Outlet
    from tacit.ledger.cursor import Selection
    from tacit.ledger.io.reader import Page


class Following:
    """One subscription on its way from replay to live."""

    def __init__(self, hub: Hub, credential: Credential, request: requests.Events) -> None:
        self._hub = hub
        self._credential = credential
        self._request = request
        self._wanted: Selection = operations.chosen(request)
        self._page: Page | None = None
        self.at = 0

    async def begin(self) -> None:
        """Read the first page; everything that can be refused is refused here."""
        await operations.group_of(self._hub, self._credential, self._request.group_id)
        page = self._page = await self._read(self._wanted)
        self.at = page.events[0].seq - 1 if page.events else page.next_seq

    async def _read(self, wanted: Selection) -> Page:
        group_id, principal = self._request.group_id, self._credential.principal
        return await self._hub.ledger.read(
            lambda reader: reader.page(reader.group(group_id), principal, wanted)
        )

    def enter(self, outlet: Outlet, subscription: int) -> Follower:
        """Be there, before the reader is told so; whoever calls it detaches the follower in the end."""
        follower = Follower(
            outlet, subscription, self._request.group_id, self._credential.principal, self._wanted
        )
        self._hub.live.enter(follower)
        return follower

    async def go_live(self, follower: Follower, drain: Callable[[], Awaitable[None]]) -> None:
        """Replay, then attach. `drain` waits until the outlet has room: a replay floods no slow reader.

        Whatever ends it early leaves in `at` the position from which the reader can resume.
        """
        page = self._page or await self._read(self._wanted)
        outlet = follower.outlet
        # A limit bounds the replay alone (CCCS-108): what lies between it and the end is left out.
        at = max(page.next_seq, page.last_seq) if self._request.limit is not None else page.next_seq
        while True:
            if page.events:
                outlet.push(outlet.encode(follower.subscription, page.events))
                self.at = at
                await drain()
            if at >= page.last_seq and self._hub.live.attach(follower, at):
                return
            page = await self._read(
                replace(self._wanted, since_seq=at, since_event_id=None, since_ts=None, limit=1000)
            )
            at = page.next_seq
