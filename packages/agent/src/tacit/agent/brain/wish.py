"""A request while its readers look at it: the words that are left, and the coverage of all of them.

Readers work on the words that the time grammar has left over. Whoever uses some of them for a goal says so
here, so that what nobody used can be asked about (`coverage`). Knows nothing of what words mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.a2acp.packets.tokens import Sentence
from tacit.agent.brain.coverage import MONEY, Coverage, turns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.agent.scheduling.dates.items import Item
    from tacit.agent.scheduling.dates.sentence import When

LONGEST_PHRASE: Final = 8
_NEAR: Final = 3


class Addressees(NamedTuple):
    """Whom a request goes to, and who else it could speak of."""

    names: frozenset[str] = frozenset()
    """By which they are known, in small letters."""
    others: frozenset[str] = frozenset()
    """Names of the owner's other contacts: somebody whom it does not go to."""
    several: bool = False


ANYBODY: Final = Addressees()
"""Nobody's name is known: the first name is whom it goes to."""


class Wish:
    """One request, without its words about time."""

    __slots__ = ("_places", "addressees", "coverage", "sentence", "when", "words")

    def __init__(self, text: str, when: When, addressees: Addressees) -> None:
        whole = Sentence(text)
        self.when = when
        self.addressees = addressees
        self.coverage = Coverage(whole, addressees.others - addressees.names)
        self.coverage.use(when.joints)
        self.sentence = when.rest(whole)
        at = {token.start: place for place, token in enumerate(whole.tokens)}
        self._places = [at[token.start] for token in self.sentence.tokens]
        self.words = tuple(token.text.lower() for token in self.sentence.tokens)

    def use(self, start: int, end: int) -> None:
        """The words from `start` up to `end` are in the goal."""
        self.coverage.use(self._places[start:end])

    def use_times(self, *kinds: type[Item]) -> None:
        """The times that were read are in the goal: all of them, or those of some kinds."""
        for item, start, end in self.when.pieces:
            if not kinds or isinstance(item, kinds):
                self.coverage.use(range(start, end))

    def is_used(self, at: int) -> bool:
        """Whether a reader has used a word."""
        return self.coverage.is_used(self._places[at])

    def touches(self, at: int) -> bool:
        """Whether a word stands right behind the one before it, with no time between them."""
        return 0 < at < len(self.words) and self._places[at] == self._places[at - 1] + 1

    def first(self, phrases: Iterable[tuple[str, ...]]) -> tuple[int, int] | None:
        """Where the first of these phrases stands, and the place behind it."""
        return next(iter(self.all(phrases)), None)

    def all(self, phrases: Iterable[tuple[str, ...]]) -> list[tuple[int, int]]:
        """Where these phrases stand, in the order of the phrases."""
        return [
            (at, at + len(phrase))
            for phrase in phrases
            for at in range(len(self.words) - len(phrase) + 1)
            if self.words[at : at + len(phrase)] == phrase
        ]

    def phrase(self, at: int, stops: frozenset[str]) -> int:
        """The end of the phrase that begins here: at one that stops, or turns something round, or a time."""
        end = at
        while end < len(self.words) and end - at < LONGEST_PHRASE:
            word = self.words[end]
            if word in stops or word in MONEY or turns(word) or (end > at and not self.touches(end)):
                break
            end += 1
        return end

    def written(self, start: int, end: int) -> str:
        """Words as they were written."""
        if start >= end:
            return ""
        tokens = self.sentence.tokens
        return self.sentence.text[tokens[start].start : tokens[end - 1].end]


def turned_round(text: str, when: When) -> list[str]:
    """What is to be asked of a text whose times stand behind a word that nobody understood, such as `not`."""
    sentence = Sentence(text)
    spent = {place for _, start, end in when.pieces for place in range(start, end)}
    for _, start, _ in when.pieces:
        before = range(max(start - _NEAR, 0), start)
        if any(place not in spent and turns(sentence.word(place)) for place in before):
            return ["Which days are meant?"]
    return []
