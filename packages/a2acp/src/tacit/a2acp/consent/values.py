"""What a value tells by itself, whatever its key: a place to walk to, a day or an hour (A2ACP-121).

A postcode, a street with its number or coordinates inside a text make it a specific location. Patterns of
several countries, on the strict side: a public address counts too, as nobody can see whose it is. A place
known by its name alone ("the Dopo") is none. Knows nothing of tiers.

Numbers and times of day in one spelling, so that they are found however they are written (A2ACP-071).

`eighty-five thousand`, `85,000` and `85k` are `85000`; `18:00`, `6 pm`, `six o'clock` and `18:00+00:00` are
one mark, the same for morning and evening, as a text often leaves open which; `27 March 2026` is `2026 03
27`. English words. For comparing only: what comes out is no text for anybody. Knows nothing of fields.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Final, cast

from tacit.a2acp.consent.disguises import visible, words
from tacit.a2acp.packets.dates import MONTH_OF, WEEKDAY_OF

if TYPE_CHECKING:
    from collections.abc import Iterator


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


_I: Final = re.IGNORECASE
_SUFFIX: Final = (
    r"street|str|st|road|rd|lane|ln|avenue|ave|av|drive|dr|place|pl|square|sq|court|ct|crescent|close|way|"
    r"terrace|gardens|grove|hill|mews|parade|boulevard|blvd|highway|hwy|park|row|walk|quay|wharf|yard|circus"
)
_ABROAD: Final = r"stra(?:ß|ss)e|str\.|gasse|weg|allee|platz|straat|laan|plein|gatan|vej|gade"
POSTCODES: Final = (
    re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]?[ ._-]{0,2}(?!\d(?:st|nd|rd|th)\b)\d[A-Z]{2}\b", _I),
    re.compile(r"\b\d{5}-\d{4}\b|\b[A-Z]{2},?\s+\d{5}\b"),
    re.compile(r"\b[ABCEGHJ-NPRSTVXY]\d[A-Z][ -]?\d[A-Z]\d\b", _I),
    re.compile(r"\b(?!19|20)[1-9]\d{3} ?[A-Z]{2}\b"),
    re.compile(r"\b(?:[A-Z]{1,2}-\d{4,5}|\d{5})\s+[A-ZÄÖÜÉ][a-zäöüßéèêôç]{2,}"),
    re.compile(r"\b(?:post(?:al)?[ -]?code|zip(?:[ -]?code)?|plz)\W{0,3}[A-Z0-9][A-Z0-9 -]{2,8}", _I),
)
_COUNTED: Final = (
    r"(?!\s*(?:min(?:ute)?s?|h|hours?|hrs?|km|miles?|mi|m|met(?:re|er)s?|people|pp|days?|weeks?)\b)"
)
STREETS: Final = (
    re.compile(
        rf"\b\d{{1,5}}[a-z]?(?:\s?[-/]\s?\d{{1,5}}[a-z]?)?,?{_COUNTED}\s+(?:[\w'.-]+\s+){{1,3}}?(?:{_SUFFIX})\b",
        _I,
    ),
    re.compile(rf"(?:{_ABROAD})\s*\d{{1,4}}\s?[a-z]?\b", _I),
    re.compile(
        r"\b\d{1,4}(?:\s?bis)?,?\s+(?:rue|avenue|boulevard|place|chemin|quai|via|viale|piazza|calle)\s+\w", _I
    ),
    re.compile(
        r"\b(?:rue|via|viale|piazza|calle|avenida|rua)\s+(?:[\w'.-]+\s+){0,4}?[\w'.-]+,?\s+\d{1,4}\b", _I
    ),
    re.compile(r"\b(?:flat|apartment|apt|suite|unit)\.?\s*\d{1,4}[a-z]?\b", _I),
)
COORDINATES: Final = (
    re.compile(r"[+-]?\d{1,3}[.]\d{3,}°?\s*[NS]?\s*[,;/ ]\s*[+-]?\d{1,3}[.]\d{3,}", _I),
    re.compile(r"\d{1,3}\s*°\s*\d{1,2}(?:[.]\d+)?\s*['\u2032\u2019]"),
    re.compile(r"\bgeo:[-+]?\d", _I),
    re.compile(r"\b[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}\b", _I),
    re.compile(r"///\w+\.\w+\.\w+"),
    re.compile(r"\b(?:maps\.\w+|goo\.gl/maps|maps\.app|openstreetmap|what3words|w3w)\b", _I),
)
_PLACES: Final = (*POSTCODES, *STREETS, *COORDINATES)
_PERHAPS: Final = re.compile(r"[\d+]|///|post|zip|plz|maps|openstreetmap|what3words|w3w", _I)
"""Without any of these a text matches none of the patterns above."""

_DAYS: Final = "|".join(WEEKDAY_OF)
_MONTHS: Final = "|".join(MONTH_OF)
_WHEN: Final = re.compile(
    rf"\b\d{{4}}-\d\d?-\d\d?|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\b\d{{1,2}}[:h]\d\d|"
    rf"\b\d{{1,2}}\s?[ap]\.?m\b|\bo['\u2019]?clock\b|\b(?:half|quarter) (?:past|to)\b|\bnoon\b|\bmidnight\b|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)?\s+(?:{_MONTHS})\b|\b(?:{_MONTHS})\s+\d{{1,2}}\b|"
    rf"\b(?:{_DAYS})s?\b|\btomorrow\b|\btonight\b",
    _I,
)
_ZONE: Final = re.compile(
    r"(?:UTC|GMT|Z|[A-Z]{3,4})|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d\d)?|"
    r"(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc|US)/"
    r"[A-Za-z0-9_+-]{2,24}(?:/[A-Za-z_]{2,20})?",
)


def leaves(value: object) -> Iterator[str | int | float]:
    """Every text and number inside a value, keys not included; a truth value is no number."""
    if isinstance(value, dict):
        for inner in cast("dict[str, object]", value).values():
            yield from leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from leaves(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def places_in(text: str) -> list[str]:
    """The postcodes, streets and coordinates inside a text."""
    plain = _plain(text)
    if _PERHAPS.search(plain) is None:
        return []
    return [match.group() for pattern in _PLACES for match in pattern.finditer(plain)]


def is_place(text: str) -> bool:
    """Whether somebody could walk to what a text names."""
    plain = _plain(text)
    return _PERHAPS.search(plain) is not None and any(pattern.search(plain) for pattern in _PLACES)


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", visible(text))


def tells_place(value: object) -> bool:
    """Whether a value names a specific place: one of its texts, or several of them read together."""
    found = [str(leaf) for leaf in leaves(value)]
    return any(map(is_place, found)) or (len(found) > 1 and is_place(" ".join(found)))


def tells_time(value: object) -> bool:
    """Whether a value names a day or an hour."""
    return any(_WHEN.search(visible(str(leaf))) for leaf in leaves(value))


def is_zone(value: object) -> bool:
    """Whether a value is a time zone and nothing else."""
    return isinstance(value, str) and _ZONE.fullmatch(value) is not None
