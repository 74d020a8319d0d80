"""Login: fresh challenges, used once, and a lock after repeated failures (A2ACP-016, A2ACP-017).

The lock holds for one source and one address together, so that nobody can lock another person out from afar.
An unknown address fails exactly as a wrong signature does.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.wire import address

if TYPE_CHECKING:
    from tacit.base.moment import Moment
    from tacit.relay.settings import RelayLimits
    from tacit.wire.address import Address

CHALLENGE_BYTES: Final = 32
# A key nobody holds: an unknown address costs the same check as a known one.
NOBODY: Final = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
_MOST: Final = 100_000


class LoginFailures:
    """Failed logins by source and address."""

    def __init__(self, limits: RelayLimits) -> None:
        self._limits = limits
        self._failures: OrderedDict[tuple[str, str], deque[Moment]] = OrderedDict()

    def locked(self, source: str, address: str, now: Moment) -> bool:
        """Whether this source may not log in as this address for now."""
        failures = self._failures.get((source, address))
        if failures is None:
            return False
        recent = [at for at in failures if now - at < self._limits.login_window]
        return len(recent) >= self._limits.login_failures

    def failed(self, source: str, address: str, now: Moment) -> None:
        """Remember a failure."""
        failures = self._failures.setdefault((source, address), deque(maxlen=self._limits.login_failures))
        failures.append(now)
        self._failures.move_to_end((source, address))
        if len(self._failures) > _MOST:
            self._failures.popitem(last=False)
        self._fade(now)

    def _fade(self, now: Moment) -> None:
        """Forget what is past the window; those who failed longest ago stand first."""
        while self._failures:
            first = next(iter(self._failures))
            if now - self._failures[first][-1] < self._limits.login_window:
                return
            del self._failures[first]

    def succeeded(self, source: str, address: str) -> None:
        """Forget the failures of one who could prove it after all."""
        self._failures.pop((source, address), None)


def local_address(text: str, domain: str) -> Address | None:
    """The address in `text` if it has its one spelling and belongs to `domain`."""
    try:
        found = address.parse(text)
    except Refused:
        return None
    return found if found.domain == domain else None


def challenge_holds(sent: str, returned: str, sent_at: Moment, now: Moment, limits: RelayLimits) -> bool:
    """Whether the returned challenge is the one sent on this connection, in time."""
    return sent != "" and sent == returned and now - sent_at <= limits.challenge_valid
