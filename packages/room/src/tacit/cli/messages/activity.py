"""`tacit activity`: what agents did about a message, from their own records."""

from __future__ import annotations

from typing import Any

import click

from tacit.base.commands.terminal import styled
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

_WORDS = {
    "command": "ran",
    "edit": "edited",
    "tool": "used",
    "plan": "plan",
    "text": "said",
    "thought": "thought",
}
_STYLES = {"+": "green", "-": "red", "@": "magenta"}


@click.command()
@click.argument("group")
@click.argument("event", metavar="EVENT")
@click.option("--forget", is_flag=True, help="Have the agents remove their records of it.")
@pass_session
def activity(session: CliSession, group: str, event: str, forget: bool) -> None:
    """Show the commands, edits and words of the turns about EVENT (its id or #number)."""
    group_id = session.resolve_group(group)
    found = session.resolve_event(group_id, event)
    params: dict[str, Any] = {"group_id": group_id, "event_id": found.id, "forget": forget}
    answer = session.hub(group_id).call("activity", params, repeatable=False)
    session.answer(answer, lambda: _show(session, answer))


def _show(session: CliSession, answer: dict[str, Any]) -> None:
    out = session.out
    for name in answer.get("forgotten", ()):
        out.print(f"{show.plain(name)} has forgotten it", style="dim")
    for card in answer.get("cards", ()):
        out.print(f"{show.plain(card['session'])}  {card['state']}", style="bold")
        for item in card["items"]:
            code = f" (exit {item['exitCode']})" if item.get("exitCode") else ""
            line = styled(f"  {_WORDS[item['kind']]:8}", "cyan")
            line += show.plain(str(item.get("title", "")))
            line += styled("" if item["state"] == "done" else f"  {item['state']}", "yellow")
            line += styled(code, "red")
            out.print(line)
            for row in show.plain(str(item.get("text", ""))).splitlines():
                out.print(f"    {row}", style=_STYLES.get(row[:1], "dim"))
    for name in answer.get("away", ()):
        out.print(f"{show.plain(name)} is away, and its record with it", style="dim")
    if not answer.get("cards") and not answer.get("away") and "forgotten" not in answer:
        out.print("no agent has a record of it", style="dim")
