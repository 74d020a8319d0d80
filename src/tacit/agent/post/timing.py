"""When an agent connects again, and when it takes a silent relay for lost: numbers (A2ACP-208).

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
