"""Budgets: what somebody may cause in a day, in number and bytes, counted in the relay's file.

A2ACP-019, A2ACP-222, A2ACP-256.

An allowance says how much; what it counts by (an address, a network, a relay's host) is kept as a digest
under a key of the relay's own, by the hour, and goes after a day. So a restart forgives nothing, and the file
names nobody. Each function works inside a transaction of the caller's: what is spent there is spent with what
it was spent for, or not at all. A window has whole hours: never more than the allowance in any 24 of them.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from tacit.base.moment import SECOND
from tacit.relay.packet_checks import RateLimited
from tacit.relay.settings import HOUR, MINUTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from tacit.base.moment import ConfirmedTime, Moment

_HOURS: Final = 24
_NO_BYTES: Final = 2**62
_LEAST_WAIT: Final = 2 * MINUTE
"""An agent that is to wait for longer than a minute waits with this recipient's packets alone."""


class DailyAllowance(NamedTuple):
    """So much a day for whoever the key stands for."""

    key: str
    most: int
    most_bytes: int = _NO_BYTES


class Budgets:
    """What was spent of each allowance within a day; `key` makes the digests of this relay."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def wait(
        self, file: apsw.Connection, allowances: Sequence[DailyAllowance], now: Moment, size: int = 0
    ) -> int:
        """0 when each allowance has room for one more of this size, else the seconds until they have."""
        return max((self._wait(file, allowance, now, size) for allowance in allowances), default=0)

    def spend(
        self, file: apsw.Connection, allowances: Sequence[DailyAllowance], now: Moment, size: int = 0
    ) -> None:
        """Count one more in each allowance, or raise `RateLimited` and count nothing."""
        wait = self.wait(file, allowances, now, size)
        if wait:
            raise RateLimited(wait)
        file.executemany(
            "INSERT INTO spent VALUES (?,?,1,?) ON CONFLICT (whose, hour) DO UPDATE SET"
            " count=count+1, size=size+excluded.size",
            [(self._digest(allowance.key), int(now) // HOUR, size) for allowance in allowances],
        )

    def _digest(self, key: str) -> bytes:
        return hashlib.blake2b(key.encode(), key=self._key, digest_size=16, person=b"budgets").digest()

    def _wait(self, file: apsw.Connection, allowance: DailyAllowance, now: Moment, size: int) -> int:
        this_hour = int(now) // HOUR
        rows = file.execute(
            "SELECT hour, count, size FROM spent WHERE whose=? AND hour BETWEEN ? AND ? ORDER BY hour",
            (self._digest(allowance.key), this_hour - _HOURS, this_hour),
        ).fetchall()
        spent = cast("list[tuple[int, int, int]]", rows)
        count, total = sum(row[1] for row in spent), sum(row[2] for row in spent)
        free_at = int(now)
        for hour, in_hour, bytes_in_hour in spent:
            if count < allowance.most and (not total or total + size <= allowance.most_bytes):
                break
            count, total, free_at = count - in_hour, total - bytes_in_hour, (hour + _HOURS + 1) * HOUR
        return max(_LEAST_WAIT, free_at - now) // SECOND + 1 if free_at > now else 0


def forget_old(file: apsw.Connection, confirmed: ConfirmedTime) -> None:
    """Forget what was spent more than a day ago."""
    file.execute("DELETE FROM spent WHERE hour<?", (confirmed // HOUR - _HOURS,))
