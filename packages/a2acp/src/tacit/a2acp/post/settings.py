"""What a person may choose for their agent: each choice with its values, the first being the default.

A2ACP-032: what becomes of packets from an address that the person has not accepted. A2ACP-229: whether a
sender that keeps sending malformed packets is blocked without asking. `history_days`: how long the content of
what was sent and received is kept. Knows nothing of where they are kept.
"""

from __future__ import annotations

from typing import Final

UNKNOWN_SENDERS: Final = "unknown_senders"
AUTO_BLOCK: Final = "auto_block_malformed"
HISTORY_DAYS: Final = "history_days"
FOR_EVER: Final = "for_ever"
CHOICES: Final = {
    UNKNOWN_SENDERS: ("ask", "accept", "reject"),
    AUTO_BLOCK: ("off", "on"),
    HISTORY_DAYS: ("90", "7", "30", "365", FOR_EVER),
}
