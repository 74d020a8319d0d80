"""Other people's words where they could be taken for ours: in a prompt, and before a person's eyes.

C2A-096, C2A-097, A2ACP-066. In a prompt there is one quotation, `set_off`: each line of a text begins with
`| `, whatever ends it, so that nothing of it stands where a line of ours begins. Blocks of ours may have a
title with a word drawn at random, which nobody could know who wrote before. For people there is
one quotation, `shown`: one line, short, with codes for characters that move or hide others. Knows nothing of
what a prompt or a question is about.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, cast

from tacit.base.visible import visible

SHOWN_CHARS: Final = 280
"""What a person is shown of somebody else's text, at most (A2ACP-066)."""
MARK: Final = "| "
"""How each line of a quotation begins."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Controls, marks that turn or join text, halves of characters, and those without a meaning."""
_FILLERS: Final = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\u034f")
"""Letters and marks by their category, and blank to the eye."""
_KEPT: Final = frozenset("\t\u200c\u200d")
"""What shapes code, some scripts and some pictures."""
_MOST_MARKS: Final = 2
_BREAKS: Final = re.compile(r"(?:\r?\n|[\t ])+")
_UNFINISHED: Final = re.compile("⟨[^⟩]{0,20}$")
"""A code that was cut."""


def lines(text: str) -> list[str]:
    """Lines as any reader may see them: every separator that Unicode knows counts."""
    return text.splitlines() or [""]


def set_off(text: str) -> str:
    """The text with a mark before each of its lines: no line of it begins a line of the prompt."""
    return "\n".join(f"{MARK}{_seen(line, _KEPT)}" for line in lines(text))


def words_in(prompt: str) -> str:
    """What the lines of a prompt that begin with the mark say: for programs that read what a model would."""
    return "\n".join(line.removeprefix(MARK) for line in prompt.split("\n") if line.startswith(MARK))


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


def _seen(text: str, kept: frozenset[str] = frozenset()) -> str:
    """Without what nobody sees; a line's end and its like become a space, and marks do not pile up."""
    if text.isascii() and text.isprintable():
        return text
    found: list[str] = []
    marks = 0
    for one in text:
        category = unicodedata.category(one)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if one in kept:
            found.append(one)
        elif one in "\t\n\v\f\r\x85\u2028\u2029":
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
