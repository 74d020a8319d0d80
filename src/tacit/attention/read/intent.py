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

from tacit.attention.read import lexicon, orders
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

_NAMED: Final = re.compile(r"(?<!\w)@[\w.-]*\w")
_CLAUSES: Final = re.compile(
    r"[.!?;,\n:()]+(?=\s|$)|\s[-\u2013\u2014~]+\s|\s(?:but|though|however|because|so|and|which|now|also)\s"
    r"(?=(?:i|we|you|it|the|this|that|there|they|can|could|please|pls|also|now|then|let|so|what|how|when|"
    r"where|why|if|next|"
    r"one|is|are|do|does|did|still|not|my|our|your|a|an|maybe|just|while|in|on|for|should|would|will|no|"
    r"another|"
    r"\w+(?:s|ed|ing)?\s+(?:is|are|was|fails?|failed|broke|needs?|still))\b)"
)
_EDGES: Final = re.compile(r"^[^\w+👍👌🙏🆗✅👀🫡:;<&…]+|[^\w+)👍👌🙏🆗✅👀🫡3…]+$")
_EDGE: Final = " \t\"'*_~-.!?,;|/[]{}"
_WORDS: Final = re.compile(r"\w+(?:'\w+)*")
_WORD: Final = re.compile(r"\w")
_EMOJI_THANKS: Final = frozenset("🙏💐🤗")
_EMOJI_ACK: Final = frozenset("👍👌🆗✅👀🫡☑✔")


_LONG_RUN: Final = re.compile(r"(?<!\S)\S{129,}")
_MANY_SIGNS: Final = re.compile(r"(?<!\W)\W{17,}")
_REMEMBERED: Final = 512
"""Characters of a text whose intent is kept: short texts come again, many long ones would fill the memory."""


def of_text(prose: str) -> Intent:
    """The intent of prose, by rule; `prose` holds no code, quotes or addresses.

    The time it takes grows with the text's length and no faster, whatever is in it: the hub asks this of
    every message. That rests on two things: no run of signs or of letters is longer than some (`_tidied`),
    and no pattern reads the same words in two ways.
    """
    said = _NAMED.sub(" ", prose) if "@" in prose else prose
    if not said.strip() and prose.strip():
        return Intent.PLAIN  # a name alone, or one before a piece of code, is a call
    said = said.lower() if said.isascii() else said.casefold().replace("\u2019", "'")
    said = _tidied(said.strip())
    return _of_short(said) if len(said) <= _REMEMBERED else _of_plain(said)


def _tidied(text: str) -> str:
    """The text without the middle of every endless word and of every endless row of signs and spaces."""
    text = _LONG_RUN.sub(lambda run: _ends(run[0], 64), text)
    return _MANY_SIGNS.sub(lambda run: _ends(run[0], 8), text)


def _ends(run: str, length: int) -> str:
    return run[:length] + ("?" if "?" in run else "") + run[-length:]


@lru_cache(maxsize=4096)
def _of_short(text: str) -> Intent:
    return _of_plain(text)


def holds(phrases: lexicon.Phrases, text: str, words: set[str]) -> bool:
    """Does the text, made of these words, hold one of the phrases?"""
    return not phrases.words.isdisjoint(words) and phrases.pattern.search(text) is not None


def _of_plain(text: str) -> Intent:
    if not _WORD.search(text):
        return _of_signs(text)
    words = set(_WORDS.findall(text))
    social = _social(text, words)
    asked = _asked(text, words)
    if asked is not None and (social is None or asked is not Intent.REQUEST or not _polite_only(text, words)):
        return asked
    if social is not None:
        return social
    if lexicon.STATUS.match(text):
        return Intent.STATUS
    return Intent.PLAIN


def _of_signs(text: str) -> Intent:
    """A message without a word: signs and emoji. Only a question mark asks."""
    if "?" in text or "❓" in text:
        return Intent.QUESTION
    signs = set(text)
    if signs & _EMOJI_THANKS:
        return Intent.THANKS
    return Intent.ACKNOWLEDGEMENT if signs & _EMOJI_ACK else Intent.FILLER


def _asked(text: str, words: set[str]) -> Intent | None:
    """The strongest thing that a text asks for."""
    if orders.sends_away(text, words):
        return Intent.LEAVE_REQUEST
    if holds(lexicon.SAFETY, text, words):
        return Intent.SAFETY
    if orders.calls_off(text, words):
        return Intent.CANCELLATION
    if holds(lexicon.APPROVAL, text, words) or lexicon.APPROVE_FIRST.match(text):
        return Intent.APPROVAL
    question = "?" in text
    if not question and holds(lexicon.BLOCKER, text, words):
        return Intent.BLOCKER
    if holds(lexicon.ASSIGNMENT, text, words):
        return Intent.ASSIGNMENT
    if holds(lexicon.REQUEST, text, words) or (
        holds(lexicon.IMPERATIVE, text, words) and not lexicon.STATUS.match(text)
    ):
        return Intent.REQUEST
    if question or _asks_without_mark(text, words):
        return Intent.QUESTION
    return None


def _asks_without_mark(text: str, words: set[str]) -> bool:
    if holds(lexicon.ASKING, text, words) or holds(lexicon.INVERTED, text, words):
        return True
    if not holds(lexicon.QUESTION, text, words):
        return False
    return not (lexicon.EXCLAIMED.search(text) or lexicon.SUBORDINATE.match(text))


def _polite_only(text: str, words: set[str]) -> bool:
    """Words that look like a request inside pure thanks: "thanks for taking a look"."""
    return not ("?" in text or holds(lexicon.STRONG, text, words))


def _social(text: str, words: set[str]) -> Intent | None:
    """Thanks, a receipt or filler, when every clause is one of them."""
    if lexicon.SOCIAL.isdisjoint(words) and not lexicon.DRAWN_OUT.match(text):
        return None
    found: set[Intent] = set()
    start = 0
    while start < len(text):
        boundary = _CLAUSES.search(text, start)
        part = text[start : boundary.start()] if boundary is not None else text[start:]
        start = boundary.end() if boundary is not None else len(text)
        clause = part.strip(_EDGE)
        if not clause.isascii():
            clause = _EDGES.sub("", clause)
        if not clause:
            continue
        kind = _clause(" ".join(clause.split()))
        if kind is None:
            return None
        found.add(kind)
    for kind in (Intent.THANKS, Intent.ACKNOWLEDGEMENT, Intent.FILLER):
        if kind in found:
            return kind
    return None


def _clause(clause: str) -> Intent | None:
    if lexicon.THANKS.fullmatch(clause):
        return Intent.THANKS
    if lexicon.ACKNOWLEDGED.fullmatch(clause):
        return Intent.ACKNOWLEDGEMENT
    if lexicon.FILLER.fullmatch(clause):
        return Intent.FILLER
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
