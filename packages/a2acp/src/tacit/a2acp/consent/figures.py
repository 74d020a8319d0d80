"""Numbers and times of day in one spelling, so that they are found however they are written (A2ACP-071).

`eighty-five thousand`, `85,000` and `85k` are `85000`; `18:00`, `6 pm`, `six o'clock` and `18:00+00:00` are
one mark, the same for morning and evening, as a text often leaves open which; `27 March 2026` is `2026 03
27`. English words. For comparing only: what comes out is no text for anybody. Knows nothing of fields.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from tacit.a2acp.consent.folding import words
from tacit.a2acp.packets.dates import MONTH_OF

_UNITS: Final = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS: Final = {
    word: 10 * number
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_NUMBER: Final = "|".join((*_UNITS, *_TENS, *_SCALES))
_SPELT: Final = re.compile(rf"\b(?:{_NUMBER})(?:[\s-]+(?:and\s+)?(?:{_NUMBER}))*\b")
_GROUPED: Final = re.compile(r"(?<=\d)[,'](?=\d{3}(?!\d))")
_SHORT: Final = re.compile(r"\b(\d{1,6})(?:\.(\d))?\s?(k|thousand|million)\b")

_TO: Final = r"(?:-|\u2013|\u2014|/|,|to|until|till|and|through|bis)"
_ZONED: Final = re.compile(
    r"(\d\d:\d\d)(?::\d\d)?(?:[+-]\d\d:\d\d|z)\s*/\s*(\d\d:\d\d)(?::\d\d)?(?:[+-]\d\d:\d\d|z)"
)
_LOOSE: Final = re.compile(rf"\b(\d{{1,2}})\s*{_TO}\s*(\d{{1,2}})\s*[ap]\.?m\b")
_PAST: Final = re.compile(r"\b(half|quarter|\d{1,2}) (past|to) (\d{1,2})\b")
_CLOCK: Final = re.compile(r"\b(\d{1,2})[:.h](\d\d)(?::\d\d)?(?:\s?[ap]\.?m\b)?(?:z\b|\+\d\d:\d\d)?")
_SPOKEN: Final = re.compile(r"\b(\d{1,2}) (\d\d)\s?[ap]\.?m\b")
_HOUR: Final = re.compile(r"\b(\d{1,2})\s?(?:[ap]\.?m\b|o['\u2019]?\s?clock\b)")
_NAMED: Final = re.compile(r"\b(?:noon|midday|midnight)\b")
_SPAN: Final = re.compile(rf"(clock\d{{4}})\s*{_TO}\s*(?=clock\d{{4}})")
MARK: Final = re.compile(r"clock\d{4}")

_MONTH: Final = "|".join(MONTH_OF)
_DAY_FIRST: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({_MONTH}),?\s+(\d{{4}})\b")
_MONTH_FIRST: Final = re.compile(rf"\b({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b")


def figures(text: str) -> list[str]:
    """The words of a folded text with its numbers and times in one spelling."""
    text = _GROUPED.sub("", _SPELT.sub(_number, text))
    text = _SHORT.sub(_scaled, text)
    text = _DAY_FIRST.sub(lambda found: _date(found[3], found[2], found[1]), text)
    text = _MONTH_FIRST.sub(lambda found: _date(found[3], found[1], found[2]), text)
    text = _PAST.sub(_past, _ZONED.sub(r"\1 to \2", text))
    text = _LOOSE.sub(lambda found: f"{_mark(found[1], 0, found[1])} {_mark(found[2], 0, found[2])}", text)
    text = _CLOCK.sub(lambda found: _mark(found[1], int(found[2]), found[0]), text)
    text = _SPOKEN.sub(lambda found: _mark(found[1], int(found[2]), found[0]), text)
    text = _HOUR.sub(lambda found: _mark(found[1], 0, found[0]), text)
    text = _NAMED.sub(" clock0000 ", text)
    return words(_SPAN.sub(r"\1 ", text))


def spans(found: list[str]) -> list[list[str]]:
    """The pairs of times that stand side by side among the words."""
    return [[start, end] for start, end in pairwise(found) if MARK.fullmatch(start) and MARK.fullmatch(end)]


def _number(found: re.Match[str]) -> str:
    total = current = 0
    numbers: list[str] = []
    last = 0
    for word in re.findall(r"[a-z]+", found[0]):
        if word in _SCALES:
            scale = _SCALES[word]
            current = max(current, 1) * scale
            if scale > 100:
                total, current = total + current, 0
            last = scale
        elif word != "and":
            value = _UNITS.get(word, _TENS.get(word, 0))
            # Two numbers in a row ("four eight two one") are not one number.
            if last and last < 100 and not (last >= 20 and value < 10):
                numbers.append(str(total + current))
                total = current = 0
            current += value
            last = value or 1
    numbers.append(str(total + current))
    return "".join(numbers) if all(len(one) == 1 for one in numbers) else " ".join(numbers)


def _scaled(found: re.Match[str]) -> str:
    scale = 1_000_000 if found[3] == "million" else 1000
    return str(int(found[1]) * scale + int(found[2] or 0) * scale // 10)


def _date(year: str, month: str, day: str) -> str:
    return f"{year} {MONTH_OF[month]:02d} {int(day):02d}"


def _past(found: re.Match[str]) -> str:
    minutes = {"half": 30, "quarter": 15}.get(found[1]) or int(found[1])
    hour = int(found[3])
    if minutes > 59:
        return found[0]
    return (
        _mark(str(hour), minutes, found[0])
        if found[2] == "past"
        else _mark(str(hour - 1), 60 - minutes, found[0])
    )


def _mark(hour: str, minutes: int, otherwise: str) -> str:
    if int(hour) > 24 or minutes > 59:
        return otherwise
    return f" clock{int(hour) % 12:02d}{minutes:02d} "
