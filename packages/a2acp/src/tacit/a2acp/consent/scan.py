"""The search for values that may not go, in every text of a packet (A2ACP-071).

Theory of operation. A scanner is made once of (field, value) pairs; looking through a packet then costs
what the packet is long, however many values there are. Values and texts are folded (`consent.folding`) and
cut into words; a value is its words written together, so spaces and punctuation do not matter. Three tables
hold the values:

- solid: numbers of four to six digits, which count only as one whole word (a PIN is not a time of day);
- short: four to seven characters, which count only from the start of a word to the end of one;
- long: eight and more, found anywhere. Each is entered under its first eight characters together with its
  length, and cut after 48: at each place of the text one look finds whether any value begins so, and at
  most 41 more, one for each length, which. Values in scripts without spaces are entered under their first
  two characters.

The text is looked at as it is, backwards, with its numbers and times in one spelling (`consent.figures`),
and as whatever is hidden in it (`consent.disguises`). The texts of a packet are one text for this, in their
order: a value in two neighbouring entries is found, one spread over distant ones is not. Neither is a
paraphrase, a translation, a cipher, nor a value whose letters stand among others.

What is looked for. Of a value that is a list or an object, each text and number, and each key whose value
is `true`; of a text of more than eight words, every six in a row, so that a quotation is found; of a
shorter one, the whole and its items between commas; of a place, its postcode and street alone; of times,
the span from one to another.

What is not looked for, as it would refuse every packet: under four letters (two where a script writes words
in one or two); words that everybody uses (COMMON) and nothing else; numbers under four digits, years, a
single time of day, and for availability a single date. Such values are kept back by their keys alone.

Not a hit: a value that also belongs to a field which is cleared, or is part of a value that is; one that
the counterpart said itself, except where the field is the owner's own and never goes: there a guess would
be confirmed. Knows nothing of tiers: the caller says what is cleared.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from tacit.a2acp.consent import aliases, values
from tacit.a2acp.consent.disguises import disguised, fold, name, words
from tacit.a2acp.consent.values import MARK, figures, spans
from tacit.a2acp.packets.dates import MONTH_OF, WEEKDAY_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_HEAD: Final = 8
_LONGEST: Final = 48
_SENTENCE: Final = 8
_QUOTED: Final = 6
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003134f]"
)
_ITEMS: Final = re.compile(r"[,;\n|]|\s[&/+]\s|\band\b|\bor\b")
_AVAILABILITY: Final = frozenset(
    {aliases.SPECIFIC_AVAILABILITY, aliases.GENERAL_AVAILABILITY, "time_windows"}
)
_COMMON: Final = """
    a an the and or of in on at to for from with by is are be was we i you he she it they my your our
    their this that these those not no yes none any all some both each other same more less very can
    could will would may might must should have has had do does did as if but so than then there here
    when where who what which how why true false null nil unknown maybe sure okay fine good best nice
    great well please thanks sorry hello dear today tomorrow tonight
    yesterday day days week weeks weekend month months year years hour hours minute minutes min mins
    morning mornings noon midday afternoon afternoons evening evenings night nights midnight early late
    later before after around about between next last soon anytime time times date dates dinner lunch
    breakfast brunch coffee drinks drink meal meeting meet call video phone chat game games party event
    person people guest guests friend friends one two three four five six seven eight nine ten flexible
    somewhat low normal high medium urgent required helpful context request response scheduling schedule
    free busy available unavailable anywhere home work office online remote inperson share shared only
    just also per like want need needs place area city central centre center north south east west gbp
    eur usd chf pounds euros dollars
"""
COMMON: Final = frozenset((*_COMMON.split(), *WEEKDAY_OF, *MONTH_OF))
"""Words that say nothing about anybody when they stand alone."""


Owner = tuple[str, ...]
"""The field of a value first; all that must be cleared before the value may be said."""


_KEPT: Final[Owner] = (aliases.CREDENTIALS,)
"""What a value belongs to beside its field that does not go with it: something that nobody can clear."""


def _nothing(_: str) -> bool:
    return False


class Scanner:
    """Values that may not go, ready to be looked for."""

    def __init__(
        self, pairs: Iterable[tuple[str, object]], *, kept: Iterable[tuple[str, object]] = ()
    ) -> None:
        """`kept` are values that are not said though their field may go: another one was released."""
        self._solid: dict[str, set[Owner]] = {}
        self._short: dict[str, set[Owner]] = {}
        self._long: dict[str, set[Owner]] = {}
        self._spaced: dict[str, str] = {}
        lengths: dict[str, set[int]] = {}
        listed = [(field, value, ()) for field, value in pairs]
        listed += [(field, value, _KEPT) for field, value in kept]
        for field, value, kept_by in listed:
            window = not _AVAILABILITY.isdisjoint((name(field), aliases.SHIPPED.get(name(field))))
            for leaf in _leaves(value):
                owner = (*_owner(field, leaf), *kept_by)
                for pattern in _patterns(leaf, window, hours=not (window and kept_by)):
                    self._enter(pattern, owner, lengths)
        self._heads = {head: tuple(sorted(found)) for head, found in lengths.items()}
        self._dense = any(len(head) == 2 for head in lengths)

    def _enter(self, pattern: tuple[str, ...], owner: Owner, lengths: dict[str, set[int]]) -> None:
        joined = "".join(pattern)
        if joined.isdecimal() and len(joined) < 7 and len(pattern) == 1:
            table = self._solid
        elif _UNSPACED.search(joined) is not None or len(joined) >= _HEAD:
            table = self._long
            joined = joined[:_LONGEST]
            head = 2 if _UNSPACED.search(joined) is not None else _HEAD
            lengths.setdefault(joined[:head], set()).add(len(joined))
        else:
            table = self._short
        table.setdefault(joined, set()).add(owner)
        self._spaced.setdefault(joined, f" {' '.join(pattern)} ")

    def found(self, body: object) -> dict[str, frozenset[Owner]]:
        """What of the values stands in a body, in our own spelling, each with what it belongs to."""
        return self.in_readings(_readings(body))

    def in_readings(self, readings: list[list[str]]) -> dict[str, frozenset[Owner]]:
        """The same in a body that was read already."""
        seen = {one for reading in readings for one in self._in_words(reading)}
        return {one: frozenset(self._owners(one)) for one in seen}

    def said(self, values_said: Iterable[object]) -> set[str]:
        """What of the values somebody said in plain words."""
        folded = fold("\n".join(leaf for value in values_said for leaf in _texts(value)))
        return self._in_words(words(folded)) | self._in_words(figures(folded))

    def spaced(self, pattern: str) -> str | None:
        """A value that is looked for, word by word; None for one that is not."""
        return self._spaced.get(pattern)

    def hits(
        self,
        body: object,
        *,
        known: Iterable[object] = (),
        cleared: Callable[[str], bool] = _nothing,
        firm: Callable[[str], bool] = _nothing,
        also: Scanner | None = None,
    ) -> frozenset[str]:
        """The fields of which a value stands in a body and may not.

        `known` is what the counterpart said, `cleared` tells of a field whether it may go, `firm` whether the
        counterpart's own words excuse no mention of it, `also` are more values, none of them cleared.
        """
        readings = _readings(body)
        found = self.in_readings(readings)
        more = {} if also is None else also.in_readings(readings)
        if not found and not more:
            return frozenset()
        known = tuple(known)
        said = self.said(known) | (set[str]() if also is None else also.said(known))
        hit: set[str] = set()
        for pattern in found.keys() | more.keys():
            owners = found.get(pattern, frozenset())
            if any(all(map(cleared, owner)) for owner in owners):
                continue
            fields = {owner[0] for owner in owners | more.get(pattern, frozenset())}
            if pattern in said:
                fields = set(filter(firm, fields))
            if fields and not self._part_of_cleared(pattern, also, cleared):
                hit |= fields
        return frozenset(hit)

    def _part_of_cleared(self, pattern: str, also: Scanner | None, cleared: Callable[[str], bool]) -> bool:
        """Whether a value is, word for word, part of one that may go. Asked only before refusing a packet."""
        spaced = self.spaced(pattern) or (None if also is None else also.spaced(pattern))
        return spaced is not None and any(
            spaced in whole and any(all(map(cleared, owner)) for owner in self._owners(other))
            for other, whole in self._spaced.items()
        )

    def _owners(self, pattern: str) -> set[Owner]:
        return {owner for table in (self._solid, self._short, self._long) for owner in table.get(pattern, ())}

    def _in_words(self, text: list[str]) -> set[str]:
        seen = {word for word in text if word in self._solid}
        if self._short:
            seen |= set(self._short_in(text))
        if self._heads:
            joined = "".join(text)
            seen |= set(self._long_in(joined, _HEAD))
            if self._dense:
                seen |= set(self._long_in(joined, 2))
        return seen

    def _short_in(self, text: list[str]) -> Iterator[str]:
        for start in range(len(text)):
            run = ""
            for word in text[start : start + _HEAD]:
                run += word
                if len(run) >= _HEAD:
                    break
                if run in self._short:
                    yield run

    def _long_in(self, joined: str, head: int) -> Iterator[str]:
        heads, table = self._heads, self._long
        for start in range(len(joined) - head + 1):
            lengths = heads.get(joined[start : start + head])
            if lengths is not None:
                for length in lengths:
                    if joined[start : start + length] in table:
                        yield joined[start : start + length]


def _readings(body: object) -> list[list[str]]:
    """The words of a body in every way in which it may be read."""
    text = "\n".join(_texts(body))
    folded = fold(text)
    straight = words(folded)
    backwards = [word[::-1] for word in reversed(straight)]
    return [straight, figures(folded), backwards, *(words(fold(inner)) for inner in disguised(text))]


def _owner(field: str, leaf: str) -> Owner:
    """The field, and what the value makes of it whatever its name."""
    place = (aliases.SPECIFIC_LOCATION,) if values.is_place(leaf) else ()
    time = (
        (aliases.SPECIFIC_AVAILABILITY,)
        if name(field) == aliases.GENERAL_AVAILABILITY and values.tells_time(leaf)
        else ()
    )
    return (field, *place, *time)


def _texts(body: object) -> Iterator[str]:
    """Every text, key and number of a body, in order."""
    if isinstance(body, dict):
        for key, inner in cast("dict[str, object]", body).items():
            yield key
            yield from _texts(inner)
    elif isinstance(body, list | tuple):
        for inner in cast("list[object]", body):
            yield from _texts(inner)
    elif isinstance(body, str):
        yield body
    elif isinstance(body, int | float) and not isinstance(body, bool):
        yield _written(body)


def _leaves(value: object) -> Iterator[str]:
    """The texts of a value that tell something."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            if inner is True:
                yield key
            else:
                yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _written(value)


def _written(number: float) -> str:
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


def _patterns(leaf: str, window: bool, *, hours: bool = True) -> Iterator[tuple[str, ...]]:
    """What is looked for of a text; its hours not, where other times of the owner's were released."""
    text = fold(leaf)
    whole, counted = words(text), figures(text)
    for pair in spans(counted) if hours else ():
        yield tuple(pair)
    for place in values.places_in(leaf):
        if _tells(place_words := words(fold(place))):
            yield tuple(place_words)
    if len(whole) > _SENTENCE:
        for start in range(len(whole) - _QUOTED + 1):
            if _tells(quoted := whole[start : start + _QUOTED]):
                yield tuple(quoted)
        return
    single_date = window and "".join(whole).isdecimal()
    candidates = [whole, counted, *(words(item) for item in _ITEMS.split(text))]
    for found in candidates:
        if not single_date and _tells(found) and not all(map(MARK.fullmatch, found)):
            yield tuple(found)


def items(text: str) -> list[str]:
    """The parts of a value that are looked for by themselves, as they are written."""
    if len(words(fold(text))) > _SENTENCE:
        return []
    return [one for one in re.split(_ITEMS.pattern, text, flags=re.IGNORECASE) if _tells(words(fold(one)))]


def _tells(found: list[str]) -> bool:
    """Whether words say enough to be looked for."""
    joined = "".join(found)
    if joined.isdecimal():
        if len(found) == 1 and len(joined) == 4 and 1900 <= int(joined) <= 2100:
            return False
        if len(joined) >= 7 or (len(found) == 1 and len(joined) >= 4):
            return True
        return len(found) == 2 and len(found[1]) >= 3 and len(joined) >= 5
    if all(word in COMMON or (word.isdecimal() and len(word) < 4) or MARK.fullmatch(word) for word in found):
        return False
    return len(joined) >= (2 if _UNSPACED.search(joined) is not None else 4)
