"""What a person reads at a terminal: lines as they are, tables by `rich`.

A text is never markup: a name, a file or a hint with square brackets in it (`tacit[codex]`) comes out as it
went in, whoever wrote it. Styles are said beside a text, or by `bold` and its kin around a part of it; away
from a terminal, or with NO_COLOR, they are left out. `rich` draws what is more than a line, and is imported
only then: it is heavier than a whole `tacit send`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_FLAGS: Final = frozenset({"bold", "dim", "italic"})


def styled(text: str, style: str) -> str:
    """A text in a style: `bold`, `dim`, `italic` and a colour, in any order."""
    words = style.split()
    given: dict[str, Any] = dict.fromkeys((word for word in words if word in _FLAGS), True)
    colours = [word for word in words if word not in _FLAGS]
    return click.style(text, fg=colours[0] if colours else None, **given) if words else text


def bold(text: str) -> str:
    """A part of a line that stands out."""
    return styled(text, "bold")


class Terminal:
    """One of the two streams to a person."""

    def __init__(self, *, is_error: bool = False) -> None:
        self._is_error = is_error
        self._console: Console | None = None

    def print(self, what: RenderableType = "", *, style: str = "", soft_wrap: bool = False) -> None:
        """A line, or something that `rich` draws; `soft_wrap` leaves breaking such lines to the terminal."""
        if isinstance(what, str):
            colour = False if os.environ.get("NO_COLOR") else None
            click.echo(styled(what, style), err=self._is_error, color=colour)
        else:
            self.console.print(what, style=style or None, soft_wrap=soft_wrap)

    @property
    def console(self) -> Console:
        """The stream as `rich` sees it; it too takes a text as it is."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(stderr=self._is_error, highlight=False, markup=False, emoji=False)
        return self._console
