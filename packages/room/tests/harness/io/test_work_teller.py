"""A hub that hears of work is told how each piece stands; any other is told nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tacit.attention.settings import DEFAULTS
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND
from tacit.c2a.messages import read_delivered
from tacit.c2a.notifications import Work
from tacit.harness.io import work_teller
from tacit.harness.session_view import SessionView
from tests.c2a_peer import delivery, peering
from tests.harness.living import Desk, living
from tests.ledger.world import HandClock


@pytest.fixture
async def peer():
    async with peering() as opened:
        opened.settings = {"compose_quiet_ms": 100, "compose_cap_ms": 30_000}
        opened.hears = ["work"]
        yield opened


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path / "desk")


def told(peer):
    """Every report, in order: the event, its state and its place."""
    works = [one["params"] for one in peer.told if one["method"] == "notifications/work"]
    return [(one["eventId"], one["state"], one.get("position", 0)) for one in works]


def last(peer):
    return {event_id: (state, place) for event_id, state, place in told(peer)}


async def test_a_busy_agent_tells_what_it_works_on_and_the_places_of_what_waits(peer, desk, tmp_path):
    desk.script([{"until": "go"}, {"text": "The parser is done."}], [{"text": "It is 8080."}])
    async with living(peer.url, "token", tmp_path, desk):
        await peer.accepted(delivery("e1", "refactor the parser"))
        await desk.until_turn(1)
        await peer.accepted(delivery("e2", "unrelated: which port does the hub use?"))
        await peer.accepted(delivery("e3", "and the build", conversation__id="g2"))
        await peer.until(
            lambda: last(peer) == {"e1": ("working", 0), "e2": ("queued", 1), "e3": ("queued", 2)}
        )
        turn = next(one["params"] for one in peer.told if one["params"].get("state") == "working")["turn"]
        assert turn == "e1.1"
        desk.go("go")
        await peer.until(lambda: len(peer.sends) == 3)
    assert [send["inReplyTo"] for send in peer.sends] == ["e1", "e2", "e3"]
    assert ("e3", "queued", 1) in told(peer), "its place is told when it moves"


@pytest.mark.spec("C2A-173", "C2A-175")
async def test_a_question_that_comes_again_with_a_shorter_deadline_is_told_of_more_often(
    peer, desk, tmp_path
):
    """It went to somebody else and came back: what is owed now counts, though it is no new question."""
    desk.script([{"until": "never"}])
    asked = delivery("e1", "refactor the parser", attention__deadlineMs=300_000)
    async with living(peer.url, "token", tmp_path, desk):
        await peer.accepted(asked)
        await desk.until_turn(1)
        await peer.until(lambda: last(peer) == {"e1": ("working", 0)})
        once = len(told(peer))
        await peer.accepted(delivery("e1", "refactor the parser", attention__deadlineMs=1_000))
        await peer.until(lambda: len(told(peer)) >= once + 3)
    assert set(told(peer)[once:]) == {("e1", "working", 0)}


@pytest.mark.parametrize(("deadline_ms", "seconds"), [(300_000, 30), (12_000, 3), (None, 7.5)])
async def test_the_next_sign_of_life_goes_by_the_deadline_or_else_by_how_long_a_claim_lasts(
    deadline_ms, seconds
):
    async def tell(_work):
        return True

    context = SimpleNamespace(
        session=SimpleNamespace(agreed=SimpleNamespace(hears=("work",)), tell=tell),
        clock=HandClock(),
        asked={"e1": "a person is asked"},
        work_changed=asyncio.Event(),
        view=SessionView("ada"),
        settings=replace(DEFAULTS, claim_ttl_ms=30_000),
    )
    context.view.heard(replace(read_delivered(delivery("e1")), deadline_ms=deadline_ms))
    teller = work_teller.WorkTeller(context, SimpleNamespace(work=lambda _now: []))
    await teller._tell()
    assert teller._report.life_due == context.clock.now() + seconds * SECOND


async def test_a_hub_that_does_not_hear_of_work_is_told_nothing(peer, desk, tmp_path):
    peer.hears = []
    async with living(peer.url, "token", tmp_path, desk):
        await peer.accepted(delivery("e1"))
        await peer.until(lambda: peer.sends)
    assert told(peer) == []


async def test_a_hundred_that_wait_after_a_restart_are_told_in_batches_in_order(
    peer, desk, tmp_path, monkeypatch
):
    desk.script([{"until": "never"}])
    asked = [f"e{number:03}" for number in range(100)]
    async with living(peer.url, "token", tmp_path, desk):
        for number, event_id in enumerate(asked):
            await peer.accepted(delivery(event_id, "unrelated", conversation__id=f"g{number}"))
        await desk.until_turn(1)
    peer.told.clear()
    pauses: list[int] = []

    async def breathe(_seconds: float) -> None:
        pauses.append(len(told(peer)))

    monkeypatch.setattr(work_teller, "_rest", breathe)
    async with living(peer.url, "token", tmp_path, desk):
        await peer.until(lambda: len(last(peer)) == 100)
        await desk.until_turn(2)
    first = list(dict.fromkeys(event_id for event_id, _, _ in told(peer)))
    assert first == asked
    assert len(pauses) >= 4, "no more than a batch leaves at once"


async def test_a_failure_is_told_with_its_reason_and_when_it_is_tried_again(peer, desk, tmp_path):
    failing = {"failure": {"kind": "retryable", "code": "model_unavailable", "retry_after": 3}}
    desk.script([failing], [{"text": "Back again."}])
    async with living(peer.url, "token", tmp_path, desk):
        await peer.accepted(delivery("e1"))
        await peer.until(lambda: ("e1", "failed", 0) in told(peer))
        work = next(one["params"] for one in peer.told if one["params"].get("state") == "failed")
        assert work["code"] == "model_unavailable"
        assert work["message"] == "the model's server could not answer"
        assert work["retryAt"]
        await peer.until(lambda: peer.sends)
    assert [send["content"] for send in peer.sends] == ["Back again."]


async def test_what_fails_for_good_says_what_happened_and_what_now(peer, desk, tmp_path):
    desk.script([{"failure": {"kind": "permanent", "code": "signed_out"}}])
    async with living(peer.url, "token", tmp_path, desk):
        await peer.accepted(delivery("e1"))
        await peer.until(lambda: peer.dispositions.get("e1") == "failed")
        await peer.until(lambda: last(peer).get("e1") == ("failed", 0))
    work = [one["params"] for one in peer.told if one["params"].get("state") == "failed"][-1]
    assert work["code"] == "signed_out"
    assert "sign in" in work["message"]
    assert "retryAt" not in work


async def test_how_work_ended_while_the_hub_was_away_is_told_when_it_is_back(monkeypatch):
    monkeypatch.setattr(work_teller, "UNTOLD", 3)
    heard, line = [], SimpleNamespace(agreed=None, holds=True)

    async def tell(work):
        if line.holds:
            heard.append(work.event_id)
        return line.holds

    line.tell = tell
    context = SimpleNamespace(session=line, clock=TimeService(), asked={}, work_changed=asyncio.Event())
    teller = work_teller.WorkTeller(context, SimpleNamespace(work=lambda _now: []))
    for number in range(5):
        teller.ended(Work(f"e{number}", "called_off"))
    await teller._tell()
    line.agreed, line.holds = SimpleNamespace(hears=("work",)), False
    await teller._tell()
    line.holds = True
    await teller._tell()
    await teller._tell()
    assert heard == ["e2", "e3", "e4"]
    line.agreed = SimpleNamespace(hears=())
    teller.ended(Work("e9", "called_off"))
    await teller._tell()
    assert teller._ended == []
