"""How much secret state is kept, and for how long: every number of it in one place (A2ACP-243, A2ACP-245).

What is kept can be stolen, and what a peer can make us keep can be made large. So each kind of secret has a
count and an age. All sessions with one peer together stay below `MAX_SESSION_BYTES` on disk, whatever the
peer sends: `MAX_STORED` keys of 49 bytes, `MAX_CHAINS` header keys of 38, five sessions of less than a
thousand. Nothing that could still arrive is let go for its age: relays keep mail for thirty days, two more on
the way between relays.
"""

from __future__ import annotations

from typing import Final

from tacit.base.moment import SECOND

DAY: Final = 24 * 3600 * SECOND

# Keys of messages that were passed over.
MAX_SKIP: Final = 1_000
"""How far one message may run ahead of its chain."""
MAX_STORED: Final = 1_000
"""How many skipped keys are kept with one peer; the oldest go first."""
MAX_CHAINS: Final = 64
"""Of how many chains skipped keys are kept with one peer: each is one more header to try."""
SKIPPED_KEPT: Final = 35 * DAY

# Sessions with one peer.
MAX_SESSIONS: Final = 5
SESSION_KEPT: Final = 60 * DAY
"""An older session, once nothing has been sealed or opened under it for so long."""
FIRST_FLIGHT_KEPT: Final = 30 * DAY
"""A session whose opening nobody has answered: the prekeys behind it do not live for ever."""
MAX_SESSION_BYTES: Final = 64 * 1024

# Our own prekeys.
STOCK: Final = 100
"""One-time prekeys at the relay."""
REFILL_BELOW: Final = 30
SIGNED_RENEWED: Final = 7 * DAY
ONE_TIME_RENEWED: Final = 30 * DAY
"""A stock that nobody has used up is replaced as a whole."""
REPLACED_KEPT: Final = 60 * DAY
"""After its replacement, so that a first packet that is late still opens."""
MAX_ONE_TIME: Final = 1_000
"""Private one-time keys in all, in stock or handed out and never heard of again."""
CROWDED_OUT_AFTER: Final = 7 * DAY
"""Beyond `MAX_ONE_TIME` keys older than this make room; without room the last-resort key serves."""
