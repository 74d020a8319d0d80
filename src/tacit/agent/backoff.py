"""When to knock again at a relay: 1, 2, 4 ... 60 seconds with jitter, for ever (A2ACP-208)."""

from __future__ import annotations

from typing import Final

PING_SECONDS: Final = 30.0
PONG_SECONDS: Final = 10.0
_LONGEST: Final = 60.0


def wait_seconds(attempt: int, random: float) -> float:
    """The pause before attempt `attempt` (from 0); `random` in [0, 1) spreads agents that fell together."""
    return min(_LONGEST, 2.0 ** min(attempt, 10)) * (0.5 + random / 2)
