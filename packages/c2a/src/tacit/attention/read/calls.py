"""Calls: the places in a person's prose where somebody is called by name (C2A-034, C2A-114).

With a sign: `@ada` anywhere, in any script (`请@ada看一下`, `@adaさん`), in a row (`@ada/@bob`,
`@ada+@bob`), emphasised (`_@ada_`); not `@ada's`, not the annotation `@Test`, not what somebody else is
quoted with or was told ("carl asked @ada"), and not whom the same breath takes out again ("@ada not you
@bob"). Without a sign: at the start, as "ada:", "ada, bob:", "ada and bob:", "hey ada", "nvm ada", "ada?" or
before a word that asks ("ada which branch", "so ada which branch?"), and at the end as "..., ada?" or after
words that are whole without it ("what do you think ada?", not "did you see ada?"). What greets, joins and
asks there is the lexicon's, in every language. A name that is also a common word is called without a sign
only where a mark says so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from enum import Enum
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from tacit.attention.read.lexicon import in_any
from tacit.attention.read.roster import SOLID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.attention.read.roster import Roster

_LONGEST_NAME: Final = 4
"""Words of a name that is called without a sign."""
_NOBODY: Final[frozenset[str]] = frozenset()
_LED: Final = 40
"""Characters before a name that say whether it is called."""
_READ: Final = 2_000
"""Characters in which a name is looked for that is not called."""
_PLACES: Final = 64
"""How many places of one name are looked at in a text: by then it is known whether its bearer is called."""
_MOST_PLACES: Final = 4_096
"""How many places of all names: far more than anybody calls, far fewer than a text can hold."""
_QUOTED: Final = re.compile(
    r'"[^"\n]{1,400}"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|「[^」\n]{1,400}」|„[^“”\n]{1,400}[“”]|『[^』\n]{1,400}』'
    r"|(?<!\w)['\u2018](?=\S)(?:[^'\u2019\n]|(?<=\w)['\u2019](?=\w)){1,400}(?<=\S)['\u2019](?!\w)"
)
_QUOTES: Final = "\"“«「„『'\u2018"
_CODE: Final = re.compile(
    r"(?<!\w)(?:java|junit\d?|testng|kotlin|spring|lombok|javadoc|annotat\w+|decorat\w+|methods?|class(?:es)?)(?!\w)",
    re.IGNORECASE,
)
"""Of this speaks whoever writes of annotations."""
_DECLARES: Final = re.compile(
    r"\(\s*(?:\)|[\"'\d]|\w+\s*=|\w+\.class)|\s+(?:public|private|protected|static|void|def)(?!\w)"
)
_USES: Final = re.compile(
    r"(?<!\w)(?:us(?:e|es|ed|ing)|the|an?|add(?:s|ed|ing)?|put(?:s|ting)?|wr(?:ite|ites|ote)|remov(?:e|es|ed|ing)|forgot|"
    r"annotated? (?:\w+ )?with|java's|junit's)\s+\Z",
    re.IGNORECASE,
)
_SOLID: Final = rf"(?=\s|\Z|[{SOLID}])"
_WORD: Final = re.compile(r"[\w.'-]*\w")
_LATIN: Final = re.compile(rf"[^\W{SOLID}](?:(?:[.'-]|[^\W{SOLID}])*[^\W{SOLID}])?(?=[{SOLID}])")
"""A name that a script without spaces follows at once."""
_LATIN_WORD: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*", re.IGNORECASE | re.ASCII)
"""A name between letters of any other script."""
_ODD: Final = re.compile(r"[^\s:,;@?!]+")
"""A name may hold any sign, and end with one: `{k}bob-`."""
_MARK: Final = re.compile(rf"\s?[:,;]{_SOLID}")
_TIGHT: Final = re.compile(r":(?=[^\W\d_])")
"""A full-width colon has its space in itself, and reads as a plain one."""
_ALONE: Final = re.compile(rf"\s*[?!]+{_SOLID}|\s*\Z")
COMMON: Final = frozenset(
    (  # noqa: SIM905 - words read best as prose
        "lead test tests deploy build review reviewer ops support dev bot admin help helper docs web api "
        "app qa data code user users system guest team worker peer agent assistant server client master "
        "main will mark may art bill rob pat sue grace hope faith joy rose jack guy chase june april "
        "august summer frank rich dean drew miles chance max ray ward wade reed cliff heath olive ivy sky "
        "dawn eve star angel king prince duke baker cook hunter mason miller parker porter potter smith "
        "taylor walker ok no yes so who what why when where how override before after component service bean "
        "deprecated entity mock property fixture"
    ).split()
)
"""Names that are words too."""


class _Worded(NamedTuple):
    """What is read around a name, in every language."""

    taken_out: re.Pattern[str]
    not_before: re.Pattern[str]
    told_before: re.Pattern[str]
    """Somebody else's words, or words about somebody: "carl said: @ada please look", "carl asked @ada"."""
    greeting: re.Pattern[str]
    before: re.Pattern[str]
    title: re.Pattern[str]
    joined: re.Pattern[str]
    asks: re.Pattern[str]
    whole: re.Pattern[str]
    """Words that are whole without a name behind them: whoever is named there is called."""


@cache
def worded() -> _Worded:
    """Compiled when it is first asked for, not when the module is imported."""

    def compiled(expression: str) -> re.Pattern[str]:
        return re.compile(expression, re.IGNORECASE)

    def spaced(name: str) -> str:
        return in_any(name, spaced=True)

    def unspaced(name: str) -> str:
        return in_any(name, spaced=False)

    return _Worded(
        taken_out=compiled(rf"\s*[,:(-]?\s*{in_any('not_you')}(?!\w)"),
        not_before=compiled(rf"(?<!\w){in_any('not')}\s*\Z"),
        told_before=compiled(rf"\w {in_any('reported')}\s+\Z"),
        greeting=compiled(rf"\s*(?:{spaced('hail')}[ ,]+|{unspaced('hail')}[ ,]*)"),
        before=compiled(rf"\s*(?:{spaced('before_name')}[ ,]+|{unspaced('before_name')}[ ,]*)"),
        title=re.compile(in_any("title")),
        joined=compiled(rf"\s*(?:[,/&+]|(?<!\w){spaced('and')}(?!\w)|{unspaced('and')})\s*"),
        asks=compiled(rf"\s+{spaced('after_name')}(?!\w)|\s*{unspaced('after_name')}"),
        whole=compiled(rf"(?:\A|(?<=[\s,.!?])){spaced('before_last_name')}[.!]*\Z"),
    )


class CallStrength(Enum):
    """How sure it is that a name is called."""

    SIGNED = "signed"
    BARE = "bare"
    DOUBTFUL = "doubtful"
    """A common word: it names nobody, and is set aside when the rest of the text is read."""


class CalledName(NamedTuple):
    """One name that is called: where it stands, with the marks around it, and as it is written."""

    start: int
    end: int
    name: str
    strength: CallStrength


def calls(prose: str, roster: Roster) -> list[CalledName]:
    """Everybody who is called: with a sign, at the start, at the end."""
    found = list(_signed(prose, roster)) if "@" in prose else []
    return [*found, *_opening(prose, roster), *_closing(prose, roster)]


def in_passing(prose: str, roster: Roster) -> frozenset[str]:
    """Whose names stand anywhere in it, called or not; a name that is a common word does not count."""
    names = roster.names
    found = names.keys() & set(_WORD.findall(prose[:_READ].casefold()))
    return frozenset(names[one] for one in found if one not in COMMON) if found else _NOBODY


def without_any_name(prose: str, roster: Roster) -> str:
    """A short prose without the names that stand in it, called or not; the same when there are none."""
    if len(prose) > _READ:
        return prose
    for pattern in (_WORD, _LATIN_WORD):
        left: list[str] = []
        at = 0
        for match in pattern.finditer(prose):
            name = match[0].casefold()
            if name in roster.names and name not in COMMON:
                title = worded().title.match(prose, match.end())
                between = prose[at : match.start()]
                left.append("" if at and worded().joined.fullmatch(between.rstrip("@\uff20")) else between)
                at = title.end() if title is not None else match.end()
        prose = " ".join([*left, prose[at:]])
    return prose


def _signed(prose: str, roster: Roster) -> Iterator[CalledName]:
    quoted = _reported(prose)
    before = -1
    looked_at: Counter[str] = Counter()
    for match in islice(roster.mention.finditer(prose), _MOST_PLACES):
        start, end = match.span()
        name = match.group(1).casefold()
        looked_at[name] += 1
        if looked_at[name] > _PLACES:
            continue
        if prose[start - 1 : start] in {"/", "+"} and before != start - 1:
            continue  # a path, not a row of names
        if _is_within(quoted, start) or _is_annotation(prose, match, roster):
            continue
        before = end
        led = prose[max(0, start - _LED) : start]
        if not (
            worded().taken_out.match(prose, end)
            or worded().not_before.search(led)
            or worded().told_before.search(led)
        ):
            yield CalledName(start, end, match.group(1), CallStrength.SIGNED)


def _is_within(spans: list[tuple[int, int]], place: int) -> bool:
    """Does a place lie in one of these spans, which stand in order?"""
    at = bisect_right(spans, place, key=lambda span: span[0])
    return at > 0 and place < spans[at - 1][1]


def _is_annotation(prose: str, match: re.Match[str], roster: Roster) -> bool:
    """Is it a piece of code, as `@Test` in a text about Java? What opens a text or a clause is a call."""
    if _DECLARES.match(prose, match.end()):
        return True
    written = match.group(1)
    before = prose[max(0, match.start() - _LED) : match.start()]
    if (
        written.casefold() not in COMMON
        or not before.rstrip()[-1:].isalnum()
        or worded().greeting.fullmatch(before)
    ):
        return False
    if _CODE.search(prose[:_READ]) is None:
        return False
    is_last = not prose[match.end() :].strip(" .!?")
    return _USES.search(before) is not None or not (is_last or written in roster.spelt)


def _reported(prose: str) -> list[tuple[int, int]]:
    """Where others are quoted; a text that is a quotation and nothing else is its author's own."""
    if not any(sign in prose for sign in _QUOTES):
        return []
    found = [match.span() for match in _QUOTED.finditer(prose)]
    return found if _WORD.search(_QUOTED.sub("", prose)) else []


def _opening(prose: str, roster: Roster) -> list[CalledName]:
    """The names that a text opens with."""
    greeting = worded().greeting.match(prose)
    opener = greeting or worded().before.match(prose)
    place = opener.end() if opener is not None else len(prose) - len(prose.lstrip())
    found: list[CalledName] = []
    while (name := _name_at(prose, place, roster)) is not None:
        found.append(name)
        more = worded().joined.match(prose, name.end)
        if more is None or _name_at(prose, more.end(), roster) is None:
            break
        place = more.end()
    if not found:
        return []
    end = found[-1].end
    common = all(one.name.casefold() in COMMON for one in found)
    if common and opener is not greeting:
        return []
    if mark := _MARK.match(prose, end) or (None if common else _TIGHT.match(prose, end)):
        found[-1] = found[-1]._replace(end=mark.end())
        return found
    if not common and (
        greeting is not None
        or _ALONE.match(prose, end)
        or ((opener is None or "?" in prose) and worded().asks.match(prose, end))
    ):
        return found
    return []


def _name_at(prose: str, place: int, roster: Roster) -> CalledName | None:
    """The longest name that stands there."""
    ends: list[int] = []
    at = place
    while len(ends) < _LONGEST_NAME and (word := _WORD.match(prose, at)) is not None:
        ends.append(word.end())
        at = word.end() + 1
        if prose[word.end() : at] != " ":
            break
    if (latin := _LATIN.match(prose, place)) is not None:
        ends.append(latin.end())
    if (odd := _ODD.match(prose, place)) is not None:
        ends.append(odd.end())
    for end in sorted(set(ends), reverse=True):
        if roster.principal(prose[place:end]) is not None:
            title = worded().title.match(prose, end)
            return CalledName(place, title.end() if title else end, prose[place:end], CallStrength.BARE)
    return None


def _closing(prose: str, roster: Roster) -> list[CalledName]:
    """The name that a text ends with: after a comma, or after words that are whole without it."""
    body = prose.rstrip(" \t\n.!?")
    start = body.rfind(" ") + 1
    name = body[start:]
    if not start or roster.principal(name) is None:
        return []
    asked = prose.find("?", len(body))
    end = asked if asked >= 0 else len(prose)
    is_common = name.casefold() in COMMON
    before = body[max(0, start - _LED) : start].rstrip()
    if before.endswith(","):
        strength = CallStrength.DOUBTFUL if is_common and asked < 0 else CallStrength.BARE
        return [CalledName(body.rindex(",", 0, start), end, name, strength)]
    if not is_common and worded().whole.search(before):
        return [CalledName(start, end, name, CallStrength.BARE)]
    return []
