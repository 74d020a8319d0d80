"""`tacit agent`: the group of commands. Each stands in a module that knows nothing of the group."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from tacit.agent.commands import (
    arrange,
    brain,
    calendar,
    facts,
    find,
    group,
    guest,
    mcp,
    memory,
    nudge,
    page,
    post,
    setup,
    skill,
    space,
    thoughts,
)
from tacit.agent.commands.desk import attend
from tacit.agent.commands.help import EPILOG, Sections
from tacit.base.commands.folders import beside_hub
from tacit.base.io.contributions import AGENT_COMMANDS, contributed, loaded


@click.group(cls=Sections, epilog=EPILOG, invoke_without_command=True)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=lambda: beside_hub("agent"),
    show_default="~/.local/share/tacit-agent",
    help="This agent's folder.",
)
@click.option(
    "--passphrase-file",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="TACIT_AGENT_PASSPHRASE_FILE",
    show_envvar=True,
    help="The passphrase of this agent's keys, in its first line; or TACIT_AGENT_PASSPHRASE.",
)
@click.option(
    "--trust", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Extra CA for relays (PEM)."
)
@click.pass_context
def agent(context: click.Context, data: Path, passphrase_file: Path | None, trust: Path | None) -> None:
    """Your agent: it arranges things with other people's agents, and tells nobody what you did not allow.

    Alone, at a terminal, it goes through what waits for you: one key an answer.
    """
    skill.check(context.invoked_subcommand)
    context.obj = (data, passphrase_file, trust)
    if context.invoked_subcommand is None:
        attend.attend(context)


COMMANDS: Final[tuple[click.Command, ...]] = (
    post.register,
    post.protect,
    post.keys,
    post.contact,
    post.setting,
    post.clock,
    post.send,
    post.listen,
    post.take_over,
    post.repairs,
    post.backup,
    post.restore,
    page.page_link,
    arrange.run,
    arrange.tick,
    arrange.ask,
    arrange.pending,
    arrange.answer,
    arrange.threads,
    arrange.thread,
    arrange.disclosures,
    arrange.why,
    arrange.stop,
    arrange.resume,
    arrange.change,
    arrange.fork,
    arrange.notices,
    arrange.profile,
    arrange.permissions,
    arrange.autonomy,
    calendar.calendar,
    arrange.action,
    arrange.demo,
    arrange.schema,
    attend.inbox,
    brain.brain,
    find.me_command,
    find.add_command,
    find.find_command,
    group.group,
    group.transfer,
    guest.guest,
    mcp.mcp,
    memory.memory,
    memory.known,
    nudge.nudge,
    setup.setup_command,
    facts.facts,
    space.space,
    thoughts.thoughts,
)

for command in COMMANDS:
    agent.add_command(command)

for place in contributed(AGENT_COMMANDS).values():
    agent.add_command(loaded(place))
