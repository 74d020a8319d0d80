"""A person's sentence read as a question for somebody: which one field is asked of them (A2ACP-090).

"What is Bob's shirt size" asks for `shirt_size`. The field is made of the words that say what is asked, so it
says nothing that the owner did not; what is not in it is reported to nobody, and asked about (`coverage`).
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.agent.brain import names, occasions

if TYPE_CHECKING:
    from tacit.agent.brain.wish import Wish

_FREE: Final = frozenset(
    {"free", "available", "availability", "up", "fancies", "fancy", "wants", "time", "come", "join", "meet",
     "like", "around", "keen"}
)  # fmt: skip
_ASKS: Final = frozenset({"what", "where", "which", "who", "whose", "how", "whether", "if", "when", "why"})
_SMALL: Final = frozenset(
    {"the", "a", "an", "his", "her", "their", "your", "my", "our", "its", "is", "are", "was", "does", "do",
    "did", "he",
     "she", "they", "it", "to", "me", "us", "what", "which", "whether", "if", "please", "some", "any", "s",
     "has", "have"}
)  # fmt: skip
_LONGEST_FIELD: Final = 48


class Asked(NamedTuple):
    """The words that say what is asked: from word `start` up to `end`."""

    start: int
    end: int


def read_question(wish: Wish, begins: int) -> str | None:
    """The field that is asked for, empty where none can be made; None where nothing is asked, or to meet.

    The request begins at word `begins`, behind what is polite in it.
    """
    asked = _asked(wish, begins)
    if asked is None:
        return None
    names.read_names(wish, "from")
    end = next(
        (
            at
            for at in range(asked.start, asked.end)
            if wish.words[at] in _ENDS and _kept(wish, asked.start, at)
        ),
        asked.end,
    )
    kept = _kept(wish, asked.start, end)
    field = field_name(tuple(names.bare(wish.words[at]) for at in kept))
    for at in range(begins, end):
        if wish.words[at] in _LEADS or (at in kept and field.count("_") + 1 == len(kept)):
            # A name that was too long for a field has lost words, and those are asked about.
            wish.use(at, at + 1)
    return field


_LEADS: Final = _SMALL | _ASKS | {
    "ask", "for", "about", "send", "give", "tell", "share", "find", "out", "get", "request", "need", "i",
    "from",
    "what's", "whats",
}  # fmt: skip
_ENDS: Final = frozenset({".", "?", "!", ",", ";"})


def _kept(wish: Wish, start: int, end: int) -> list[int]:
    """The words of a field: no small ones, and nobody's name."""

    def owner(at: int) -> bool:
        word = wish.words[at]
        return word.endswith("'s") and (
            names.is_capital(wish, at) or names.bare(word) in wish.addressees.others
        )

    return [
        at
        for at in range(start, end)
        if not wish.is_used(at)
        and wish.words[at] not in _SMALL
        and not owner(at)
        and _plain(names.bare(wish.words[at]))
    ]


def _asked(wish: Wish, at: int) -> Asked | None:
    """The words that say what is asked; None where a sentence asks for nothing, or to meet."""
    words, end = wish.words, len(wish.words)
    if at >= end:
        return None
    first, second = words[at], words[at + 1 : at + 2]
    if first == "ask":
        return _asked_of_somebody(wish, at)
    if first in {"what", "what's", "whats", "which", "who", "whose", "where", "how", "when", "does", "is"}:
        if first in {"when", "is", "does", "where", "how"} and _FREE & set(words[at:]):
            return None
        if first in {"how", "what"} and second == ("about",):
            return None
        if first == "when" and second in {("is",), ("are",)}:
            return Asked(at + 2, end)
        return Asked(at if first in {"does", "is", "where", "how", "when", "who"} else at + 1, end)
    pair = words[at : at + 2]
    led = pair in {("find", "out"), ("i", "need"), ("tell", "me")}
    if not (led or first in {"get", "request", "need"}):
        return None
    start = at + 2 if led else at + 1
    rest = words[start:]
    owned = any(word.endswith("'s") for word in rest) or "from" in rest or pair == ("find", "out")
    until = next((place for place in range(start, end) if words[place] == "from"), end)
    return _if_no_event(wish, Asked(start, until)) if owned else None


def _asked_of_somebody(wish: Wish, begins: int) -> Asked | None:
    words, end = wish.words, len(wish.words)
    for at in range(begins + 1, min(end, begins + 7)):
        if words[at] in {"for", "about"}:
            return _if_no_event(wish, Asked(at + 1, end))
        if words[at] in _ASKS:
            if words[at] in {"whether", "if", "when"} and _FREE & set(words[at:]):
                return None
            return Asked(at if words[at] not in {"what", "which"} else at + 1, end)
        if words[at : at + 2] in {("to", "send"), ("to", "give"), ("to", "tell"), ("to", "share")}:
            return _if_no_event(wish, Asked(at + 2, end))
        if words[at] == "to":
            return None
    return None


def _if_no_event(wish: Wish, asked: Asked) -> Asked | None:
    """`ask Bob for lunch` asks to meet; `ask Bob for the lunch menu` asks for a menu."""
    words = wish.words[asked.start : asked.end]
    trimmed = tuple(word for word in words if word.isalpha() or "'" in word or "-" in word)
    found = occasions.named(trimmed)
    return None if found and found[-1].end == len(trimmed) else asked


def field_name(words: tuple[str, ...]) -> str:
    """`shirt_size` of "Bob's shirt size": small ASCII letters and figures, names and small words left out."""
    kept = [_plain(word) for word in words if word not in _SMALL and _plain(word)]
    name = "_".join(kept)
    while len(name) > _LONGEST_FIELD and "_" in name:
        name = name.rpartition("_")[0]
    return name[:_LONGEST_FIELD]


def _plain(word: str) -> str:
    """A word as part of a field's name; nothing of somebody's name in the possessive."""
    if word.endswith("'s"):
        return ""
    plain = unicodedata.normalize("NFKD", word.replace("'", "")).encode("ascii", "ignore").decode()
    return "".join(letter for letter in plain.lower() if letter.isalnum())
