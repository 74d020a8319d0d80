"""Intent: what a message wants, without a model (C2A-054, C2A-067, C2A-077, CLOWL-092).

Declared intent first, then rules over the author's prose. Every rule leans the same way: what might be a
request counts as one, and a message is thanks, a receipt or filler only when it is made of such parts from
its first word to its last (`small_talk`). An agent's declared intent may lower an obligation, never raise
it; a CLowl performative speaks for its message.

Orders: a text that sends an agent away or calls its work off, and is nothing else.

Rows: C2A-054, C2A-081, C2A-194.

What an order does cannot be undone by a second message, so no word of a text is enough for it: "how do I get
this warning to go away?" and "cancel my lunch reminder" hold such words and mean other things. A text is an
order only when it is one from its first word to its last: every clause of it is the order itself, a courtesy
("please", "thanks", "sorry") or the reason that people give with one ("found it", "we're done here"). Any
other text is a request like others: the agent reads it, and can itself leave or stop.

"Stop the deploy" names the work. Objects are therefore taken from a list of what agents do; of anything else
("cancel my meeting at three") stopping it is the work that is asked for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.read.lexicon import ENGLISH, Language, Phrases, folded, languages_of
from tacit.attention.read.small_talk import small_talk
from tacit.c2a.vocabulary import OBLIGES_NOBODY, OBLIGING, SOCIAL, Intent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.attention.read.lexicon import Language


LONGEST: Final = 200
"""Characters of an order; whoever writes more has more to say than that."""

_ASKED: Final = re.compile(r"\?[\s!?]*\Z")
_EDGES: Final = " \t\"'*_~-/[]{}()"

_NAME: Final = re.compile(r"[\w.-]{1,40}")
_RUN_ON: Final = 12
"""Words among which a clause without a comma may turn from an order to its reason."""


_ORDERS: Final = {
    "leave": Intent.LEAVE_REQUEST,
    "call_off": Intent.CANCELLATION,
    "hold": Intent.HOLD,
}
"""To leave; to stop, or taking back what was asked; to wait, which ends nothing."""


def order_in(language: Language, text: str, words: set[str]) -> Intent | None:
    """The order that the text is, folded and without names that have a sign; None when it is none."""
    for section, intent in _ORDERS.items():
        if _is_all(language, section, text, words):
            return intent
    return None


def _is_all(language: Language, section: str, text: str, words: set[str]) -> bool:
    """Is every clause the order, a courtesy, a reason, or at either end one name?"""
    needed = language.sections[section].words
    if len(text) > LONGEST or (needed and needed.isdisjoint(words)):
        return False
    order = language.sections[section].pattern
    asked = _ASKED.search(text)
    said = text[: asked.start()] if asked is not None else text
    if "?" in said:
        return False
    parts = language.sections["order_clauses"].pattern.split(said)
    clauses = [one for part in parts if (one := " ".join(part.strip(_EDGES).split()))]
    courtesy, reason = language.sections["courtesy"].pattern, language.sections["reason"].pattern
    ordered = 0
    for number, clause in enumerate(clauses):
        if order.fullmatch(clause) or (section != "hold" and _gives_reason(order, reason, clause)):
            ordered += 1
        elif not (
            courtesy.fullmatch(clause)
            or (section != "hold" and reason.fullmatch(clause))
            or (number in {0, len(clauses) - 1} and _NAME.fullmatch(clause))
        ):
            return False
    politely = language.sections["politely"].pattern
    if asked is not None and not any(politely.search(one) for one in clauses):
        # "stop?" asks; "could you leave this channel, please?" does not.
        return False
    return ordered > 0


def _gives_reason(order: re.Pattern[str], reason: re.Pattern[str], clause: str) -> bool:
    """Is it an order and its reason in one breath, without a comma, as "nvm found it" and "got it nvm"?"""
    words = clause.split(" ")
    for place in range(1, min(len(words), _RUN_ON)):
        first, rest = " ".join(words[:place]), " ".join(words[place:])
        if (order.fullmatch(first) and reason.fullmatch(rest)) or (
            reason.fullmatch(first) and order.fullmatch(rest)
        ):
            return True
    return False


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
_WORDS: Final = re.compile(r"\w+(?:'\w+)*")
_WORD: Final = re.compile(r"\w")
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
    languages = languages_of(text, words)
    social = small_talk(tidy, languages)
    for language in languages:
        said = tidy if language.spaced else _MANY_SIGNS.sub(_shortened, text)
        if language.code != ENGLISH and len(said) > 2 * _READ:
            said = _ends(said, _READ)
        found = _pressing(language, said, words) if social is not None else _read(language, said, words)
        if found is not None:
            return found
    if social is not None:
        return social.intent
    return Intent.QUESTION if "?" in tidy else Intent.PLAIN


def thanks_and_answers(prose: str) -> bool:
    """Do thanks also say yes, no or all right, as "ok, thanks" does? The caller knows that it is thanks."""
    said = folded(_NAMED.sub(" ", prose)).strip()
    tidy = _tidied(said) if len(said) <= _REMEMBERED else ""
    talk = small_talk(tidy, languages_of(tidy, set(_WORDS.findall(tidy))))
    return talk is not None and talk.answers


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
    """What a text that is no small talk wants in the language; None where the language does not know."""
    asked = _pressing(language, text, words) or _wish(language, text, words)
    if asked is not None:
        return asked
    return Intent.STATUS if language.sections["status"].pattern.match(text) else None


def _of_signs(text: str) -> Intent:
    """A message without a word: signs and emoji. Only a question mark asks."""
    if "?" in text or "❓" in text:
        return Intent.QUESTION
    signs = set(text)
    if signs & _EMOJI_THANKS:
        return Intent.THANKS
    return Intent.ACKNOWLEDGEMENT if signs & _EMOJI_ACK else Intent.FILLER


def _pressing(language: Language, text: str, words: set[str]) -> Intent | None:
    """An order or a wish so pressing that no thanks beside it make small talk of the text."""
    sections = language.sections
    order = order_in(language, text, words)
    if order is Intent.LEAVE_REQUEST:
        return order
    if holds(sections["safety"], text, words):
        return Intent.SAFETY
    if order is not None:
        return order
    if holds(sections["approval"], text, words) or sections["approve_first"].pattern.match(text):
        return Intent.APPROVAL
    if "?" not in text and holds(sections["blocker"], text, words):
        return Intent.BLOCKER
    return Intent.ASSIGNMENT if holds(sections["assignment"], text, words) else None


def _wish(language: Language, text: str, words: set[str]) -> Intent | None:
    """A request or a question."""
    sections = language.sections
    if holds(sections["request"], text, words):
        return Intent.REQUEST
    if holds(sections["imperative"], text, words) and not sections["status"].pattern.match(text):
        return Intent.REQUEST
    return Intent.QUESTION if "?" in text or _asks_without_mark(language, text, words) else None


def _asks_without_mark(language: Language, text: str, words: set[str]) -> bool:
    if holds(language.sections["asking"], text, words) or holds(language.sections["inverted"], text, words):
        return True
    if not holds(language.sections["question"], text, words):
        return False
    return not (
        language.sections["exclaimed"].pattern.search(text)
        or language.sections["subordinate"].pattern.match(text)
    )


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


def intent_of(
    data: Mapping[str, Any], prose: str, *, by_agent: bool, nameless: str | None = None
) -> tuple[Intent, str]:
    """A message's intent, and where it comes from: `clowl`, `declared` or `text`.

    `nameless` is the prose without any name: small talk may hold names anywhere.
    """
    spoken = performative(data)
    if spoken in PERFORMATIVES:
        return PERFORMATIVES[spoken], "clowl"
    said = declared(data)
    if said is not None and not by_agent:
        return said, "declared"
    read = of_text(prose)
    if nameless and nameless != prose and read not in OBLIGES_NOBODY and _WORD.search(nameless):
        alone = of_text(nameless)
        read = alone if alone in OBLIGES_NOBODY else read
    if said is None:
        return read, "text"
    return (said, "declared") if weight(said) <= weight(read) else (read, "text")
