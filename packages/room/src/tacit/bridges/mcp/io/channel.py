"""Watches a room for an agent whose session is live: when something happens there, what waits is pushed.

One follow of the agent's own group: a delivery to this agent is the reason to look into its inbox with the
chat tools, so that what is pushed is what the host lets it see. Nothing else is a reason, since the host
records each look. Survives a hub that restarts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused
from tacit.bridges.mcp.channel import PushedEvents
from tacit.c2a.errors import Refusal
from tacit.client.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.base.hub_proof import HubAccess
    from tacit.bridges.mcp.port import ToolCaller

_OPEN: Final[dict[str, Any]] = {"openOnly": True, "limit": 50}
DELIVERY: Final = "x.c2a.delivery"
FOREVER: Final = 365 * 86400.0


class Channel:
    """One agent's push."""

    def __init__(
        self, access: HubAccess, caller: ToolCaller, push: Callable[[str, dict[str, str]], None]
    ) -> None:
        self._access = access
        self._caller = caller
        self._push = push
        self._waiting = PushedEvents()

    async def run(self) -> None:
        """Push until cancelled; a token that is no longer taken ends it."""
        try:
            url, token, proven_by = self._access
            async with Hub(url, token, retry_for=FOREVER, proven_by=proven_by) as hub:
                me, group = await hub.whoami(), (await hub.groups())[0]
                await self._look()
                since = int(group["last_seq"])
                async for event in hub.follow(group["group_id"], since_seq=since, kinds=[DELIVERY]):
                    if event.data.get("session") == me:
                        await self._look()
        except Refused:
            return

    async def _look(self) -> None:
        listed = await self._caller.call("chat.list_events", _OPEN)
        if not isinstance(listed, Refusal):
            for content, meta in self._waiting.fresh(listed):
                self._push(content, meta)
