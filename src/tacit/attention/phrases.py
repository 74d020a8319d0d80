"""Phrases: patterns over lower-case prose, tried only when one of their words is there (C2A-054).

`asking` and `saying` hold the words; what they add up to is for `intent`.
"""

from __future__ import annotations

import re


class Phrases:
    """A pattern, and words of which every match holds at least one.

    Without them the pattern is not even tried.
    """

    __slots__ = ("pattern", "words")

    def __init__(self, pattern: re.Pattern[str], words: str) -> None:
        self.pattern = pattern
        self.words = frozenset(words.split())

    def found(self, text: str, words: set[str]) -> bool:
        """Does the text, made of these words, hold one of the phrases?"""
        return not self.words.isdisjoint(words) and self.pattern.search(text) is not None


def any_of(*parts: str, words: str, start: str = r"(?<![\w'])", end: str = r"(?!'?\w)") -> Phrases:
    """The parts as one pattern that stands on its own in the text."""
    return Phrases(re.compile(f"{start}(?:{'|'.join(parts)}){end}"), words)
