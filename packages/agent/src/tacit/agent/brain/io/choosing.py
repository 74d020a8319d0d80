"""The owner's choice of a brain as a command: shown with today's cost, or changed (A2ACP-081, A2ACP-082)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.agent.brain.configured import SETTING, configured, plain
from tacit.agent.brain.io import thoughts
from tacit.agent.kernel import records

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.brain.io.thinking import Thinking


async def brain(agent: Thinking, setting: object = None) -> Fields:
    """Which models are chosen, after the change if there is one; `Refused` keeps what was chosen before."""
    if setting is not None:
        value = plain(configured(setting))
        await agent.decide(lambda ws: ws.say(records.Set(SETTING, ws.keep("", value))))
    value_id = agent.journal.book.settings.get(SETTING)
    chosen = configured(agent.vault.value(value_id) if value_id else None)
    return {"brain": plain(chosen), "spent": thoughts.today(*agent.mind.spent())}
