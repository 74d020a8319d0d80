"""`tacit agent nudge`: being told elsewhere that a decision waits, and nothing more than that."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tacit.agent.terminal.commands.asking import call
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show

if TYPE_CHECKING:
    from tacit.base.agent_owner_results import Nudges


@click.group()
def nudge() -> None:
    """Be told elsewhere that a decision waits; never of what, nor of whom."""


def _text(found: Nudges) -> str:
    lines = [f"{one.number}  {one.way}" for one in found.ways]
    quiet = f"quiet {found.quiet}" if found.quiet else "no quiet hours"
    state = "on" if found.on else "off"
    return "\n".join([*lines, f"nudges are {state}, {quiet}"])


def _shown(found: Nudges, *, as_json: bool) -> None:
    show(found, _text(found), as_json=as_json)


@nudge.command("list")
@json_option
@reported
def nudge_list(*, as_json: bool) -> None:
    """The ways there are, their secrets left out."""
    _shown(call(operations.NUDGE), as_json=as_json)


@nudge.command("add")
@click.argument("way", metavar="[desktop|URL|-]", default="-")
@json_option
@reported
def nudge_add(way: str, *, as_json: bool) -> None:
    """Add `desktop`, or an address of apprise's.

    An address holds a secret: without one it is asked for, or read from standard input, so that no shell
    remembers it.
    """
    if way == "-":
        asked = click.prompt("Address", hide_input=True, err=True) if sys.stdin.isatty() else ""
        way = str(asked or sys.stdin.readline()).strip()
    _shown(call(operations.NUDGE, do="add", value=way), as_json=as_json)


@nudge.command("remove")
@click.argument("which", metavar="NUMBER|desktop")
@json_option
@reported
def nudge_remove(which: str, *, as_json: bool) -> None:
    """Tell by that way no more."""
    _shown(call(operations.NUDGE, do="remove", value=which), as_json=as_json)


@nudge.command("quiet")
@click.argument("hours", metavar="22:00-07:00|none")
@json_option
@reported
def nudge_quiet(hours: str, *, as_json: bool) -> None:
    """Hold nudges in these hours, by your own clock; what waits is told afterwards, in one."""
    _shown(call(operations.NUDGE, do="quiet", value="" if hours == "none" else hours), as_json=as_json)


@nudge.command("off")
@json_option
@reported
def nudge_off(*, as_json: bool) -> None:
    """Tell nothing, until `on`; the ways stay."""
    _shown(call(operations.NUDGE, do="off"), as_json=as_json)


@nudge.command("on")
@json_option
@reported
def nudge_on(*, as_json: bool) -> None:
    """Tell again."""
    _shown(call(operations.NUDGE, do="on"), as_json=as_json)


@nudge.command("try")
@json_option
@reported
def nudge_try(*, as_json: bool) -> None:
    """Send one by every way now."""
    found = call(operations.NUDGE, do="try")
    lines = [
        f"{one.number}  {one.way}  {'sent' if went else 'could not be sent'}"
        for one, went in zip(found.ways, found.tried or (), strict=True)
    ]
    show(found, "\n".join(lines) or "there is no way yet: tacit agent nudge add", as_json=as_json)
