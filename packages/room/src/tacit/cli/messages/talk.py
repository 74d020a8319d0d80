"""`tacit send`, `reply`, `ack`, `read`, `react`, `inbox`, `tail`, `search`, `relay`: talking."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from tacit.client import Appended, Event


def _said(session: CliSession, done: Appended, what: str, effect: dict[str, Any] | None = None) -> None:
    again = " (it was there already)" if done.duplicate else ""
    value: dict[str, Any] = {"event": done.event, "duplicate": done.duplicate}
    shown = effect if effect is not None and effect["agents"] and not done.duplicate else None
    if shown is not None:
        value["attention"] = shown

    def human() -> None:
        session.out.print(f"{what} #{done.seq}{again}", style="dim")
        if shown is not None:
            session.out.print(show.plain(shown["sentence"]), style="yellow" if shown["unknown"] else "dim")

    session.answer(value, human)


def _effect(session: CliSession, group_id: str, **data: Any) -> dict[str, Any]:
    """What sending this will do: who must reply, who may, and which of its names nobody has."""
    params = {"group_id": group_id, "data": {name: value for name, value in data.items() if value}}
    return session.hub(group_id).call("preview", params)


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("text", nargs=-1)
@click.option("--to", multiple=True, metavar="WHO", help="An actor, @all, @peers, @foreman or @user.")
@click.option("--attention", is_flag=True, help="Ask every recipient for an acknowledgement.")
@click.option("--attach", multiple=True, type=click.Path(path_type=Path, exists=True), help="A file.")
@click.option("--client-id", help="Idempotency key of your own.")
@pass_session
def send(
    session: CliSession,
    name: str,
    text: tuple[str, ...],
    to: tuple[str, ...],
    attention: bool,
    attach: tuple[Path, ...],
    client_id: str | None,
) -> None:
    """Send a message. Without TEXT, or with -, it is read from standard input."""
    group_id = session.resolve_group(name)
    hub = session.hub(group_id)
    words = " ".join(text) if text and text != ("-",) else ""
    if not words and not attach:
        words = sys.stdin.read().rstrip("\n")
    more = {"client_id": client_id} if client_id else {}
    effect = _effect(session, group_id, text=words, to=list(to), priority="attention" if attention else "")
    attachments = [hub.upload(group_id, path) for path in attach]
    done = hub.send(group_id, words, to=to, attention=attention, attachments=attachments, **more)
    _said(session, done, "sent", effect)


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT")
@click.argument("text", nargs=-1, required=True)
@click.option("--to", multiple=True, metavar="WHO", help="Recipients; everyone when not given.")
@pass_session
def reply(session: CliSession, name: str, event: str, text: tuple[str, ...], to: tuple[str, ...]) -> None:
    """Reply to a message, named by its id or its number (#12)."""
    group_id = session.resolve_group(name)
    found = session.resolve_event(group_id, event)
    effect = _effect(session, group_id, text=" ".join(text), reply_to=found.id, to=list(to))
    done = session.hub(group_id).send(group_id, " ".join(text), reply_to=found.id, to=to)
    _said(session, done, "sent", effect)


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT")
@pass_session
def ack(session: CliSession, name: str, event: str) -> None:
    """Acknowledge an attention message."""
    group_id = session.resolve_group(name)
    found = session.resolve_event(group_id, event)
    _said(session, session.hub(group_id).ack(group_id, found.id), "acknowledged by")


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT", required=False)
@pass_session
def read(session: CliSession, name: str, event: str | None) -> None:
    """Mark messages as read, up to EVENT or up to the newest one."""
    group_id = session.resolve_group(name)
    hub = session.hub(group_id)
    if event is not None:
        event_id = session.resolve_event(group_id, event).id
    else:
        unread = hub.inbox(group_id, limit=1000)
        if not unread.unread:
            session.answer({"event": None}, lambda: session.out.print("nothing unread", style="dim"))
            return
        event_id = unread.unread[-1].id
    _said(session, hub.read(group_id, event_id), "read, noted by")


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT")
@click.argument("emoji")
@click.option("--remove", is_flag=True, help="Take the reaction back.")
@pass_session
def react(session: CliSession, name: str, event: str, emoji: str, remove: bool) -> None:
    """React to a message."""
    group_id = session.resolve_group(name)
    found = session.resolve_event(group_id, event)
    done = session.hub(group_id).react(group_id, found.id, emoji, removed=remove)
    _said(session, done, "noted by")


@click.command()
@click.argument("name", metavar="GROUP")
@click.option("--for", "actor_id", metavar="NAME", help="Somebody else's inbox (owner only).")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@pass_session
def inbox(session: CliSession, name: str, actor_id: str | None, limit: int) -> None:
    """What waits for you: acknowledgements owed, notices, unread messages."""
    group_id = session.resolve_group(name)
    box = session.hub(group_id).inbox(group_id, actor_id, limit)
    show.say_damaged(box.damaged)
    session.answer(box, lambda: show.inbox(session.out, box))


@click.command()
@click.argument("name", metavar="GROUP")
@click.option("--lines", "-n", default=20, show_default=True, help="How much of the past to show.")
@click.option("--since", type=int, metavar="SEQ", help="Start after this position instead.")
@click.option("--kinds", help="Only these, such as chat.message,system.* ; default: all.")
@click.option("--records", is_flag=True, help="Show what the hub writes about attention, too.")
@click.option("--no-follow", is_flag=True, help="Stop at the end instead of waiting for more.")
@pass_session
def tail(
    session: CliSession,
    name: str,
    lines: int,
    since: int | None,
    kinds: str | None,
    records: bool,
    no_follow: bool,
) -> None:
    """Watch a group live; goes on by itself when the hub comes back. Stop with Ctrl-C."""
    group_id = session.resolve_group(name)
    hub = session.hub(group_id)
    wanted = kinds.split(",") if kinds else None
    last = int(hub.group(group_id)["last_seq"])
    start = since if since is not None else _last_messages(session, group_id, last, lines)
    hidden = () if records or kinds or session.as_json else ("x.c2a.",)

    def tell(event: Event) -> None:
        if event.kind in show.CHANGES or not event.kind.startswith(hidden):
            session.answer(event, lambda: show.events(session.out, [event]))

    if no_follow:
        while start < last:
            page = hub.events(group_id, since_seq=start, kinds=wanted, limit=1000)
            show.say_damaged(page.damaged)
            for event in page.events:
                tell(event)
            start = page.next_cursor
        return
    for event in hub.follow(group_id, since_seq=start, kinds=wanted):
        tell(event)


def _last_messages(session: CliSession, group_id: str, last: int, lines: int) -> int:
    """The position before the last so many messages, or events where there are fewer messages."""
    window = session.hub(group_id).window(group_id, limit=min(max(lines, 1), 1000)) if lines else []
    return min(window[0].seq - 1 if window else last, max(0, last - lines))


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@pass_session
def search(session: CliSession, name: str, words: tuple[str, ...], limit: int) -> None:
    """Messages that contain every word, newest first."""
    group_id = session.resolve_group(name)
    found = session.hub(group_id).search(group_id, " ".join(words), limit)
    show.say_damaged(found.damaged)

    def human() -> None:
        if not found:
            session.out.print("nothing found", style="dim")
        show.events(session.out, found)

    session.answer(found, human)


@click.command()
@click.argument("source", metavar="FROM_GROUP")
@click.argument("event", metavar="EVENT")
@click.argument("destination", metavar="TO_GROUP")
@click.option("--to", multiple=True, metavar="WHO", help="Recipients there; default @all.")
@click.option("--text", help="Instead of the whole text: begin it with [Summarized].")
@click.option("--no-record", is_flag=True, help="Leave no send record in the source group.")
@pass_session
def forward(
    session: CliSession,
    source: str,
    event: str,
    destination: str,
    to: tuple[str, ...],
    text: str | None,
    no_record: bool,
) -> None:
    """Bring a message from one group into another."""
    from_id, to_id = session.resolve_group(source), session.resolve_group(destination)
    found = session.resolve_event(from_id, event)
    done = session.hub().relay(to_id, from_id, found.id, to=to or None, text=text, record=not no_record)
    _said(session, done, "relayed as")


@click.command("source")
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT")
@pass_session
def source(session: CliSession, name: str, event: str) -> None:
    """Open the source message of a relayed one, or say plainly that it is unavailable."""
    group_id = session.resolve_group(name)
    found = session.resolve_event(group_id, event)
    from tacit.client.results import SourceUnavailable

    origin = session.hub(group_id).source_of(found)
    if origin is None:
        session.answer({"source": None}, lambda: session.out.print("this message was not relayed"))
    elif isinstance(origin, SourceUnavailable):
        session.answer({"unavailable": origin}, lambda: session.out.print(str(origin), style="yellow"))
    else:
        session.answer({"source": origin.event}, lambda: show.events(session.out, [origin.event]))
