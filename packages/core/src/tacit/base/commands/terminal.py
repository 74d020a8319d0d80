"""What a person reads at a terminal: lines as they are, and tables.

A text is never markup: a name, a file or a hint with square brackets in it (`.[codex]`) comes out as it
went in, whoever wrote it. Styles are said beside a text, or by `bold` and its kin around a part of it; away
from a terminal, or with NO_COLOR, they are left out. Widths are counted in cells, of which a wide letter
takes two. A table is broken to a terminal's width, and written in whole lines where nobody sees it.
"""

from __future__ import annotations

import os
import shutil
import sys
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_FLAGS: Final = frozenset({"bold", "dim", "italic"})
_GAP: Final = "  "
_NARROWEST: Final = 8
"""A column is not made narrower than this for the sake of the others."""

Cell = str | tuple[str, str]
"""A text, or a text and its style."""


def styled(text: str, style: str) -> str:
    """A text in a style: `bold`, `dim`, `italic` and a colour, in any order."""
    words = style.split()
    given: dict[str, Any] = dict.fromkeys((word for word in words if word in _FLAGS), True)
    colours = [word for word in words if word not in _FLAGS]
    return click.style(text, fg=colours[0] if colours else None, **given) if words else text


def bold(text: str) -> str:
    """A part of a line that stands out."""
    return styled(text, "bold")


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from wcwidth import width

    return width(text)


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of so many cells; a word that is longer than a line is cut."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cells(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        line = word
        while cells(line) > width:
            start = fitting(line, width)
            lines.append(start)
            line = line[len(start) :]
    return [*lines, line]


def fitting(text: str, width: int) -> str:
    """As much of a text as fits into so many cells, one sign at least."""
    used = 0
    for index, sign in enumerate(text):
        used += cells(sign)
        if used > width:
            return text[: max(index, 1)]
    return text


class Table:
    """Rows under headings. What is too long for its column goes on below it; nothing is cut off."""

    def __init__(self, *headings: str, right: Collection[str] = (), caption: str = "") -> None:
        self._headings = headings
        self._right = {place for place, name in enumerate(headings) if name in right}
        self._caption = caption
        self._rows: list[list[tuple[str, str]]] = []

    def add(self, *row: Cell) -> None:
        """A row; what is missing at its end stays empty."""
        self._rows.append([(cell, "") if isinstance(cell, str) else cell for cell in row])

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The table in lines of at most so many cells, or as wide as it is."""
        rows = [[(name, "bold") for name in self._headings] if any(self._headings) else [], *self._rows]
        columns = zip_longest(*([cell[0] for cell in row] for row in rows), fillvalue="")
        widths = [max(cells(line) for text in column for line in _lines(text)) for column in columns]
        if width is not None:
            widths = _narrowed(widths, width - len(_GAP) * (len(widths) - 1))
        for row in filter(None, rows):
            yield from self._drawn(row, widths)
        if self._caption:
            broken = [self._caption] if width is None else wrapped(self._caption, width)
            yield from (styled(line, "dim") for line in broken)

    def _drawn(self, row: Sequence[tuple[str, str]], widths: Sequence[int]) -> Iterator[str]:
        broken = [
            [
                part
                for line in _lines(text)
                for part in (wrapped(line, size) if cells(line) > size else [line])
            ]
            for (text, _), size in zip(row, widths, strict=False)
        ]
        for parts in zip_longest(*broken, fillvalue=""):
            drawn = ""
            for place, (part, size) in enumerate(zip(parts, widths, strict=False)):
                padding = " " * (size - cells(part))
                text = styled(part, row[place][1]) if part else ""
                gap = _GAP if place else ""
                drawn += gap + (padding + text if place in self._right else text + padding)
            yield drawn.rstrip()


def _lines(text: str) -> list[str]:
    return text.expandtabs(4).split("\n")


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """The widest columns become narrower until all of them fit, or none can become narrower still."""
    narrowed = [min(width, max(room, _NARROWEST)) for width in widths]
    while sum(narrowed) > room and max(narrowed) > _NARROWEST:
        narrowed[narrowed.index(max(narrowed))] -= 1
    return narrowed


class Terminal:
    """One of the two streams to a person."""

    def __init__(self, *, is_error: bool = False) -> None:
        self._is_error = is_error

    def print(self, what: str | Table = "", *, style: str = "") -> None:
        """A line, or a table."""
        colour = False if os.environ.get("NO_COLOR") else None
        lines = what.lines(self.width if self.is_watched else None) if isinstance(what, Table) else [what]
        for line in lines:
            click.echo(styled(line, style), err=self._is_error, color=colour)

    @property
    def is_watched(self) -> bool:
        """Does somebody see this stream at a terminal, and not a program or a file?"""
        return (sys.stderr if self._is_error else sys.stdout).isatty()

    @property
    def width(self) -> int:
        """How many cells a line has; 80 where nothing says it."""
        return shutil.get_terminal_size().columns
