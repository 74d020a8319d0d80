"""`tacit agent space`: a document that several agents keep together.

A2ACP-197, A2ACP-203, A2ACP-205, A2ACP-206.
"""

from __future__ import annotations

import json
import shlex
from typing import Any, TypeVar

import click

from tacit.agent.terminal.commands.asking import call
from tacit.agent.terminal.commands.values import plain, who
from tacit.base import agent_operations as operations
from tacit.base import agent_results as results
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.errors import Unavailable

Answer = TypeVar("Answer")


def _asked(kind: type[Answer], **given: object) -> Answer:
    """The answer to one thing with spaces, which is of this kind."""
    answer = call(operations.SPACE, **given)
    if not isinstance(answer, kind):
        raise Unavailable("the running agent is of another version: stop it and start it again")
    return answer


@click.group()
def space() -> None:
    """A place that several people's agents keep together: fields, who wrote them, what changed."""


def _line(found: results.SpaceLine | results.WholeSpace, *, new: int) -> str:
    news = f", {new} new" if new else ""
    members = len(found.participants)
    return f"{found.space_id}  {found.title}  ({found.status}, {members} members{news})"


def _change(one: results.SpaceChange) -> str:
    said = "taken away" if one.deleted else plain(one.value)
    lost = "  (did not stand: somebody wrote it at the same time)" if one.lost else ""
    before = "" if one.before is None else f"  (was {plain(one.before)})"
    mark = "*" if one.new else " "
    return f"{mark} {one.at[:16]}  {who(one.by)}  {one.field}: {said}{before}{lost}"


def _text(found: results.WholeSpace) -> str:
    fields = [
        f"  {one.field}: {plain(one.value)}   ({who(one.by)}, {one.at[:16]})"
        + (" not told to the others yet" if one.pending else "")
        for one in found.fields
    ]
    members = [f"  {who(one.agent)}: {one.level}, {one.status}" for one in found.members]
    changes = [_change(one) for one in found.changes if one.new]
    return "\n".join(
        [
            _line(found, new=0),
            *members,
            *(fields or ["  nothing is written yet"]),
            *(["new since you last looked:", *changes] if changes else []),
        ]
    )


def _outcome(found: results.SpaceOutcome) -> str:
    if found.status == "asked":
        return (
            "Not written yet: not everybody in the space may know this by your permissions."
            f" tacit agent answer {found.question_id} --confirm"
        )
    return "written"


@space.command("new")
@click.argument("title")
@click.option("--with", "invite", metavar="ADDRESS", multiple=True, help="Invite somebody; repeatable.")
@json_option
@reported
def space_new(title: str, invite: tuple[str, ...], *, as_json: bool) -> None:
    """Begin a space."""
    found = _asked(results.WholeSpace, do="new", title=title, invite=list(invite))
    show(found, _text(found), as_json=as_json)


@space.command("list")
@json_option
@reported
def space_list(*, as_json: bool) -> None:
    """The spaces that your agent keeps."""
    found = _asked(results.Spaces, do="list")
    show(
        found,
        "\n".join(_line(line, new=line.new) for line in found.spaces) or "there is no space",
        as_json=as_json,
    )


@space.command("show")
@click.argument("space_id")
@json_option
@reported
def space_show(space_id: str, *, as_json: bool) -> None:
    """Everything in a space, and what changed since you last looked."""
    found = _asked(results.WholeSpace, do="show", space_id=space_id)
    show(found, _text(found), as_json=as_json)


def _value(text: str) -> Any:
    """JSON where it is an object, a list, a number or a truth value; else the text itself."""
    try:
        found = json.loads(text, parse_constant=lambda _: None)
    except ValueError:
        return text
    return text if found is None else found


@space.command("set")
@click.argument("space_id")
@click.argument("field")
@click.argument("value")
@json_option
@reported
def space_set(space_id: str, field: str, value: str, *, as_json: bool) -> None:
    """Write a field: text, or JSON; each item of a list becomes a field of its own."""
    found = _asked(results.SpaceOutcome, do="set", space_id=space_id, field=field, value=_value(value))
    show(found, _outcome(found), as_json=as_json)


@space.command("unset")
@click.argument("space_id")
@click.argument("field")
@json_option
@reported
def space_unset(space_id: str, field: str, *, as_json: bool) -> None:
    """Take a field away."""
    found = _asked(results.SpaceOutcome, do="unset", space_id=space_id, field=field)
    show(found, _outcome(found), as_json=as_json)


@space.command("link")
@click.argument("space_id")
@click.argument("field")
@click.argument("url")
@click.option("--name", default="", help="What it is called.")
@json_option
@reported
def space_link(space_id: str, field: str, url: str, name: str, *, as_json: bool) -> None:
    """Write a field that links to something outside."""
    found = _asked(results.SpaceOutcome, do="link", space_id=space_id, field=field, url=url, name=name)
    show(found, _outcome(found), as_json=as_json)


@space.command("open")
@click.argument("space_id")
@click.argument("field")
@json_option
@reported
def space_open(space_id: str, field: str, *, as_json: bool) -> None:
    """What a link leads to, by the MCP tool for such links; without one the link itself."""
    found = call(operations.SPACE_OPEN, space_id=space_id, field=field)
    show(found, found.text, as_json=as_json)


@space.command("tool")
@click.argument("name")
@click.argument("prefix")
@click.argument("command")
@click.argument("tool")
@click.argument("argument")
@json_option
@reported
def space_tool(name: str, prefix: str, command: str, tool: str, argument: str, *, as_json: bool) -> None:
    """Open links that begin with PREFIX by TOOL of the MCP server COMMAND; the link is its ARGUMENT."""
    definition = {"prefix": prefix, "argv": shlex.split(command), "tool": tool, "argument": argument}
    found = call(operations.SPACE_TOOL, name=name, definition=definition)
    show(found, "\n".join(found.tools), as_json=as_json)


@space.command("invite")
@click.argument("space_id")
@click.argument("address")
@click.option("--level", default="", metavar="LEVEL", help="read-all, write-own-fields or full-write.")
@json_option
@reported
def space_invite(space_id: str, address: str, level: str, *, as_json: bool) -> None:
    """Invite somebody; their owner is asked."""
    found = _asked(results.WholeSpace, do="invite", space_id=space_id, who=address, level=level)
    show(found, _text(found), as_json=as_json)


@space.command("level")
@click.argument("space_id")
@click.argument("address")
@click.argument("level", metavar="read-all|write-own-fields|full-write|removed")
@json_option
@reported
def space_level(space_id: str, address: str, level: str, *, as_json: bool) -> None:
    """What a member of a space of yours may write; `removed` takes them out."""
    found = _asked(results.WholeSpace, do="level", space_id=space_id, who=address, level=level)
    show(found, _text(found), as_json=as_json)


@space.command("notify")
@click.argument("space_id")
@click.argument("what", metavar="mentions_me|all|none")
@json_option
@reported
def space_notify(space_id: str, what: str, *, as_json: bool) -> None:
    """Of which changes you are told: what concerns you, all, or none."""
    found = _asked(results.SpaceNotify, do="notify", space_id=space_id, what=what)
    show(found, f"you are told of: {found.notify}", as_json=as_json)


@space.command("leave")
@click.argument("space_id")
@json_option
@reported
def space_leave(space_id: str, *, as_json: bool) -> None:
    """Leave a space; what your agent kept of it is erased."""
    found = _asked(results.SpaceOutcome, do="leave", space_id=space_id)
    show(found, "left", as_json=as_json)
