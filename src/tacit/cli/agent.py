"""`tacit agent`: the group of commands. Each stands in a module that knows nothing of the group."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from tacit.cli import agent_skill
from tacit.cli.agent_help import EPILOG, Sections
from tacit.cli.session import beside_hub

PLACES: Final[dict[str, str]] = {
    "register": "tacit.cli.agent_post:register",
    "protect": "tacit.cli.agent_post:protect",
    "keys": "tacit.cli.agent_post:keys",
    "contact": "tacit.cli.agent_post:contact",
    "setting": "tacit.cli.agent_post:setting",
    "clock": "tacit.cli.agent_post:clock",
    "send": "tacit.cli.agent_post:send",
    "listen": "tacit.cli.agent_post:listen",
    "take-over": "tacit.cli.agent_post:take_over",
    "repairs": "tacit.cli.agent_post:repairs",
    "backup": "tacit.cli.agent_post:backup",
    "restore": "tacit.cli.agent_post:restore",
    "page": "tacit.cli.agent_page:page_link",
    "run": "tacit.cli.arrange:run",
    "tick": "tacit.cli.arrange:tick",
    "ask": "tacit.cli.arrange:ask",
    "pending": "tacit.cli.arrange:pending",
    "answer": "tacit.cli.arrange:answer",
    "threads": "tacit.cli.arrange:threads",
    "thread": "tacit.cli.arrange:thread",
    "disclosures": "tacit.cli.arrange:disclosures",
    "why": "tacit.cli.arrange:why",
    "stop": "tacit.cli.arrange:stop",
    "resume": "tacit.cli.arrange:resume",
    "change": "tacit.cli.arrange:change",
    "fork": "tacit.cli.arrange:fork",
    "notices": "tacit.cli.arrange:notices",
    "profile": "tacit.cli.arrange:profile",
    "permissions": "tacit.cli.arrange:permissions",
    "autonomy": "tacit.cli.arrange:autonomy",
    "calendar": "tacit.cli.agent_calendar:calendar",
    "action": "tacit.cli.arrange:action",
    "demo": "tacit.cli.arrange:demo",
    "schema": "tacit.cli.arrange:schema",
    "inbox": "tacit.cli.agent_attend:inbox",
    "brain": "tacit.cli.agent_brain:brain",
    "me": "tacit.cli.agent_find:me_command",
    "add": "tacit.cli.agent_find:add_command",
    "find": "tacit.cli.agent_find:find_command",
    "group": "tacit.cli.agent_group:group",
    "transfer": "tacit.cli.agent_group:transfer",
    "guest": "tacit.cli.agent_guest:guest",
    "join": "tacit.cli.agent_join:join",
    "mcp": "tacit.cli.agent_mcp:mcp",
    "memory": "tacit.cli.agent_memory:memory",
    "known": "tacit.cli.agent_memory:known",
    "nudge": "tacit.cli.agent_nudge:nudge",
    "setup": "tacit.cli.agent_setup:setup_command",
    "facts": "tacit.cli.agent_facts:facts",
    "space": "tacit.cli.agent_space:space",
    "thoughts": "tacit.cli.agent_thoughts:thoughts",
}
"""Where each command is; it is imported when it is used."""


@click.group(cls=Sections, places=PLACES, epilog=EPILOG, invoke_without_command=True)
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
        from tacit.cli import agent_attend

        agent_attend.attend(context)
