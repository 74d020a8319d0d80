"""Turns at the doors: a go of the loop takes a few messages, and a loud credential leaves places to the others."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tacit.base.errors import Refused
from tacit.hub.bounds.quotas import LARGE_BYTES, DoorTurns, Places
from tacit.hub.operations import room as operations
from tacit.ledger.envelope import MAX_EVENT_BYTES


async def goes(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_lone_message_does_not_wait_for_the_next_go() -> None:
    taking = DoorTurns().turn("ann")
    try:
        taking.send(None)
    except StopIteration:
        return
    raise AssertionError("it waited")


async def test_a_quiet_credential_is_heard_before_the_rest_of_a_loud_one() -> None:
    door, heard = DoorTurns(in_one_go=4), list[str]()

    async def say(owner: str) -> None:
        await door.turn(owner)
        heard.append(owner)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(100):
            tasks.create_task(say("loud"))
        await goes(1)
        tasks.create_task(say("ann"))
    assert len(heard) == 101
    assert heard.index("ann") <= 8


async def test_one_that_gave_up_waiting_takes_no_place() -> None:
    places, heard = Places(1, 1), list[str]()
    await places.take("loud")
    waiting = asyncio.ensure_future(places.take("ann"))
    await goes(1)
    waiting.cancel()
    await goes(1)
    places.give_back("loud")
    async with places.one("ben"):
        heard.append("ben")
    assert heard == ["ben"]


async def test_a_large_text_is_read_beside_the_loop_and_one_at_a_time() -> None:
    door, here, inside, most = DoorTurns(), threading.get_ident(), list[int](), list[int]()

    def read() -> int:
        inside.append(1)
        most.append(len(inside))
        inside.pop()
        return threading.get_ident()

    assert await door.read("ann", LARGE_BYTES - 1, threading.get_ident) == here
    threads = await asyncio.gather(*(door.read(f"m{number}", LARGE_BYTES, read) for number in range(8)))
    assert here not in threads
    assert set(most) == {1}


def test_data_that_no_event_can_hold_is_refused_before_it_is_read() -> None:
    def look(body: bytes) -> None:
        operations.require_fitting(len(body), lambda: operations.data_as_sent(body))

    with pytest.raises(Refused, match="larger than 256 KiB"):
        look(b'{"data":{"twice":1,"twice":2,"text":"%b"}}' % (b"x" * MAX_EVENT_BYTES))
    look(b'{"data":{' + b" " * MAX_EVENT_BYTES + b'"text":"x"}}')
    look(b"[" * (MAX_EVENT_BYTES + 1))
