"""A coordinator that dies at any of its decisions: the group ends once, in one way, for all."""

from __future__ import annotations

import pytest

from tacit.agent.features import FOLD
from tacit.agent.groups import grouping
from tacit.agent.groups import records as group_records
from tacit.agent.groups.fold import GroupTables
from tacit.agent.kernel import fold
from tests.agent.groups.circle import FRIDAY, GAME_NIGHT, SATURDAY, Circle, busy_but, own_thread
from tests.agent.scheduling.desk import Desk

pytestmark = pytest.mark.usefixtures("acquaintance")
NAMES = ("anna", "bob", "charlie")


class Killed(Exception):
    """The process is gone."""


class Mortal(Desk):
    """A desk that dies at one of its decisions: before it is kept, or right after."""

    dies_at = 0
    kept_before = False
    made = 0

    def _keep(self, ws):
        if not ws.records:
            return super()._keep(ws)
        self.made += 1
        if self.made == self.dies_at and not self.kept_before:
            raise Killed
        did = super()._keep(ws)
        if self.made == self.dies_at:
            raise Killed
        return did


def lived(dies_at: int, *, kept: bool, quorum: int | None) -> tuple[Circle, str]:
    """A game night with a coordinator that dies once, and is started again."""
    anna = Mortal("anna", busy=busy_but(FRIDAY, SATURDAY))
    anna.dies_at, anna.kept_before = dies_at, kept
    people = Circle(anna, *(Desk(name, busy=busy_but(FRIDAY, SATURDAY)) for name in NAMES[1:]))
    others = [one for one in people.desks if one != anna.me]
    goal = anna.goal(GAME_NIGHT)

    def surviving(step):
        try:
            return step()
        except Killed:
            anna.restarted()
            return None

    def begun():
        anna.decide(lambda ws: grouping.begin(ws, goal, others, quorum=quorum, thread_id="thr_night0000"))

    surviving(begun)
    if "thr_night0000" not in anna.book.part(GroupTables).groups:
        begun()
    for _ in range(60):
        surviving(people.settle)
        for one in people.desks.values():
            for question in one.questions("checkpoint"):
                surviving(lambda one=one, question=question: one.answer(question, confirm=True))
    return people, "thr_night0000"


def check(people: Circle, group_id: str) -> None:
    """It ended once, in one way, for all."""
    assert {own_thread(one, group_id).state.value for one in people.desks.values()} == {"COMPLETED"}
    for one in people.desks.values():
        assert [what for what, _ in one.done].count("do") >= 1
        assert ("undo", "calendar") not in one.done
        fresh = FOLD.book()
        for record, at in one._dated:
            fold.apply(fresh, record, at)
    met = [one for one in people.first.log if isinstance(one, group_records.Met)]
    assert len(met) == 1


@pytest.mark.spec("A2ACP-151")
@pytest.mark.parametrize("dies_at", [1, 3, 6, 9, 12, 15, 18])
def test_a_coordinator_killed_at_one_of_its_decisions_ends_it_once_for_all(dies_at):
    check(*lived(dies_at, kept=bool(dies_at % 2), quorum=None))


@pytest.mark.soak
@pytest.mark.parametrize("quorum", [None, 2])
@pytest.mark.parametrize("kept", [True, False])
def test_a_coordinator_killed_at_every_decision_ends_it_once_for_all(kept, quorum):
    for dies_at in range(1, 40):
        check(*lived(dies_at, kept=kept, quorum=quorum))
