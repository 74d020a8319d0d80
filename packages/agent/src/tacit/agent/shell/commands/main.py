"""`tacit agent`: the group of commands. Each stands in a module that knows nothing of the group."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from tacit.agent.shell.commands import skill
from tacit.agent.shell.commands.help import EPILOG, Sections
from tacit.agent.terminal.commands.asking import Invocation
from tacit.base.commands.folders import beside_hub
from tacit.base.io.contributions import AGENT_COMMANDS, contributed

PLACES: Final[dict[str, str]] = {
    "register": "tacit.agent.shell.commands.post:register",
    "protect": "tacit.agent.shell.commands.post:protect",
    "keys": "tacit.agent.shell.commands.post:keys",
    "contact": "tacit.agent.shell.commands.post:contact",
    "setting": "tacit.agent.shell.commands.post:setting",
    "clock": "tacit.agent.shell.commands.post:clock",
    "send": "tacit.agent.shell.commands.post:send",
    "listen": "tacit.agent.shell.commands.post:listen",
    "take-over": "tacit.agent.shell.commands.post:take_over",
    "repairs": "tacit.agent.shell.commands.post:repairs",
    "backup": "tacit.agent.shell.commands.post:backup",
    "restore": "tacit.agent.shell.commands.post:restore",
    "page": "tacit.agent.shell.commands.page:page_link",
    "run": "tacit.agent.shell.commands.arrange:run",
    "tick": "tacit.agent.shell.commands.arrange:tick",
    "ask": "tacit.agent.shell.commands.arrange:ask",
    "pending": "tacit.agent.shell.commands.arrange:pending",
    "answer": "tacit.agent.shell.commands.arrange:answer",
    "threads": "tacit.agent.shell.commands.arrange:threads",
    "thread": "tacit.agent.shell.commands.arrange:thread",
    "disclosures": "tacit.agent.shell.commands.arrange:disclosures",
    "why": "tacit.agent.shell.commands.arrange:why",
    "stop": "tacit.agent.shell.commands.arrange:stop",
    "resume": "tacit.agent.shell.commands.arrange:resume",
    "change": "tacit.agent.shell.commands.arrange:change",
    "fork": "tacit.agent.shell.commands.arrange:fork",
    "notices": "tacit.agent.shell.commands.arrange:notices",
    "profile": "tacit.agent.shell.commands.arrange:profile",
    "permissions": "tacit.agent.shell.commands.arrange:permissions",
    "autonomy": "tacit.agent.shell.commands.arrange:autonomy",
    "calendar": "tacit.agent.scheduling.commands.calendar:calendar",
    "action": "tacit.agent.shell.commands.arrange:action",
    "demo": "tacit.agent.shell.commands.arrange:demo",
    "schema": "tacit.agent.shell.commands.arrange:schema",
    "inbox": "tacit.agent.shell.commands.desk.attend:inbox",
    "brain": "tacit.agent.brain.commands.brain:brain",
    "me": "tacit.agent.contacts.commands.find:me_command",
    "add": "tacit.agent.contacts.commands.find:add_command",
    "find": "tacit.agent.contacts.commands.find:find_command",
    "group": "tacit.agent.groups.commands.group:group",
    "transfer": "tacit.agent.groups.commands.group:transfer",
    "guest": "tacit.agent.guests.commands.guest:guest",
    "mcp": "tacit.agent.shell.commands.mcp:mcp",
    "memory": "tacit.agent.memory.commands.memory:memory",
    "known": "tacit.agent.memory.commands.memory:known",
    "nudge": "tacit.agent.owner.commands.nudge:nudge",
    "setup": "tacit.agent.shell.commands.setup:setup_command",
    "facts": "tacit.agent.scheduling.commands.facts:facts",
    "space": "tacit.agent.spaces.commands.space:space",
    "thoughts": "tacit.agent.brain.commands.thoughts:thoughts",
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
    context.obj = Invocation(data, passphrase_file, trust, _for_a_moment)
    if context.invoked_subcommand is None:
        from tacit.agent.shell.commands.desk import attend

        attend.attend(context)


def _for_a_moment(command: str, given: dict[str, Any], wait: float) -> Any:
    from tacit.agent.shell.commands import arrange

    return arrange.for_a_moment(command, given, wait)
