"""`tacit completion`: the script that teaches a shell our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script: eval "$(tacit completion bash)"."""
    chosen = get_completion_class(shell)
    if chosen is None:
        raise click.UsageError("no completion for this shell")
    click.echo(chosen(context.find_root().command, {}, "tacit", "_TACIT_COMPLETE").source())
