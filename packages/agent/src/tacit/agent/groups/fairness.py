"""Who is spared where choices are equal: whoever was left out the last time that it was asked.

Of each person the newest outing that it was part of counts, however many others there were since with other
people; so over the outings that are remembered nobody is left out twice in a row where another choice is as
good. Decides nothing where attendance differs: that is the ranking's (`group.aggregation`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def left_out_last(outings: Iterable[tuple[Collection[str], Collection[str]]]) -> frozenset[str]:
    """Who missed their newest outing; outings come newest first, each as who was there and who was not."""
    seen: set[str] = set()
    found: set[str] = set()
    for there, missing in outings:
        found |= set(missing) - seen
        seen.update(there, missing)
    return frozenset(found)
