"""The personal agent's commands, as `tacit` lists them."""

from typing import Final

from tacit.base.commands.table import CommandTable

TABLE: Final = CommandTable(
    "Your agent",
    {"agent": ("tacit.agent.shell.commands.main:agent", "It arranges things for you over a sealed post.")},
)
