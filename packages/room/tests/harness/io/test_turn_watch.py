"""A turn's watch: what the agent asks a person is asked while the turn may still do something, and only then."""

from __future__ import annotations

import pytest

from tacit.base.moment import SECOND, Moment
from tacit.c2a.messages import read_delivered
from tacit.harness.conduct import Conduct, ConductOptions
from tacit.harness.drivers.port import NotPermitted, PermissionRequest, Permitted
from tacit.harness.effects import Begin
from tacit.harness.io.turn_watch import TurnWatch
from tests.c2a_peer import delivery

T0 = 1_768_298_400 * SECOND


def at(seconds: float) -> Moment:
    return Moment(T0 + int(seconds * SECOND))


class Room:
    """Whoever is asked says yes, after something has happened."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []
        self.meanwhile = lambda: None

    async def ask(self, turn, wanted, events):
        del turn
        self.events = events
        self.asked.append(wanted)
        self.meanwhile()
        return Permitted("once")


@pytest.fixture
def conduct():
    made = Conduct(ConductOptions(boundaries=True))
    made.heard(read_delivered(delivery("e1", "the plan for Monday")), at(0))
    return made


@pytest.fixture
def room():
    return Room()


@pytest.fixture
def watch(conduct, room):
    [begun] = [one for one in conduct.due(at(10)) if isinstance(one, Begin)]
    conduct.turns[0].tool_started("long", "shell")
    conduct.turns[0].tool_started("more", "shell")
    return TurnWatch(conduct, None, begun.turn, room, None, None, None)


WANTED = PermissionRequest("command", "rm -rf build", call_id="more")


async def test_a_turn_that_runs_asks(watch, room):
    assert await watch.asked(WANTED) == Permitted("once")
    assert room.asked == [WANTED]


@pytest.mark.spec("C2A-180", "C2A-207")
async def test_a_turn_that_was_called_off_and_still_has_a_call_under_way_asks_for_nothing_more(
    watch, room, conduct
):
    conduct.cancelled("e1", at(11))
    assert conduct.turns
    assert isinstance(await watch.asked(WANTED), NotPermitted)
    assert room.asked == []


@pytest.mark.spec("C2A-180", "C2A-207")
async def test_a_yes_after_the_turn_was_called_off_is_a_no(watch, room, conduct):
    room.meanwhile = lambda: conduct.cancelled("e1", at(11))
    assert isinstance(await watch.asked(WANTED), NotPermitted)
    assert len(room.asked) == 1
