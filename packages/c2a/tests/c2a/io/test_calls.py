"""Waiting for answers on a connection that may end, be slow, or say what nobody asked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tacit.base.errors import PeerFault
from tacit.c2a.io.socket import PendingCalls
from tacit.c2a.rpc import CallFailed, ConnectionLost, Correlator, Notification, Request


def open_calls(correlator: Correlator) -> int:
    return len(correlator._open)


class Wire:
    """What was written, and a way to answer it."""

    def __init__(self, *, most: int = 8) -> None:
        self.written: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.correlator = Correlator(most=most)
        self.calls = PendingCalls(self.correlator, self._write)

    async def _write(self, data: bytes) -> None:
        self.written.put_nowait(json.loads(data))

    def say(self, **message: Any) -> Request | Notification | None:
        return self.calls.take(json.dumps({"jsonrpc": "2.0", **message}))


@pytest.mark.spec("C2A-013")
async def test_each_caller_gets_its_own_answer() -> None:
    wire = Wire()
    asked = [asyncio.create_task(wire.calls.call("m", {"n": n})) for n in range(3)]
    sent = [await wire.written.get() for _ in asked]
    for one in reversed(sent):
        assert wire.say(id=one["id"], result=one["params"]["n"]) is None
    assert await asyncio.gather(*asked) == [0, 1, 2]


async def test_a_refusal_reaches_its_caller_as_it_was_said() -> None:
    wire = Wire()
    asked = asyncio.create_task(wire.calls.call("m"))
    wire.say(
        id=(await wire.written.get())["id"], error={"code": -32004, "data": {"code": "permission_denied"}}
    )
    with pytest.raises(CallFailed) as failed:
        await asked
    assert failed.value.error["data"] == {"code": "permission_denied"}


async def test_the_end_wakes_all_who_wait_and_those_who_wait_for_room() -> None:
    wire = Wire(most=2)
    asked = [asyncio.create_task(wire.calls.call("m")) for _ in range(4)]
    for _ in range(2):
        await wire.written.get()
    wire.calls.end()
    ends = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in ends] == [ConnectionLost] * 4
    assert wire.written.empty()


async def test_where_as_many_are_open_as_may_be_the_next_call_waits_its_turn() -> None:
    wire = Wire(most=1)
    first, second = (asyncio.create_task(wire.calls.call(name)) for name in ("a", "b"))
    sent = await wire.written.get()
    assert (sent["method"], wire.written.empty()) == ("a", True)
    wire.say(id=sent["id"], result=1)
    assert await first == 1
    sent = await wire.written.get()
    wire.say(id=sent["id"], result=2)
    assert await second == 2


async def test_a_caller_who_goes_leaves_nothing_behind_and_its_late_answer_is_dropped() -> None:
    wire = Wire()
    asked = asyncio.create_task(wire.calls.call("m"))
    sent = await wire.written.get()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert open_calls(wire.correlator) == 0
    assert wire.say(id=sent["id"], result=1) is None


async def test_an_answer_that_crosses_its_callers_going_harms_nobody() -> None:
    wire = Wire()
    asked = [asyncio.create_task(wire.calls.call("m")) for _ in range(2)]
    sent = [await wire.written.get() for _ in asked]
    for task in asked:
        task.cancel()
    wire.say(id=sent[0]["id"], result=1)
    wire.say(id=sent[1]["id"], error={})
    wire.calls.end()
    assert all(
        isinstance(one, asyncio.CancelledError)
        for one in await asyncio.gather(*asked, return_exceptions=True)
    )


@pytest.mark.spec("C2A-013")
async def test_a_call_without_an_answer_in_its_time_counts_as_not_delivered() -> None:
    wire = Wire()
    with pytest.raises(ConnectionLost):
        await wire.calls.call("m", within=0)
    assert open_calls(wire.correlator) == 0


async def test_what_the_other_side_asks_is_handed_over_and_answered_under_its_id() -> None:
    wire = Wire()
    assert wire.say(id="q", method="m", params={"a": 1}) == Request("q", "m", {"a": 1})
    assert wire.say(method="n") == Notification("n")
    await wire.calls.answer("q", result={"ok": True})
    await wire.calls.answer("q", error={"code": -1})
    await wire.calls.notify("t", {"b": 1})
    said = [wire.written.get_nowait() for _ in range(3)]
    assert said == [
        {"jsonrpc": "2.0", "id": "q", "result": {"ok": True}},
        {"jsonrpc": "2.0", "id": "q", "error": {"code": -1}},
        {"jsonrpc": "2.0", "method": "t", "params": {"b": 1}},
    ]


async def test_a_message_that_is_none_is_for_the_connections_owner_to_judge() -> None:
    wire = Wire()
    with pytest.raises(PeerFault):
        wire.calls.take(b"{")


async def test_a_write_that_fails_ends_its_call_alone() -> None:
    async def broken(_: bytes) -> None:
        raise ConnectionResetError

    correlator = Correlator()
    calls = PendingCalls(correlator, broken)
    with pytest.raises(ConnectionResetError):
        await calls.call("m")
    assert open_calls(correlator) == 0
