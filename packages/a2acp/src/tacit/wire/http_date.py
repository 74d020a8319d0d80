"""The date of an HTTP answer, by which whoever asked learns how far the two clocks are apart.

A request that bears a time is refused when it is minutes off. The answer says what time it is where it was
refused, so that the request can be made anew by that time and need not fail while either clock is wrong.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND, Moment

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER: Final = "Date"
APART: Final = 60 * SECOND
"""From how far apart two clocks are worth minding: well within what a signed request allows."""


def http_date(moment: Moment) -> str:
    """`Sun, 06 Nov 1994 08:49:37 GMT`."""
    return format_datetime(datetime.fromtimestamp(moment // SECOND, UTC), usegmt=True)


def their_time(headers: Mapping[str, str], ours: Moment) -> Moment | None:
    """What time it is at whoever answered; None when they do not say, or say what we do."""
    try:
        theirs = Moment(int(parsedate_to_datetime(headers.get(HEADER, "")).timestamp()) * SECOND)
    except (ValueError, TypeError, OverflowError):
        return None
    return theirs if abs(theirs - ours) > APART else None
