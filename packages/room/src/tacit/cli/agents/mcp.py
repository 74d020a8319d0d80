"""`tacit mcp`: a room's chat tools for an agent that speaks MCP, over stdio; and how to tell its client."""

from __future__ import annotations

import importlib.util
import signal

import click

from tacit.base.commands.mcp import command_words, mcp_missing
from tacit.base.errors import Refused, Unavailable
from tacit.base.hub_proof import HubAccess
from tacit.base.mcp_configs import CLIENTS, ConfigEntry, config_for, is_placeholder
from tacit.cli.session import CliSession, kept_tokens, pass_session

EPILOG = """\b
  tacit actor add "My first room" ada                     an actor; its token is kept here
  tacit mcp --as ada --print-config claude-code >.mcp.json
  tacit mcp --as ada --print-config codex >>~/.codex/config.toml
\b
The token comes from --token, TACIT_TOKEN, or the tokens kept by `tacit actor add` (--as, --group).
"""


@click.command(epilog=EPILOG)
@click.option("--group", metavar="GROUP", help="The actor's group, when it is in several.")
@click.option(
    "--channel", is_flag=True, help="Push what waits into a live Claude Code session (its channels)."
)
@click.option(
    "--print-config",
    "client",
    type=click.Choice(list(CLIENTS)),
    help="Print a client's configuration and end.",
)
@click.option(
    "--http", is_flag=True, help="With --print-config: use the hub's own /mcp instead of this command."
)
@click.option("--with-token", is_flag=True, help="With --print-config: write the token itself into the text.")
@click.option("--name", default="tacit", show_default=True, help="With --print-config: the server's name.")
@pass_session
def mcp(
    session: CliSession,
    group: str | None,
    client: str | None,
    *,
    channel: bool,
    http: bool,
    with_token: bool,
    name: str,
) -> None:
    """Serve a room's chat tools over MCP on standard input and output."""
    if client is None:
        _serve(session, group, channel=channel)
        return
    by_name = bool(session.speaker) and not session.token and not http
    options = ["--as", session.speaker or "", *(["--group", group] if group else [])] if by_name else []
    options += ["--channel"] if channel else []
    command, *before = command_words()
    entry = ConfigEntry(
        session.url,
        name,
        command,
        (*before, "mcp", *options),
        actor_token(session, group) if with_token else None,
        asks_for_token=not by_name,
        http=http,
    )
    click.echo(config_for(client, entry))
    click.echo(f"This belongs into {CLIENTS[client].file}.", err=True)


def _serve(session: CliSession, group: str | None, *, channel: bool) -> None:
    token = actor_token(session, group)
    # Found, not imported: the client waits for the first answer, and this is heavier than that.
    if importlib.util.find_spec("jsonschema") is None:
        raise Unavailable(mcp_missing("room"))
    from tacit.bridges.mcp.io.front import serve

    # Reading from a pipe cannot be cancelled; and nothing is lost by ending at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        serve(HubAccess(session.url, token, session.proof_for(token)), channel=channel)
    except ImportError as missing:  # the SDK, for a client of a later version
        raise Unavailable(mcp_missing("room")) from missing


def actor_token(session: CliSession, group: str | None) -> str:
    """The token of the one actor that is meant: given, or kept here."""
    if session.token:
        if is_placeholder(session.token):
            raise Refused(
                "permission_denied",
                "TACIT_TOKEN was not set where the client was started: it handed on the name instead",
            )
        return session.token
    kept = kept_tokens().get(session.url, {})
    if group is not None and group not in kept:
        group = session.resolve_group(group)
    found = {
        (group_id, actor): token
        for group_id, tokens in kept.items()
        for actor, token in tokens.items()
        if group in {None, group_id} and session.speaker in {None, actor}
    }
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise Refused(
            "permission_denied",
            "no token of such an actor is kept here for this hub; set TACIT_TOKEN, or add one with "
            "`tacit actor add GROUP NAME`",
        )
    several = ", ".join(f"{actor} in {group_id}" for group_id, actor in sorted(found))
    raise Refused("invalid_request", f"several actors are kept here; choose with --as and --group: {several}")
