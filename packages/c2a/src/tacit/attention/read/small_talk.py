"""Small talk: a line put together of thanks, receipts, praise, greetings and farewells, and nothing more.

Rows: C2A-054, C2A-067, C2A-196.

People combine a few kinds of parts freely, with marks between them and without: "ok great thanks ada, works
now, see you tomorrow". So no list of whole lines would do. A language's file says how the parts are worded
and what may stand around them, and a line is small talk when parts cover it from its first word to its last.
What no part covers is somebody's wish, news or complaint, and decides: "great, and what about the logs".
Nothing is guessed about it: a line with a word that belongs to no part is no small talk.

Some parts go on for as long as their clause does: "thanks for the help", "I'll try that", "that saved me an
hour". Such a rest must not turn to the listener or take anything back (`turns`) nor order anything (`then`),
and where it tells what happened, it must not tell of trouble (`trouble`). What its author will do next or
did wrong (`plan`, `own`) is small talk only beside another part: "I'll look at it tomorrow" alone is news.

Spelling is forgiven: letters drawn out, a missing apostrophe, one slip in a longer word that is no other
word. Names are for the caller to take out. A text of more than `LONGEST` characters is never small talk, so
the time that one takes has a bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from tacit.attention.read.lexicon import ENGLISH, languages
from tacit.attention.read.spelling import SLIPS, off_by_one
from tacit.attention.read.wordings import Wordings
from tacit.c2a.vocabulary import Intent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.attention.read.lexicon import Language

LONGEST: Final = 400
"""Characters of small talk; whoever writes more has more to say than that."""
_REST: Final = 18
"""Words that may follow an open part in its clause."""
_REST_UNSPACED: Final = 40
"""The same where each letter is a word."""
_REMEMBERED: Final = 2_048
"""Words whose spelling is kept."""

_THANKS, _GREETING, _RECEIPT, _CONTENT, _CHEER, _PLAN, _OWN, _ANSWER, _AROUND, _JOINS = (
    1 << bit for bit in range(10)
)
_TURNS, _THEN, _TROUBLE, _LISTENER = (1 << bit for bit in range(10, 14))
_MARKS: Final = {
    "thanks": _THANKS, "greeting": _GREETING, "acknowledged": _RECEIPT, "content": _CONTENT, "praise": _CHEER,
    "farewell": _CHEER, "filler": _CHEER, "plan": _PLAN, "own": _OWN, "answer": _ANSWER, "around": _AROUND,
    "joins": _JOINS, "turns": _TURNS, "then": _THEN, "trouble": _TROUBLE, "listener": _LISTENER,
}  # fmt: skip
"""The sections of a language's file, and what marks their wordings."""
SECTIONS: Final = tuple(_MARKS)
_SOCIAL: Final = _THANKS | _GREETING | _RECEIPT | _CONTENT | _CHEER
_PARTS: Final = _SOCIAL | _PLAN | _OWN | _ANSWER
_INTENTS: Final = (
    (_THANKS, Intent.THANKS),
    (_GREETING, Intent.GREETING),
    (_RECEIPT | _CONTENT, Intent.ACKNOWLEDGEMENT),
    (_CHEER, Intent.FILLER),
)
"""Of several parts the first here says what the line is."""

_WORD: Final = re.compile(r"\+1(?!\w)|[^\W_]+")
_WORD_UNSPACED: Final = re.compile(r"\+1(?!\w)|[a-z0-9]+|[^\W_]")
_APOSTROPHES: Final = str.maketrans("", "", "'`\u00b4")
_BETWEEN: Final = re.compile(r"[.!;,:()\n\u2026~]+(?=\s|$|[^\w\s])|\s[-\u2013\u2014~]+\s")
_BETWEEN_UNSPACED: Final = re.compile(r"[.!;,:()\n\u2026~\s]+")
_FACES: Final = re.compile(
    r"(?<!\w)(?:[:;=8x][-'^o]?[)(dpso3/|*\]\[]{1,8}|<3{1,8}|\\o/|o/|\^_{0,3}\^|t_t|xd{1,8})(?!\w)"
)
_REFUSES: Final = re.compile("[👎❌🚫😠😡🤬❓❔⛔]")
_CHEERS: Final = re.compile("[🎉🎊🥳👍👌👏🙌💪🔥💯😀-😍😗-😝🙂🙃🤩🥰🤣🤝🫶🫡🤘🤙❤✨☺💙-💜]")
_DRAWN_OUT: Final = re.compile(r"([^\W\d_])\1+")


@dataclass(frozen=True, slots=True)
class SmallTalk:
    """What a line is that wants nothing, and whether it also says yes or no to something."""

    intent: Intent
    answers: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as it is spelt right: its words and where they stand, and the clauses that they make."""

    said: str
    words: list[str]
    text: str
    """The words alone."""
    begins: list[int]
    """Where each stands in that."""
    after: dict[int, int]
    """By where a word ends in it, the number of the next."""
    ends: list[int]
    """For each word the number of the first behind its clause."""
    clauses: list[tuple[int, int]]
    """For each word where it begins in what was said, and where its clause ends."""

    def opens(self, word: int) -> bool:
        """Does a clause begin with a word?"""
        return not word or self.ends[word - 1] == word


def small_talk(text: str, languages: Sequence[Language]) -> SmallTalk | None:
    """What a folded text is that is read in some languages; None when something in it is no small talk."""
    if len(text) > LONGEST or "?" in text or _REFUSES.search(text):
        return None
    said = _FACES.sub(" ", text.translate(_APOSTROPHES))
    cheers = _CHEERS.search(text) is not None
    readings = (_reader_of(language).read(said, cheers=cheers) for language in languages)
    return next((reading for reading in readings if reading is not None), None)


class _SmallTalkReader:
    """The small talk of one language; beside those that put spaces between words English is understood."""

    def __init__(self, language: Language) -> None:
        self._spaced = language.spaced
        self.wordings = Wordings(spaced=language.spaced)
        for name, mark in _MARKS.items():
            self.wordings.add(language.wordings(name), mark)
        self._laughter = language.sections["laughter"].pattern
        self._status = language.sections["status"].pattern
        self._orders = language.sections["imperative"].pattern
        self._language = language
        self._english = _reader_of(languages()[0]) if language.code != ENGLISH and language.spaced else None
        self._spelt = lru_cache(maxsize=_REMEMBERED)(self._spelt_right)
        english = (self._english.wordings,) if self._english is not None else ()
        self._all = (self.wordings, *english)

    def read(self, said: str, *, cheers: bool) -> SmallTalk | None:
        """What a text is, when parts cover it."""
        marks = self._covered(self._line(said))
        if not (marks & _SOCIAL or (cheers and marks & _PARTS)):
            return None
        intent = next((intent for mark, intent in _INTENTS if marks & mark), Intent.FILLER)
        return SmallTalk(intent, bool(marks & (_RECEIPT | _ANSWER)))

    # -- words

    def _line(self, said: str) -> _Line:
        stops = [match.start() for match in (_BETWEEN if self._spaced else _BETWEEN_UNSPACED).finditer(said)]
        stops.append(len(said))
        words: list[str] = []
        clauses: list[tuple[int, int]] = []
        number = 0
        for match in (_WORD if self._spaced else _WORD_UNSPACED).finditer(said):
            while stops[number] <= match.start():
                number += 1
            words.append(self._spelt(match[0]))
            clauses.append((match.start(), stops[number]))
        begins: list[int] = []
        after: dict[int, int] = {}
        at = 0
        for place, word in enumerate(words):
            begins.append(at)
            after[at + len(word)] = place + 1
            at += len(word) + self._spaced
        ends = list(range(1, len(words) + 1))
        for place in range(len(words) - 2, -1, -1):
            if clauses[place][1] == clauses[place + 1][1]:
                ends[place] = ends[place + 1]
        return _Line(said, words, (" " if self._spaced else "").join(words), begins, after, ends, clauses)

    @cached_property
    def known(self) -> frozenset[str]:
        """The words that are spelt right."""
        known = self._language.common | self._language.vocabulary | self.wordings.words
        return known | self._english.known if self._english is not None else known

    def _spelt_right(self, word: str) -> str:
        """The word spelt right, if it is one of small talk with a letter drawn out or a slip in it."""
        if not self._spaced or not word.isalpha() or word in self.known or self._laughter.fullmatch(word):
            return word
        for wordings in self._all:
            if (right := _spellings(wordings).right(word)) is not None:
                return right
        return word

    # -- composition

    def _covered(self, line: _Line) -> int:
        """The marks of the fewest parts that cover the line, with small talk among them; 0 when none do."""
        count = len(line.words)
        best: list[tuple[bool, int, int, int] | None] = [None] * (count + 1)
        best[0] = (True, 0, 0, 0)
        for place in range(count):
            here = best[place]
            if here is None:
                continue
            for end, mark in self._parts(line, place, here[3]):
                marks = here[2] | mark
                new = (not marks & _SOCIAL, here[1] + 1, marks, mark)
                known = best[end]
                if known is None or new[:2] < known[:2]:
                    best[end] = new
        last = best[count]
        return last[2] if last is not None else 0

    def _parts(self, line: _Line, place: int, before: int) -> Iterator[tuple[int, int]]:
        """Each part that begins with a word, by the mark of the part before: where it ends, and its mark."""
        limit = line.ends[place]
        nothing = True
        for end, closed, on in self._at(line, place, limit):
            if closed & (_PARTS | _AROUND) or (closed & _JOINS and end < limit):
                nothing = False
                yield end, closed & _PARTS
            for mark in (_THANKS, _PLAN, _OWN, _CONTENT, _SOCIAL & ~(_THANKS | _CONTENT)):
                if on & mark and (rest := self._rest(line, end, limit, mark)) is not None:
                    nothing = False
                    yield limit, on & mark | rest
        if self._laughter.fullmatch(line.words[place]):
            yield place + 1, _CHEER
            return
        for ending, mark in self.wordings.endings:
            start = self._start_of(line, ending, limit)
            if start is not None and start >= place and self._rest(line, place, start, mark) is not None:
                yield limit, mark
        if nothing and self._tells(line, place, limit):
            yield limit, _OWN
        elif nothing and before & (_THANKS | _GREETING) and self._is_name(line, place):
            yield place + 1, 0

    def _at(self, line: _Line, place: int, limit: int) -> Iterator[tuple[int, int, int]]:
        """What begins with a word and ends in some clause, by the numbers of the words."""
        for wordings in self._all:
            for end, closed, on in wordings.at(line.text, line.begins[place]):
                number = line.after.get(end)
                if number is not None and number <= limit:
                    yield number, closed, on

    def _rest(self, line: _Line, start: int, end: int, mark: int) -> int | None:
        """The thanks in what an open part goes on with; None when it is more than such a part may say."""
        if end - start > (_REST if self._spaced else _REST_UNSPACED):
            return None
        barred = _TURNS
        barred |= _LISTENER if mark & (_PLAN | _OWN) else 0
        barred |= 0 if mark & _PLAN else _THEN
        barred |= 0 if mark & (_PLAN | _THANKS | _CONTENT) else _TROUBLE
        met = 0
        for place in range(start, end):
            for _, closed, on in self._at(line, place, end):
                met |= closed | on
        return None if met & barred else met & (_THANKS if mark & (_PLAN | _OWN | _CONTENT) else 0)

    @staticmethod
    def _start_of(line: _Line, ending: str, limit: int) -> int | None:
        """The number of the word with which the ending of a clause begins."""
        stop = line.begins[limit - 1] + len(line.words[limit - 1])
        begin = stop - len(ending)
        if begin < 0 or line.text[begin:stop] != ending:
            return None
        return next((place for place in range(limit - 1, -1, -1) if line.begins[place] == begin), None)

    def _tells(self, line: _Line, place: int, limit: int) -> bool:
        """Does a clause tell that something went well, as "tests are green now" does?"""
        begin, stop = line.clauses[place]
        return (
            line.opens(place)
            and self._status.match(line.said[begin:stop]) is not None
            and self._orders.search(line.said[begin:stop]) is None
            and self._rest(line, place, limit, _OWN) is not None
        )

    def _is_name(self, line: _Line, place: int) -> bool:
        """Can a word be somebody's name: unknown, the last of its clause, and not its first?"""
        word = line.words[place]
        is_last = line.ends[place] == place + 1 and not line.opens(place)
        return self._spaced and is_last and word.isalpha() and word not in self.known


class _Spellings:
    """The words of some wordings, by how people may write them."""

    def __init__(self, wordings: Wordings) -> None:
        self._words = frozenset(wordings.words)

    def right(self, word: str) -> str | None:
        """The word that is meant by one with letters drawn out or a slip in it."""
        short = _DRAWN_OUT.sub(r"\1", word)
        if short != word and (right := self._short.get(short)) is not None:
            return right
        if len(word) < SLIPS:
            return None
        forms = (self._slips.get(form) for form in off_by_one(word))
        return next((right for right in forms if right is not None and _is_slip(right, word)), None)

    @cached_property
    def _short(self) -> dict[str, str]:
        return {_DRAWN_OUT.sub(r"\1", word): word for word in sorted(self._words, reverse=True)}

    @cached_property
    def _slips(self) -> dict[str, str]:
        longer = sorted(word for word in self._words if len(word) >= SLIPS)
        return {form: word for word in longer for form in off_by_one(word)}


def _is_slip(right: str, written: str) -> bool:
    """Is it a slip of the pen? In a short word another letter makes another word: "clean" is not "clear"."""
    return len(right) != len(written) or len(right) > SLIPS or sorted(right) == sorted(written)


@cache
def _reader_of(language: Language) -> _SmallTalkReader:
    return _SmallTalkReader(language)


@cache
def _spellings(wordings: Wordings) -> _Spellings:
    return _Spellings(wordings)
