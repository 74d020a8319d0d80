"""A harness that runs for months: what it keeps by turn, event or audience is bounded, whatever goes by."""

from __future__ import annotations

import asyncio

import pytest

from tacit.base.moment import SECOND
from tacit.harness.demo.scripts import Does
from tacit.harness.io import tool_door
from tacit.harness.io.agent_config import AgentConfig
from tacit.harness.io.harness import Harness
from tacit.harness.io.scripted import ScriptedDriver
from tacit.harness.io.store import COSTS_REMEMBERED
from tests.c2a_peer import delivery, peering
from tests.harness.living import QUICK, Told

TURNS = 80


async def until(condition):
    """Wait for something that the harness does."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
async def peer():
    async with peering() as opened:
        opened.settings = {"compose_quiet_ms": 1, "compose_cap_ms": 1000}
        yield opened


async def test_after_many_turns_nothing_of_them_is_in_memory(peer, tmp_path, monkeypatch):
    monkeypatch.setattr(tool_door, "MOST_KEYS", 20)
    config = AgentConfig(peer.url, "token", "ada", tmp_path / "state", habits=QUICK)
    harness = Harness(config, ScriptedDriver(lambda shown: Does(f"About {shown.event_id}.")), tell=Told())
    running = asyncio.create_task(harness.run())
    try:
        for number in range(TURNS):
            private = {"conversation__kind": "dm", "conversation__id": f"dm:{number}"} if number % 2 else {}
            author = {"id": f"usr:p{number}", "kind": "human", "displayName": "P"}
            await peer.accepted(delivery(f"e{number}", "Which port is it?", author=author, **private))
        await until(lambda: len(peer.sends) == TURNS and not harness._conduct.owed)
        await until(lambda: not harness._turns.prompt_bytes)
    finally:
        harness.stop()
        await running
    conduct, turns, context = harness._conduct, harness._turns, harness._context
    assert len(conduct._runs) + len(conduct._failing) + len(conduct._gone) == 0
    kept = {
        "asked": harness._sender._asked,
        "files": turns._files._handed,
        "allowed": turns._permissions._for_turn,
        "open": turns._permissions._open,
        "activity": turns._activity._running,
        "showing": context.showing,
        "in flight": context.in_flight,
        "to be allowed": context.asked,
        "unreached": context.unreached,
        "prompt bytes": turns.prompt_bytes,
    }
    assert {name: len(one) for name, one in kept.items() if one} == {}
    assert len(turns._door._keys) <= 20
    assert len(list((tmp_path / "state" / "activity").glob("*"))) <= 51


async def test_a_question_that_waited_for_a_person_is_not_remembered_when_it_is_decided(peer, tmp_path):
    config = AgentConfig(peer.url, "token", "ada", tmp_path / "state", habits=QUICK)
    harness = Harness(config, ScriptedDriver(lambda shown: Does("Yes.")), tell=Told())
    running = asyncio.create_task(harness.run())
    wait = {"code": "approval_required", "message": "ask", "details": {"state": "asked"}}
    no = {"code": "approval_required", "message": "no", "details": {"state": "denied"}}
    try:
        peer.script = [wait]
        await peer.accepted(delivery("e1"))
        await until(lambda: harness._sender._asked)
        peer.script = [no]
        harness._context.outgoing.set()
        await until(lambda: not harness._sender._asked)
    finally:
        harness.stop()
        await running


async def test_costs_that_nobody_asks_for_any_more_are_let_go(tmp_path):
    from tacit.c2a.messages import read_delivered
    from tacit.harness.drivers.port import TokenUsage
    from tacit.harness.effects import ModelTurn, Spent
    from tacit.harness.io.store import HarnessStore

    store, day = HarnessStore(tmp_path / "harness.db"), 86_400 * SECOND
    try:
        for number in range(3):
            turn = ModelTurn(f"e{number}.1", (read_delivered(delivery(f"e{number}")),))
            spent = Spent(turn, TokenUsage(1, 1), None, 1, "done")
            store.write(lambda writing, at=number * day, spent=spent: writing.spent(spent, at))
        store.write(lambda writing: writing.forget(COSTS_REMEMBERED + day))
        assert sum(one.turns for one in store.spending("")) == 2
    finally:
        store.close()
