"""How much room a sentence leaves: `must be`, `ideally`, `any day`, `the time is flexible` (A2ACP-041).

A word of this kind belongs to a dimension that it names, or to the day or time beside it. Knows nothing of
what is done with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.scheduling.dates.items import Flex, Found

if TYPE_CHECKING:
    from tacit.a2acp.packets.tokens import Sentence

FLEXIBLE: Final = "flexible"
SOMEWHAT: Final = "somewhat_flexible"
NOT: Final = "not_flexible"

DIMENSIONS: Final = {
    "date": "date", "dates": "date", "day": "date", "days": "date", "time": "time", "times": "time",
    "timing": "time", "hour": "time", "place": "location", "location": "location", "venue": "location",
    "where": "location", "when": "date", "format": "format",
}  # fmt: skip
_NEAR: Final = 5
_BESIDE: Final = (
    (("must", "be"), NOT), (("has", "to", "be"), NOT), (("have", "to", "be"), NOT), (("needs", "to", "be"),
    NOT),
    (("need", "it", "to", "be"), NOT), (("can", "only"), NOT), (("only",), NOT), (("strictly",), NOT),
    (("exactly",), NOT), (("sharp",), NOT), (("definitely",), NOT), (("without", "fail"), NOT),
    (("at", "all", "costs"), NOT), (("ideally",), SOMEWHAT), (("preferably",), SOMEWHAT), (("maybe",),
    SOMEWHAT),
    (("perhaps",), SOMEWHAT), (("possibly",), SOMEWHAT), (("if", "possible"), SOMEWHAT), (("or", "so"),
    SOMEWHAT),
    (("would", "be", "best"), SOMEWHAT), (("would", "be", "nice"), SOMEWHAT), (("would", "be", "ideal"),
    SOMEWHAT),
    (("best",), SOMEWHAT), (("say",), SOMEWHAT),
)  # fmt: skip
_NAMED: Final = (
    (("any", "day"), ("date",)), (("one", "day"), ("date",)), (("some", "day"), ("date",)), (("whichever",
    "day"), ("date",)),
    (("whatever", "day"), ("date",)), (("any", "date"), ("date",)), (("some", "time"), ("date", "time")),
    (("sometime",), ("date", "time")), (("any", "time"), ("time",)), (("anytime",), ("time",)),
    (("at", "any", "hour"), ("time",)), (("whenever",), ("date", "time")), (("anywhere",), ("location",)),
    (("any", "place"), ("location",)), (("wherever",), ("location",)),
)  # fmt: skip
_EASY: Final = (
    ("flexible",), ("doesn't", "matter"), ("does", "not", "matter"), ("don't", "mind"), ("do", "not", "mind"),
    ("don't", "care"), ("up", "to", "you"), ("open",),
)  # fmt: skip
_FIRM: Final = (
    ("not", "flexible"), ("isn't", "flexible"), ("is", "not", "flexible"), ("inflexible",), ("is", "fixed"),
    ("not", "negotiable"), ("is", "set"), ("can't", "be", "moved"), ("cannot", "be", "moved"),
)  # fmt: skip
_FIRST_WORDS: Final = frozenset(
    words[0] for words in (*(words for words, _ in (*_BESIDE, *_NAMED)), *_EASY, *_FIRM)
)


def flex(sentence: Sentence, at: int) -> Found | None:
    """The room that is given or taken at this place."""
    if sentence.word(at) not in _FIRST_WORDS:
        return None
    for words, dimensions in _NAMED:
        if sentence.says(at, *words):
            return Found((Flex(FLEXIBLE, dimensions),), at + len(words))
    for phrases, value in ((_FIRM, NOT), (_EASY, FLEXIBLE)):
        for words in phrases:
            if sentence.says(at, *words):
                return _stated(sentence, at, at + len(words), value)
    for words, value in _BESIDE:
        if sentence.says(at, *words):
            return Found((Flex(value),), at + len(words))
    return None


def _stated(sentence: Sentence, at: int, end: int, value: str) -> Found | None:
    """`the time is flexible`, `flexible on date and time`: what it is said of, or day and time."""
    before = _dimensions(sentence, range(at - 1, at - 1 - _NEAR, -1))
    after = _dimensions(sentence, range(end, end + _NEAR)) if not before else ()
    if not before and not after and sentence.word(at) == "open":
        return None
    return Found((Flex(value, before or after or ("date", "time")),), end)


def _dimensions(sentence: Sentence, places: range) -> tuple[str, ...]:
    found: list[str] = []
    for place in places:
        word = sentence.word(place)
        if word in {".", ",", ";", "!", "?", "but"}:
            break
        if word in DIMENSIONS:
            found.append(DIMENSIONS[word])
    return tuple(dict.fromkeys(found))
