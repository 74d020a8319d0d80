"""Placeholders: how a model speaks of a value that it does not see (A2ACP-071).

A prompt says `⟨dietary⟩` where a value stands that is not cleared for the counterpart. Words of a model may
hold such a name; code puts the value in once it is cleared, and words with a name that is not are not used.
Whoever else writes these brackets has written other ones.

A value is replaced where it stands: the whole of it or one of its items, whatever stands between its words.
In what spelling else it may turn up is the scanner's to say (`consent.scan`): a text in which that still
finds one is replaced whole. Knows nothing of tiers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tacit.a2acp.consent import scan
from tacit.a2acp.consent.disguises import WORD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tacit.base.strict_json import Json

_OPEN, _CLOSE = "\u27e8", "\u27e9"
_NAME: Final = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]{{1,80}}){_CLOSE}")
_ALIKE: Final = str.maketrans(
    dict.fromkeys("\u27e8\u2329\u3008\ufe3f", "<") | dict.fromkeys("\u27e9\u232a\u3009\ufe40", ">")
)
_SHORTEST: Final = 3
"""Of a text that is looked for; a shorter one would be found in every sentence."""


def placeholder(name: str) -> str:
    """What stands for a field's value."""
    return f"{_OPEN}{name}{_CLOSE}"


def present(text: str) -> bool:
    """Whether anything in a text is, or looks like, a placeholder."""
    return text != text.translate(_ALIKE)


def filled(text: str, values: Mapping[str, Json]) -> str | None:
    """The text with its placeholders replaced by values; None when one of them has none."""

    def value(found: re.Match[str]) -> str:
        known = values.get(found[1])
        return known if isinstance(known, str) else found[0]

    whole = _NAME.sub(value, text)
    return None if present(whole) else whole


def masked(
    value: Json, withheld: Mapping[str, Json], search: Callable[[object], frozenset[str]] | None = None
) -> Json:
    """A value without what is withheld, its name in its place, and without brackets of anybody's own.

    `search` tells of which fields a value stands in a text, in whatever spelling.
    """
    found = _replaced(value, sorted(_hidden(withheld), key=lambda one: -len(one[0])))
    return found if search is None else _searched(found, withheld, search)


def _searched(value: Json, withheld: Mapping[str, Json], search: Callable[[object], frozenset[str]]) -> Json:
    match value:
        case str() | int() | float():
            hit = [] if isinstance(value, bool) else sorted(search([value]) & withheld.keys())
            return " ".join(map(placeholder, hit)) or value
        case dict():
            return {
                str(_searched(key, withheld, search)): _searched(inner, withheld, search)
                for key, inner in value.items()
            }
        case list():
            return [_searched(item, withheld, search) for item in value]
        case None:
            return value


def _hidden(withheld: Mapping[str, Json]) -> list[tuple[str, str]]:
    return [(leaf, name) for name, value in withheld.items() for leaf in _leaves(value)]


def _leaves(value: Json | tuple[Json, ...]) -> Iterator[str]:
    match value:
        case str():
            text = " ".join(value.split())
            if len(text) >= _SHORTEST:
                yield text
                yield from scan.items(value)
        case bool() | None:
            return
        case int() | float():
            if len(str(value)) > _SHORTEST:
                yield str(value)
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list() | tuple():
            for inner in value:
                yield from _leaves(inner)


def _replaced(value: Json | tuple[Json, ...], hidden: list[tuple[str, str]]) -> Json:
    match value:
        case str():
            return _text(value, hidden)
        case dict():
            return {_text(key, hidden): _replaced(inner, hidden) for key, inner in value.items()}
        case list() | tuple():
            return [_replaced(item, hidden) for item in value]
        case bool() | None:
            return value
        case int() | float():
            return next((placeholder(name) for leaf, name in hidden if leaf == str(value)), value)


def _text(text: str, hidden: list[tuple[str, str]]) -> str:
    found = text.translate(_ALIKE)
    for leaf, name in hidden:
        parts = WORD.findall(leaf)
        if len("".join(parts)) < _SHORTEST:
            parts = [re.escape(leaf)]
        pattern = r"[\W_]*".join(parts)
        found = re.sub(rf"(?<!\w){pattern}(?!\w)", _constant(placeholder(name)), found, flags=re.IGNORECASE)
    return found


def _constant(text: str) -> Callable[[re.Match[str]], str]:
    return lambda _found: text
