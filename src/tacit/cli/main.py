"""The `tacit` command: global options, all subcommands, and what each kind of error means at the end.

Subcommands are imported when they are used: `tacit send` does not load the hub.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final, NoReturn, cast

import click

from tacit import __version__
from tacit.base.commands.folders import default_data
from tacit.base.commands.lazy import Lazy
from tacit.base.errors import Corrupt, Refused, TacitError, Unavailable
from tacit.base.io.contributions import TACIT_COMMANDS, contributed, loaded
from tacit.cli.session import CliSession

EPILOG: Final = """\b
A first minute:
  tacit up                                  run the hub (in a terminal of its own)
  tacit group new "My first room"           open a group
  tacit actor add "My first room" ada       add an agent; its token is kept here
  tacit tail "My first room"                watch it (in another terminal)
  tacit send "My first room" "hello"        speak as the owner
  tacit send "My first room" hi --as ada    speak as ada
\b
Every command takes --data DIR, --json, --as NAME and --help.
Exit codes: 0 ok, 1 refused or unsound, 2 usage, 3 unavailable or damaged.
Shell completion: tacit completion bash
"""

CONTRIBUTED: Final = ""
"""Where a command lives that another package has: its entry point says it, when that package is installed."""

# In the order in which one learns them: name, where it lives, what it does.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "up": ("tacit.cli.operation.up:up", "Run the hub: ledger, doors, and the page."),
    "link": ("tacit.cli.people.invite:link", "Print a sign-in link for the owner."),
    "group": ("tacit.cli.people.groups:group", "Open and look at groups."),
    "actor": ("tacit.cli.people.groups:actor", "Add agents to a group; handle their tokens."),
    "invite": ("tacit.cli.people.invite:invite", "A link for a further person; list and revoke them."),
    "service": ("tacit.cli.people.groups:service", "Register tools and bridges (svc:...)."),
    "send": ("tacit.cli.messages.talk:send", "Send a message."),
    "reply": ("tacit.cli.messages.talk:reply", "Reply to a message."),
    "inbox": ("tacit.cli.messages.talk:inbox", "What waits for you."),
    "read": ("tacit.cli.messages.talk:read", "Mark messages as read."),
    "ack": ("tacit.cli.messages.talk:ack", "Acknowledge an attention message."),
    "react": ("tacit.cli.messages.talk:react", "React to a message."),
    "tail": ("tacit.cli.messages.talk:tail", "Watch a group live."),
    "search": ("tacit.cli.messages.talk:search", "Find messages by their words."),
    "forward": ("tacit.cli.messages.talk:forward", "Bring a message from one group into another."),
    "edit": ("tacit.cli.messages.steering:edit", "Change a message of your own."),
    "delete": ("tacit.cli.messages.steering:delete", "Take a message back."),
    "preview": ("tacit.cli.messages.steering:preview", "Whom a message would oblige, without sending it."),
    "why": ("tacit.cli.messages.steering:why", "Who was asked, who stayed quiet, and why."),
    "attention": ("tacit.cli.messages.steering:attention", "Steer agents; set the limits of attention."),
    "activity": ("tacit.cli.messages.activity:activity", "What agents did about a message."),
    "approve": ("tacit.cli.messages.permissions:approve", "Answer an agent's permission request."),
    "permissions": ("tacit.cli.messages.permissions:permissions", "Permanent permissions."),
    "c2a": ("tacit.cli.agents.c2a:c2a", "Speak C2A over standard input and output."),
    "speak": ("tacit.cli.messages.speech:speak", "Send a CLowl message."),
    "trace": ("tacit.cli.messages.speech:trace", "Show a CLowl trace from the ledger."),
    "source": ("tacit.cli.messages.talk:source", "Open the source of a relayed message."),
    "clowl": (CONTRIBUTED, "Validate, read and trace CLowl messages."),
    "mcp": ("tacit.cli.agents.mcp:mcp", "A room's chat tools for any MCP client."),
    "relay": (CONTRIBUTED, "Run a blind relay; handle its accounts."),
    "agent": (CONTRIBUTED, "Your agent: it arranges things for you over a sealed post."),
    "join": ("tacit.cli.agents.join:join", "Run an agent, or a team of them, in a room."),
    "crew": ("tacit.cli.agents.crew:crew", "Agents that the hub runs for you; they come back with it."),
    "worktree": ("tacit.cli.agents.worktree:worktree", "Agents' own branches: look, merge, rebase, discard."),
    "agents": ("tacit.cli.agents.agents:agents", "Who is online, busy, owing what, spending what."),
    "work": ("tacit.cli.agents.work:work", "Which agent is at which question, and how it stands."),
    "backup": ("tacit.cli.operation.backup:backup", "Write a backup, beside a running hub."),
    "restore": ("tacit.cli.operation.backup:restore", "Make a data folder of a backup."),
    "ledger": ("tacit.cli.operation.ledger:ledger", "Export, import, verify, rebuild or redact a ledger."),
    "nodes": ("tacit.cli.operation.nodes:nodes", "The hubs that share a ledger, and what each writes to."),
    "clock": ("tacit.cli.operation.clock:clock", "Is this machine's clock believed? Say that it is right."),
    "doctor": ("tacit.cli.operation.doctor:doctor", "What is installed, running, reachable."),
    "completion": ("tacit.cli.completion:completion", "Print the shell completion script."),
}


def _set_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        cast("CliSession", context.find_object(CliSession)).as_json = True


def _set_speaker(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value:
        cast("CliSession", context.find_object(CliSession)).speaker = value


def _set_data(context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    """The folder of whatever the command belongs to: a hub, a relay or a personal agent."""
    if value is None:
        return
    match context.obj:
        case CliSession() as session:
            session.data = value
        case (Path(), *rest):
            context.obj = (value, *rest)
        case _:
            context.obj = value


def _common_options() -> list[click.Option]:
    return [
        click.Option(
            ["--data", "data_here"],
            type=click.Path(path_type=Path),
            metavar="DIR",
            expose_value=False,
            callback=_set_data,
            help="The data folder.",
        ),
        click.Option(
            ["--json", "as_json_here"],
            is_flag=True,
            expose_value=False,
            callback=_set_json,
            help="Print JSON.",
        ),
        click.Option(
            ["--as", "speaker_here"],
            metavar="NAME",
            expose_value=False,
            callback=_set_speaker,
            help="Speak as this actor.",
        ),
    ]


def _with_common_options(command: click.Command) -> click.Command:
    """Let every command take the options that one tends to add at the end of a line."""
    if isinstance(command, Lazy):
        command.completed = _with_common_options
    elif isinstance(command, click.Group):
        for inner in command.commands.values():
            _with_common_options(inner)
    if not isinstance(command, click.Group) or command.invoke_without_command:
        taken = {flag for parameter in command.params for flag in parameter.opts}
        command.params += [option for option in _common_options() if taken.isdisjoint(option.opts)]
    return command


class _Listed(click.Group):
    """All commands, with the words of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the base class names it
        """As in the table, as far as they are installed; then what is in no table."""
        others = contributed(TACIT_COMMANDS)
        known = [name for name, (place, _) in COMMANDS.items() if place != CONTRIBUTED or name in others]
        return [*known, *sorted(others.keys() - COMMANDS.keys())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command's module now."""
        place = COMMANDS.get(cmd_name, (CONTRIBUTED,))[0] or contributed(TACIT_COMMANDS).get(cmd_name)
        return None if place is None else _with_common_options(cast("click.Command", loaded(place)))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing those of the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._about(ctx, name)) for name in self.list_commands(ctx)])

    def _about(self, ctx: click.Context, name: str) -> str:
        if name in COMMANDS:
            return COMMANDS[name][1]
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str()


@click.group(
    cls=_Listed,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="tacit")
@click.option("--url", envvar="TACIT_URL", help="Where the hub is; by default the data folder says it.")
@click.option("--token", envvar="TACIT_TOKEN", help="Speak with this token.")
@click.option("--as", "speaker", envvar="TACIT_AS", metavar="NAME", help="Speak as an actor added here.")
@click.option("--data", type=click.Path(path_type=Path), help="The hub's data folder [$TACIT_DATA].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one value a line.")
@click.pass_context
def tacit(
    context: click.Context,
    url: str | None,
    token: str | None,
    speaker: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """One room for people and AI agents, over a ledger that loses nothing."""
    session = CliSession(url, token, speaker, data or default_data(), as_json)
    context.obj = session
    context.call_on_close(session.close)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(code)


def main() -> None:
    """The entry point: errors become one clear line and an exit code."""
    try:
        # Outside of its standalone mode click returns the code of `Context.exit`; commands return nothing.
        code: object = tacit(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    except Refused as refused:
        _fail(f"refused ({refused.code}): {refused.message}", 1)
    except Corrupt as corrupt:
        _fail(f"damaged: {corrupt.message}\nwhat to do: {corrupt.hint}", 3)
    except Unavailable as unavailable:
        _fail(f"unavailable: {unavailable}", 3)
    except OSError as error:
        from tacit.base.commands.outcome import refused_by_machine

        _fail(f"unavailable: {refused_by_machine(error)}", 3)
    except TacitError as error:
        # What is left is `OutcomeUnknown` of the client: it may have happened.
        _fail(f"outcome unknown: {error}", 3)
    else:
        sys.exit(code if isinstance(code, int) else 0)
