"""Times that a sentence rules out: `not Thursday`, `any day but Friday`, `I can't do mornings`.

A negation is read only where one way of reading it is left: right before a day or a part of the day, and
with nothing behind it that could be ruled out as well or wanted instead. Any other stays unread, and what
is unread
is asked about (`coverage`); so no negation is ever read as its opposite. Knows nothing of clocks and zones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.a2acp.packets.dates import TO, weekday_at
from tacit.agent.scheduling.dates import clock, days
from tacit.agent.scheduling.dates.items import COUNTED, WEEKDAY, Day, Except, Found, Part
from tacit.agent.scheduling.dates.words import PART_WORDS

if TYPE_CHECKING:
    from datetime import date

    from tacit.a2acp.packets.tokens import Sentence

_LEADS: Final = (
    ("but", "not"), ("just", "not"), ("not",), ("never",), ("except", "for"), ("except",), ("excluding",),
    ("other", "than"), ("apart", "from"), ("aside", "from"), ("avoid",), ("avoiding",), ("can't", "do"),
    ("cannot", "do"), ("can", "not", "do"), ("can't", "make"), ("cannot", "make"), ("can't",), ("cannot",),
    ("busy",), ("away",), ("unavailable",),
)  # fmt: skip
_ANY: Final = frozenset({"any", "every", "whichever"})
_TURNED_ROUND: Final = frozenset(
    {"why", "if", "whether", "unless", "not", "only", "or", "until", "when", "while"}
)
"""Before a negation these change what it says."""
_OPEN_ENDED: Final = frozenset({"after", "since", "until", "till", "by", "from", "between", "in", "within"})
_RULES_OUT: Final = (
    ("is", "out"), ("are", "out"), ("is", "no", "good"), ("are", "no", "good"), ("doesn't", "work"),
    ("don't", "work"), ("does", "not", "work"), ("do", "not", "work"), ("won't", "work"), ("doesn't", "suit"),
    ("don't", "suit"),
)  # fmt: skip
_JOINTS: Final = frozenset({"or", "and", "nor", ",", "/", "&"})


class _Times(NamedTuple):
    """What is ruled out at one place, and the place behind it."""

    excepted: Except
    end: int


def exclusion(sentence: Sentence, at: int, today: date) -> Found | None:
    """The times ruled out at this place, by a word before them or by words behind them."""
    return _led(sentence, at, today) or _followed(sentence, at, today)


def _led(sentence: Sentence, at: int, today: date) -> Found | None:
    start = _lead(sentence, at)
    if start is None or any(sentence.word(place) in _TURNED_ROUND for place in (at - 1, at - 2)):
        return None
    times = _times(sentence, start, today)
    if times is None:
        return None
    several = [times]
    while sentence.word(several[-1].end) in {"or", "nor"}:
        another = _times(sentence, several[-1].end + 1, today)
        if another is None:
            break
        several.append(another)
    end = several[-1].end
    if _goes_on(sentence, end, today):
        return None
    return Found(tuple(each.excepted for each in several), end)


def _followed(sentence: Sentence, at: int, today: date) -> Found | None:
    """`Mondays are out`, `Monday and Tuesday are no good`."""
    if sentence.word(at) == "on" or sentence.word(at - 1) in _JOINTS - {","} | _OPEN_ENDED | {"on"}:
        return None
    several: list[_Times] = []
    place = at
    while (times := _times(sentence, place, today)) is not None:
        several.append(times)
        place = times.end
        if sentence.word(place) != "and":
            break
        place += 1
    for words in _RULES_OUT:
        # "Friday and Saturday is out" rules out one of them, and nobody can say what it says of the other.
        agrees = len(several) == 1 or words[0] in {"are", "don't", "do", "won't"}
        if several and agrees and sentence.says(place, *words):
            end = place + len(words)
            # "is out of season" is something else.
            ends = (
                end >= len(sentence)
                or not sentence.word(end).isalpha()
                or sentence.word(end) in {"for", "me", "us"}
            )
            return Found(tuple(each.excepted for each in several), end) if ends else None
    return None


def _lead(sentence: Sentence, at: int) -> int | None:
    """The place behind the words that rule something out."""
    for words in _LEADS:
        if sentence.says(at, *words):
            return at + len(words)
    word = sentence.word(at)
    if word == "but" and (sentence.word(at - 2) in _ANY or sentence.word(at - 1) in {"anytime", "anything"}):
        return at + 1
    if word == "no":
        kind = sentence.word(at + 1)
        several = kind.endswith("s") and (kind in PART_WORDS or weekday_at(sentence, at + 1) is not None)
        return at + 1 if several or kind == "weekends" else None
    return None


def _times(sentence: Sentence, at: int, today: date) -> _Times | None:
    """A day, a part of the day, or a part of a day; nothing with a clock time or an open end."""
    place = at + (sentence.word(at) in {"on", "at", "during", "over"})
    if sentence.word(place) in _OPEN_ENDED and not (sentence.word(place) == "in" and place == at):
        return None
    plain = place + (sentence.word(place) in {"the", "a"})
    if sentence.word(plain) in {"weekend", "weekends"} and sentence.word(plain + 1) != "after":
        return _Times(Except(weekdays=(5, 6)), plain + 1)
    found = days.day(sentence, place, today)
    if found is None:
        part = clock.part(sentence, place, today)
        return _with_part(part, Except()) if part is not None else None
    day = next(iter(found.items), None)
    if len(found.items) > 2 or not isinstance(day, Day):
        return None
    if day.kind == COUNTED:
        return None
    ranged = weekday_at(sentence, place) is not None and sentence.word(place + 1) in TO
    weekly = (day.kind == WEEKDAY or ranged) and sentence.word(place) not in {"this", "coming"}
    excepted = (
        Except(weekdays=tuple(sorted({each.weekday() for each in day.dates})))
        if weekly
        else Except(day.dates)
    )
    if len(found.items) == 2:
        return _with_part(found, excepted)
    part = clock.part(sentence, found.end, today)
    return _with_part(part, excepted) if part is not None else _Times(excepted, found.end)


def _with_part(found: Found, excepted: Except) -> _Times | None:
    dates = [item.dates for item in found.items if isinstance(item, Day)]
    parts = [item for item in found.items if isinstance(item, Part)]
    if len(parts) != 1:
        return None
    if dates and not excepted.dates:
        excepted = Except(dates[0])
    return _Times(excepted._replace(part=parts[0]), found.end)


def _goes_on(sentence: Sentence, at: int, today: date) -> bool:
    """Whether a time follows that may be ruled out too, or be wanted instead: nobody can say which."""
    place = at
    while sentence.word(place) in _JOINTS:
        place += 1
    if place < len(sentence) and _lead(sentence, place) is not None:
        return False
    return (
        days.day(sentence, place, today) is not None
        or clock.part(sentence, place, today) is not None
        or clock.clock(sentence, place, beside_day=False, behind_clock=False) is not None
    )
