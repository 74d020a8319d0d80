"""The post's commands, as `tacit` lists them."""

from typing import Final

from tacit.base.commands.table import CommandTable

TABLE: Final = CommandTable(
    "The post between owners",
    {"relay": ("tacit.a2acp.commands.relay:relay", "Run a blind relay; handle its accounts.")},
)
