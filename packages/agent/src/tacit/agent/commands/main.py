"""`tacit agent`: the group of commands. Each stands in a module that knows nothing of the group."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from tacit.agent.commands import skill
from tacit.agent.commands.help import EPILOG, Sections
from tacit.base.commands.folders import beside_hub
from tacit.base.io.contributions import AGENT_COMMANDS, contributed

PLACES: Final[dict[str, str]] = {
    "register": "tacit.agent.commands.post:register",
    "protect": "tacit.agent.commands.post:protect",
    "keys": "tacit.agent.commands.post:keys",
    "contact": "tacit.agent.commands.post:contact",
    "setting": "tacit.agent.commands.post:setting",
    "clock": "tacit.agent.commands.post:clock",
    "send": "tacit.agent.commands.post:send",
    "listen": "tacit.agent.commands.post:listen",
    "take-over": "tacit.agent.commands.post:take_over",
    "repairs": "tacit.agent.commands.post:repairs",
    "backup": "tacit.agent.commands.post:backup",
    "restore": "tacit.agent.commands.post:restore",
    "page": "tacit.agent.commands.page:page_link",
    "run": "tacit.agent.commands.arrange:run",
    "tick": "tacit.agent.commands.arrange:tick",
    "ask": "tacit.agent.commands.arrange:ask",
    "pending": "tacit.agent.commands.arrange:pending",
    "answer": "tacit.agent.commands.arrange:answer",
    "threads": "tacit.agent.commands.arrange:threads",
    "thread": "tacit.agent.commands.arrange:thread",
    "disclosures": "tacit.agent.commands.arrange:disclosures",
    "why": "tacit.agent.commands.arrange:why",
    "stop": "tacit.agent.commands.arrange:stop",
    "resume": "tacit.agent.commands.arrange:resume",
    "change": "tacit.agent.commands.arrange:change",
    "fork": "tacit.agent.commands.arrange:fork",
    "notices": "tacit.agent.commands.arrange:notices",
    "profile": "tacit.agent.commands.arrange:profile",
    "permissions": "tacit.agent.commands.arrange:permissions",
    "autonomy": "tacit.agent.commands.arrange:autonomy",
    "calendar": "tacit.agent.commands.calendar:calendar",
    "action": "tacit.agent.commands.arrange:action",
    "demo": "tacit.agent.commands.arrange:demo",
    "schema": "tacit.agent.commands.arrange:schema",
    "inbox": "tacit.agent.commands.desk.attend:inbox",
    "brain": "tacit.agent.commands.brain:brain",
    "me": "tacit.agent.commands.find:me_command",
    "add": "tacit.agent.commands.find:add_command",
    "find": "tacit.agent.commands.find:find_command",
    "group": "tacit.agent.commands.group:group",
    "transfer": "tacit.agent.commands.group:transfer",
    "guest": "tacit.agent.commands.guest:guest",
    "mcp": "tacit.agent.commands.mcp:mcp",
    "memory": "tacit.agent.commands.memory:memory",
    "known": "tacit.agent.commands.memory:known",
    "nudge": "tacit.agent.commands.nudge:nudge",
    "setup": "tacit.agent.commands.setup:setup_command",
    "facts": "tacit.agent.commands.facts:facts",
    "space": "tacit.agent.commands.space:space",
    "thoughts": "tacit.agent.commands.thoughts:thoughts",
}
"""Where each command is; it is imported when it is used."""


@click.group(
    cls=Sections, places=PLACES | contributed(AGENT_COMMANDS), epilog=EPILOG, invoke_without_command=True
)
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
        from tacit.agent.commands.desk import attend

        attend.attend(context)
