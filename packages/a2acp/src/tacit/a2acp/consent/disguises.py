"""Texts inside a text: what a reader with a decoder would find (A2ACP-071).

Percent and backslash escapes, HTML entities, base64, base32, hexadecimal, letters spelt in characters that
nobody sees; one inside another up to three deep. What a decoder makes must be readable text to count. A
cipher, even one that shifts letters, is out of reach. No found text is longer than its source, so
the work grows with the source alone.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

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
