"""`tacit agent facts`: when its owner has time, as another program knows it (A2ACP-268)."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.agent.terminal.commands.asking import FILE, call
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

LONGEST_FILE: Final = 1024 * 1024


@click.command()
@click.argument("path", metavar="[FILE]", required=False, type=FILE)
@click.option("--clear", is_flag=True, help="Use the agent's own calendars again.")
@json_option
@reported
def facts(path: Path | None, *, clear: bool, as_json: bool) -> None:
    """Say when you have time, from another program: a JSON file, or - for standard input."""
    if (path is None) != clear:
        raise click.UsageError("give FILE, or --clear")
    found = call(operations.FACTS, facts=facts_in(path))
    show(
        found,
        "the calendar of another program is used" if found.facts else "own calendars again",
        as_json=as_json,
    )


def facts_in(path: Path | None) -> Any:
    """The facts of a file, or of standard input for `-`; None when there is none."""
    if path is None:
        return None
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(LONGEST_FILE + 1)
        else:
            with path.open("rb") as file:
                data = file.read(LONGEST_FILE + 1)
    except OSError as error:
        raise Refused("bad_facts", f"the file cannot be read: {error.strerror}", row="A2ACP-268") from None
    if len(data) > LONGEST_FILE:
        raise Refused("bad_facts", "the file is longer than 1 MiB", row="A2ACP-268")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise Refused("bad_facts", "the file is not JSON", row="A2ACP-268") from None
    from tacit.agent.scheduling.facts import checked

    # Told at once what is wrong with them, also by a folder without an agent.
    checked(found)
    return found
