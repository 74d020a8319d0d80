"""Attention from a person's side: who saw an event and why, what a message would do, and steering.

Each call is one operation of the hub; answers are passed on as they come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.client.ports import Operations


class Steering:
    """What people in charge do: look, change their own words, and direct agents."""

    def __init__(self, hub: Operations) -> None:
        self._hub = hub

    async def decisions(self, group_id: str, event_id: str) -> dict[str, Any]:
        """Who saw an event, how, and why, as sentences and as data."""
        return await self._hub.call("decisions", {"group_id": group_id, "event_id": event_id})

    async def preview(self, group_id: str, text: str, **data: Any) -> dict[str, Any]:
        """What this message would do if it were sent now: whom it obliges, and who stays quiet."""
        return await self._hub.call("preview", {"group_id": group_id, "data": {"text": text, **data}})

    async def edit(
        self, group_id: str, event_id: str, text: str, mentions: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Put a new text in the place of one's own message."""
        params: dict[str, Any] = {"group_id": group_id, "event_id": event_id, "text": text}
        if mentions is not None:
            params["mentions"] = list(mentions)
        return await self._hub.call("edit", params, repeatable=False)

    async def delete(self, group_id: str, event_id: str) -> dict[str, Any]:
        """Take a message back: its content goes for good, the ledger keeps its envelope."""
        return await self._hub.call("delete", {"group_id": group_id, "event_id": event_id})

    async def agents(self, group_id: str) -> dict[str, Any]:
        """Who is online, busy, owing what, spending what; and the approvals that wait for a person."""
        return await self._hub.call("agents", {"group_id": group_id})

    async def work(
        self, group_id: str, *, agent: str | None = None, state: str | None = None, ended: bool = False
    ) -> list[dict[str, Any]]:
        """Which agent is at which question and how it stands; with `ended` also what ended lately."""
        params: dict[str, Any] = {"group_id": group_id, "ended": ended}
        params |= {name: value for name, value in (("agent", agent), ("state", state)) if value is not None}
        return (await self._hub.call("work", params))["work"]

    async def steer(self, group_id: str, op: str, **more: Any) -> dict[str, Any]:
        """`cancel`, `reassign`, `approve`, `refuse`, `leave` or `return`; see the reference of operations."""
        return await self._hub.call("steer", {"group_id": group_id, "op": op, **more}, repeatable=False)

    async def settings(self, group_id: str) -> dict[str, Any]:
        """The numbers that attention goes by in a group."""
        return (await self._hub.call("rules", {"group_id": group_id}))["settings"]

    async def change_settings(self, group_id: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Change some of them; only the owner may."""
        return await self._hub.call("change_rules", {"group_id": group_id, "settings": dict(settings)})

    async def set_webhook(self, group_id: str, actor_id: str, url: str) -> dict[str, Any]:
        """Have an agent's events posted to an address; the answer holds the secret once."""
        params = {"group_id": group_id, "actor_id": actor_id, "url": url}
        return await self._hub.call("set_webhook", params, repeatable=False)

    async def drop_webhook(self, group_id: str, actor_id: str) -> dict[str, Any]:
        """Post to that address no more."""
        return await self._hub.call("drop_webhook", {"group_id": group_id, "actor_id": actor_id})
