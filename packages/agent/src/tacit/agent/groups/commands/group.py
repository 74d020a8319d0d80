"""`tacit agent group` and `transfer`: who is in it, what the answers come to, and who coordinates.

A2ACP-175, A2ACP-180, A2ACP-183.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tacit.agent.groups import trade_off
from tacit.agent.terminal.commands.asking import call, wait_option
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show

if TYPE_CHECKING:
    from tacit.base.agent_results import WholeGroup


def group_text(found: WholeGroup) -> str:
    """A group for people to read."""
    lines = [f"{found.thread_id} is {str(found.state or 'not begun').lower()}"]
    lines.append(f"coordinated by {found.coordinator}, list {found.digest}")
    for one in found.participants:
        said = ", confirmed" if one.confirmed else ", declined" if one.declined else ""
        lines.append(f"  {one.agent}: {one.status.replace('_', ' ')}{said}")
    if found.unsigned:
        lines.append(f"have not signed this list, or by no key known here: {', '.join(found.unsigned)}")
    for one in found.windows:
        without = f", without {', '.join(one.missing)}" if one.missing else ""
        lines.append(f"  {one.window}: {one.available_count}{without}")
    if found.trade_off:
        lines.append(found.trade_off)
    if found.binding:
        binding = found.binding
        more = trade_off.BINDING.get(binding.field, binding.field)
        lines.append(f"most would be gained if {binding.agent} had more {more}")
    return "\n".join(lines)


@click.command()
@click.argument("thread_id")
@json_option
@reported
def group(thread_id: str, *, as_json: bool) -> None:
    """Who is in a group, who has answered, and which times suit how many.

    The list's digest is the same for everybody who was told of the same people: compare it with them.
    """
    found = call(operations.GROUP, thread_id=thread_id)
    show(found, group_text(found), as_json=as_json)


@click.command()
@click.argument("thread_id")
@click.argument("address", metavar="NAME@RELAY")
@click.option("--reason", default="", help="Why, for the other agent.")
@wait_option
@json_option
@reported
def transfer(thread_id: str, address: str, *, reason: str, wait: float, as_json: bool) -> None:
    """Offer the coordinator's role in a group to another who takes part; it has ten minutes to accept."""
    found = call(operations.TRANSFER, wait, thread_id=thread_id, to=address, reason=reason)
    show(found, group_text(found), as_json=as_json)
