"""What hints and onboarding add to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.kernel.feature import Feature, handler
from tacit.agent.owner.hints import PART
from tacit.agent.owner.io import hinting, nudging, setting_up
from tacit.base import agent_requests as asked

OPERATIONS: Final = {
    "nudge": handler(
        asked.AgentNudge, lambda agent, request: nudging.command(agent, request.do, request.value)
    ),
    "setup": handler(asked.AgentSetup, setting_up.setup),
    "hints": handler(
        asked.AgentHints,
        lambda agent, request: hinting.seen(agent, request.seen) if request.seen else hinting.due(agent),
    ),
    "seen": handler(asked.AgentSeen, lambda agent, request: hinting.seen(agent, request.hint)),
}

FEATURE: Final = Feature(part=PART, operations=OPERATIONS)
