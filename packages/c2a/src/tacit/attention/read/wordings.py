"""Wordings: how a language may put the parts of small talk, written short and matched all at once.

A wording is a row of words. `(a|b)` is one or the other; `?` behind a letter or a bracket says that it may be
left out, `*` behind a bracket that it may come any number of times; `#` stands for the letters of any word:
`thank(s| you)( so much)?`. A word `*` at the end stands for whatever follows in the same clause, at the
beginning for whatever came before in it. Each wording carries a mark; what it means is for the reader.

A few lines of a file stand for a great many wordings, so they are never written out. Together they are one
automaton, whose states are worked out as texts come by and forgotten when there are many. A match takes a
look-up for each letter, however many wordings there are.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WHOLE_WORD: Final = re.compile(r"(?<![^\s(|])[^\W\d_]{2,}(?![^\s)|])")
ANY_WORD: Final = "#"
REST: Final = "*"
_LONGEST: Final = 100
"""Letters of a wording; one whose brackets repeat could go on for as long as its text."""
_LONGEST_UNSPACED: Final = 40
"""The same where each letter is a word."""
_KEPT: Final = 200_000
"""Places of states that are kept worked out."""
_NONE: Final = ""
"""In place of a letter: the way on takes none."""


class _WordingState:
    """Where some letters have led, in all wordings at once."""

    __slots__ = ("closed", "following", "places", "rest")

    def __init__(self, places: frozenset[int], closed: int, rest: int) -> None:
        self.places = places
        self.closed = closed
        """Marks of the wordings that may end here."""
        self.rest = rest
        """Marks of those that take the rest of the clause as well."""
        self.following: dict[str, _WordingState | None] = {}


class Wordings:
    """The wordings of one language, each with its mark."""

    def __init__(self, *, spaced: bool) -> None:
        self._spaced = spaced
        self._reach = _LONGEST if spaced else _LONGEST_UNSPACED
        self._letters: list[str] = []
        """For each place the letter that leads on from it."""
        self._next = array("l")
        """For each place where that leads, -1 for nowhere."""
        self._more: dict[int, list[int]] = {}
        """Where else some places lead."""
        self._marks: dict[int, int] = {}
        """The marks of places where wordings end, or from where the rest of the clause is theirs."""
        self._root = self._place()
        self._shared: dict[tuple[int, str], int] = {}
        """What lines have in common at their beginning is laid out once."""
        self._begin: _WordingState | None = None
        self._kept = 0
        self.endings: list[tuple[str, int]] = []
        """What a clause ends with, whatever it begins with."""
        self.words: set[str] = set()
        """The words that stand whole in what was written."""

    # -- writing

    def add(self, lines: Iterable[str], mark: int) -> None:
        """Take in some lines of wordings, which `|` divides."""
        for line in lines:
            self.words.update(_WHOLE_WORD.findall(line))
            written = line if self._spaced else line.replace(" ", "")
            if written.startswith(REST):
                self.endings += [(ending.removeprefix(REST), mark) for ending in written.split("|")]
                continue
            last = self._place()
            end = self._choices(written, 0, (self._root, last), self._shared, mark)
            if end != len(written):
                raise ValueError(f"a bracket is closed that was not open, at {end}: {line}")
            self._marks[last] = mark

    def _place(self) -> int:
        self._letters.append(_NONE)
        self._next.append(-1)
        return len(self._letters) - 1

    def _lead(self, place: int, to: int) -> None:
        if self._next[place] < 0:
            self._next[place] = to
        else:
            self._more.setdefault(place, []).append(to)

    def _ways(self, place: int) -> Iterator[int]:
        """Where a place leads."""
        if (way := self._next[place]) >= 0:
            yield way
            yield from self._more.get(place, ())

    def _choices(
        self, written: str, at: int, span: tuple[int, int], shared: dict[tuple[int, str], int], mark: int
    ) -> int:
        """Lay out all that stands up to the end of a bracket, from one place to another: where it ends."""
        before, after = span
        while True:
            place, at = self._row(written, at, before, shared, mark)
            self._lead(place, after)
            if at == len(written) or written[at] == ")":
                return at
            at += 1

    def _row(
        self, written: str, at: int, place: int, shared: dict[tuple[int, str], int], mark: int
    ) -> tuple[int, int]:
        """Lay out what stands up to the next `|` or the end of the bracket: the place behind it, its end."""
        shares = True
        while at < len(written) and written[at] not in "|)":
            if written[at] == "(":
                place, at = self._bracket(written, at, place, mark)
                shares = False
                continue
            letter = written[at]
            can_lack = written[at + 1 : at + 2] == "?"
            shares = shares and not can_lack and letter not in {REST, ANY_WORD}
            after = shared.get((place, letter)) if shares else None
            if after is None:
                after = self._letter(letter, place, mark)
                if shares:
                    shared[place, letter] = after
            if can_lack:
                self._lead(place, after)
            place = after
            at += 1 + can_lack
        return place, at

    def _letter(self, letter: str, place: int, mark: int) -> int:
        """Lay out a letter behind a place: the place behind it."""
        at, after = self._place(), self._place()
        self._lead(place, at)
        self._letters[at] = letter
        self._next[at] = after
        if letter == REST:
            self._marks[at] = mark
        return after

    def _bracket(self, written: str, at: int, place: int, mark: int) -> tuple[int, int]:
        """Lay out a bracket and how often it may come, behind a place: the place behind it, its end."""
        before, after = self._place(), self._place()
        self._lead(place, before)
        end = self._choices(written, at + 1, (before, after), {}, mark) + 1
        if end > len(written):
            raise ValueError(f"a bracket is open at the end: {written}")
        behind = written[end : end + 1]
        if behind in {"?", REST}:
            self._lead(before, after)
            if behind == REST:
                self._lead(after, before)
            end += 1
        on = self._place()
        self._lead(after, on)
        return on, end

    # -- reading

    def at(self, text: str, start: int) -> Iterator[tuple[int, int, int]]:
        """What begins at a place of a text: each end, with the marks of what ends and of what goes on."""
        state: _WordingState | None = self._first()
        for end in range(start, min(len(text), start + self._reach)):
            letter = text[end]
            known = state.following
            if letter in known:
                state = known[letter]
            else:
                state = known[letter] = self._after(state.places, letter)
            if state is None:
                return
            if state.closed or state.rest:
                yield end + 1, state.closed, state.rest

    def _first(self) -> _WordingState:
        if self._begin is None or self._kept > _KEPT:
            self._kept = 0
            self._begin = self._state(self._over_spaces(self._reached([self._root])))
        return self._begin

    def _after(self, places: frozenset[int], letter: str) -> _WordingState | None:
        """The state behind a letter."""
        on: list[int] = []
        for place in places:
            if (known := self._letters[place]) == letter:
                on.append(self._next[place])
            elif known == ANY_WORD and letter != " ":
                on += (place, self._next[place])
        if not on:
            return None
        reached = self._reached(on)
        return self._state(self._over_spaces(reached) if letter == " " else reached)

    def _state(self, places: frozenset[int]) -> _WordingState:
        self._kept += len(places)
        closed = rest = 0
        for place in self._over_spaces(places):
            if (mark := self._marks.get(place)) is not None:
                if self._letters[place] == REST:
                    rest |= mark
                else:
                    closed |= mark
        leading = frozenset(place for place in places if self._letters[place] != _NONE)
        return _WordingState(leading, closed, rest)

    def _reached(self, places: Iterable[int]) -> frozenset[int]:
        reached: set[int] = set()
        open_places = list(places)
        while open_places:
            place = open_places.pop()
            if place not in reached:
                reached.add(place)
                if self._letters[place] == _NONE:
                    open_places += self._ways(place)
        return frozenset(reached)

    def _over_spaces(self, places: frozenset[int]) -> frozenset[int]:
        """These places, and those behind the spaces that follow: what may be left out leaves two of them."""
        while True:
            behind = [self._next[place] for place in places if self._letters[place] == " "]
            more = places | self._reached(behind)
            if more == places:
                return places
            places = more
