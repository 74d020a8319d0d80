"""Other people's words where they could be taken for ours: in a prompt, and before a person's eyes.

C2A-096, C2A-097, A2ACP-066. In a prompt, titles of blocks stand at the start of a line. A `Fence` knows the
titles of one kind of prompt: a line of somebody's text that a reader could take for one of them is set off.
`set_off` marks every line of a text instead, where nothing of it is ever to stand at a line's start. For
people there is one quotation, `shown`: one line, short, with codes for characters that move or hide others.
Knows nothing of what a prompt or a question is about.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, cast

from tacit.base.visible import visible

SHOWN_CHARS: Final = 280
"""What a person is shown of somebody else's text, at most (A2ACP-066)."""
MARK: Final = "| "
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Controls, marks that turn or join text, halves of characters, and those without a meaning."""
_FILLERS: Final = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\u034f")
"""Letters and marks by their category, and blank to the eye."""
_MOST_MARKS: Final = 2
_BREAKS: Final = re.compile(r"(?:\r?\n|[\t ])+")
_UNFINISHED: Final = re.compile("⟨[^⟩]{0,20}$")
"""A code that was cut."""
_LOOKS: Final = {
    "c": "сСϲϹⅽⅭ",
    "a": "аАαΑɑ",
    "e": "еЕεΕҽ",
    "s": "ѕЅꜱ",
    "m": "мМΜⅿ",
    "v": "ѵѴνⅴ",
    "n": "пΝո",
    "t": "тТτΤ",
    "o": "оОοΟօ",
    "p": "рРρΡ",
    "r": "гᴦ",
    "u": "υսц",
    "l": "ӏⅼ",
    "h": "һНհΗ",
    "d": "ԁⅾ",
    "k": "кКκΚ",
    "i": "іІιΙ",
    "g": "ɡԌց",
    "2": "ƻᒿ",
}
"""Letters of other scripts that a reader takes for those of our titles."""
_LOOKALIKES: Final = {ord(one): letter for letter, alike in _LOOKS.items() for one in alike}


class Fence:
    """The titles of one kind of prompt, as a pattern over plain small letters."""

    def __init__(self, titles: re.Pattern[str]) -> None:
        self._titles = titles

    def quoted(self, text: str) -> str:
        """The text, each line that could be taken for a title set off with `> `."""
        return "\n".join(f"> {line}" if self.is_title(line) else line for line in lines(text))

    def is_title(self, line: str) -> bool:
        """Whether a reader could take the line for a title."""
        plain = line
        if not (line.isascii() and line.isprintable()):
            visible = "".join(one for one in line if unicodedata.category(one) not in {"Cc", "Cf"})
            plain = unicodedata.normalize("NFKC", visible).translate(_LOOKALIKES)
        plain = plain.casefold()
        return self._titles.fullmatch(plain.strip("*_#`~= \t-")) is not None


def lines(text: str) -> list[str]:
    """Lines as any reader may see them: every separator that Unicode knows counts."""
    return text.splitlines() or [""]


def set_off(text: str) -> str:
    """The text with a mark before each of its lines: no line of it begins a line of the prompt."""
    return "\n".join(f"{MARK}{_seen(line)}" for line in lines(text))


def single_line(text: str, limit: int) -> str:
    """A name or id without control characters, on one line, cut (C2A-097)."""
    kept = text
    if not (text.isascii() and text.isprintable()):
        kept = "".join(
            " " if unicodedata.category(one) in {"Cc", "Cf", "Zl", "Zp", "Cs"} else one for one in text
        )
    return " ".join(kept.split())[:limit]


def shown(text: object, limit: int = SHOWN_CHARS) -> str:
    """Somebody else's words for a person's eyes: one line of plain text, cut with a sign that it was."""
    if text is None:
        return ""
    plain = one_line(str(text))
    return plain if len(plain) <= limit else f"{_UNFINISHED.sub('', plain[: limit - 1]).rstrip()}…"


def stripped(text: str, limit: int) -> str:
    """A model's words for our own use: one line without what nobody sees, cut with a sign that it was."""
    plain = " ".join(_seen(text).split())
    return plain if len(plain) <= limit else f"{plain[: limit - 1].rstrip()}…"


def one_line(text: str) -> str:
    """A text in one line, with codes for what nobody would see; line breaks and tabs become spaces."""
    return visible(_BREAKS.sub(" ", text)).strip()


def _seen(text: str) -> str:
    """Without what nobody sees; a line's end and its like become a space, and marks do not pile up."""
    if text.isascii() and text.isprintable():
        return text
    found: list[str] = []
    marks = 0
    for one in text:
        category = unicodedata.category(one)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if one in "\t\n\v\f\r\x85\u2028\u2029":
            found.append(" ")
        elif category not in _UNSEEN and one not in _FILLERS and marks <= _MOST_MARKS:
            found.append(one)
    return "".join(found)


def shown_in(value: Any, limit: int = SHOWN_CHARS) -> Any:
    """A value of somebody else's with every text and key in it as `shown`."""
    match value:
        case str():
            return shown(value, limit)
        case dict():
            fields = cast("dict[Any, Any]", value)
            return {shown(key, limit): shown_in(inner, limit) for key, inner in fields.items()}
        case list() | tuple():
            return [shown_in(one, limit) for one in cast("list[Any]", value)]
        case _:
            return value
