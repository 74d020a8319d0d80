"""Where a command writes: a file, or a folder, in which the file gets its name.

An existing folder is one, and so is a path that ends with a slash: it is made.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tacit.base.commands.outcome import refused_by_machine

if TYPE_CHECKING:
    from collections.abc import Callable


class OutputPlace(click.ParamType[Path]):
    """A path to write to; `name_inside` names the file in a folder, or leaves the folder to the command."""

    name = "path"

    def __init__(self, name_inside: Callable[[], str] | None = None) -> None:
        self._name_inside = name_inside

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """The file to write; its folder is there."""
        path = Path(value)
        if not os.fspath(value).endswith(os.sep) and not path.is_dir():
            return path
        if ctx is None or not ctx.resilient_parsing:
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self.fail(refused_by_machine(error), param, ctx)
        return path / self._name_inside() if self._name_inside is not None else path
