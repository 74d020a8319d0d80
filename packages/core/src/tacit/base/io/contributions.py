"""What installed distributions contribute to each other, by their entry points.

The names of a group are read from the files that installers leave, and nothing that they name is imported
before it is used: `tacit --help` lists the commands of every package and loads none of them. What is not
installed is simply not there. (`importlib.metadata` knows the same, and takes as long as a whole command.)
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

TACIT_COMMANDS = "tacit.commands"
"""Commands of `tacit`."""
AGENT_COMMANDS = "tacit.agent_commands"
"""Commands of `tacit agent` that another package has."""
AGENT_MODELS = "tacit.agent_models"
"""Ways to the models that a personal agent may think with."""
JOURNALS = "tacit.journals"
"""What folds a journal that is not a room's: the engine, by the group that such a journal has."""


def contributed(group: str) -> dict[str, str]:
    """The names of a group, each with its place, `module:name`; what comes first on the path counts."""
    places: dict[str, str] = {}
    for folder in sys.path:
        for file in sorted(Path(folder or ".").glob("*.dist-info/entry_points.txt")):
            for name, place in _section(file.read_text(encoding="utf-8"), group).items():
                places.setdefault(name, place)
    return places


def _section(text: str, group: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    is_inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            is_inside = line == f"[{group}]"
        elif is_inside and "=" in line:
            name, _, place = line.partition("=")
            entries[name.strip()] = place.partition("[")[0].strip()
    return entries


def loaded(place: str) -> Any:
    """What stands at a place; its module is imported now."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
