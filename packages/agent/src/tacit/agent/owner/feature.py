"""What hints and onboarding add to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.kernel.feature import Feature
from tacit.agent.owner.hints import PART

FEATURE: Final = Feature(part=PART)
