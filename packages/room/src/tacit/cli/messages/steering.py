"""`tacit why`, `edit`, `delete`, `preview`, `attention`: who is asked, who stays quiet, and the reason."""

from __future__ import annotations

import json
from typing import Any

import click

from tacit.base.commands.terminal import Table, styled
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

_STYLES = {"must_respond": "bold", "may_respond": "", "ack_only": "dim", "must_not_respond": "dim"}


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT")
@pass_session
def why(session: CliSession, name: str, event: str) -> None:
    """Say who was asked by EVENT (its id or #number), who stayed quiet, and why."""
    group_id = session.resolve_group(name)
    found = session.resolve_event(group_id, event)
    answer = session.hub(group_id).call("decisions", {"group_id": group_id, "event_id": found.id})
    session.answer(answer, lambda: _explain(session, answer))


def _explain(session: CliSession, answer: dict[str, Any]) -> None:
    out = session.out
    out.print(show.plain(f"#{answer['seq']}  {answer['sentence']}."), style="bold")
    if answer["deleted"]:
        out.print("The message was deleted since.", style="dim")
    elif answer["replaced_by"]:
        out.print("The message was edited since; look at the newer form.", style="dim")
    for one in answer["decisions"]:
        said = styled(show.plain(f"  {one['sentence']}"), _STYLES[one["policy"]])
        out.print(said + styled(f"  [{_state(one)}]", "cyan"))
        work = one.get("work")
        if work and work["state"] not in {"answered", "called_off"}:
            told = ". ".join(filter(None, (work["sentence"], work["now"]))).rstrip(".")
            out.print(show.plain(f"    {told}."), style="red" if work["state"] == "failed" else "dim")
    if answer["quiet"]:
        out.print(show.plain(f"  {answer['quiet_sentence']}"), style="dim")
    spent, saved = answer["prompt_bytes"], answer["saved_bytes"]
    out.print(f"  {spent} bytes went into prompts, {saved} did not have to", style="dim")


def _state(one: dict[str, Any]) -> str:
    state = str(one["state"]).replace("_", " ")
    if one.get("progress"):
        total = one["progress"]["total"]
        state += f" {one['progress']['value']:g}" + (f"/{total:g}" if total else "")
    if one.get("deadline") and not one["disposition"]:
        state += f", until {one['deadline'][11:16]} UTC"
    return state


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("text", nargs=-1, required=True)
@click.option("--to", multiple=True, metavar="WHO", help="Recipients.")
@click.option("--reply-to", metavar="EVENT", help="The message that it would answer.")
@pass_session
def preview(
    session: CliSession, name: str, text: tuple[str, ...], to: tuple[str, ...], reply_to: str | None
) -> None:
    """Say whom a message would oblige, without sending it."""
    group_id = session.resolve_group(name)
    data: dict[str, Any] = {"text": " ".join(text)}
    data |= {"to": list(to)} if to else {}
    data |= {"reply_to": session.resolve_event(group_id, reply_to).id} if reply_to else {}
    answer = session.hub(group_id).call("preview", {"group_id": group_id, "data": data})
    session.answer(answer, lambda: session.out.print(answer["sentence"]))


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT")
@click.argument("text", nargs=-1, required=True)
@pass_session
def edit(session: CliSession, name: str, event: str, text: tuple[str, ...]) -> None:
    """Put a new TEXT in the place of a message of your own. The ledger keeps the first one."""
    group_id = session.resolve_group(name)
    found = session.resolve_event(group_id, event)
    params = {"group_id": group_id, "event_id": found.id, "text": " ".join(text)}
    answer = session.hub(group_id).call("edit", params, repeatable=False)
    session.answer(answer, lambda: session.out.print("edited", style="dim"))


@click.command()
@click.argument("name", metavar="GROUP")
@click.argument("event", metavar="EVENT")
@pass_session
def delete(session: CliSession, name: str, event: str) -> None:
    """Take a message back: its text and files go for good."""
    group_id = session.resolve_group(name)
    found = session.resolve_event(group_id, event)
    answer = session.hub(group_id).call("delete", {"group_id": group_id, "event_id": found.id})
    session.answer(answer, lambda: session.out.print("deleted", style="dim"))


@click.group()
def attention() -> None:
    """Steer agents, and set the numbers that attention goes by."""


@attention.command("settings")
@click.argument("name", metavar="GROUP")
@click.argument("changes", nargs=-1, metavar="[NAME=VALUE]...")
@pass_session
def settings(session: CliSession, name: str, changes: tuple[str, ...]) -> None:
    """Show the settings of a group, or change some of them."""
    group_id = session.resolve_group(name)
    hub = session.hub(group_id)
    if changes:
        wanted = dict(_change(one) for one in changes)
        answer = hub.call("change_rules", {"group_id": group_id, "settings": wanted})
        for warning in answer["warnings"]:
            session.err.print(warning, style="yellow")
        session.answer(answer, lambda: session.out.print("changed", style="dim"))
        return
    found = hub.call("rules", {"group_id": group_id})["settings"]

    def table_of() -> None:
        table = Table("", "")
        for key, value in found.items():
            table.add(key, json.dumps(value))
        session.out.print(table)

    session.answer(found, table_of)


def _change(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise click.UsageError("a change is written NAME=VALUE")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        raise click.UsageError(f"{name}: a value is a number, true, false or a list") from None


@attention.command("steer")
@click.argument("name", metavar="GROUP")
@click.argument(
    "op", type=click.Choice(["cancel", "reassign", "approve", "refuse", "revoke", "leave", "return"])
)
@click.option("--event", metavar="EVENT", help="The message, by its id or #number.")
@click.option("--agent", metavar="NAME", help="The agent that is meant.")
@click.option("--to", metavar="NAME", help="Who takes over.")
@click.option("--approval", metavar="ID", help="The request for approval.")
@pass_session
def steer(
    session: CliSession,
    name: str,
    op: str,
    event: str | None,
    agent: str | None,
    to: str | None,
    approval: str | None,
) -> None:
    """Cancel or reassign a message, answer an approval, send an agent out or call it back."""
    group_id = session.resolve_group(name)
    params: dict[str, Any] = {"group_id": group_id, "op": op}
    params |= {"event_id": session.resolve_event(group_id, event).id} if event else {}
    params |= {
        key: value for key, value in (("agent", agent), ("to", to), ("approval_id", approval)) if value
    }
    answer = session.hub(group_id).call("steer", params, repeatable=False)
    session.answer(answer, lambda: session.out.print("done", style="dim"))
