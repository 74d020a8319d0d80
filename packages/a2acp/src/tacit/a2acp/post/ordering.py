"""The order inside a thread: a gap is held for thirty seconds, then passed and asked about.

A2ACP-030, A2ACP-219.

Numbers count from 1 per sender and thread; 0 means that a packet has no place in the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.moment import Moment

HOLD: Final = 30 * SECOND


def releasable(expected: int, held: Mapping[int, Moment], now: Moment) -> tuple[list[int], int, bool]:
    """Numbers to hand on now, the next number expected, and whether a gap was passed over."""
    out: list[int] = []
    gap = False
    for number in sorted(held):
        if number <= expected:
            pass
        elif now - held[number] >= HOLD:
            gap = True
        else:
            break
        out.append(number)
        expected = max(expected, number + 1)
    return out, expected, gap
