"""Guests as an agent's own methods: the same dictionaries as at the terminal (A2ACP-275, A2ACP-277)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.agent.guests.io import operations as guests
from tacit.agent.kernel.io.core import AgentCore
from tacit.base.agent_operations import AGENT_OPERATIONS

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields


class Hosting(AgentCore):
    """The commands about people without an agent."""

    async def guest_ask(self, name: str, text: str, **given: Any) -> Fields:
        """Ask somebody by a link (A2ACP-275)."""
        return await guests.ask(self, name, text, **given)

    async def guests(self) -> Fields:
        """Who was asked by a link, and what they answered."""
        return await guests.listed(self)

    async def guest(self, guest_id: str) -> Fields:
        """One of them."""
        return await guests.show(self, guest_id)

    async def guest_revoke(self, guest_id: str) -> Fields:
        """Take a link back (A2ACP-277)."""
        return await guests.revoke(self, guest_id)

    async def guest_forget(self, guest_id: str) -> Fields:
        """Let go of every word about one of them."""
        return await guests.forget(self, guest_id)

    async def guest_paste(self, guest_id: str, text: str, **given: Any) -> Fields:
        """Read a reply that came another way, and keep it once it is read rightly."""
        asked = {"guest_id": guest_id, "text": text, **given}
        return await guests.paste(self, AGENT_OPERATIONS["guest_paste"].request(asked, here=True))

    async def guest_result(self, guest_id: str) -> Fields:
        """What to send to one who said yes."""
        return await guests.result(self, guest_id)
