"""`tacit agent page`: the way from a terminal to the agent's own page."""

from __future__ import annotations

import contextlib
import sys
import webbrowser
from typing import TYPE_CHECKING, Final

import click

from tacit.agent.terminal.commands.asking import invocation
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.terminal import Terminal, styled
from tacit.base.errors import Refused
from tacit.base.io import agent_socket as socket
from tacit.base.io.private_file import write_private

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tacit.agent.shell.io.agent import Agent
    from tacit.agent.shell.io.page import Page

OFF: Final = "off"
USUAL: Final = "auto"
_HIGHEST: Final = 65_535


def _port(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value in {OFF, USUAL} or (value.isdecimal() and int(value) <= _HIGHEST):
        return value
    raise click.BadParameter("a port, `auto` or `off`")


page_option = click.option(
    "--page",
    default=USUAL,
    show_default=True,
    callback=_port,
    metavar="PORT|auto|off",
    help="Where this agent's own page is served, on this machine alone.",
)


@contextlib.asynccontextmanager
async def page_served(opened: Agent, wanted: str) -> AsyncGenerator[Page | None]:
    """Serve the agent's page beside it, if it is wanted."""
    from tacit.agent.shell.io import page

    if wanted == OFF:
        yield None
        return
    async with page.served(opened, None if wanted == USUAL else int(wanted)) as served:
        yield served


def show_way(served: Page | None) -> None:
    """Say how to get to the page."""
    if served is None:
        return
    if sys.stdout.isatty():
        Terminal().print(f"its page: {styled(served.link(), 'cyan')}  (this link works once)")
    else:
        # A link opens everything, and what is printed here may be kept in a log.
        Terminal().print(f"its page is at {served.address}; `tacit agent page` prints a link to it")


@click.command("page")
@click.argument("question_id", required=False)
@click.option("--open", "opens", is_flag=True, help="Open it in a browser at once.")
@json_option
@reported
def page_link(question_id: str | None, *, opens: bool, as_json: bool) -> None:
    """A link to the running agent's own page, at one question if you name it. It works once."""
    data = invocation().folder
    try:
        found = socket.ask(data, "page_link", {"question_id": question_id or ""})
    except ConnectionError:
        raise Refused(
            "not_running", "no agent runs in this folder; start it with `tacit agent run`"
        ) from None
    show(found, found["url"], as_json=as_json)
    if opens:
        # By a file of the owner's: every user of a machine can read what a program is started with.
        way = data / "page.html"
        write_private(way, f'<meta http-equiv="refresh" content="0;url={found["url"]}">'.encode())
        webbrowser.open(way.resolve().as_uri())
