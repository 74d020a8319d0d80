"""`tacit agent facts`: when its owner has time, as another program knows it (A2ACP-268)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tacit.agent.shell.commands import arrange
from tacit.agent.shell.commands.skill import facts_in
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("path", metavar="[FILE]", required=False, type=arrange.FILE)
@click.option("--clear", is_flag=True, help="Use the agent's own calendars again.")
@json_option
@reported
def facts(path: Path | None, *, clear: bool, as_json: bool) -> None:
    """Say when you have time, from another program: a JSON file, or - for standard input."""
    if (path is None) != clear:
        raise click.UsageError("give FILE, or --clear")
    found = arrange.call(operations.FACTS, facts=facts_in(path))
    show(
        found,
        "the calendar of another program is used" if found.facts else "own calendars again",
        as_json=as_json,
    )
