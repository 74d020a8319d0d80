"""`tacit agent setup`: ninety seconds, Enter through (A2ACP-230, A2ACP-231, A2ACP-273)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.a2acp.consent.tiers import DEFAULT
from tacit.agent.owner import onboarding
from tacit.agent.owner.io import setting_up
from tacit.agent.shell.commands.arrange import opened_agent
from tacit.agent.shell.commands.desk.line import line
from tacit.agent.shell.commands.post import register
from tacit.agent.terminal.commands.asking import invocation
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.terminal import Terminal, bold, styled
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.shell.commands.desk.line import Line
    from tacit.base import agent_owner_results as results

_DIGITS: Final = {str(number + 1): level for number, level in enumerate(onboarding.LEVELS)}


def identified(folder: Path) -> bool:
    """Whether the folder has an address."""
    from tacit.a2acp.post.io.store import AgentStore

    if not (folder / "agent.sqlite").exists():
        return False
    store = AgentStore(folder)
    try:
        return store.has_identity()
    finally:
        store.close()


def _waiting(folder: Path) -> results.Setup:
    from tacit.a2acp.post.io.store import AgentStore

    store = AgentStore(folder)
    try:
        waits = setting_up.kept_for_later(store)
    finally:
        store.close()
    policy = onboarding.settled(DEFAULT, waits.get("switches") or {})
    profile = onboarding.profiled({}, waits.get("profile") or {})
    return operations.SETUP.answer(setting_up.shown(profile, policy, done=bool(waits)))


def _keep_for_later(folder: Path, said: Fields) -> results.Setup:
    from tacit.a2acp.post.io.store import AgentStore

    store = AgentStore(folder)
    try:
        setting_up.keep_for_later(store, said)
    finally:
        store.close()
    return _waiting(folder)


@click.command("setup")
@click.option("--name", help="Your name.")
@click.option("--area", help="Roughly where you are.")
@click.option("--timezone", help="Your timezone. Default: this device's.")
@click.option("--switch", "switches", multiple=True, metavar="SWITCH=LEVEL", help="availability=always, …")
@click.option("--yes", is_flag=True, help="Ask nothing: take what is given, and the defaults.")
@click.option("--address", metavar="NAME@RELAY", help="Register this address, if there is none yet.")
@click.option("--relay", "relay_url", help="The relay's URL. Default: https://<relay domain>.")
@click.option("--code", help="Enrolment code or invitation; asked for when an address is given.")
@click.option("--plain-keys", is_flag=True, help="Keep the keys unencrypted; see `tacit agent register`.")
@json_option
@click.pass_context
@reported
def setup_command(context: click.Context, *, yes: bool, as_json: bool, **given: Any) -> None:
    """The first minute: name, place, timezone, five switches. Enter keeps what is shown."""
    found = setup(context, given, ask=not yes, quiet=as_json)
    lines = [f"{one.text}: {one.value or '-'}" for one in found.prompts]
    lines += [f"{one.text}: {one.level}" for one in found.switches]
    show(found, "\n".join(lines), as_json=as_json)


def setup(context: click.Context, given: dict[str, Any], *, ask: bool, quiet: bool = False) -> results.Setup:
    """Ask, keep, and register when an address is given."""
    folder = invocation().folder
    if identified(folder):
        return asyncio.run(_with_agent(folder, given, ask=ask))
    found = _keep_for_later(folder, _said(_waiting(folder), given, ask=ask))
    _register(context, given, ask=ask, quiet=quiet)
    return found


async def _with_agent(folder: Path, given: dict[str, Any], *, ask: bool) -> results.Setup:
    async with line(folder, opened_agent) as behind:
        return await first_minute(behind, given, ask=ask)


async def first_minute(behind: Line, given: dict[str, Any], *, ask: bool) -> results.Setup:
    """Ask what an agent does not know of its owner, and have it keep that."""
    now = await behind.call(operations.SETUP)
    said = await asyncio.to_thread(_said, now, given, ask=ask)
    try:
        return await behind.call(operations.SETUP, save=True, **said)
    except Refused as refused:
        # What was `never` is let out only by words that nobody types by mistake (A2ACP-124).
        if refused.code != "confirmation_needed" or not ask:
            raise
        text = "This was never to be shared. Type `share it` to allow it"
        if (await asyncio.to_thread(click.prompt, text, default="")).strip() != "share it":
            raise
        return await behind.call(operations.SETUP, save=True, confirmed=True, **said)


def _said(now: results.Setup, given: dict[str, Any], *, ask: bool) -> Fields:
    said = {onboarding.NAME: given.get("name"), onboarding.AREA: given.get("area")}
    said[onboarding.TIMEZONE] = given.get("timezone")
    switches = _given_switches(given.get("switches") or ())
    if ask:
        _ask(now, said, switches)
    return {"profile": said, "switches": switches}


def _given_switches(pairs: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in pairs:
        name, marked, level = one.partition("=")
        if not marked:
            raise click.BadParameter("SWITCH=LEVEL", param_hint="--switch")
        found[name] = level
    return found


def _ask(now: results.Setup, said: dict[str, Any], switches: dict[str, str]) -> None:
    out = Terminal()
    out.print(f"{bold('About you')}  {styled('Enter keeps what is in brackets', 'dim')}")
    for one in now.prompts:
        if not said[one.key]:
            said[one.key] = _asked_for(one)
    out.print(f"{bold('What may leave without asking you')}  {styled('1 always  2 ask  3 never', 'dim')}")
    for one in now.switches:
        if one.switch not in switches:
            switches[one.switch] = _level(one)


def _asked_for(one: results.SetupPrompt) -> str:
    hint = "" if one.value else styled(f" ({one.example})", "dim")
    while True:
        value = str(
            click.prompt(f"  {one.text}{hint}", default=one.value or "", show_default=bool(one.value))
        )
        if one.key != onboarding.TIMEZONE or setting_up.is_zone(value):
            return value
        Terminal().print("  a timezone is a name such as Europe/London", style="yellow")


def _level(one: results.SetupSwitch) -> str:
    while True:
        value = str(click.prompt(f"  {one.text}", default=one.level)).strip().lower()
        chosen = _DIGITS.get(value, value)
        if chosen in onboarding.LEVELS:
            return chosen
        Terminal().print("  1 always, 2 ask, 3 never", style="yellow")


def _register(context: click.Context, given: dict[str, Any], *, ask: bool, quiet: bool) -> None:
    who = given.get("address")
    if not who and ask:
        who = click.prompt(
            "An address for your agent, NAME@RELAY (Enter: later)", default="", show_default=False
        )
    if not who:
        if not quiet:
            Terminal().print("later: tacit agent register NAME@RELAY", style="dim")
        return
    code = given.get("code") or click.prompt("Enrolment code or invitation", hide_input=True)
    context.invoke(
        register,
        who=who,
        relay_url=given.get("relay_url"),
        code=code,
        rotate=False,
        reset=False,
        plain_keys=bool(given.get("plain_keys")),
        as_json=quiet,
    )
