"""Which words of a request were understood: each reader reports what it used, and the rest is asked about.

A2ACP-076, A2ACP-090. The words of a sentence are understood (a reader used them for something that the goal
carries), harmless (a closed list: politeness, articles, verbs of arranging), or unread. What is unread is
quoted to the owner, and nothing leaves before it was said in other words or left out. So what the readers do
not know is never dropped, whatever it is; no list says what to look out for.

A reader reports only what its goal carries. Words that turn others round (`not`, `unless`, `only`) are never
harmless, nor are numbers and names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.a2acp.packets.tokens import Sentence

LONGEST_QUOTE: Final = 80
MOST_QUOTES: Final = 3
_BEHIND: Final = 4
"""So many understood words are quoted behind a word such as `not`: those that it may turn round."""

HARMLESS: Final = frozenset(
    """
    a an the some
    with w for on in at to of by from into and
    i i'd i'll i'm i've we we'd we'll we're us me my our myself you your yours it it's that this there here so
    he she they he'd she'd they'd he'll she'll they'll him her them their his
    is are am be will would could can shall should may might do have having has get getting give
    want wants wanted like love need needs hope hoping fancy try
    arrange arranging schedule scheduling organise organising organize organizing plan planning book booking
    invite inviting set setting sort sorting fix find finding look looking put propose suggest make making go
    going coordinate
    let let's lets wondering wonder mind ask asking see check know up
    time slot diary calendar agenda
    please pls plz kindly just thanks thank cheers ta hi hey hello ok okay yes well oh right then soon
    together again nice lovely great good quick little proper
    works work suits fine
    """.split()  # noqa: SIM905 - a list of words reads as words
)
"""Words that say nothing about what is arranged, with whom, when or how, wherever they stand."""
TURNING: Final = frozenset(
    """
    not no nothing never none nobody without except excepting excluding unless if only but than neither nor
    either instead rather avoid avoiding cannot minus barring besides until while max maximum min minimum
    under
    over below above less more least most
    """.split()  # noqa: SIM905
)
"""Words that change what is said beside them."""
_NAMES_TOO: Final = frozenset({"an", "can", "hope", "may", "my", "will"})
"""Harmless words that are names where they are written as such."""
_LEADING: Final = frozenset({"on", "at", "in", "for", "with", "to", "of", "the", "a", "an", "from", "by"})
"""Words that lead to something: no quotation ends with them."""
_SUMS: Final = frozenset({"quid", "pound", "pounds", "euro", "euros", "dollar", "dollars", "budget", "head"})
_BESIDE_NAMES: Final = frozenset({"and", "with", "w", "or", ",", "&", "plus"})
MONEY: Final = frozenset("£$€¥%")


class Coverage:
    """Which tokens of a sentence its readers have used."""

    __slots__ = ("_names", "_sentence", "_used")

    def __init__(self, sentence: Sentence, names: frozenset[str] = frozenset()) -> None:
        """Of a sentence; `names` are words that name somebody and so are never harmless."""
        self._sentence = sentence
        self._names = names
        self._used = [False] * len(sentence)

    def use(self, places: Iterable[int]) -> None:
        """A reader has used these tokens: what they say is in the goal."""
        for place in places:
            self._used[place] = True

    def is_used(self, place: int) -> bool:
        """Whether a reader has used this token."""
        return self._used[place]

    def word(self, place: int) -> str:
        """The word at a place, in small letters."""
        return self._sentence.word(place)

    def unread(self) -> tuple[str, ...]:
        """What nobody used and is not harmless, in the words of the sentence."""
        return tuple(self._quote(start, end) for start, end in self.stretches()[:MOST_QUOTES])

    def weighty(self, carried: str = "") -> tuple[str, ...]:
        """Of what is unread that which turns something round, limits it, or names somebody.

        A name that stands in the words `carried` is the name of a place.
        """
        places = carried.casefold()
        found = [
            (start, end)
            for start, end in self.stretches()
            if any(self._weighs(place, places) for place in range(start, end) if self._is_unread(place))
        ]
        return tuple(self._quote(start, end) for start, end in found[:MOST_QUOTES])

    def _weighs(self, place: int, places: str) -> bool:
        token = self._sentence.tokens[place]
        if token.text in MONEY or token.text in _SUMS or turns(token.text):
            return True
        named = token.written[:1].isupper() and self._sentence.word(place - 1) in _BESIDE_NAMES
        return (named or token.text in self._names) and token.text not in places

    def stretches(self) -> list[tuple[int, int]]:
        """The stretches that nobody understood: from a token up to another, with what belongs to them."""
        found: list[tuple[int, int]] = []
        end = 0
        for place in range(len(self._used)):
            if place < end or not self._is_unread(place):
                continue
            start = place
            while start > end and self._is_small(start - 1):
                start -= 1
            end = self._end(place)
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        return found

    def _end(self, place: int) -> int:
        """The end of a stretch: behind its last unread token, and behind what that turns round."""
        end = place + 1
        ahead = end
        while ahead < len(self._used) and (self._is_unread(ahead) or self._is_small(ahead)):
            ahead += 1
            if self._is_unread(ahead - 1):
                end = ahead
        if turns(self._sentence.tokens[end - 1].text):
            stop = min(end + _BEHIND, len(self._used))
            while end < stop and self._sentence.kind(end) != "mark":
                end += 1
            while self._sentence.tokens[end - 1].text in _LEADING:
                end -= 1
        return end

    def _is_unread(self, place: int) -> bool:
        token = self._sentence.tokens[place]
        if self._used[place] or (token.kind == "mark" and token.text not in MONEY):
            return False
        return token.kind != "word" or token.text not in HARMLESS or self._is_name(place)

    def _is_name(self, place: int) -> bool:
        token = self._sentence.tokens[place]
        if token.text in self._names:
            return True
        begins = place == 0 or self._sentence.word(place - 1) in {".", "!", "?", ":"}
        return token.text in _NAMES_TOO and token.written.istitle() and not begins

    def _is_small(self, place: int) -> bool:
        token = self._sentence.tokens[place]
        return token.kind == "word" and not self._used[place] and not self._is_unread(place)

    def _quote(self, start: int, end: int) -> str:
        tokens = self._sentence.tokens
        quote = " ".join(self._sentence.text[tokens[start].start : tokens[end - 1].end].split())
        return quote if len(quote) <= LONGEST_QUOTE else f"{quote[:LONGEST_QUOTE].rpartition(' ')[0]} …"


def turns(word: str) -> bool:
    """Whether a word changes what is said beside it."""
    return word in TURNING or word.endswith("n't")


def question(unread: tuple[str, ...]) -> str:
    """What the owner is asked about words that nobody understood."""
    quoted = " and ".join(f"“{words}”" for words in unread)
    return f"I did not understand {quoted}. Please say it in other words, or leave it out"
