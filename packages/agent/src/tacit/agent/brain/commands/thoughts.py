"""`tacit agent thoughts`: what models were asked for you, how sure they were, and what it took."""

from __future__ import annotations

import click

from tacit.agent.terminal.commands.asking import call
from tacit.agent.terminal.commands.values import plain, when
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show


@click.command()
@click.argument("thread_id", default="")
@json_option
@reported
def thoughts(thread_id: str, *, as_json: bool) -> None:
    """What models were asked, of all threads or of one: which, for what, how sure, what it took.

    The log is on this device alone, and holds no word of what was asked or answered.
    """
    found = call(operations.THOUGHTS, thread_id=thread_id)
    lines = [
        f"{when(one.at)}  {one.task:<14}  {plain(one.model)} ({one.tier}), {one.outcome},"
        f" {one.confidence:.2f} sure, {one.input_tokens + one.output_tokens} tokens,"
        f" ${one.cost_usd:.4f}"
        for one in found.thoughts
    ]
    today = found.today
    lines.append(f"today: {today.tokens} tokens, ${today.usd:.4f}")
    show(found, "\n".join(lines), as_json=as_json)
