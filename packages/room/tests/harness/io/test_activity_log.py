"""The record of what an agent did: kept when a turn ends, gone when what it is about is taken back."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from tacit.c2a.messages import read_delivered
from tacit.harness.drivers.port import ObservedActivity, TurnOutcome
from tacit.harness.effects import ModelTurn
from tacit.harness.io.activity_log import ActivityLog
from tests.c2a_peer import delivery

MARK = "pytest tests/secret-project"


class Hub:
    """Hears what it is told."""

    def __init__(self) -> None:
        self.told = []

    async def tell(self, told) -> bool:
        self.told.append(told)
        return True


@pytest.fixture
def hub():
    return Hub()


@pytest.fixture
def log(hub, tmp_path):
    return ActivityLog(SimpleNamespace(session=hub), tmp_path / "activity", lambda work: work.close())


def turn(number=1):
    return ModelTurn(f"e{number}.1", (read_delivered(delivery(f"e{number}")),))


async def test_a_turn_is_kept_and_can_be_forgotten(log):
    recorder = log.begin(turn())
    recorder.did(ObservedActivity("c1", "command", "done", title=MARK))
    log.over(recorder)
    await log.end("e1.1", TurnOutcome("e1.1", "Done."))
    assert len(log.records_of("e1")) == 1
    assert log.forget("e1") == 1
    assert log.records_of("e1") == []


@pytest.mark.spec("C2A-187")
async def test_of_a_turn_whose_message_is_taken_back_while_it_runs_nothing_is_kept_or_shown(log, hub):
    recorder = log.begin(turn())
    recorder.did(ObservedActivity("c1", "command", title=MARK))
    await asyncio.to_thread(log.forget, "e1")
    recorder.did(ObservedActivity("c2", "command", title=MARK))
    log.over(recorder)
    await log.end("e1.1", TurnOutcome("e1.1", "Done."))
    assert log.records_of("e1") == []
    assert [one.state for one in hub.told] == ["ended"]
    assert MARK not in str(hub.told)


async def test_a_record_that_goes_while_others_are_looked_at_stops_nobody(log, tmp_path):
    recorder = log.begin(turn())
    recorder.did(ObservedActivity("c1", "command", "done", title=MARK))
    log.over(recorder)
    await log.end("e1.1", TurnOutcome("e1.1", "Done."))
    (tmp_path / "activity" / "gone.json").symlink_to(tmp_path / "activity" / "nowhere")
    assert len(log.records_of("e1")) == 1


@pytest.mark.spec("C2A-187")
async def test_what_came_into_a_turn_and_is_taken_back_takes_the_record_with_it(log, hub):
    recorder = log.begin(turn())
    recorder.did(ObservedActivity("c1", "command", "done", title=MARK))
    log.joined("e1.1", (read_delivered(delivery("e2")),))
    log.over(recorder)
    await log.end("e1.1", TurnOutcome("e1.1", "Done."))
    assert len(log.records_of("e2")) == 1
    await log.taken_back("e2")
    assert log.records_of("e1") == []


@pytest.mark.spec("C2A-187")
async def test_while_the_turn_runs_the_hub_is_told_to_show_it_no_more(log, hub):
    recorder = log.begin(turn())
    recorder.did(ObservedActivity("c1", "command", title=MARK))
    recorder.joined((read_delivered(delivery("e2")),))
    await log.taken_back("e2")
    assert [(one.event_id, one.turn, one.state) for one in hub.told] == [("e1", "e1.1", "ended")]
    log.over(recorder)
    await log.end("e1.1", TurnOutcome("e1.1", "Done."))
    assert log.records_of("e1") == []
    assert MARK not in str(hub.told)


async def test_a_turn_about_an_edit_is_found_by_what_was_edited(log):
    edited = read_delivered({**delivery("e2"), "supersedes": "e1"})
    recorder = log.begin(ModelTurn("e2.1", (edited,)))
    recorder.did(ObservedActivity("c1", "command", "done", title=MARK))
    log.over(recorder)
    await log.end("e2.1", TurnOutcome("e2.1", "Done."))
    assert [path for path, _ in log.records_of("e1")] == [path for path, _ in log.records_of("e2")]
