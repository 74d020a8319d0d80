"""`tacit agent calendar`: which calendars say when the owner has time (A2ACP-077)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tacit.agent.terminal.commands.asking import call
from tacit.agent.terminal.commands.values import plain
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.terminal import styled

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields


@click.group()
def calendar() -> None:
    """Calendars that say when you are free."""


@calendar.command("add")
@click.argument("name")
@click.argument("kind", type=click.Choice(["ics", "caldav"]))
@click.argument("where", metavar="PATH|URL")
@click.option("--user", help="The account, for CalDAV.")
@click.option("--password-file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--write", is_flag=True, help="New entries go here.")
@json_option
@reported
def calendar_add(
    name: str,
    kind: str,
    where: str,
    *,
    user: str | None,
    password_file: Path | None,
    write: bool,
    as_json: bool,
) -> None:
    """Read a calendar: an .ics file, or a CalDAV collection with --user and --password-file."""
    from tacit.agent.scheduling.calendars.addresses import is_url, pasted

    definition: Fields = {"kind": kind, "write": write}
    where = pasted(where)
    if kind == "ics":
        definition["path"] = where if is_url(where) else str(Path(where).expanduser().resolve())
    elif not user or password_file is None:
        raise click.UsageError("a CalDAV calendar needs --user and --password-file")
    else:
        definition |= {"url": where, "user": user, "password_file": str(password_file.resolve())}
    added = call(operations.ADD_CALENDAR, name=name, definition=definition)
    busy = f"{added.busy_times} busy times in the next {added.days} days"
    if not added.busy_times:
        busy = f"nothing in the next {added.days} days; is it the calendar you mean?"
    lines = [f"{styled('✓', 'green')} {name} was read: {busy}"]
    lines += [f"    {plain(notice)}" for notice in added.notices]
    show(added, "\n".join(lines), as_json=as_json)


@calendar.command("remove")
@click.argument("name")
@json_option
@reported
def calendar_remove(name: str, *, as_json: bool) -> None:
    """Read a calendar no more; nothing in it is changed."""
    removed = call(operations.REMOVE_CALENDAR, name=name)
    show(removed, f"{name} is not read any more", as_json=as_json)


@calendar.command("list")
@json_option
@reported
def calendar_list(*, as_json: bool) -> None:
    """Your calendars, and whether each can be read."""
    listed = call(operations.CALENDARS)
    lines: list[str] = []
    for entry in listed.calendars:
        mark = styled("✓", "green") if entry.readable else styled("-", "yellow")
        lines.append(f"{mark} {entry.name} ({entry.kind}{', written' if entry.write else ''})")
        lines += [f"    {plain(notice)}" for notice in entry.notices]
    show(listed, "\n".join(lines), as_json=as_json)
