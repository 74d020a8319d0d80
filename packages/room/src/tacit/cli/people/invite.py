"""`tacit link` and `tacit invite`: a link that signs the owner in, or a further person; and no more links.

The second does what the page's "Invite a person" does, for those who sit at a terminal. A link works once and
holds no token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tacit.base.commands.terminal import bold
from tacit.base.errors import Refused
from tacit.cli import show
from tacit.cli.session import CliSession, pass_session

if TYPE_CHECKING:
    from tacit.client import SocketHub

PREFIX = "usr:"
MINUTES = 24 * 60


@click.command()
@click.option("--list", "listed", is_flag=True, help="Which browsers links let in, and when each was used.")
@click.option("--revoke", metavar="TOKEN_ID", help="Sign this browser out, at once.")
@pass_session
def link(session: CliSession, *, listed: bool, revoke: str | None) -> None:
    """Print a sign-in link for the owner; it works once, for 15 minutes.

    A browser that came in by a link stays in until it signs out, is revoked, or is not used for 30 days.
    """
    with session.owner() as hub:
        if listed:
            browsers = hub.browsers()
            session.answer(browsers, lambda: _show_browsers(session, browsers))
            return
        if revoke is not None:
            done = hub.revoke_token(revoke)
            session.answer(done, lambda: session.out.print(f"revoked {revoke}"))
            return
        url = session.page_link(hub.sign_in_link())
    session.answer({"link": url}, lambda: session.out.print(url))


@click.command()
@click.argument("group_name", metavar="GROUP")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--title", help="A name for people to read.")
@click.option(
    "--list",
    "listed",
    is_flag=True,
    help="Who is in the room, and how many tokens and links of each are alive.",
)
@click.option("--revoke", is_flag=True, help="Make every token and link of NAME worthless, at once.")
@pass_session
def invite(
    session: CliSession, group_name: str, name: str | None, title: str | None, *, listed: bool, revoke: bool
) -> None:
    """Print a link that signs NAME in to GROUP; a further one when NAME is there already.

    The link works once, for a day, until the hub is started anew: send it over a channel that you trust.
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
        tokens = _revoke_all(hub, group_id, principal)
        revoked = {"principal": principal, "revoked": tokens}
        session.answer(
            revoked, lambda: session.out.print(f"{len(tokens)} tokens and links of {principal} revoked")
        )
        return
    made = (
        hub.sign_in_link(group_id, principal, minutes=MINUTES)
        if principal in people
        else hub.add_person(group_id, principal, title=title, by_link=True)
    )
    url = session.page_link(made)
    session.answer({"principal": principal, "link": url}, lambda: _give(session, principal, url))


def _show_browsers(session: CliSession, browsers: list[dict[str, Any]]) -> None:
    for one in browsers:
        where = f" in {one['group_id']}" if one["group_id"] else ""
        session.out.print(
            f"{bold(one['token_id'])}  {one['principal']}{where}, since {one['created'][:10]}, "
            f"used {one['used'][:10]}"
        )
    if not browsers:
        session.out.print("No link was opened yet.", style="dim")


def _give(session: CliSession, principal: str, url: str) -> None:
    session.out.print(f"{bold(principal)} comes in by this link; it works once, for a day:")
    session.out.print(f"  {url}")


def _live(hub: SocketHub, group_id: str, principal: str) -> list[str]:
    """The public ids of the tokens behind somebody's links; the hub does not know who has none left."""
    try:
        return hub.tokens(group_id, principal)
    except Refused as refused:
        if refused.code != "actor_not_found":
            raise
        return []


def _revoke_all(hub: SocketHub, group_id: str, principal: str) -> list[str]:
    """End all that lets somebody in; a link may run out, or become a token, while one looks."""
    revoked: list[str] = []
    while live := _live(hub, group_id, principal):
        for token in live:
            try:
                hub.revoke_token(token)
            except Refused as refused:
                if refused.details.get("reason") != "no_token":
                    raise
        revoked += live
    return revoked


def _show(session: CliSession, people: list[dict[str, Any]]) -> None:
    def human() -> None:
        for one in people:
            alive = f"{one['links']} live tokens and links"
            session.out.print(f"{bold(one['principal'])}  {show.plain(one['title'] or '-')}  {alive}")
        if not people:
            session.out.print("Nobody is invited yet.", style="dim")

    session.answer(people, human)
