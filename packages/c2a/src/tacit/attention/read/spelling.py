"""Spellings: what stands for a name that is not written exactly.

Pure string work: a name in its plain form, its beginnings, and the forms by which one slip of the pen is
found with a few look-ups instead of a comparison with every name. Knows nothing of who is called.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNS: Final = re.compile(r"[\W_]+|\d+\Z")
SHORTEST: Final = 3
"""Letters of a name's beginning that stand for it, if they are half of it."""
_BEGINNING: Final = 4
"""Letters of a beginning that stand for a name of any length."""
SLIPS: Final = 5
"""Letters of a name in which one may be wrong: of shorter ones too many words are a letter away."""
_LONGEST: Final = 40


def plain(name: str) -> str:
    """A name without signs and closing digits, in lower case."""
    return _SIGNS.sub("", name.strip().casefold())[:_LONGEST]


def beginnings(name: str) -> Iterator[str]:
    """What stands for a plain name: itself, and as much of its beginning as tells it."""
    for end in range(SHORTEST, len(name) + 1):
        if end >= _BEGINNING or 2 * end >= len(name):
            yield name[:end]


def off_by_one(name: str) -> Iterator[str]:
    """A plain name, and the name without each of its letters: two that share one are a slip apart."""
    yield name
    for place in range(len(name)):
        yield name[:place] + name[place + 1 :]
