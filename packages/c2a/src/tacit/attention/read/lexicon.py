"""The lexicon: for each language, phrases that say what a text asks, tells or only signals (C2A-054).

A language is one file of `languages/`, read with the code and never changed; another language is another
file. A section of it is a list of phrases, each an expression over folded text: lower case, no accents, marks
of every width as ASCII has them. Where a section stands in a text is the same in every language, unless its
file says otherwise: anywhere as whole words, at the start of a clause, at the end of a text, or as a whole
clause.

Which language a text is in is told from letters, where a script is a language's own, else from words: those
with the most known words in the text read it, if that is more than English has, and English does at last. A
text of a language without a file is thus read by its marks and names, and an order in it is none (`orders`).

No phrase reads the same words in two ways, so that no text costs more than its length. The files are
read, and expressions compiled, when they are first needed. What a match adds up to is for `intent`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, cached_property
from typing import Any, Final, cast

ENGLISH: Final = "en"
_COMBINING: Final = re.compile("[\u0300-\u036f\u064b-\u0652\u0670]")
_PART: Final = re.compile(r"<([a-z_]+)>")
_TOKEN: Final = re.compile(r"[^\W\d_]{3,}")
_UMLAUTS: Final = {"ä": "(?:ae|a)", "ö": "(?:oe|o)", "ü": "(?:ue|u)"}
_WORDED: Final = str.maketrans({"ä": "(a|ae)", "ö": "(o|oe)", "ü": "(u|ue)", "'": "", "\u2019": ""})
"""How a wording is read: umlauts as people write them, and no apostrophes, as they are often left out."""
_CLAUSE: Final = r"(?:^|[.!?;:,\n]\s*|\s[-\u2013\u2014]+\s)\W{0,3}"
MARKS: Final = {
    **{0xFF01 + n: 0x21 + n for n in range(94)},
    0x3000: " ", 0x3001: ",", 0x3002: ".", 0xFF0E: ".", 0xFF61: ".", 0xFF64: ",", 0x061F: "?", 0x060C: ",",
    0x061B: ";", 0x037E: "?", 0x055E: "?", 0x1367: "?", 0x2047: "?", 0x2048: "?", 0x2049: "?", 0x203D: "?",
    0x00BF: " ", 0x00A1: " ", 0x0964: ".", 0x06D4: ".", 0x2026: ".", 0x2019: "'", 0x02BC: "'",
}  # fmt: skip
"""Letters and marks of other widths and scripts, one character for one."""
_GREEK: Final = re.compile("[\u0370-\u03ff]")
_SEMICOLON: Final = re.compile(r";(?=\s|$)")


class Phrases:
    """A pattern, and words of which every match holds at least one.

    Without them the pattern is not even tried; where none are given it always is.
    """

    __slots__ = ("pattern", "words")

    def __init__(self, pattern: re.Pattern[str], words: str) -> None:
        self.pattern = pattern
        self.words = frozenset(words.split())


NOTHING: Final = Phrases(re.compile(r"(?!)"), "")
"""The phrases of a section that a language lacks."""
_ANYWHERE: Final = frozenset(
    {"safety", "approval", "blocker", "assignment", "request", "anybody", "asking", "strong", "politely"}
)
_OPENING: Final = frozenset({"question", "imperative", "status"})
_BETWEEN: Final = {
    ("order_clauses", True): r"[.!,;:\n\u2026]+|\s[-\u2013\u2014]+\s",
    ("order_clauses", False): r"[.!,;:\n~\u2026\s]+",
}
"""Where one clause ends and the next begins, unless a language says it otherwise."""


def folded(text: str) -> str:
    """The text as the lexicon reads it: in lower case, without accents, with the marks of ASCII."""
    if text.isascii():
        return text.lower()
    said = unicodedata.normalize("NFKD", text.translate(MARKS).casefold())
    said = unicodedata.normalize("NFC", _COMBINING.sub("", said))
    return _SEMICOLON.sub("?", said) if ";" in said and _GREEK.search(said) else said


class CompiledPhrases(dict[str, Phrases]):
    """The sections of a language by name, each compiled when it is first asked for."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, name: str) -> Phrases:
        found = self[name] = self._language.phrases(name)
        return found


class Language:
    """One language: its sections, compiled when they are first asked for."""

    def __init__(self, code: str, written: dict[str, Any]) -> None:
        self.code = code
        self.spaced: bool = written.get("spaced", True)
        """Whether spaces stand between words."""
        self.letters = re.compile(written["letters"]) if "letters" in written else None
        """What it is recognised by, where its script is its own."""
        self.never = re.compile(written["never"]) if "never" in written else None
        """What no text in it holds."""
        self._written = written
        self.sections = CompiledPhrases(self)

    @cached_property
    def common(self) -> frozenset[str]:
        """Words by which it is recognised."""
        return frozenset(folded(str(self._written.get("common", ""))).split())

    @cached_property
    def tokens(self) -> frozenset[str]:
        """The words of its phrases."""
        sections = [section.get("phrases", "") for section in self._sections().values()]
        written = " ".join([*sections, *self._written.get("parts", {}).values()])
        return frozenset(_TOKEN.findall(folded(written)))

    def reads(self, text: str) -> bool:
        """Is the text in letters of its own?"""
        return (
            self.letters is not None
            and self.letters.search(text) is not None
            and (self.never is None or self.never.search(text) is None)
        )

    def phrases(self, name: str) -> Phrases:
        """One section, compiled."""
        section = self._sections().get(name)
        if section is None:
            between = _BETWEEN.get((name, self.spaced))
            return NOTHING if between is None else Phrases(re.compile(between), "")
        lines = self._lines(section)
        if not lines:
            return Phrases(NOTHING.pattern, section.get("words", ""))
        start, end = self._place(name, section)
        pattern = f"{start}(?:{'|'.join(lines)}){end}"
        return Phrases(re.compile(pattern), folded(section.get("words", "")))

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words of its phrases and the verbs that order."""
        verbs = " ".join(section.get("verbs", "") for section in self._sections().values())
        return self.tokens | frozenset(folded(verbs).split())

    def wordings(self, name: str) -> list[str]:
        """The lines of one section of small talk, folded, with its parts put in (`wordings`)."""
        section = self._sections().get(name, {})
        lines = section.get("phrases", "").split("\n")
        filled = [self._filled(line).translate(_WORDED) for line in lines if line]
        return [folded(line) for line in filled]

    def listed(self, name: str) -> list[str]:
        """One section's phrases as expressions, as they are written and folded."""
        section = self._sections().get(name, {})
        written = [line for line in section.get("phrases", "").split("\n") if line]
        return list(dict.fromkeys([*written, *self._lines(section)]))

    def _sections(self) -> dict[str, dict[str, str]]:
        return {
            name: cast("dict[str, str]", one)
            for name, one in self._written.items()
            if isinstance(one, dict) and name != "parts"
        }

    def _lines(self, section: dict[str, str]) -> list[str]:
        verbs = [re.escape(verb) for verb in section.get("verbs", "").split()]
        given = [line for line in section.get("phrases", "").split("\n") if line]
        return [self._expression(line) for line in [*verbs, *given]]

    def _expression(self, written: str) -> str:
        """A phrase with its parts put in, folded as texts are."""
        return "".join(
            _UMLAUTS.get(sign) or (sign if sign.isascii() else re.escape(folded(sign)))
            for sign in self._filled(written, "?:")
        )

    def _filled(self, written: str, opening: str = "") -> str:
        """A phrase with its parts put in, each in a bracket that opens so."""
        parts = self._written.get("parts", {})
        while match := _PART.search(written):
            if match[1] not in parts:
                break
            written = written.replace(match[0], f"({opening}{parts[match[1]]})")
        return written

    def _place(self, name: str, section: dict[str, str]) -> tuple[str, str]:
        """What stands around a section's phrases."""
        if "start" in section or "end" in section:
            start, end = self._around(name)
            return (
                self._expression(section["start"]) if "start" in section else start,
                self._expression(section["end"]) if "end" in section else end,
            )
        return self._around(name)

    def _around(self, name: str) -> tuple[str, str]:
        word_start, word_end = (r"(?<![\w'])", r"(?!'?\w)") if self.spaced else ("", "")
        if name in _ANYWHERE:
            return word_start, word_end
        if name == "hanging":
            return word_start, "$"
        before, after = self._expression("<before>"), self._expression("(?:<after>|<people>)")
        space = " " if self.spaced else ""
        if name in _OPENING:
            end = "" if name == "imperative" else word_end
            return f"{_CLAUSE}(?:{before}[ ,]{'+' if space else '*'}){{0,4}}", end
        return f"(?:{before}{space}){{0,4}}", f"(?:{space}{after}){{0,4}}"


@cache
def languages() -> tuple[Language, ...]:
    """Every language, English first; read when they are first needed."""
    import tomllib
    from importlib import resources

    folder = resources.files("tacit.attention.read") / "languages"
    found = [
        Language(file.name.removesuffix(".toml"), tomllib.loads(file.read_text(encoding="utf-8")))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda one: (one.code != ENGLISH, one.code)))


@cache
def _by_letters() -> tuple[Language, ...]:
    return tuple(language for language in reversed(languages()) if language.letters is not None)


def in_any(name: str, *, spaced: bool | None = None) -> str:
    """A section of all languages as one expression, for text that is not folded."""
    chosen = [language for language in languages() if spaced is None or language.spaced is spaced]
    return f"(?:{'|'.join(line for language in chosen for line in language.listed(name)) or '(?!)'})"


@cache
def _known() -> dict[str, tuple[Language, ...]]:
    """The languages beside English that know each word; what is English in any phrase tells of no other."""
    found: dict[str, list[Language]] = {}
    english, *others = languages()
    for language in others:
        if language.letters is None:
            for word in language.common | (language.tokens - english.tokens):
                found.setdefault(word, []).append(language)
    return {word: tuple(known) for word, known in found.items()}


def languages_of(text: str, words: set[str]) -> list[Language]:
    """The languages that a text is read in, one after the other until one of them makes something of it."""
    likely = [] if text.isascii() else [language for language in _by_letters() if language.reads(text)]
    known = _known()
    telling = known.keys() & words
    if "'" in text:
        telling |= known.keys() & {piece for word in words if "'" in word for piece in word.split("'")}
    english = languages()[0]
    common = len(english.common & words)
    if len(telling) > common:
        score = Counter(language for word in telling for language in known[word])
        most = max(score.values())
        if most > common:
            likely += [language for language in languages() if score[language] == most]
    return [*likely, english]
