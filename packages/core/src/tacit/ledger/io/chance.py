"""Random bytes for events, for the id and the salt of each; a draw asks the system, so it is for many."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.ledger.redaction import SALT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.base.ports import Entropy

EACH: Final = Struct(f"10s{SALT_BYTES}s")
DRAWN_AT_ONCE: Final = 64


class EventChance:
    """A source of the random bytes of one event after the other; none are given twice."""

    __slots__ = ("_drawn", "_entropy")

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._drawn: Iterator[tuple[Any, ...]] = iter(())

    def next(self) -> tuple[bytes, bytes]:
        """Those for an event's id, and its salt."""
        drawn = next(self._drawn, None)
        if drawn is None:
            self._drawn = EACH.iter_unpack(self._entropy.draw(EACH.size * DRAWN_AT_ONCE))
            drawn = next(self._drawn)
        return cast("tuple[bytes, bytes]", drawn)
