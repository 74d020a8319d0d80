"""How events, groups and inboxes look to a person at a terminal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.base.commands.terminal import bold
from tacit.base.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from tacit.base.commands.terminal import Terminal
    from tacit.client import Event, Inbox

CHANGES: Final = frozenset({"x.c2a.edit", "x.c2a.delete"})
"""What people do to messages of theirs; the hub writes it down for them."""
COLOURS: Final = ("cyan", "green", "magenta", "yellow", "blue", "bright_red")


def colour(principal: str) -> str:
    """The same colour for the same name, always."""
    return COLOURS[sum(principal.encode()) % len(COLOURS)]


def clock(event: Event) -> str:
    """The local time of an event."""
    return datetime.fromisoformat(event.ts).astimezone().strftime("%H:%M:%S")


def counted(number: int, noun: str) -> str:
    """So many of them: "1 group", "2 groups"."""
    return f"{number} {noun}{'s' if number != 1 else ''}"


def plain(text: str) -> str:
    """Text that may have several lines: it drives no terminal, and what nobody would see is a code."""
    return visible(text, lines=True)


def line(event: Event) -> Text:  # noqa: PLR0912 - one case a kind
    """One event as a line."""
    from rich.text import Text

    data = event.data
    shown = Text(f"#{event.seq:<5} {clock(event)} ", style="dim")
    by = plain(str(data.get("by") or event.by)) if event.kind in CHANGES else event.by
    shown.append(by, style=f"bold {colour(by)}")
    match event.kind:
        case "chat.message":
            if to := data.get("to"):
                shown.append(f" → {plain(' '.join(to))}", style="dim")
            if data.get("priority") == "attention":
                shown.append(" !", style="bold red")
            shown.append("  " + plain(data["text"]))
            if attachments := data.get("attachments"):
                names = ", ".join(plain(one.get("title") or one["path"][:12]) for one in attachments)
                shown.append(f"  [{names}]", style="dim")
            if data.get("src_group_id"):
                shown.append("  (relayed)", style="dim")
        case "chat.ack":
            shown.append(f" acknowledged {data['event_id'][-8:]}", style="dim")
        case "chat.read":
            shown.append(f" read up to {data['event_id'][-8:]}", style="dim")
        case "chat.reaction":
            verb = "took back" if data.get("removed") else "reacted"
            shown.append(f" {verb} {plain(data['emoji'])}", style="dim")
        case "system.notify":
            shown.append(
                f" ⚑ {plain(data.get('title') or data.get('message') or data['kind'])}", style="yellow"
            )
        case "x.c2a.edit" | "x.c2a.delete":
            _changed(shown, event)
        case "actor.add" | "actor.remove" | "actor.update":
            verb = {"add": "added", "remove": "removed", "update": "changed"}[event.kind.split(".")[1]]
            shown.append(f" {verb} {data['actor_id']}", style="dim")
        case "group.create":
            shown.append(f" opened “{plain(data['title'])}”", style="dim")
        case _:
            shown.append(f" {event.kind}", style="dim italic")
    return shown


def _changed(shown: Text, event: Event) -> None:
    """A message in its new form, or taken back: the line above it still has what was said first."""
    if event.kind == "x.c2a.edit":
        shown.append(f" edited {str(event.data['supersedes'])[-8:]}", style="dim")
        shown.append("  " + plain(str(event.data["text"])))
    else:
        shown.append(f" took back {str(event.data['event_id'])[-8:]}", style="dim")


def events(out: Terminal, many: list[Event]) -> None:
    """Events, one below the other."""
    for event in many:
        out.print(line(event), soft_wrap=True)


def groups(out: Terminal, many: list[dict[str, Any]]) -> None:
    """A table of groups."""
    if not many:
        out.print("No groups yet. Open one: " + bold('tacit group new "My first room"'))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("title", "id", "actors", "events"):
        table.add_column(name, justify="right" if name == "events" else "left", overflow="fold")
    for one in many:
        names = " ".join(actor["actor_id"] for actor in one["actors"]) or "-"
        table.add_row(plain(one["title"]), one["group_id"], names, str(one["last_seq"]))
    out.print(table)


def actors(out: Terminal, many: list[dict[str, Any]]) -> None:
    """A table of actors."""
    if not many:
        out.print("No actors yet. Add one: " + bold("tacit actor add GROUP NAME"))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("actor", "role", "title", "roles"):
        table.add_column(name)
    for one in many:
        table.add_row(one["actor_id"], one["role"] or "-", one["title"] or "-", " ".join(one["roles"]) or "-")
    out.print(table)


def say_damaged(positions: Sequence[int]) -> None:
    """Say on the side which events are damaged and left out; nothing when none is."""
    if positions:
        places = ", ".join(f"#{seq}" for seq in positions)
        what = "event is" if len(positions) == 1 else "events are"
        said = f"{len(positions)} {what} damaged and cannot be shown: {places}. Run `tacit ledger verify`."
        click.echo(said, err=True)


def inbox(out: Terminal, box: Inbox) -> None:
    """What waits for somebody."""
    if box.attention:
        out.print(f"{box.attention_count} to acknowledge", style="bold red")
        events(out, box.attention)
    if box.notices:
        out.print(f"{len(box.notices)} notices to confirm", style="yellow")
        events(out, box.notices)
    if box.unread:
        out.print(f"{box.unread_count} unread", style="bold")
        events(out, box.unread)
    if not (box.attention or box.notices or box.unread):
        out.print("Nothing waits for you.")
