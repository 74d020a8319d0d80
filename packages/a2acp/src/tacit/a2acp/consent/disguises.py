"""Texts inside a text: what a reader with a decoder would find (A2ACP-071).

Percent and backslash escapes, HTML entities, base64, base32, hexadecimal, letters spelt in characters that
nobody sees; one inside another up to three deep. What a decoder makes must be readable text to count. A
cipher, even one that shifts letters, is out of reach. No found text is longer than its source, so
the work grows with the source alone.

One spelling for texts that read alike: case, width, accents, look-alike letters, what nobody sees.

Names of fields (A2ACP-121) and the search for values (A2ACP-071) both compare folded text, so that a change
of letters which a reader would not notice changes nothing. Knows nothing of fields.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator


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


_DEPTH: Final = 3
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{6,}(?:={1,2})?")
_BASE32: Final = re.compile(r"[A-Za-z2-7]{8,}={0,6}")
_HEX: Final = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ :,_-]?){4,}")
_ESCAPES: Final = re.compile(
    r"\\u\{([0-9A-Fa-f]{1,6})\}|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\x([0-9A-Fa-f]{2})"
)
_ALPHABET: Final = string.ascii_uppercase + string.ascii_lowercase + string.digits


def _beginnings(digits: dict[str, int], bits: int) -> frozenset[str]:
    """The two characters with which a coded text can begin whose first byte can begin a readable one."""
    return frozenset(
        first + second
        for first, high in digits.items()
        for second, low in digits.items()
        if _begins((high << (8 - bits) | low >> (2 * bits - 8)) & 0xFF)
    )


def _begins(byte: int) -> bool:
    return 0x20 <= byte < 0x7F or byte in b"\t\n" or 0xC2 <= byte <= 0xF4


_DIGITS64: Final = {one: place for place, one in enumerate(_ALPHABET)} | {"+": 62, "-": 62, "/": 63, "_": 63}
_DIGITS32: Final = {one: place for place, one in enumerate(string.ascii_uppercase + "234567")}
_BEGINS64: Final = _beginnings(_DIGITS64, 6)
_BEGINS32: Final = _beginnings(_DIGITS32, 5)
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")


def disguised(text: str) -> list[str]:
    """Every text that is hidden in this one, each once."""
    found: dict[str, None] = {}
    level = [text]
    for _ in range(_DEPTH):
        level = [inner for outer in level for inner in _inside(outer) if inner not in found and inner != text]
        found.update(dict.fromkeys(level))
    return list(found)


def _inside(text: str) -> Iterator[str]:
    if "%" in text:
        yield unquote(text)
    if "&" in text:
        yield html.unescape(text)
    if "\\" in text:
        yield _ESCAPES.sub(lambda found: _character(found[found.lastindex or 0]), text)
    if not text.isascii():
        for run in _TAGS.findall(text):
            yield "".join(chr(ord(one) - 0xE0000) for one in run)
        for run in _SELECTORS.findall(text):
            yield from _readable(bytes(_selected(one) for one in run))
    for token in _BASE64.findall(text):
        if token[:2] in _BEGINS64:
            yield from _readable(_unbase64(token))
    for token in _BASE32.findall(text):
        if token[:2].upper() in _BEGINS32:
            yield from _readable(_unbase32(token))
    for token in _HEX.findall(text):
        yield from _readable(bytes.fromhex(re.sub(r"0x|\\x|[^0-9A-Fa-f]", "", token)))


def _character(digits: str) -> str:
    code = int(digits, 16)
    return chr(code) if code < 0xD800 or 0xDFFF < code <= 0x10FFFF else ""


def _selected(character: str) -> int:
    code = ord(character)
    return code - 0xFE00 if code <= 0xFE0F else code - 0xE0100 + 16


def _unbase64(token: str) -> bytes:
    bare = token.rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) % 4 == 1:
        bare = bare[:-1]
    try:
        return binascii.a2b_base64(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return b""


def _unbase32(token: str) -> bytes:
    bare = token.rstrip("=").upper()
    try:
        return base64.b32decode(bare + "=" * (-len(bare) % 8))
    except binascii.Error:
        return b""


def _readable(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if len(text) >= 3 and all(one.isprintable() or one in "\n\t" for one in text):
        yield text
