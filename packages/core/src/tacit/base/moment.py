"""Time as a value: microseconds since the Unix epoch, written as RFC 3339 UTC (CCCS-017).

No function here asks what time it is.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NewType

Moment = NewType("Moment", int)
"""Microseconds since 1970-01-01T00:00:00Z."""
ConfirmedTime = NewType("ConfirmedTime", Moment)
"""A moment that has come for certain, whatever the machine's clock says: what is erased, dropped or ended for
good goes by it. `base.io.time_service` alone makes one."""

SECOND: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST: Final = Moment(253_402_300_799_999_999)
"""The end of the year 9999: a later moment cannot be written."""
_FIRST: Final = Moment(-62_135_596_800_000_000)
_SHAPE: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z", re.ASCII)


def earlier(confirmed: ConfirmedTime, span: int) -> ConfirmedTime:
    """What lies so many microseconds before a confirmed time has come, too."""
    return ConfirmedTime(Moment(confirmed - span))


def rfc3339(moment: Moment) -> str:
    """`2026-01-13T10:00:00.000000Z`: always six decimals, so that text order is time order."""
    return (_EPOCH + timedelta(microseconds=moment)).isoformat(timespec="microseconds")[:-6] + "Z"


def parse_rfc3339(text: str) -> Moment | None:
    """The moment behind an RFC 3339 time with an offset; None when it is not one, or not one in UTC."""
    if not _SHAPE.match(text):
        return None
    try:
        value = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    moment = Moment((value - _EPOCH) // timedelta(microseconds=1))
    return moment if _FIRST <= moment <= LAST else None
