"""Names that are nearly written: "clade: which port?" where claude has just spoken (C2A-034, C2A-072).

People shorten names and slip in them. A word that opens a line with a mark behind it, and that is no word of
the languages, calls whoever has a name like it: the same but for signs and closing digits, the beginning of
it, or one letter off. Whether somebody of that name is talking there is for `dialogue` to say, and only then
it counts. Without a mark such a word is no more than a name in passing. What has a sign (`@clade`) is
exact, or unheard (`unheard`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from tacit.attention.read.calls import COMMON
from tacit.attention.read.lexicon import languages
from tacit.attention.read.spelling import SHORTEST, SLIPS, off_by_one, plain

if TYPE_CHECKING:
    from tacit.attention.read.roster import Roster

_CALLED: Final = re.compile(r"\s*([^\s:,;@/]{3,40}?) ?[:,;](?=\s|\Z)")
_OPENS: Final = re.compile(r"\s*([^\s:,;@/?!.]{4,40})(?=\s)")
_NOBODY: Final[frozenset[str]] = frozenset()


def nearly_called(prose: str, roster: Roster) -> frozenset[str]:
    """Whose names are like the word that opens a line with a mark behind it."""
    match = _CALLED.match(prose)
    return _like(match[1], roster) if match is not None else _NOBODY


def nearly_inside(prose: str, roster: Roster) -> frozenset[str]:
    """Whose names are like the word that opens a line without one."""
    match = _OPENS.match(prose)
    return _like(match[1], roster) if match is not None else _NOBODY


def _like(written: str, roster: Roster) -> frozenset[str]:
    word = written.casefold()
    if word in COMMON or word in _words():
        return _NOBODY
    name = plain(word)
    if len(name) < SHORTEST:
        return _NOBODY
    found = set(roster.beginnings.get(name, ()))
    if len(name) >= SLIPS:
        slips = roster.slips
        for one in off_by_one(name):
            found.update(slips.get(one, ()))
    return frozenset(found)


@cache
def _words() -> frozenset[str]:
    """The words by which languages are recognised, and those of their phrases."""
    return frozenset[str]().union(*(language.common | language.tokens for language in languages()))
