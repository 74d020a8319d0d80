"""A group of commands that imports each when it is used: neither help nor a command loads the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.base.io.contributions import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Lazy(click.Group):
    """Commands by where they are, `module:name`, in the order of `places`."""

    def __init__(self, *args: Any, places: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.places = places
        self.completed: Callable[[click.Command], click.Command] = lambda command: command
        """What is done with a command before it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the base class names it
        """The names alone."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command's module now."""
        if cmd_name not in self.places:
            return None
        return self.completed(loaded(self.places[cmd_name]))
