"""`tacit agent` alone and `tacit agent inbox`: the two faces at a terminal, and what they do without one."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from tacit.agent.shell.commands import setup
from tacit.agent.shell.commands.arrange import opened_agent, pending_text
from tacit.agent.shell.commands.desk.line import line
from tacit.agent.terminal.commands.asking import call, invocation
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import reported
from tacit.base.commands.terminal import Terminal
from tacit.base.errors import Refused
from tacit.base.install_hint import install_hint

if TYPE_CHECKING:
    from pathlib import Path


@reported
def attend(context: click.Context) -> None:
    """Go through what waits; without a terminal, say what waits and end."""
    folder = invocation().folder
    if not sys.stdin.isatty():
        if not setup.identified(folder):
            click.echo(context.get_help())
            sys.exit(2)
        Terminal().print(pending_text(call(operations.PENDING)))
        return
    if not setup.identified(folder):
        setup.setup(context, {}, ask=True)
        if not setup.identified(folder):
            return
    asyncio.run(_attend(folder))


async def _attend(folder: Path) -> None:
    from tacit.agent.shell.commands.desk.prompt import LOST, Screen

    screen = None
    while True:
        async with line(folder, opened_agent) as behind:
            if not (await behind.call(operations.SETUP)).done:
                await setup.first_minute(behind, {}, ask=True)
            screen = Screen(behind) if screen is None else screen.again(behind)
            if await screen.run() != LOST:
                return
        Terminal().print("the running agent has stopped; this terminal goes on in its place", style="yellow")


@click.command()
@reported
def inbox() -> None:
    """What waits for you on a whole screen: questions, threads, notices, receipts."""
    if not sys.stdin.isatty():
        raise Refused("no_terminal", "the inbox needs a terminal; `tacit agent pending` prints what waits")
    try:
        from tacit.agent.shell.commands.desk.inbox import LOST, Inbox
    except ModuleNotFoundError:
        missing = f"the full-screen inbox is not installed; add it with: {install_hint('agent', 'inbox')}"
        raise Refused("no_textual", missing) from None
    folder = invocation().folder

    async def work() -> None:
        face: Inbox | None = None
        while True:
            async with line(folder, opened_agent) as behind:
                face = Inbox(behind, face)
                if await face.attend() != LOST:
                    return

    asyncio.run(work())
