"""Relays among themselves: whom to talk to, what a relay says of itself, when to try again.

A2ACP-254, A2ACP-255, A2ACP-256.

Rules only; the requests are made elsewhere. A relay's key is pinned at first sight and does not change by
itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from tacit.base.backoff import Backoff
from tacit.base.errors import PeerFault
from tacit.base.moment import SECOND
from tacit.relay.settings import MINUTE
from tacit.wire.address import is_domain
from tacit.wire.encoding import UNREADABLE, unb64

if TYPE_CHECKING:
    from tacit.base.moment import ConfirmedTime, Moment

BATCH: Final = 100
LONGEST_WAIT: Final = 10 * MINUTE
AGAIN: Final = Backoff(first=1 * SECOND, longest=LONGEST_WAIT)
KEY_CACHE: Final = 60 * MINUTE
NONCE_KEPT: Final = 15 * MINUTE
"""Longer than a signature between relays stays fresh."""
UNKNOWN_CACHE: Final = 1 * MINUTE
Pair = tuple[str, str]
"""The sender and the recipient of packets, which keep their order."""
_PORTS: Final = {"https": 443, "http": 80}


class RelayCard(msgspec.Struct, frozen=True):
    """`/.well-known/a2acp`."""

    domain: str
    relay_key: str
    websocket: str
    agents: str
    deliver: str
    supported_versions: list[str] = []


@dataclass(frozen=True, slots=True)
class FederationPolicy:
    """Allowlist by default; `open` talks to all but the denied."""

    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    open: bool = False

    def permits(self, domain: str) -> bool:
        """Whether packets may go to and come from `domain`."""
        return domain not in self.denied and (self.open or domain in self.allowed)


def wait_after(attempts: int) -> int:
    """Microseconds before the next attempt.

    Without jitter: one worker a domain knocks, so there is nobody to be spread from.
    """
    return int(AGAIN.pause(attempts))


def given_up(accepted_at: Moment, confirmed: ConfirmedTime, keep: int) -> bool:
    """Whether a packet waited long enough for a relay that does not answer."""
    return confirmed - accepted_at >= keep


def read_card(raw: bytes, domain: str) -> RelayCard:
    """Another relay's card; it must speak for the domain that was asked."""
    try:
        card = msgspec.json.decode(raw, type=RelayCard)
    except UNREADABLE:
        raise PeerFault("the relay's card cannot be read") from None
    key = unb64(card.relay_key)
    if card.domain != domain or not is_domain(card.domain) or key is None or len(key) != 32:
        raise PeerFault("the relay's card speaks for another domain or has no key")
    return card


def deliver_url(card: RelayCard, scheme: str) -> str:
    """Where a relay takes packets: at its own address, so that no card sends us to another machine."""
    try:
        found, own = urlsplit(card.deliver), urlsplit(f"{scheme}://{card.domain}")
        same = (found.scheme, found.hostname, found.port or _PORTS.get(scheme)) == (
            scheme,
            own.hostname,
            own.port or _PORTS.get(scheme),
        )
    except ValueError:
        same = False
    if not same:
        raise PeerFault("the relay's card sends packets elsewhere")
    return card.deliver


@dataclass(slots=True)
class PairBackoff:
    """Senders and recipients between whom another relay wants packets later; the others' go on meanwhile."""

    _refusals: dict[Pair, int] = field(default_factory=dict[Pair, int])
    _until: dict[Pair, int] = field(default_factory=dict[Pair, int])

    def note(self, pair: Pair, now: Moment, seconds: int | None) -> None:
        """All of a pair's packets were settled (None), or the relay asked for some seconds."""
        if seconds is None:
            self._refusals.pop(pair, None)
            self._until.pop(pair, None)
            return
        refusals = self._refusals.get(pair, 0)
        self._refusals[pair] = refusals + 1
        self._until[pair] = now + min(LONGEST_WAIT, max(seconds * SECOND, wait_after(refusals)))

    def pairs(self, now: Moment) -> list[Pair]:
        """Whose packets rest now."""
        return [pair for pair, until in self._until.items() if until > now]

    def ends_in(self, now: Moment) -> int | None:
        """Microseconds until the first of them is tried again; None when nobody rests."""
        return min((until - now for until in self._until.values() if until > now), default=None)
