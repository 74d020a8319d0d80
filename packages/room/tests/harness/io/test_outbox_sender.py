"""When what is told about an answer may follow it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from tacit.base.errors import Refused
from tacit.c2a.messages import read_delivered
from tacit.harness.io.outbox_sender import OutboxSender, disposition
from tacit.harness.io.store import OutboxRow
from tests.c2a_peer import delivery


@pytest.mark.spec("C2A-167")
async def test_a_round_that_was_under_way_before_does_not_count_for_what_came_since() -> None:
    """Rows are read when a round begins: who waits for its own row waits for the round that has it."""
    ready, said, go = [disposition("e1", "ignored", {})], [], asyncio.Event()

    async def tell(**report):
        said.append(report["event_id"])
        await go.wait()

    async def kept(key, *_):
        ready[:] = [row for row in ready if row.key != key]

    context = SimpleNamespace(
        outgoing=asyncio.Event(), store=SimpleNamespace(outgoing=lambda: list(ready)), in_flight=set(),
        session=SimpleNamespace(disposition=tell), said=kept, asked={},
    )  # fmt: skip
    sender = OutboxSender(context)
    running = asyncio.create_task(sender.run())
    context.outgoing.set()
    while not said:
        await asyncio.sleep(0)
    ready.append(disposition("e2", "ignored", {}))
    context.outgoing.set()
    waiting = asyncio.create_task(sender.tried())
    await asyncio.sleep(0)
    go.set()
    await waiting
    assert said == ["e1", "e2"]
    await sender.tried()
    context.outgoing.set()
    last = asyncio.create_task(sender.tried())
    await asyncio.sleep(0)
    running.cancel()
    await last
    await asyncio.wait({running})
    await sender.tried()


@pytest.mark.spec("C2A-197")
@pytest.mark.parametrize(
    ("is_known", "asks", "policy", "key"),
    [
        (False, True, "must_respond", "e1:reply:1"),
        (True, False, "must_respond", "e1:reply:1"),
        (True, True, "must_not_respond", "e1:reply:1"),
        (True, True, "may_respond", "e1:react:1"),
    ],
)
async def test_only_an_answer_of_the_turns_own_that_may_be_given_is_asked_for_otherwise(
    is_known: bool, asks: bool, policy: str, key: str
) -> None:
    event = read_delivered(delivery("e1", "which branch?", attention__policy=policy))
    context = SimpleNamespace(
        ask_again=asks or None, view=SimpleNamespace(event=lambda _: event if is_known else None)
    )
    row = OutboxRow(key, "t1", "e1", "chat.send", {}, "ready")
    assert await OutboxSender(context)._said_before(row, Refused("no_new_information", "said")) is False
