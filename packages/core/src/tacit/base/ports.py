"""The ports that every core may be handed: a clock and a source of randomness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tacit.base.moment import Moment


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> Moment:
        """The present moment."""
        ...


class Entropy(Protocol):
    """Gives unpredictable bytes."""

    def draw(self, count: int, /) -> bytes:
        """`count` random bytes."""
        ...
