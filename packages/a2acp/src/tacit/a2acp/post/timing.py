"""When an agent connects again, takes a silent relay for lost, and rests: numbers (A2ACP-208, A2ACP-258).

Waiting itself is done elsewhere.
"""

from __future__ import annotations

from typing import Final

from tacit.base.backoff import Backoff

PING_SECONDS: Final = 30.0
PONG_SECONDS: Final = 10.0
RECONNECT: Final = Backoff(first=1.0, longest=60.0, jitter=(0.5, 1.0))
"""For ever. The jitter spreads agents that fell together when their relay stopped."""
KEY_LOOKUP: Final = Backoff(first=2.0, longest=3600.0)
"""Between questions for the key of a sender whose relay gave none."""
PREKEY_LOOKUP: Final = Backoff(first=1.0, longest=15.0)
"""Between questions for the prekeys of a peer that had none; a device that begins anew has none at first."""
LONGEST_REST: Final = 3600.0
"""Seconds that a relay may hold an agent's mail back by its word."""


def rest(retry_after: int | None) -> float:
    """Seconds to wait after a relay refused something for a while: as long as it says, within reason."""
    return min(max(1, retry_after or 1), LONGEST_REST)
