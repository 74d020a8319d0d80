"""`tacit agent memory`: what your agent remembers of each contact, and your word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tacit.agent.terminal.commands.asking import call
from tacit.agent.terminal.commands.values import basis_text, plain, value_text, when, who
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.quotation import label
from tacit.base.commands.terminal import bold, styled

if TYPE_CHECKING:
    from tacit.base.agent_owner_results import Memory

CONTACT = "NAME[@RELAY]"


class Shows(click.Group):
    """A group that shows when it is given no command of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The same, with `show` in front of what is no command."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Shows)
def memory() -> None:
    """What your agent remembers of your contacts.

    `tacit agent memory` shows all of it, `tacit agent memory ben` what it remembers of one.
    """


@memory.command("show")
@click.argument("contact", metavar=f"[{CONTACT}]", default="")
@json_option
@reported
def memory_show(contact: str, *, as_json: bool) -> None:
    """Show what is remembered of everybody, or of one."""
    found = call(operations.MEMORY, who=contact)
    lines = [line for one in found.memory for line in _lines(one)]
    show(found, "\n".join(lines) or "nothing is remembered of anybody yet", as_json=as_json)


@memory.command("edit")
@click.argument("contact", metavar=CONTACT)
@click.argument("said", metavar="KEY=VALUE")
@json_option
@reported
def memory_edit(contact: str, said: str, *, as_json: bool) -> None:
    """Correct what is remembered: the new value counts, the old one is noted as such."""
    key, _, value = said.partition("=")
    found = call(operations.MEMORY_EDIT, who=contact, key=key.strip(), value=value.strip())
    show(found, "\n".join(_lines(found)), as_json=as_json)


@memory.command("forget")
@click.argument("contact", metavar=CONTACT)
@click.argument("key", required=False)
@json_option
@reported
def memory_forget(contact: str, key: str | None, *, as_json: bool) -> None:
    """Have one value forgotten, or all that is remembered of a contact; it is erased from this device.

    Backups that you have written before still hold it.
    """
    found = call(operations.MEMORY_FORGET, who=contact, key=key or "")
    what = "everything" if found.forgotten == "everything" else label(found.forgotten)
    lines = [f"forgotten of {who(found.agent)}: {what}"]
    if found.remains_in:
        lines.append(f"until it is over it is still part of {', '.join(found.remains_in)}")
    show(found, "\n".join(lines), as_json=as_json)


@click.command()
@click.argument("contact", metavar=CONTACT)
@json_option
@reported
def known(contact: str, *, as_json: bool) -> None:
    """What a contact knows of you, and what of that can still be called off."""
    found = call(operations.KNOWN, who=contact)
    peer = who(found.agent)
    title = bold(f"{peer} was told, and has it:" if found.told else f"{peer} was told nothing")
    lines = [title]
    for one in found.told:
        value = value_text(one.value) if one.value is not None else styled("forgotten here", "dim")
        times = f"{one.times} times, last " if one.times > 1 else ""
        allowed = basis_text(one.basis)
        dated = styled(f"{times}{when(one.last)}, {allowed}", "dim")
        lines.append(f"  {label(one.field)}: {value}  {dated}")
    if found.can_be_undone:
        lines.append(bold("You can call off:"))
    for one in found.can_be_undone:
        if one.what == "open":
            lines.append(f"  what is being arranged: tacit agent stop {one.thread_id}")
        elif one.what == "space":
            named = f"{one.thread_id} {plain(one.field)}"
            lines.append(f"  {label(one.field)} in a space: tacit agent space unset {named}")
        else:
            alone = f" --for {peer}" if one.for_ == "them" else ""
            lines.append(f"  {label(one.field)} goes unasked: tacit agent permissions {one.field} ask{alone}")
    show(found, "\n".join(lines), as_json=as_json)


def _lines(one: Memory) -> list[str]:
    times = f"{one.interaction_count} thing{'' if one.interaction_count == 1 else 's'}"
    since = f", {one.first_interaction} to {one.last_interaction}" if one.interaction_count else ""
    lines = [f"{bold(who(one.agent))}  {one.trust_level}  {styled(times + since, 'dim')}"]
    for name, known in one.context_cache.items():
        by = "you said so" if known.source == "owner" else "as they told"
        old = ", to be asked again" if known.confidence == "low" else ""
        dated = styled(f"{by}, {known.last_updated}, confidence {known.confidence}{old}", "dim")
        lines.append(f"  {label(name)}: {value_text(known.value)}  {dated}")
    for change in one.changes:
        said = f"{value_text(change.old)} → {value_text(change.new)}"
        lines.append(f"  {label(change.field)} changed: {said}  {styled(change.date, 'dim')}")
    patterns = one.learned_patterns
    lines += [
        f"  {name}: {', '.join(map(label, fields))}"
        for name, fields in (
            ("usually shares", patterns.usually_shares),
            ("usually declines", patterns.usually_declines),
            ("usually requests", patterns.usually_requests),
        )
        if fields
    ]
    if patterns.average_response_time:
        lines.append(f"  answers within {patterns.average_response_time} on the average")
    lines.append(f"  {styled('; '.join(map(plain, one.trust_signals)), 'dim')}")
    return lines
