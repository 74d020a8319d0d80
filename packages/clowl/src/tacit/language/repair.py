"""Repair of what models really write, off unless asked for; every repair is reported (CLOWL-066, CLOWL-086).

Code fences, prose around the object, comments, single quotes, trailing commas, and Python's True, False,
None. Only spelling is mended: no member is invented, none is guessed, and what comes out is read like
anything else.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import Final

import msgspec

from tacit.base.strict_json import Malformed
from tacit.base.strict_json import parse as parse_json
from tacit.language.findings import Finding, Reading
from tacit.language.reading import read
from tacit.language.tables import MAX_BYTES, MAX_DEPTH

# Strings and comments may end with the text or the line: an unclosed one is walked over, and only once.
_TOKEN: Final = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*+(?:"|\\?\Z))"""
    r"""|(?P<single>'(?:[^'\\\n]|\\.)*+')|(?P<unclosed>'(?:[^'\\\n]|\\.)*+\\?)"""
    r"""|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\#[^\n]*)"""
    r"""|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"""
    r"""|(?P<open>[{\[])|(?P<close>[}\]])|(?P<comma>,)"""
    r"""|(?P<space>\s+)|(?P<other>.)""",
    re.DOTALL,
)
_PYTHON_WORDS: Final = MappingProxyType({"True": "true", "False": "false", "None": "null"})
_FENCE: Final = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)


def read_repaired(data: bytes | str, *, strict: bool = False, now: int | None = None) -> Reading:
    """Read as always; if the text is not JSON, mend it first and report what was mended."""
    reading = read(data, strict=strict, now=now)
    if reading.message is not None or len(data) > MAX_BYTES or _is_json(data):
        return reading
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    mended, repairs = mend(text)
    if not repairs or not _is_json(mended):
        return reading
    again = read(mended, strict=strict, now=now)
    return msgspec.structs.replace(again, warnings=repairs + again.warnings)


def mend(text: str) -> tuple[str, tuple[Finding, ...]]:
    """The text as JSON, as far as its spelling can be mended, and the repairs made, each kind once."""
    repairs: dict[str, None] = {}
    if text.startswith("\ufeff"):
        text = text[1:]
        repairs["a byte order mark was dropped"] = None
    fences = _FENCE.findall(text)
    if len(fences) == 1:
        text = fences[0]
        repairs["a code fence was removed"] = None
    mended = _tokens(text, repairs)
    return mended, tuple(Finding("$", "", repair, "CLOWL-066") for repair in repairs)


def _tokens(text: str, repairs: dict[str, None]) -> str:
    """Walk from the first brace to the one that closes it, mending token by token."""
    start = text.find("{")
    if start < 0:
        return text
    if text[:start].strip():
        repairs["text before the object was removed"] = None
    out: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(text, start):
        kind = match.lastgroup or "other"
        token = match[0]
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            _drop_trailing_comma(out, repairs)
        out.append(_mended(kind, token, repairs))
        if kind == "close" and depth == 0:
            if text[match.end() :].strip():
                repairs["text after the object was removed"] = None
            break
    return "".join(out)


def _mended(kind: str, token: str, repairs: dict[str, None]) -> str:
    if kind == "comment":
        repairs["a comment was removed"] = None
        return " "
    if kind == "single":
        repairs["single quotes became double quotes"] = None
        return _requoted(token[1:-1])
    if kind == "word" and token in _PYTHON_WORDS:
        repairs["a Python word became a JSON word"] = None
        return _PYTHON_WORDS[token]
    return token


def _requoted(inner: str) -> str:
    return '"' + re.sub(r'\\.|"', _requote, inner, flags=re.DOTALL) + '"'


def _requote(match: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(match[0], match[0])


def _drop_trailing_comma(out: list[str], repairs: dict[str, None]) -> None:
    index = len(out) - 1
    while index >= 0 and not out[index].strip():
        index -= 1
    if index >= 0 and out[index] == ",":
        out[index] = ""
        repairs["a trailing comma was removed"] = None


def _is_json(data: bytes | str) -> bool:
    try:
        parse_json(data, max_depth=MAX_DEPTH)
    except Malformed:
        # Duplicate keys and the like are JSON with a fault: mending could only hide it.
        return _is_loose_json(data)
    return True


def _is_loose_json(data: bytes | str) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
