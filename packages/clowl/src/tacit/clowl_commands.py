"""CLowl's commands, as `tacit` lists them.

Beside `tacit.language` and not in it: to list a command does not import the language.
"""

from typing import Final

from tacit.base.commands.table import CommandTable

TABLE: Final = CommandTable(
    "The language",
    {"clowl": ("tacit.language.commands.clowl:clowl", "Validate, read and trace CLowl messages.")},
)
