"""Orders: a text that sends an agent away or calls its work off, and is nothing else.

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
from typing import TYPE_CHECKING, Final

from tacit.c2a.vocabulary import Intent

if TYPE_CHECKING:
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
