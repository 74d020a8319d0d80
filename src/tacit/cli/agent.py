"""`tacit agent`: the group of commands. Each stands in a module that knows nothing of the group."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from tacit.base.commands.folders import beside_hub
from tacit.cli import (
    agent_attend,
    agent_brain,
    agent_calendar,
    agent_facts,
    agent_find,
    agent_group,
    agent_guest,
    agent_join,
    agent_mcp,
    agent_memory,
    agent_nudge,
    agent_page,
    agent_post,
    agent_setup,
    agent_skill,
    agent_space,
    agent_thoughts,
    arrange,
)
from tacit.cli.agent_help import EPILOG, Sections


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
    agent_skill.check(context.invoked_subcommand)
    context.obj = (data, passphrase_file, trust)
    if context.invoked_subcommand is None:
        agent_attend.attend(context)


COMMANDS: Final[tuple[click.Command, ...]] = (
    agent_post.register,
    agent_post.protect,
    agent_post.keys,
    agent_post.contact,
    agent_post.setting,
    agent_post.clock,
    agent_post.send,
    agent_post.listen,
    agent_post.take_over,
    agent_post.repairs,
    agent_post.backup,
    agent_post.restore,
    agent_page.page_link,
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
    agent_calendar.calendar,
    arrange.action,
    arrange.demo,
    arrange.schema,
    agent_attend.inbox,
    agent_brain.brain,
    agent_find.me_command,
    agent_find.add_command,
    agent_find.find_command,
    agent_group.group,
    agent_group.transfer,
    agent_guest.guest,
    agent_join.join,
    agent_mcp.mcp,
    agent_memory.memory,
    agent_memory.known,
    agent_nudge.nudge,
    agent_setup.setup_command,
    agent_facts.facts,
    agent_space.space,
    agent_thoughts.thoughts,
)

for command in COMMANDS:
    agent.add_command(command)
