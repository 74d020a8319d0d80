"""How long to wait before trying again: growing by a factor up to a longest pause, spread by chance.

One rule for everybody who repeats a call or a connection, in whatever unit its numbers are given. Chance
arrives as an argument, and nothing here waits. What the other side asked for (`Retry-After` and its kin) is
the caller's to compare, as some take the longer of the two and some obey.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """`first`, then `factor` times as long with each failure, never more than `longest`.

    `jitter` is the range of numbers that a pause is multiplied with, so that those who fell together do not
    come back together: `(0.5, 1.0)` shortens a pause by up to a half, `(1.0, 1.5)` lengthens it by as much,
    `(1.0, 1.0)` leaves it alone.
    """

    first: float
    longest: float
    factor: float = 2.0
    jitter: tuple[float, float] = (1.0, 1.0)

    def pause(self, failures: int, chance: float = 0.0) -> float:
        """The pause after so many failures before this one; `chance`, from 0 to 1, picks within the jitter.

        Below nought counts as nought: whoever starts anew after a success waits the first pause.
        """
        low, high = self.jitter
        # The limit holds twice: before the jitter, so that those who wait longest are spread as well, and
        # after it, so that a jitter that lengthens does not exceed it.
        return min(self.longest, min(self.longest, self._grown(failures)) * (low + (high - low) * chance))

    def _grown(self, failures: int) -> float:
        try:
            return self.first * self.factor ** max(failures, 0)
        except OverflowError:
            # Weeks of failures leave the range of a float; the limit was passed long before.
            return self.longest
