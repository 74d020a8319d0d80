"""`tacit agent join`: let the agent be in a room (`tacit.cli.personal.room`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from tacit.base.commands.outcome import reported
from tacit.base.errors import Refused
from tacit.base.hub_proof import HubAccess
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from pathlib import Path

_UNSAFE: Final = re.compile(r"[^\w.-]+")


@click.command("join")
@click.argument("group", required=False)
@click.option("--invite", metavar="CODE", help="A one-time code of `tacit crew invite`: says where and who.")
@pass_session
@reported
def join(session: CliSession, group: str | None, invite: str | None) -> None:
    """Let your agent be in a room: `tacit agent join GROUP [--as NAME]`.

    You command it there, in private talk with it: tell it what to arrange, or ask what waits. Everybody else
    gets a polite word and nothing more. Questions are answered on its page or at a terminal, never there.
    """
    import asyncio

    from tacit.agent.shell.commands.for_rooms import own_name, without_words
    from tacit.cli import show
    from tacit.cli.agents.join import invited, token_of, with_way_out
    from tacit.cli.personal import room
    from tacit.harness.team import TeamMember

    folder: Path = click.get_current_context().obj[0]
    own = own_name(folder)
    name, session.speaker = session.speaker or own, None
    if invite is not None:
        group, name = invited(session, invite)
    if not group:
        raise click.UsageError("say where: tacit agent join GROUP")
    group_id = session.resolve_group(group)
    if session.hub(group_id).capabilities().get("auth") == "local_trust":
        raise Refused(
            "local_trust", "this hub takes callers at their word: there anybody could command your agent"
        )
    state = folder / "rooms" / _UNSAFE.sub("_", group_id)
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    member = TeamMember(name, "", group, title=f"{own}'s agent")
    token = token_of(session, member, group_id, state)
    access = HubAccess(session.url, token, session.proof_for(token))
    session.out.print(f"{show.plain(name)} joins {show.plain(group)}. Leave with Ctrl-C.")
    with without_words():
        try:
            asyncio.run(room.run(access, state, folder, group_id))
        except Refused as refused:
            raise with_way_out(refused, state) from refused
