"""One spelling for texts that read alike: case, width, accents, look-alike letters, what nobody sees.

Names of fields (A2ACP-121) and the search for values (A2ACP-071) both compare folded text, so that a change
of letters which a reader would not notice changes nothing. Knows nothing of fields.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
UNSEEN: Final = re.compile("[\U000e0000-\U000e0fff]")
"""Characters that have no use in a text but to carry others unseen."""
_MARKS: Final = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_ALIKE: Final = str.maketrans(
    # Cyrillic, Greek, Armenian and barred Latin letters, each with the Latin letter that it is taken for.
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u043c\u0442"
    "\u0432\u043d\u04cf\u0433\u03b1\u03bf\u03bd\u03c1\u03c4\u03c5\u03b9\u03ba\u03c7\u03b5\u03b2\u03b7\u03c9"
    "\u03f3\u0578\u057d\u0585\u0561\u0131\u0142\u00f8\u0111\u0127\u0261\u0251\u026a\u029f\u0280\u1d00",
    "aeopcyxijshdqwkmt" + "bhlraovptuikxebnw" + "jnuoailodhgailra",
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN: Final = re.compile(r"[\W_]+")
WORD: Final = re.compile(r"[^\W_]+")
NAMELESS: Final = "unnamed"
"""The name of a key that has no letter or digit."""


def visible(text: str) -> str:
    """The text without the characters that nobody sees."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def fold(text: str) -> str:
    """The text as it is compared; spaces and punctuation stay."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", visible(text)))
    return unicodedata.normalize("NFKC", plain).casefold().translate(_ALIKE)


def words(text: str) -> list[str]:
    """The runs of letters and digits of a folded text."""
    return WORD.findall(text)


@lru_cache(maxsize=4096)
def name(key: str) -> str:
    """A field's name in small letters with underscores: `timeWindows`, `Time-Windows` → `time_windows`."""
    text = visible(key) if key.isascii() else unicodedata.normalize("NFKC", visible(key))
    return _BETWEEN.sub("_", fold(_HUMP.sub("_", text))).strip("_") or NAMELESS
