"""What a value tells by itself, whatever its key: a place to walk to, a day or an hour (A2ACP-121).

A postcode, a street with its number or coordinates inside a text make it a specific location. Patterns of
several countries, on the strict side: a public address counts too, as nobody can see whose it is. A place
known by its name alone ("the Dopo") is none. Knows nothing of tiers.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final, cast

from tacit.a2acp.consent.folding import visible
from tacit.a2acp.packets.dates import MONTH_OF, WEEKDAY_OF

if TYPE_CHECKING:
    from collections.abc import Iterator

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
