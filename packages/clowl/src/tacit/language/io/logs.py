"""Logs of messages: JSON Lines read in pieces of bounded size, or one JSON document (CLOWL-079, CLOWL-091).

A file is a document when its first line is not a message by itself and the whole is one: a pretty-printed
message, an array of messages, or one inside a code fence. Everything else is read line by line, so that a log
of any length needs the memory of one piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import msgspec

from tacit.base.strict_json import Malformed
from tacit.base.strict_json import parse as parse_json
from tacit.language.tables import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE: Final = 256 * 1024
_MAX_DOCUMENT: Final = 16 * 1024 * 1024


class LogSource(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        ...


class LogLines(NamedTuple):
    """Whole lines of a log."""

    line: int
    """The number of the first line, from 1; in an array, of the entry."""
    data: bytes
    is_document: bool = False
    """Whether `data` is one message that may run over several lines."""

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line that is not empty, with its number."""
        if self.is_document:
            yield self.line, self.data
            return
        for offset, text in enumerate(self.data.split(b"\n")):
            if text and not text.isspace():
                yield self.line + offset, text


def pieces(stream: LogSource, *, size: int = PIECE) -> Iterator[LogLines]:
    """The log in pieces; a line longer than any message is cut, and refused by whoever reads it."""
    first = _full(stream, size)
    if _may_be_document(first):
        first += _full(stream, _MAX_DOCUMENT - len(first)) if len(first) == size else b""
        documents = _documents(first) if len(first) < _MAX_DOCUMENT else []
        if documents:
            yield from documents
            return
    yield from _lines(stream, first, size)


def _full(stream: LogSource, size: int) -> bytes:
    """`size` bytes, or all there are; a pipe may give fewer at a time."""
    found = bytearray()
    while len(found) < size and (more := stream.read(size - len(found))):
        found += more
    return bytes(found)


def _lines(stream: LogSource, kept: bytes, size: int) -> Iterator[LogLines]:
    line = 1
    while True:
        cut = kept.rfind(b"\n") + 1
        if cut:
            yield LogLines(line, kept[:cut])
            line += kept.count(b"\n", 0, cut)
            kept = kept[cut:]
        elif len(kept) > MAX_BYTES:
            yield LogLines(line, kept)
            kept = _after_the_line(stream, size)
            line += 1
        more = stream.read(size)
        if not more:
            break
        kept += more
    if kept:
        yield LogLines(line, kept)


def _after_the_line(stream: LogSource, size: int) -> bytes:
    while piece := stream.read(size):
        _, found, rest = piece.partition(b"\n")
        if found:
            return rest
    return b""


def _may_be_document(start: bytes) -> bool:
    text = start.lstrip()
    line, _, rest = text.partition(b"\n")
    if not rest.strip() and not text.startswith(b"["):
        return False
    try:
        return not isinstance(parse_json(line.strip()), dict)
    except Malformed:
        return text[:1] in {b"{", b"[", b"`"}


def _documents(whole: bytes) -> list[LogLines]:
    if whole.lstrip().startswith(b"```"):
        return [LogLines(1, whole, is_document=True)]
    try:
        value = parse_json(whole)
    except Malformed:
        return []
    if isinstance(value, list):
        return [
            LogLines(index, msgspec.json.encode(item), is_document=True)
            for index, item in enumerate(value, 1)
        ]
    return [LogLines(1, whole, is_document=True)]
