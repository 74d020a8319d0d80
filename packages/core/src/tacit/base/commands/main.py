"""The `tacit` command: global options, the commands of every package, and what each kind of error means.

Commands are imported when they are used: `tacit send` does not load the hub.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import click

from tacit.base.commands.folders import default_data
from tacit.base.commands.lazy import Lazy
from tacit.base.commands.table import CommandTable, GivenOptions
from tacit.base.errors import Corrupt, Refused, TacitError, Unavailable, WrittenByNewer
from tacit.base.io.contributions import TACIT_COMMANDS, contributed, loaded
from tacit.base.version import version

if TYPE_CHECKING:
    from collections.abc import Iterator

EPILOG: Final = """\b
Every command takes --data DIR, --json, --as NAME and --help.
Exit codes: 0 ok, 1 refused or unsound, 2 usage, 3 unavailable or damaged.
Shell completion: tacit completion bash
"""

OWN: Final = CommandTable(
    "The command line itself",
    {"completion": ("tacit.base.commands.completion:completion", "Print the shell completion script.")},
)
_ORDER: Final = ("room", "language", "post", "agent")
"""Whose commands are listed first; the others follow."""
DISTRIBUTIONS: Final = {
    "room": "tacit-room",
    "language": "tacit-clowl",
    "post": "tacit-a2acp",
    "agent": "tacit-agent",
}
"""Who contributes what is listed."""


def tables() -> Iterator[CommandTable]:
    """What the installed packages have, in the order of the help; each is read when its turn comes."""
    places = contributed(TACIT_COMMANDS)
    for name in [name for name in _ORDER if name in places] + sorted(places.keys() - set(_ORDER)):
        yield loaded(places[name])
    yield OWN


def _set_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        _given(context).as_json = True


def _set_speaker(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value:
        _given(context).speaker = value


def _given(context: click.Context) -> GivenOptions:
    return context.ensure_object(GivenOptions)


def _set_data(context: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    """The folder of whatever the command belongs to: a hub, a relay or a personal agent."""
    if value is None:
        return
    match context.obj:
        case GivenOptions() as given:
            given.data = value
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
        flags = {flag for parameter in command.params for flag in parameter.opts}
        command.params += [option for option in _common_options() if flags.isdisjoint(option.opts)]
    return command


class _Listed(click.Group):
    """All commands, with the words of the packages' tables."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the base class names it
        """As the tables list them."""
        return [name for table in tables() for name in table.places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command's module now."""
        for table in tables():
            if cmd_name in table.places:
                return _with_common_options(loaded(table.places[cmd_name][0]))
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed; one that is not there may be another package's."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as unknown:
            missing = [DISTRIBUTIONS[name] for name in _ORDER if name not in contributed(TACIT_COMMANDS)]
            if not missing:
                raise
            words = f"{unknown.message} It may be of what is not installed here: {', '.join(missing)}."
            raise click.UsageError(words, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any of them."""
        widest = max(map(len, self.list_commands(ctx)))
        for table in tables():
            with formatter.section(table.title):
                formatter.write_dl([(name.ljust(widest), about) for name, (_, about) in table.places.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the packages say of the first minute, then what is true of every command."""
        self.epilog = "\n".join([*(table.epilog for table in tables() if table.epilog), EPILOG])
        super().format_epilog(ctx, formatter)


def _show_version(context: click.Context, _parameter: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        click.echo(f"tacit, version {version()}")
        context.exit()


@click.group(cls=_Listed, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
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
    context.obj = GivenOptions(url, token, speaker, data or default_data(), as_json)


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
    except WrittenByNewer as newer:
        _fail(str(newer), 3)
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
