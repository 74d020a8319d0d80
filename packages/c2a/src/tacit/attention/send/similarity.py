"""Similarity: does a text say anything new? Overlap of normalised tokens, nothing cleverer.

Rows: C2A-168, C2A-197.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKEN: Final = re.compile(r"\w+")


def normalised(text: str) -> str:
    """The text's words in lower case, one space apart.

    Equal for two bodies that say the same in the same words.
    """
    return " ".join(_TOKEN.findall(text.casefold()))


def overlap(one: str, other: str) -> float:
    """The share of tokens that two texts have in common, from 0 to 1, of the longer one."""
    left, right = Counter(_TOKEN.findall(one.casefold())), Counter(_TOKEN.findall(other.casefold()))
    longest = max(left.total(), right.total())
    if not longest:
        return 1.0 if one.strip() == other.strip() else 0.0
    return (left & right).total() / longest


def nearest(text: str, others: Iterable[str]) -> float:
    """How alike the most similar of the others is."""
    return max((overlap(text, other) for other in others), default=0.0)
