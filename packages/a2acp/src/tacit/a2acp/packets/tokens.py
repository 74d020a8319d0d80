"""A sentence cut into tokens: words, numbers, and the shapes of dates and clock times.

One pass with one pattern whose every repetition is bounded or cannot be retried, so the time grows with the
text and with nothing else, whatever the text is. Knows the shapes, not what they mean.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "ninety": 90,
}  # fmt: skip

MOST_TOKENS: Final = 400
"""What follows is no sentence that anybody says; it is left unread, in `rest`."""

_SHAPES: Final = re.compile(
    r"""
      (?P<iso>([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?![0-9]))
    | (?P<ampm>([0-9]{1,2})(?:[:.]([0-9]{2}))?[ ]?([ap])(?:\.m\.?|m)(?![^\W_]))
    | (?P<dotted>([0-9]{1,2})\.([0-9]{1,2})\.(?:([0-9]{4}))?(?![0-9]))
    | (?P<slash>([0-9]{1,2})/([0-9]{1,2})(?:/([0-9]{4}|[0-9]{2}))?(?![0-9/]))
    | (?P<clock>([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?(?![0-9:]))
    | (?P<point>([0-9]{1,2})\.([0-9]{2})(?![0-9.]))
    | (?P<ordinal>([0-9]{1,2})(?:st|nd|rd|th)(?![^\W_]))
    | (?P<number>([0-9]{1,9})(?![0-9]))
    | (?P<zone>(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)
        (?:/[a-z]{2,20}(?:_[a-z]{2,20}){0,3}){1,2}(?!\w))
    | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)
    | (?P<mark>\S)
    """,  # noqa: RUF001 - a typographic apostrophe is what people's devices write
    re.VERBOSE | re.IGNORECASE,
)
_WORDY: Final = frozenset({"word", "mark", "zone"})
_HALVES: Final = {"a": 0, "p": 1}


class Token(NamedTuple):
    """One piece of the sentence: `text` in small letters, where it stands, the numbers in it."""

    kind: str
    text: str
    start: int
    end: int
    numbers: tuple[int, ...] = ()
    written: str = ""
    """As the sentence has it."""


class Sentence:
    """Tokens that can be looked at by number; beyond the end there is nothing, and that is no fault."""

    __slots__ = ("_words", "text", "tokens")

    def __init__(self, text: str, tokens: list[Token] | None = None) -> None:
        """A sentence of all its tokens, or of those that are left of it."""
        self.text = text
        self.tokens = list(islice(tokens_of(text), MOST_TOKENS)) if tokens is None else tokens
        self._words = [token.text if token.kind in _WORDY else "" for token in self.tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def kind(self, at: int) -> str:
        """The kind of a token, or nothing."""
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def word(self, at: int) -> str:
        """A word or a mark in small letters; nothing for numbers and dates."""
        return self._words[at] if 0 <= at < len(self._words) else ""

    def says(self, at: int, *words: str) -> bool:
        """Whether these words stand there, one after the other."""
        if self.word(at) != words[0]:
            return False
        return len(words) == 1 or self._words[at : at + len(words)] == list(words)

    def touches(self, at: int) -> bool:
        """Whether nothing stands between a token and the one before it."""
        return 0 < at < len(self.tokens) and self.tokens[at].start == self.tokens[at - 1].end

    def number(self, at: int) -> tuple[int, int] | None:
        """A whole number in figures or words, and the place behind it."""
        if self.kind(at) == "number":
            return self.tokens[at].numbers[0], at + 1
        value = NUMBERS.get(self.word(at))
        if value is None:
            if self.word(at) == "couple" or self.says(at, "a", "couple"):
                at += 1 + (self.word(at) == "a")
                return 2, at + (self.word(at) == "of")
            return None
        if value == 1 and self.word(at + 1) == "couple":
            return 2, at + 2 + (self.word(at + 2) == "of")
        if value == 1 and self.word(at + 1) == "few":
            return 3, at + 2
        after = at + 1 + (self.word(at + 1) == "-")
        ones = NUMBERS.get(self.word(after), 0)
        if value >= 20 and value % 10 == 0 and 0 < ones < 10 and self.word(after) not in {"a", "an"}:
            return value + ones, after + 1
        return value, at + 1


def tokens_of(text: str) -> Iterator[Token]:
    """The pieces of a text, however many, as they stand in it."""
    for match in _SHAPES.finditer(text):
        kind = match.lastgroup or "mark"
        written = match.group()
        numbers = tuple(_number(group) for group in _groups(match, kind) if group is not None)
        small = written.lower().replace("’", "'") if kind in _WORDY else written  # noqa: RUF001
        yield Token(kind, small, match.start(), match.end(), numbers, written)


def _groups(match: re.Match[str], kind: str) -> tuple[str | None, ...]:
    first = _SHAPES.groupindex[kind]
    found = tuple(match.group(index) for index in range(first + 1, first + 1 + _INSIDE[kind]))
    if kind == "ampm":
        return (found[0], found[1] or "0", found[2])
    return found


def _number(group: str) -> int:
    return int(group) if group.isdecimal() else _HALVES[group.lower()]


_INSIDE: Final = {
    "iso": 3, "ampm": 3, "dotted": 3, "slash": 3, "clock": 2, "point": 2, "ordinal": 1, "number": 1,
    "zone": 0, "word": 0, "mark": 0,
}  # fmt: skip
