"""`tacit invite`: a link for a further person, who is in a room and who may still come in, and no more links.

What the page's "Invite a person" does, for those who sit at a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.base.errors import Refused
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session
from tacit.cli.terminal import bold

if TYPE_CHECKING:
    from tacit.client import SocketHub

PREFIX = "usr:"


@click.command()
@click.argument("group_name", metavar="GROUP")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--title", help="A name for people to read.")
@click.option(
    "--list", "listed", is_flag=True, help="Who is in the room, and how many links of each are alive."
)
@click.option("--revoke", is_flag=True, help="Make every link of NAME worthless, at once.")
@pass_session
def invite(
    session: CliSession, group_name: str, name: str | None, title: str | None, *, listed: bool, revoke: bool
) -> None:
    """Print a link that signs NAME in to GROUP; a further one when NAME is there already.

    The link holds a token: send it over a channel that you trust. It is shown only now.
    """
    group_id = session.resolve_group(group_name)
    hub = session.hub()
    people = {one["principal"]: one for one in hub.group(group_id)["people"]}
    if listed:
        _show(
            session, [{**person, "links": len(_live(hub, group_id, one))} for one, person in people.items()]
        )
        return
    if name is None:
        raise click.UsageError("say whom to invite, or --list")
    principal = PREFIX + name.removeprefix(PREFIX)
    if revoke:
        if principal not in people:
            raise Refused("actor_not_found", "nobody of this name is in the group; --list shows who is")
        tokens = _live(hub, group_id, principal)
        for token in tokens:
            hub.revoke_token(token)
        revoked = {"principal": principal, "revoked": tokens}
        session.answer(revoked, lambda: session.out.print(f"{len(tokens)} links of {principal} revoked"))
        return
    made = (
        hub.issue_token(group_id, principal)
        if principal in people
        else hub.add_person(group_id, principal, title=title)
    )
    link = f"{session.url}/#token={made['token']}"
    session.answer({"principal": principal, "link": link}, lambda: _give(session, principal, link))


def _give(session: CliSession, principal: str, link: str) -> None:
    session.out.print(f"{bold(principal)} comes in by this link; it is shown only now:")
    session.out.print(f"  {link}")


def _live(hub: SocketHub, group_id: str, principal: str) -> list[str]:
    """The public ids of the tokens behind somebody's links; the hub does not know who has none left."""
    try:
        return hub.tokens(group_id, principal)
    except Refused as refused:
        if refused.code != "actor_not_found":
            raise
        return []


def _show(session: CliSession, people: list[dict[str, Any]]) -> None:
    def human() -> None:
        for one in people:
            alive = f"{one['links']} live link{'' if one['links'] == 1 else 's'}"
            session.out.print(f"{bold(one['principal'])}  {show.plain(one['title'] or '-')}  {alive}")
        if not people:
            session.out.print("Nobody is invited yet.", style="dim")

    session.answer(people, human)
