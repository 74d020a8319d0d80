"""What is known of commands before they are imported, and what `tacit` was told for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.base.commands.folders import default_data

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class CommandTable:
    """The commands that a package contributes, in the order in which one learns them."""

    title: str
    """The heading under which the help lists them."""
    places: Mapping[str, tuple[str, str]]
    """By name: where the command lives, `module:name`, and what it does."""
    epilog: str = ""


@dataclass(slots=True)
class GivenOptions:
    """The options that stand before the command or after it."""

    given_url: str | None = None
    token: str | None = field(default=None, repr=False)
    speaker: str | None = None
    data: Path = field(default_factory=default_data)
    as_json: bool = False
