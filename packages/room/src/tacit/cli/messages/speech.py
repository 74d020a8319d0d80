"""`tacit speak` and `tacit trace`: CLowl messages in a group."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import click

from tacit.base.errors import Refused
from tacit.base.strict_json import Malformed, parse
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session
from tacit.language import read_value, reconstruct
from tacit.language.trace_html import page
from tacit.language.trace_text import mermaid, tree_lines, trees

if TYPE_CHECKING:
    from tacit.language import Chronicle


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("message", metavar="JSON", default="-")
@pass_session
def speak(session: CliSession, name: str, message: str) -> None:
    """Send a CLowl message, given as JSON or on standard input; all its faults are listed if it has any."""
    group_id = session.resolve_group(name)
    text = sys.stdin.read() if message == "-" else message
    try:
        value = parse(text)
    except Malformed as fault:
        raise Refused("invalid_request", str(fault)) from fault
    if not isinstance(value, dict):
        raise Refused("invalid_request", "a CLowl message is a JSON object")
    try:
        done = session.hub(group_id).speak(group_id, cast("dict[str, Any]", value))
    except Refused as refused:
        for fault in cast("list[dict[str, str]]", refused.details.get("faults", [])):
            session.err.print(show.plain(f"  {fault['code']}  {fault['path']}  {fault['reason']}"))
        raise
    shown = {"event": done.event, "duplicate": done.duplicate}
    session.answer(shown, lambda: session.out.print(show.plain(f"#{done.seq}  {done.event.data['text']}")))


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("tid", metavar="TRACE")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "mermaid", "html"]),
    default="text",
    show_default=True,
    help="How to draw it.",
)
@pass_session
def trace(session: CliSession, name: str, tid: str, form: str) -> None:
    """A trace as the ledger tells it: the tree, how long each task took, what is missing or owed."""
    group_id = session.resolve_group(name)
    answer = session.hub(group_id).trace(group_id, tid)
    readings = (read_value(event["data"]["clowl"]) for event in answer["events"])
    chronicle = reconstruct(reading.message for reading in readings if reading.message is not None)
    session.answer(answer["trace"], lambda: _draw(session, chronicle, tid, form))


def _draw(session: CliSession, chronicle: Chronicle, tid: str, form: str) -> None:
    if form == "html":
        session.out.print(page(chronicle, title=f"Trace {tid}"))
        return
    for tree, kind in trees(chronicle):
        if tree.id == tid:
            lines = mermaid(tree) if form == "mermaid" else tree_lines(tree, kind=kind)
            for line in lines:
                session.out.print(line)
