"""Prose: the part of a text that its author says to somebody (C2A-034, C2A-202).

Code, quoted lines, e-mail addresses and urls are blanked out, so that nothing inside them names or asks
anybody. The result has the same length as the text. Knows nothing of names or intents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_FENCE: Final = re.compile(
    r"^[ \t]*(```+(?=[^`\n]*$)|~~~+)[^\n]*\n?.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_INLINE_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SPAN: Final = re.compile(r"(?<!`)(`{1,2})(?!`)[^\n]+?(?<!`)\1(?!`)")
_QUOTED: Final = re.compile(r"^[ \t]*(?:>|&gt;)[^\n]*", re.MULTILINE)
_URL: Final = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,15}://|www\.|mailto:|xmpp:|matrix:)[^\s<>\"]+", re.IGNORECASE
)
_MAIL: Final = re.compile(r"(?<![\w.+%@-])[a-z0-9][a-z0-9_.+%-]*+@[\w-]+(?:\.[\w-]+)*", re.IGNORECASE)
_WORTH_A_LOOK: Final = re.compile(r"[`>@:]|~~~|&gt;|www\.", re.IGNORECASE)


def _blank(match: re.Match[str]) -> str:
    found = match.group()
    return " " * len(found) if "\n" not in found else "".join("\n" if c == "\n" else " " for c in found)


_STEPS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("```", _FENCE),
    ("~~~", _FENCE),
    ("```", _INLINE_FENCE),
    ("`", _SPAN),
    (">", _QUOTED),
    ("&gt;", _QUOTED),
    (":", _URL),
    ("www.", _URL),
    ("@", _MAIL),
)


def prose(text: str) -> str:
    """The text with everything blanked that is not its author's own speech."""
    if _WORTH_A_LOOK.search(text) is None:
        return text
    blank: Callable[[re.Match[str]], str] = _blank
    for sign, pattern in _STEPS:
        if sign in text or (sign == "www." and sign in text.lower()):
            text = pattern.sub(blank, text)
    return text
