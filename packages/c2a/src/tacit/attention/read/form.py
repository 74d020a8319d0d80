"""Form: does a line look finished, or does more of it come? (C2A-083, C2A-085, C2A-221)

People write one question in several lines, and most questions in one. Whoever waits after each line keeps
all the one-liners waiting; whoever waits after none reads halves. How a line ends tells them apart well
enough, in every script: a sentence's mark, a clause that asks, plain words, or an end that hangs in the air.
Marks are read by Unicode, words after which more comes stand in the languages' files (`hanging`).

Values only; how long each kind is waited for is `tacit.harness.question`.

Prose: the part of a text that its author says to somebody (C2A-034, C2A-202).

Code, quoted lines, e-mail addresses and urls are blanked out, so that nothing inside them names or asks
anybody. The result has the same length as the text. Knows nothing of names or intents.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tacit.attention.read.intent import of_text
from tacit.attention.read.lexicon import folded, languages_of
from tacit.c2a.vocabulary import OPEN, Intent

if TYPE_CHECKING:
    from collections.abc import Callable


_FENCE: Final = re.compile(
    r"^[ \t]*(```+(?=[^`\n]*$)|~~~+)[^\n]*\n?.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_INLINE_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SPAN: Final = re.compile(r"(?<!`)(`{1,2})(?!`)[^\n]+?(?<!`)\1(?!`)")
_QUOTED: Final = re.compile(r"^[ \t]*(?:>|&gt;)[^\n]*", re.MULTILINE)
_URL: Final = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,15}://|www\.|mailto:|xmpp:|matrix:)[^\s<>\"]+", re.IGNORECASE
)
_MAIL: Final = re.compile(r"(?<![\w.+%@-])[a-z0-9][a-z0-9_.+%-]*+@[\w-]+(?:\.[\w-]+)*", re.IGNORECASE)
_WORTH_A_LOOK: Final = re.compile(r"[`>@:]|~~~|&gt;|www\.", re.IGNORECASE)


def _blank(match: re.Match[str]) -> str:
    found = match.group()
    return " " * len(found) if "\n" not in found else "".join("\n" if c == "\n" else " " for c in found)


_STEPS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("```", _FENCE),
    ("~~~", _FENCE),
    ("```", _INLINE_FENCE),
    ("`", _SPAN),
    (">", _QUOTED),
    ("&gt;", _QUOTED),
    (":", _URL),
    ("www.", _URL),
    ("@", _MAIL),
)


def prose(text: str) -> str:
    """The text with everything blanked that is not its author's own speech."""
    if _WORTH_A_LOOK.search(text) is None:
        return text
    blank: Callable[[re.Match[str]], str] = _blank
    for sign, pattern in _STEPS:
        if sign in text or (sign == "www." and sign in text.lower()):
            text = pattern.sub(blank, text)
    return text


READ: Final = 400
"""Characters at the end of a line that are looked at."""
_SENTENCE: Final = frozenset(
    ".!?\u0589\u055c\u0700\u0701\u0702\u1362\u1368\u104b\u17d4\u17d5\u0965\u1803\u1809\u0df4\u2e2e"
)
"""Marks that end a sentence, of those scripts whose marks are not folded to ASCII's."""
_CLOSING: Final = frozenset({"Pe", "Pf", "So", "Sk", "Cf", "Mn"})
_QUOTES: Final = "\"'*_~` \t\n"
_PAIRS: Final = {"(": ")", "[": "]", "{": "}", "\u300c": "\u300d", "\uff08": "\uff09"}
_TRAILS: Final = re.compile(r"\.\.+$|\u2026$")
_NAMES: Final = re.compile(r"[@\uff20][\w.-]*\w")
_WORDS: Final = re.compile(r"\w+(?:'\w+)*")
_COMMAND: Final = re.compile(r"```\s*$|`[^`\n]+`\s*$")


class Ending(StrEnum):
    """How a line ends."""

    WHOLE = "whole"
    """With the mark of a sentence."""
    CLAUSE = "clause"
    """Without a mark, but it asks or orders something."""
    PLAIN = "plain"
    """Words that may go on or not."""
    HANGING = "hanging"
    """More must come: a bare name, a greeting, a comma, a colon, "and", a bracket that is open."""


def ending_of(text: str, called: tuple[str, ...] = ()) -> Ending:
    """How a line ends, of a long one its end alone; `called` are names that it calls, with a sign or not."""
    return _ending(text[-READ:], called)


@lru_cache(maxsize=1024)
def _ending(text: str, called: tuple[str, ...]) -> Ending:
    said = _NAMES.sub(" ", text)
    for name in called:
        said = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", said, flags=re.IGNORECASE)
    is_call, said = said != text, said.strip()
    if not any(sign.isalnum() for sign in said):
        # A name and nothing else calls somebody; a row of signs may be all that its author has to say.
        return Ending.HANGING if is_call or not said else Ending.PLAIN
    intent = of_text(prose(said))
    if intent is Intent.GREETING or _is_open(said):
        return Ending.HANGING
    if _COMMAND.search(said):
        return Ending.PLAIN
    end = _trimmed(said)
    if _TRAILS.search(end):
        return Ending.HANGING
    plain = folded(end)
    if plain and plain[-1] in _SENTENCE:
        return Ending.WHOLE
    if plain and unicodedata.category(plain[-1]) in {"Po", "Pd", "Ps", "Pi"} and plain[-1] not in "%#/&@":
        return Ending.HANGING
    if _hangs(plain):
        return Ending.HANGING
    return Ending.CLAUSE if intent in OPEN else Ending.PLAIN


def _trimmed(said: str) -> str:
    """Without what may stand behind a sentence's mark: quotes, brackets, pictures."""
    end = said.rstrip(_QUOTES)
    while end and (end[-1] in _QUOTES or unicodedata.category(end[-1]) in _CLOSING):
        end = end[:-1]
    return end


def _is_open(said: str) -> bool:
    """Is a bracket or a block of code begun and not ended?"""
    if said.count("```") % 2:
        return True
    return any(said.rfind(one) > said.rfind(other) for one, other in _PAIRS.items())


def _hangs(plain: str) -> bool:
    words = _WORDS.findall(plain)
    if not words:
        return False
    known = languages_of(plain, set(words))
    return any(one.sections["hanging"].pattern.search(plain) for one in known)
