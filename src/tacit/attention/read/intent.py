"""Intent: what a message wants, without a model (C2A-054, C2A-067, C2A-077, CLOWL-092).

Declared intent first, then rules over the author's prose. Every rule leans the same way: what might be a
request counts as one, and a message is thanks, a receipt or filler only when each of its clauses is. An
agent's declared intent may lower an obligation, never raise it; a CLowl performative speaks for its
message.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.read.lexicon import ENGLISH, Language, Phrases, folded, languages_of
from tacit.attention.read.orders import order_in
from tacit.c2a.vocabulary import OBLIGING, SOCIAL, Intent

if TYPE_CHECKING:
    from collections.abc import Mapping

PERFORMATIVES: Final[dict[str, Intent]] = {
    "REQ": Intent.REQUEST,
    "QRY": Intent.QUESTION,
    "DLGT": Intent.ASSIGNMENT,
    "INF": Intent.INFORM,
    "DONE": Intent.RESULT,
    "ERR": Intent.ERROR,
    "ACK": Intent.RECEIPT,
    "PROG": Intent.STATUS,
    "CAPS": Intent.RECEIPT,
    "CNCL": Intent.WITHDRAWAL,
}

AFTER_CALL: Final = " \t\r\n.!"
"""What may stand behind a name that is called and nothing more: "@ada!"."""
_NAMED: Final = re.compile(r"(?<!\w)@[\w.-]*\w")
_EDGES: Final = re.compile(r"^[^\w+👍👌🙏🆗✅👀🫡:;<&…]+|[^\w+)👍👌🙏🆗✅👀🫡3…]+$")
_EDGE: Final = " \t\"'*_~-.!?,;|/[]{}"
_WORDS: Final = re.compile(r"\w+(?:'\w+)*")
_WORD: Final = re.compile(r"\w")
_EMOJI: Final = re.compile("[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]+")
_EMOJI_THANKS: Final = frozenset("🙏💐🤗")
_EMOJI_ACK: Final = frozenset("👍👌🆗✅👀🫡☑✔")


_LONG_RUN: Final = re.compile(r"(?<!\S)\S{129,}")
_MANY_SIGNS: Final = re.compile(r"(?<!\W)\W{17,}")
_READ: Final = 4096
"""Characters at each end of a long text that are read in a language whose phrases are all tried."""
_REMEMBERED: Final = 512
"""Characters of a text whose intent is kept: short texts come again, many long ones would fill the memory."""


def of_text(prose: str) -> Intent:
    """The intent of prose, by rule; `prose` holds no code, quotes or addresses.

    The time it takes grows with the text's length and no faster, whatever is in it: the hub asks this of
    every message. That rests on two things: no run of signs or of letters is longer than some (`_tidied`),
    and no pattern reads the same words in two ways.
    """
    said = _NAMED.sub(" ", prose) if "@" in prose else prose
    if said != prose and not said.strip(AFTER_CALL):
        return Intent.PLAIN  # a name alone, or one before a piece of code, is a call
    said = folded(said).strip()
    return _of_short(said) if len(said) <= _REMEMBERED else _of_plain(said)


def _tidied(text: str) -> str:
    """The text without the middle of every endless word and of every endless row of signs and spaces."""
    text = _LONG_RUN.sub(lambda run: _ends(run[0], 64), text)
    return _MANY_SIGNS.sub(_shortened, text)


def _shortened(run: re.Match[str]) -> str:
    return _ends(run[0], 8)


def _ends(run: str, length: int) -> str:
    return run[:length] + ("?" if "?" in run else "") + run[-length:]


@lru_cache(maxsize=4096)
def _of_short(text: str) -> Intent:
    return _of_plain(text)


def holds(phrases: Phrases, text: str, words: set[str]) -> bool:
    """Does the text, made of these words, hold one of the phrases?"""
    return (not phrases.words or not phrases.words.isdisjoint(words)) and phrases.pattern.search(
        text
    ) is not None


def _of_plain(text: str) -> Intent:
    if not _WORD.search(text):
        return _of_signs(_tidied(text))
    tidy = _tidied(text)
    words = set(_WORDS.findall(tidy))
    for language in languages_of(text, words):
        said = tidy if language.spaced else _MANY_SIGNS.sub(_shortened, text)
        if language.code != ENGLISH and len(said) > 2 * _READ:
            said = _ends(said, _READ)
        found = _read(language, said, words)
        if found is not None:
            return found
    return Intent.QUESTION if "?" in tidy else Intent.PLAIN


def asks_anybody(prose: str) -> bool:
    """Is a question put to whoever knows, as "does anyone know …?" is? The caller knows that it asks."""
    said = folded(prose).strip()
    return _anybody(said) if len(said) <= _REMEMBERED else _asks_anybody(said)


@lru_cache(maxsize=1024)
def _anybody(text: str) -> bool:
    return _asks_anybody(text)


def _asks_anybody(text: str) -> bool:
    tidy = _tidied(text)[: 2 * _READ]
    words = set(_WORDS.findall(tidy))
    return any(holds(one.sections["anybody"], tidy, words) for one in languages_of(text, words))


def _read(language: Language, text: str, words: set[str]) -> Intent | None:
    """What a text in the language wants; None where the language does not know."""
    social = _social(language, text, words)
    asked = _asked(language, text, words)
    if asked is not None and (
        social is None or asked is not Intent.REQUEST or not _polite_only(language, text, words)
    ):
        return asked
    if social is not None:
        return social
    return Intent.STATUS if language.sections["status"].pattern.match(text) else None


def _of_signs(text: str) -> Intent:
    """A message without a word: signs and emoji. Only a question mark asks."""
    if "?" in text or "❓" in text:
        return Intent.QUESTION
    signs = set(text)
    if signs & _EMOJI_THANKS:
        return Intent.THANKS
    return Intent.ACKNOWLEDGEMENT if signs & _EMOJI_ACK else Intent.FILLER


def _asked(language: Language, text: str, words: set[str]) -> Intent | None:
    """The strongest thing that a text asks for."""
    sections = language.sections

    def found(section: str) -> bool:
        return holds(sections[section], text, words)

    order = order_in(language, text, words)
    if order is Intent.LEAVE_REQUEST:
        return order
    if found("safety"):
        return Intent.SAFETY
    if order is not None:
        return order
    if found("approval") or language.sections["approve_first"].pattern.match(text):
        return Intent.APPROVAL
    question = "?" in text
    if not question and found("blocker"):
        return Intent.BLOCKER
    if found("assignment"):
        return Intent.ASSIGNMENT
    if found("request") or (found("imperative") and not language.sections["status"].pattern.match(text)):
        return Intent.REQUEST
    if question or _asks_without_mark(language, text, words):
        return Intent.QUESTION
    return None


def _asks_without_mark(language: Language, text: str, words: set[str]) -> bool:
    if holds(language.sections["asking"], text, words) or holds(language.sections["inverted"], text, words):
        return True
    if not holds(language.sections["question"], text, words):
        return False
    return not (
        language.sections["exclaimed"].pattern.search(text)
        or language.sections["subordinate"].pattern.match(text)
    )


def _polite_only(language: Language, text: str, words: set[str]) -> bool:
    """Words that look like a request inside pure thanks: "thanks for taking a look"."""
    return not ("?" in text or holds(language.sections["strong"], text, words))


def _social(language: Language, text: str, words: set[str]) -> Intent | None:
    """Thanks, a receipt, filler or a greeting, when every clause is one of them."""
    needed = language.sections["social"].words
    if needed and needed.isdisjoint(words) and not language.sections["drawn_out"].pattern.match(text):
        return None
    clauses = language.sections["clauses"].pattern
    found: set[Intent] = set()
    start = 0
    while start < len(text):
        boundary = clauses.search(text, start)
        part = text[start : boundary.start()] if boundary is not None else text[start:]
        start = boundary.end() if boundary is not None else len(text)
        clause = part.strip(_EDGE)
        if not clause.isascii():
            clause = _EDGES.sub("", clause)
        if not clause:
            continue
        clause = " ".join(clause.split())
        kind = _clause(language, clause)
        if kind is not None:
            found.add(kind)
        elif not language.addresses(clause):
            return None
    return next((kind for kind in _SECTIONS if kind in found), None)


_SECTIONS: Final = {
    Intent.THANKS: "thanks",
    Intent.GREETING: "greeting",
    Intent.ACKNOWLEDGEMENT: "acknowledged",
    Intent.FILLER: "filler",
}
"""What a clause without a wish can be; of several in a text the first here counts."""


def _clause(language: Language, clause: str) -> Intent | None:
    bare = clause if clause.isascii() else _EMOJI.sub("", clause).strip() or clause
    for kind, section in _SECTIONS.items():
        if language.sections[section].pattern.fullmatch(bare):
            return kind
    return None


def performative(data: Mapping[str, Any]) -> str | None:
    """The CLowl performative beside a message's text, if there is one."""
    clowl = data.get("clowl")
    if not isinstance(clowl, dict):
        return None
    found = cast("dict[str, object]", clowl).get("p")
    return found if isinstance(found, str) else None


def declared(data: Mapping[str, Any]) -> Intent | None:
    """The intent that the sender declares in `data.intent`; unknown words are ignored."""
    found = data.get("intent")
    if not isinstance(found, str) or found not in _DECLARABLE:
        return None
    return Intent(found)


_DECLARABLE: Final = frozenset(intent.value for intent in Intent)


def weight(intent: Intent) -> int:
    """How much an intent obliges: 2 asks, 1 says, 0 neither."""
    if intent in OBLIGING:
        return 2
    return 0 if intent in SOCIAL or intent in {Intent.RECEIPT, Intent.STATUS} else 1


def intent_of(data: Mapping[str, Any], prose: str, *, by_agent: bool) -> tuple[Intent, str]:
    """A message's intent, and where it comes from: `clowl`, `declared` or `text`."""
    spoken = performative(data)
    if spoken in PERFORMATIVES:
        return PERFORMATIVES[spoken], "clowl"
    said = declared(data)
    if said is None:
        return of_text(prose), "text"
    if not by_agent:
        return said, "declared"
    read = of_text(prose)
    return (said, "declared") if weight(said) <= weight(read) else (read, "text")
