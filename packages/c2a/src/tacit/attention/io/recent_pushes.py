"""What was delivered to each session in the last minute: what the inbound limit counts (C2A-205).

The engine remembers it while it runs. After a start, and at a node that takes a group over, the ledger has
it: a limit that began anew would not hold for whoever can have a hub started again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from tacit.attention.decide.rates import MINUTE
from tacit.base.moment import Moment, parse_rfc3339
from tacit.ledger.envelope import decode

if TYPE_CHECKING:
    from tacit.ledger.stored_event import StoredEvent

LOOKED_AT: Final = 1_000
"""How many events are looked at: in a minute with more of them the count begins with the last of these."""
Pushes: TypeAlias = defaultdict[str, deque[Moment]]
"""By session, oldest first."""


class EventsByPlace(Protocol):
    """The events of one group."""

    def at(self, seq: int) -> StoredEvent | None:
        """The event at this position."""
        ...


def push(pushes: Pushes, session: str, at: Moment) -> None:
    """Something was delivered; what is older than a minute counts no more."""
    recent = pushes[session]
    recent.append(at)
    while recent[0] <= at - MINUTE:
        recent.popleft()


def pushes_of(events: EventsByPlace, last: int, now: Moment) -> Pushes:
    """What the ledger says, from its last event back."""
    found: list[tuple[str, Moment]] = []
    for seq in range(last, max(0, last - LOOKED_AT), -1):
        stored = events.at(seq)
        if stored is None:
            continue
        event = decode(stored.raw)
        at = parse_rfc3339(event.ts)
        if at is None or at <= now - MINUTE:
            break
        if event.kind == "x.c2a.delivery":
            found.append((str(event.data["session"]), at))
    pushes: Pushes = defaultdict(deque)
    for session, at in reversed(found):
        push(pushes, session, at)
    return pushes
