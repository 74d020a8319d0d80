"""`tacit group`, `tacit actor`, `tacit service`: rooms and who is in them."""

from __future__ import annotations

import click

from tacit.base.commands.terminal import bold
from tacit.cli import show
from tacit.cli.session import CliSession, keep_token, pass_session


@click.group()
def group() -> None:
    """Open and look at groups."""


@group.command("new")
@click.argument("title")
@click.option("--scope", "scopes", multiple=True, metavar="URL", help="A project root that belongs to it.")
@pass_session
def group_new(session: CliSession, title: str, scopes: tuple[str, ...]) -> None:
    """Open a group."""
    made = session.hub().create_group(title, scopes)
    session.answer(made, lambda: session.out.print(f"opened {made['group_id']}"))


@group.command("list")
@pass_session
def group_list(session: CliSession) -> None:
    """All groups that you take part in."""
    groups = session.hub().groups()
    session.answer(groups, lambda: show.groups(session.out, groups))


@group.command("show")
@click.argument("name", metavar="GROUP")
@pass_session
def group_show(session: CliSession, name: str) -> None:
    """One group: scopes, actors, and its last messages."""
    group_id = session.resolve_group(name)
    hub = session.hub(group_id)
    found = hub.group(group_id)

    def human() -> None:
        show.groups(session.out, [found])
        for scope in found["scopes"]:
            session.out.print(f"scope {scope['scope_key']}  {show.plain(scope['url'])}", style="dim")
        show.actors(session.out, found["actors"])
        show.events(session.out, hub.window(group_id, limit=10))

    session.answer(found, human)


@click.group()
def actor() -> None:
    """Add agents to a group, and handle their tokens."""


@actor.command("add")
@click.argument("name", metavar="GROUP")
@click.argument("actor_id", metavar="NAME")
@click.option("--role", type=click.Choice(["foreman", "peer"]), help="What `@foreman` and `@peers` mean.")
@click.option("--title", help="A name for people to read.")
@click.option("--skill", "roles", multiple=True, help="A role that mentions can name, such as backend.")
@pass_session
def actor_add(
    session: CliSession, name: str, actor_id: str, role: str | None, title: str | None, roles: tuple[str, ...]
) -> None:
    """Add an actor. Its token is printed once, and kept on this machine for `--as NAME`."""
    group_id = session.resolve_group(name)
    made = session.hub().add_actor(group_id, actor_id, role=role, title=title, roles=roles)
    keep_token(session.url, group_id, actor_id, made["token"])

    def human() -> None:
        session.out.print(f"added {bold(actor_id)}; its token, shown only now:")
        session.out.print(f"  {made['token']}")
        session.out.print(f"On this machine {bold(f'--as {actor_id}')} is enough.")

    session.answer(made, human)


@actor.command("list")
@click.argument("name", metavar="GROUP")
@pass_session
def actor_list(session: CliSession, name: str) -> None:
    """The actors of a group."""
    group_id = session.resolve_group(name)
    found = session.hub(group_id).group(group_id)["actors"]
    session.answer(found, lambda: show.actors(session.out, found))


@actor.command("remove")
@click.argument("name", metavar="GROUP")
@click.argument("actor_id", metavar="NAME")
@pass_session
def actor_remove(session: CliSession, name: str, actor_id: str) -> None:
    """Remove an actor; its tokens die at once and its name is never given again."""
    group_id = session.resolve_group(name)
    done = session.hub().append(group_id, "actor.remove", {"actor_id": actor_id})
    session.answer(done.event, lambda: session.out.print(f"removed {actor_id}"))


@actor.command("token")
@click.argument("name", metavar="GROUP")
@click.argument("actor_id", metavar="NAME")
@click.option("--list", "listed", is_flag=True, help="Only list the public ids of live tokens.")
@click.option("--revoke", metavar="TOKEN_ID", help="Make this token worthless.")
@pass_session
def actor_token(session: CliSession, name: str, actor_id: str, listed: bool, revoke: str | None) -> None:
    """Issue a further token, list the live ones, or revoke one."""
    group_id = session.resolve_group(name)
    hub = session.hub()
    if listed:
        tokens = hub.tokens(group_id, actor_id)
        session.answer({"tokens": tokens}, lambda: session.out.print("\n".join(tokens)))
    elif revoke is not None:
        done = hub.revoke_token(revoke)
        session.answer(done, lambda: session.out.print(f"revoked {revoke}"))
    else:
        made = hub.issue_token(group_id, actor_id)
        keep_token(session.url, group_id, actor_id, made["token"])
        session.answer(made, lambda: session.out.print(made["token"]))


@click.group()
def service() -> None:
    """Register tools and bridges (svc:...)."""


@service.command("add")
@click.argument("name")
@click.option("--group", "groups", multiple=True, help="Only for this group (may be repeated).")
@pass_session
def service_add(session: CliSession, name: str, groups: tuple[str, ...]) -> None:
    """Register a service such as svc:com.example.ci; its token is printed once."""
    ids = [session.resolve_group(one) for one in groups] or None
    made = session.hub().add_service(name, ids)
    session.answer(made, lambda: session.out.print(made["token"]))
