"""Identifiers: UUIDv7 (RFC 9562), strictly rising in one process (CCCS-016, CLOWL-003).

Time-ordered ids keep index inserts at the end of the tree. Nobody reads an order out of them (CCCS-106).
Time and randomness are arguments.
"""

from __future__ import annotations

from typing import Final

_RANDOM_BITS: Final = 74
_RANDOM_MASK: Final = (1 << _RANDOM_BITS) - 1
_TOP_COUNTING_BIT: Final = 1 << 61
_COUNTED_OUT: Final = 0b11 << 62
"""Where the last eight bytes, two bits of which say what kind of id it is, would say something else."""


def compose(milliseconds: int, random: int) -> bytes:
    """The sixteen bytes of a UUIDv7 from a Unix time in milliseconds and 74 random bits."""
    high = random >> 62
    low = random & ((1 << 62) - 1)
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low
    return value.to_bytes(16, "big")


def text(raw: bytes) -> str:
    """The usual 36-character form."""
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def raw(identifier: str) -> bytes | None:
    """The sixteen bytes behind a 36-character id; None when it does not look like one."""
    if len(identifier) != 36 or identifier[8::5][:4] != "----":
        return None
    digits = identifier.replace("-", "")
    if len(digits) != 32 or digits != digits.lower():
        return None
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        return None
    # White space between digits is skipped by `fromhex`; it is no part of an id.
    return found if len(found) == 16 else None


class Uuid7:
    """A source of strictly rising UUIDv7: within one millisecond the last 62 random bits count upwards.

    What stands before them, the time and twelve random bits, is made once for a millisecond, in both forms.
    """

    __slots__ = ("_counting", "_head", "_head_text", "_last_ms")

    def __init__(self) -> None:
        self._last_ms = -1
        self._counting = 0
        self._head = b""
        self._head_text = ""

    def next(self, milliseconds: int, random: int) -> bytes:
        """The next id; a clock that stands still or steps back does not break the order."""
        return self.pair(milliseconds, random)[0]

    def pair(self, milliseconds: int, random: int) -> tuple[bytes, str]:
        """The next id in both its forms."""
        if milliseconds > self._last_ms:
            self._begin(milliseconds, random)
        else:
            self._counting += 1 + (random & 0xFFFF)
            if self._counting >= _COUNTED_OUT:
                self._begin(self._last_ms + 1, random)
        end = self._counting.to_bytes(8, "big")
        digits = end.hex()
        return self._head + end, f"{self._head_text}{digits[:4]}-{digits[4:]}"

    def _begin(self, milliseconds: int, random: int) -> None:
        # The top counting bit starts clear, so that counting cannot run out within a millisecond.
        first = compose(milliseconds, random & _RANDOM_MASK & ~_TOP_COUNTING_BIT)
        self._last_ms = milliseconds
        self._head, self._counting = first[:8], int.from_bytes(first[8:], "big")
        self._head_text = text(first)[:19]
