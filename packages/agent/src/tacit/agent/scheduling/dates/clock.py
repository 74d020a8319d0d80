"""Times of the day in English: clock times, ranges, parts of the day, lengths, and how far ahead.

What stands at one place of a sentence becomes an item; which half of the day a bare figure means is decided
later, when everything around it is known. Knows nothing of days and zones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.agent.scheduling.dates.items import Ahead, ClockTime, Day, Doubt, Found, Length, Part, TimeItem
from tacit.agent.scheduling.dates.words import (
    HOUR_WORDS,
    MINUTE_WORDS,
    NOT_A_CLOCK,
    PART_PHRASES,
    PART_WORDS,
    PARTS,
    SHADES,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from tacit.a2acp.packets.tokens import Sentence

_TO: Final = frozenset({"to", "until", "till", "-", "–", "—"})  # noqa: RUF001 - dashes as people write them
_AFTER: Final = (
    ("no", "earlier", "than"), ("not", "before"), ("not", "earlier", "than"), ("any", "time", "after"),
    ("anytime", "after"), ("starting", "from"), ("from", "around"), ("after",), ("from",), ("since",),
)  # fmt: skip
_BEFORE: Final = (
    ("no", "later", "than"), ("not", "later", "than"), ("not", "after"), ("any", "time", "before"),
    ("anytime", "before"), ("before",), ("until",), ("till",), ("by",),
)  # fmt: skip
_ABOUT: Final = frozenset({"around", "about", "approximately", "roughly", "circa", "ca"})
_SMALL: Final = {"quarter": 15, "half": 30, "five": 5, "ten": 10, "twenty": 20}
_CLOCK_MINUTES: Final = frozenset({5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55})
_LONGEST_MINUTES: Final = 7 * 24 * 60

Got = tuple[TimeItem, int]


def clock(sentence: Sentence, at: int, *, beside_day: bool, behind_clock: bool) -> Found | None:
    """A time or a range of times; a day or its part, or another time, may stand right before."""
    word = sentence.word(at)
    if behind_clock and word in {"or", "/"}:
        # `at 8 or 9`: the second figure is a time as the first one is.
        got = time_at(sentence, at + 1 + (sentence.word(at + 1) == "at"), bare=True)
        return None if got is None else Found((ClockTime(got[0], point=True),), got[1])
    if word == "between":
        return _range(sentence, at + 1, joins=frozenset({"and", "-", "–"}), bare=True, led=True)  # noqa: RUF001
    if word == "from":
        found = _range(sentence, at + 1, joins=_TO, bare=True, led=True)
        if found is not None:
            return found
    for words in _AFTER:
        if sentence.says(at, *words):
            return _open(sentence, at + len(words), ClockTime)
    for words in _BEFORE:
        if sentence.says(at, *words):
            return _open(sentence, at + len(words), lambda time: ClockTime(None, time))
    return _plain(sentence, at, beside_day=beside_day)


def _plain(sentence: Sentence, at: int, *, beside_day: bool) -> Found | None:
    place, told, about = at, beside_day, False
    place += sentence.word(place) in {"starting", "beginning"} and sentence.word(place + 1) in {"at", "@"}
    if sentence.word(place) in {"at", "@"}:
        place, told = place + 1, True
    if sentence.word(place) in _ABOUT:
        place, told, about = place + 1, True, True
    ranged = _range(sentence, place, joins=_TO, bare=told)
    if ranged is not None:
        return ranged
    if beside_day and place == at and sentence.kind(at) not in {"ampm", "clock", "point"}:
        # A bare figure right behind a day may be anything; `Friday 8` is no time.
        told = False
    got = time_at(sentence, place, bare=told or _ish(sentence, place))
    if got is None and sentence.kind(place) in {"clock", "ampm"}:
        return Found(
            (Doubt("That time is on no clock: which time is meant?", contradiction=True),), place + 1
        )
    if got is None:
        return None
    time, end = got
    if sentence.word(end) == "ish" or sentence.says(end, "-", "ish"):
        about, end = True, end + 1 + (sentence.word(end) == "-")
    for words in (("onwards",), ("onward",), ("or", "later"), ("or", "after"), ("and", "later")):
        if sentence.says(end, *words):
            return Found((ClockTime(time),), end + len(words))
    for words in (("at", "the", "latest"), ("or", "earlier"), ("or", "before"), ("latest",)):
        if sentence.says(end, *words):
            return Found((ClockTime(None, time),), end + len(words))
    if sentence.says(end, "or", "so"):
        about, end = True, end + 2
    return Found((ClockTime(time, point=not about, about=about),), end)


def _ish(sentence: Sentence, at: int) -> bool:
    return sentence.word(at + 1) == "ish" or sentence.says(at + 1, "-", "ish")


def _open(sentence: Sentence, at: int, made: Callable[[TimeItem], ClockTime]) -> Found | None:
    place = at + (sentence.word(at) in {"at", *_ABOUT})
    got = time_at(sentence, place, bare=True)
    if got is None:
        return None
    end = got[1]
    return Found(
        (made(got[0]),), end + (sentence.word(end) in {"on", "onwards"} and _ends(sentence, end + 1))
    )


def _ends(sentence: Sentence, at: int) -> bool:
    """`from 6 on` and then nothing that `on` could lead to."""
    return at >= len(sentence) or sentence.word(at) in {",", ".", ")", "with", "for", "and", "or", "please"}


def _range(
    sentence: Sentence, at: int, *, joins: frozenset[str], bare: bool, led: bool = False
) -> Found | None:
    """Two times with a joint; a bare first one is one only beside a plain second, or where `bare` says so.

    Where a word led to it, "ten to six" is from ten to six and not ten minutes before it.
    """
    figure = _bare(sentence, at) if led and sentence.kind(at) in {"number", "word"} else None
    first = (
        figure
        if figure is not None and sentence.word(figure[1]) in joins
        else time_at(sentence, at, bare=True)
    )
    if first is None or sentence.word(first[1]) not in joins:
        return None
    place = first[1] + 1 + (sentence.word(first[1] + 1) in {"at", *_ABOUT})
    last = time_at(sentence, place, bare=True)
    if last is None:
        return None
    plain = time_at(sentence, at, bare=False) is not None or time_at(sentence, place, bare=False) is not None
    if not (bare or plain):
        return None
    return Found((ClockTime(first[0], last[0]),), last[1])


def time_at(sentence: Sentence, at: int, *, bare: bool) -> Got | None:
    """One time on the clock; figures without any sign of a clock only where `bare`."""
    kind = sentence.kind(at)
    if kind == "ampm":
        hour, minute, half = sentence.tokens[at].numbers
        return _time(hour % 12 + 12 * half, minute, at + 1, sure=True) if 1 <= hour <= 12 else None
    if kind == "clock" or (kind == "point" and bare):
        hour, minute = sentence.tokens[at].numbers
        sure = hour > 12 or hour == 0 or sentence.tokens[at].text.startswith("0")
        return _time(hour, minute, at + 1 + (sentence.word(at + 1) in {"h", "hours", "hrs"}), sure=sure)
    if kind == "dotted" and bare and len(sentence.tokens[at].numbers) == 2:
        # `at 7.30.` at the end of a sentence has the shape of a date.
        hour, minute = sentence.tokens[at].numbers
        return _time(hour, minute, at + 1, sure=hour > 12) if minute >= 10 else None
    found = _in_words(sentence, at)
    if found is None and bare and kind in {"number", "word"}:
        found = _bare(sentence, at)
    return found


def _time(hour: int, minute: int, end: int, *, sure: bool) -> Got | None:
    if minute > 59 or hour > 24 or (hour == 24 and minute):
        return None
    return TimeItem(hour, minute, sure or hour > 12 or hour == 0), end


def _in_words(sentence: Sentence, at: int) -> Got | None:
    word = sentence.word(at)
    if word in {"noon", "midday"}:
        return TimeItem(12, 0, sure=True), at + 1
    if word == "midnight":
        return TimeItem(24, 0, sure=True), at + 1
    past = _past_or_to(sentence, at)
    if past is not None:
        return past
    number = sentence.number(at) if word not in {"a", "an"} else None
    if number is None or not 1 <= number[0] <= 24:
        return None
    hour, end = number
    if sentence.word(end) in {"o'clock", "oclock"}:
        return _halved(sentence, hour, 0, end + 1)
    if sentence.word(end) in {"am", "pm"} and hour <= 12:
        return _halved(sentence, hour, 0, end)
    return None


def _past_or_to(sentence: Sentence, at: int) -> Got | None:
    """`half past seven`, `a quarter to eight`, `ten past 6`, `half seven`."""
    place = at + (sentence.word(at) == "a")
    word = sentence.word(place)
    minutes = _SMALL.get(word, 0)
    if sentence.kind(place) == "number" and sentence.tokens[place].numbers[0] in {5, 10, 20, 25}:
        if sentence.word(place + 1) == "to":
            return None  # `10 to 6` in figures is a range
        minutes = sentence.tokens[place].numbers[0]
    if not minutes:
        return None
    place += 1
    if sentence.says(place - 1, "twenty", "five"):
        minutes, place = 25, place + 1
    place += sentence.word(place) in MINUTE_WORDS
    side = sentence.word(place)
    if side in {"past", "after", "to", "before"} and not (side in {"after", "before"} and word != "quarter"):
        place += 1
    elif word == "half":
        side = "past"
    else:
        return None
    if sentence.kind(place) == "ampm":
        hour, _, half = sentence.tokens[place].numbers
        total = (hour % 12 + 12 * half) * 60 + (minutes if side in {"past", "after"} else -minutes)
        return TimeItem(total // 60 % 24, total % 60, sure=True), place + 1
    number = sentence.number(place) if sentence.word(place) not in {"a", "an"} else None
    if number is None or not 1 <= number[0] <= 12 or sentence.word(number[1]) in HOUR_WORDS:
        return None
    hour = number[0]
    if side in {"to", "before"}:
        hour, minutes = (hour - 1) or 12, 60 - minutes
    return _halved(sentence, hour, minutes, number[1] + (sentence.word(number[1]) == "o'clock"))


def _halved(sentence: Sentence, hour: int, minute: int, end: int) -> Got | None:
    if sentence.word(end) in {"am", "pm"} and hour <= 12:
        return _time(hour % 12 + 12 * (sentence.word(end) == "pm"), minute, end + 1, sure=True)
    return _time(hour, minute, end, sure=False)


def _bare(sentence: Sentence, at: int) -> Got | None:
    """A figure behind `at` and its like: `7`, `seven`, `seven thirty`, `1930`."""
    if sentence.word(at) in {"a", "an", "couple"}:
        return None
    token = sentence.tokens[at]
    if token.kind == "number" and len(token.text) == 4:
        return _time(token.numbers[0] // 100, token.numbers[0] % 100, at + 1, sure=True)
    number = sentence.number(at)
    if number is None or number[0] > 24 or (number[0] == 0 and token.text != "0"):
        return None
    hour, end = number
    if token.kind == "word" and hour <= 12:
        minute = sentence.number(end + (sentence.word(end) == "-"))
        if minute is not None and sentence.kind(minute[1] - 1) == "word" and minute[0] in _CLOCK_MINUTES:
            return _halved(sentence, hour, minute[0], minute[1])
    if sentence.word(end) in NOT_A_CLOCK and not (
        sentence.word(end) == "and" and _second_follows(sentence, end + 1)
    ):
        return None
    if sentence.word(end) == "." and sentence.kind(end + 1) == "number" and sentence.touches(end + 1):
        return None
    if sentence.word(end) in {"st", "nd", "rd", "th", "€", "£", "$", "%"} or sentence.kind(end) == "ordinal":
        return None
    return _time(hour, 0, end, sure=False)


def _second_follows(sentence: Sentence, at: int) -> bool:
    """Whether `and` joins two figures, or something that is no count; only half hours are counted with it."""
    return not sentence.says(at, "a", "half") and not sentence.says(at, "a", "quarter")


# Parts of the day.


def part(sentence: Sentence, at: int, today: date) -> Found | None:
    """`in the evening`, `this afternoon`, `early morning`, `after work`."""
    for words, (name, hours) in PART_PHRASES.items():
        if sentence.says(at, *words):
            return Found((Part(name, hours),), at + len(words))
    place = at + (sentence.word(at) in {"in", "during", "at", "for", "on", "some", "one", "any", "over"})
    here = sentence.word(place) == "this"
    place += sentence.word(place) in {"the", "this"}
    shade = sentence.word(place) if sentence.word(place) in {"early", "late", "mid"} else ""
    place += bool(shade) + (bool(shade) and sentence.word(place + 1) in {"in", "-"})
    place += bool(shade) and sentence.word(place) == "the"
    name = PART_WORDS.get(sentence.word(place), "")
    if not name or sentence.word(place - 1) in {
        "game",
        "games",
        "movie",
        "film",
        "quiz",
        "poker",
        "date",
        "board",
    }:
        return None
    found = Part(name, SHADES.get((shade, name), PARTS[name]))
    return Found((Day((today,)), found) if here else (found,), place + 1)


# Lengths.


def length(sentence: Sentence, at: int) -> Found | None:
    """`for two hours`, `half an hour`, `90 minutes`, `in 20 minutes`, `within an hour`."""
    lead = sentence.word(at)
    place = at + (lead in {"for", "in", "within", "lasting", "about", "around", "takes"})
    if sentence.says(at, "in", "the", "next") or sentence.says(at, "within", "the", "next"):
        lead, place = "within", at + 3
    place += sentence.word(place) in {"about", "around", "roughly", "another", "approximately"}
    got = _minutes(sentence, place)
    if got is None or not 0 < got[0] <= _LONGEST_MINUTES:
        return None
    minutes, end = got
    if lead in {"in", "within"}:
        return Found((Ahead(minutes, within=lead == "within"),), end)
    if sentence.says(end, "from", "now"):
        return Found((Ahead(minutes),), end + 2)
    return Found((Length(minutes),), end)


def _minutes(sentence: Sentence, at: int) -> tuple[int, int] | None:
    for words, minutes in _FIXED_LENGTHS:
        if sentence.says(at, *words):
            return minutes, at + len(words)
    number = sentence.number(at)
    if number is None:
        return None
    value, place = number[0] * 60, number[1]
    if sentence.word(place) == "." and sentence.kind(place + 1) == "number" and sentence.touches(place + 1):
        digits = sentence.tokens[place + 1].text
        value, place = value + int(digits[:2].ljust(2, "0")) * 60 // 100, place + 2
    elif sentence.says(place, "and", "a", "half"):
        value, place = value + 30, place + 3
    place += sentence.word(place) == "-"
    unit = sentence.word(place)
    if unit in MINUTE_WORDS:
        return number[0], place + 1
    if unit not in HOUR_WORDS:
        return None
    return _more_minutes(sentence, value, place + 1)


def _more_minutes(sentence: Sentence, value: int, at: int) -> tuple[int, int]:
    """What follows the hours: `and a half`, `30 minutes`, `30`."""
    if sentence.says(at, "and", "a", "half"):
        return value + 30, at + 3
    place = at + (sentence.word(at) == "and")
    number = sentence.number(place)
    if number is not None and number[0] < 60 and sentence.word(number[1]) in MINUTE_WORDS:
        return value + number[0], number[1] + 1
    if number is not None and sentence.touches(at) and sentence.kind(at) == "number" and number[0] < 60:
        return value + number[0], number[1]
    return value, at


_FIXED_LENGTHS: Final = (
    (("half", "an", "hour"), 30), (("half", "hour"), 30), (("a", "half", "hour"), 30), (("half", "-",
    "hour"), 30),
    (("quarter", "of", "an", "hour"), 15), (("a", "quarter", "of", "an", "hour"), 15), (("quarter", "hour"),
    15),
    (("three", "quarters", "of", "an", "hour"), 45), (("one", "hour", "and", "a", "half"), 90),
    (("hour", "and", "a", "half"), 90), (("half", "a", "day"), 240), (("all", "day"), 480),
    (("the", "whole", "day"), 480),
)  # fmt: skip
