"""How events, groups and inboxes look to a person at a terminal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.base.commands.terminal import Table, bold, styled
from tacit.base.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def line(event: Event) -> str:  # noqa: PLR0912 - one case a kind
    """One event as a line."""
    data = event.data
    shown = styled(f"#{event.seq:<5} {clock(event)} ", "dim")
    by = plain(str(data.get("by") or event.by)) if event.kind in CHANGES else event.by
    shown += styled(by, f"bold {colour(by)}")
    match event.kind:
        case "chat.message":
            if to := data.get("to"):
                shown += styled(f" → {plain(' '.join(to))}", "dim")
            if data.get("priority") == "attention":
                shown += styled(" !", "bold red")
            shown += "  " + plain(data["text"])
            if attachments := data.get("attachments"):
                names = ", ".join(plain(one.get("title") or one["path"][:12]) for one in attachments)
                shown += styled(f"  [{names}]", "dim")
            if data.get("src_group_id"):
                shown += styled("  (relayed)", "dim")
        case "chat.ack":
            shown += styled(f" acknowledged {data['event_id'][-8:]}", "dim")
        case "chat.read":
            shown += styled(f" read up to {data['event_id'][-8:]}", "dim")
        case "chat.reaction":
            verb = "took back" if data.get("removed") else "reacted"
            shown += styled(f" {verb} {plain(data['emoji'])}", "dim")
        case "system.notify":
            shown += styled(f" ⚑ {plain(data.get('title') or data.get('message') or data['kind'])}", "yellow")
        case "x.c2a.edit" | "x.c2a.delete":
            shown += _changed(event)
        case "actor.add" | "actor.remove" | "actor.update":
            verb = {"add": "added", "remove": "removed", "update": "changed"}[event.kind.split(".")[1]]
            shown += styled(f" {verb} {data['actor_id']}", "dim")
        case "group.create":
            shown += styled(f" opened “{plain(data['title'])}”", "dim")
        case _:
            shown += styled(f" {event.kind}", "dim italic")
    return shown


def _changed(event: Event) -> str:
    """A message in its new form, or taken back: the line above it still has what was said first."""
    if event.kind == "x.c2a.edit":
        edited = styled(f" edited {str(event.data['supersedes'])[-8:]}", "dim")
        return edited + "  " + plain(str(event.data["text"]))
    return styled(f" took back {str(event.data['event_id'])[-8:]}", "dim")


def events(out: Terminal, many: list[Event]) -> None:
    """Events, one below the other."""
    for event in many:
        out.print(line(event))


def groups(out: Terminal, many: list[dict[str, Any]]) -> None:
    """A table of groups."""
    if not many:
        out.print("No groups yet. Open one: " + bold('tacit group new "My first room"'))
        return
    table = Table("title", "id", "actors", "events", right={"events"})
    for one in many:
        names = " ".join(actor["actor_id"] for actor in one["actors"]) or "-"
        table.add(plain(one["title"]), one["group_id"], plain(names), str(one["last_seq"]))
    out.print(table)


def actors(out: Terminal, many: list[dict[str, Any]]) -> None:
    """A table of actors."""
    if not many:
        out.print("No actors yet. Add one: " + bold("tacit actor add GROUP NAME"))
        return
    table = Table("actor", "role", "title", "roles")
    for one in many:
        cells = (one["actor_id"], one["role"], one["title"], " ".join(one["roles"]))
        table.add(*(plain(cell or "-") for cell in cells))
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
