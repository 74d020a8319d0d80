"""How far this machine's clock is from another's, by one question: certain, whatever the way took.

What the other says of its time lies between two readings of this clock, before the question and after the
answer. Only what cannot be explained by the way counts, so that a slow network accuses nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND

if TYPE_CHECKING:
    from tacit.base.moment import Moment

MOST: Final = SECOND
"""How far a clock may be off before what it stamps is not trusted among others'."""


def offset(before: Moment, told: Moment, after: Moment) -> int:
    """Microseconds by which this clock is ahead of the other's at least; behind: negative; 0: may agree."""
    return max(before - told, 0) or min(after - told, 0)
