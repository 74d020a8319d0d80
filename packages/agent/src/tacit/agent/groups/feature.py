"""What groups add to the agent."""

from __future__ import annotations

from typing import Final

from tacit.agent.groups.fold import PART
from tacit.agent.kernel.feature import Feature

FEATURE: Final = Feature(part=PART)
