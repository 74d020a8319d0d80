"""Whoever asked says to wait: the turn stops where it is, and goes on with their next word or after a while."""

from __future__ import annotations

import pytest

from tacit.attention.settings import DEFAULTS
from tacit.harness.drivers.port import Stop
from tacit.harness.effects import Abort, Begin, React, Return, Settle
from tacit.harness.orders import BEGUN
from tests.harness.one_turn import OneTurn, reach_the_model
from tests.harness.test_conduct import PLAIN, at, begin, done, event, immediate, kinds, settled

HOLD = DEFAULTS.hold_ms / 1000


def wait(event_id="w1", **more):
    return event(event_id, "hold on", attention__reason="hold", attention__policy="may_respond", **more)


def states(conduct, now):
    return {one.event_id: (one.state, one.code) for one in conduct.work(now)}


@pytest.mark.spec("C2A-083")
def test_a_running_turn_stops_and_begins_again_with_its_asker_s_next_line():
    conduct = OneTurn(PLAIN)
    turn = begin(conduct, event("e1", "refactor the parser"))
    reach_the_model(conduct)
    effects = conduct.heard(wait(), at(10))
    assert kinds(effects, Abort, Return) == [Return(("e1",)), Abort(turn.id)]
    assert kinds(effects, React, Settle) == [React("w1", "agree"), Settle("w1")]
    assert kinds(conduct.ended(done("half"), at(11)), Begin) == []
    assert kinds(conduct.due(at(HOLD)), Begin) == []
    assert states(conduct, at(11)) == {"e1": ("waiting", "asked_to_wait")}
    [begun] = kinds(conduct.heard(event("e2", "is the build red?"), at(60)), Begin)
    assert [one.event_id for one in begun.turn.events] == ["e1"]
    assert "superseded" not in settled(effects).values()


def test_more_of_the_question_goes_with_it_when_it_goes_on():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "refactor the parser"), at(0))
    conduct.heard(wait(), at(1))
    assert kinds(conduct.due(at(30)), Begin) == []
    more = event("e2", "and also its tests")
    [begun] = kinds([*conduct.heard(more, at(40)), *conduct.due(at(75))], Begin)
    assert [one.event_id for one in begun.turn.events] == ["e1", "e2"]


def test_a_line_that_is_not_delivered_lets_it_go_on_too():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "refactor the parser"), at(0))
    conduct.heard(wait(), at(1))
    assert kinds(conduct.continued("e9", at(20)), Begin) == []
    assert kinds(conduct.continued("e1", at(20)), Begin)


def test_without_a_word_it_goes_on_after_a_while():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "refactor the parser"), at(0))
    conduct.heard(wait(), at(1))
    assert conduct.next_due == at(1 + HOLD)
    assert kinds(conduct.due(at(HOLD)), Begin) == []
    assert kinds(conduct.due(at(1 + HOLD)), Begin)


@pytest.mark.parametrize(("by", "thread", "held"), [
    ("usr:bo", None, True), ("usr:bo", "e1", True), ("user", "e1", True), ("user", None, False), ("usr:amy", "e1", False),
])  # fmt: skip
def test_only_its_asker_and_the_owner_who_replies_hold_it_and_the_rest_is_for_the_model(by, thread, held):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "refactor the parser", author={"id": "usr:bo", "kind": "human"}))
    more = {"conversation__threadId": thread} if thread else {}
    effects = conduct.heard(wait(author={"id": by, "kind": "human"}, **more), at(9))
    assert bool(kinds(effects, Abort)) is held
    assert ("w1" in settled(effects)) is held


def test_somebody_else_s_line_does_not_let_it_go_on():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "refactor the parser"), at(0))
    conduct.heard(wait(), at(1))
    other = event("e2", "what is the plan?", author={"id": "usr:amy", "kind": "human"})
    [begun] = kinds([*conduct.heard(other, at(5)), *conduct.due(at(40))], Begin)
    assert [one.event_id for one in begun.turn.events] == ["e2"]


def test_a_call_with_an_effect_is_let_to_its_end_and_the_model_told_when_it_goes_on():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "deploy it"))
    conduct.tool_started("c1", "deploy")
    assert kinds(conduct.heard(wait(), at(9)), Abort) == []
    assert conduct.boundary("c1", at(10))[0] == Stop()
    conduct.ended(done("half"), at(11))
    [begun] = kinds(conduct.heard(event("e2", "go on"), at(30)), Begin) or kinds(conduct.due(at(40)), Begin)
    assert begun.turn.note == BEGUN


def test_what_has_spoken_is_not_held_and_what_is_called_off_is_over():
    spoken = OneTurn(PLAIN)
    begin(spoken, event("e1", "refactor the parser"))
    spoken.running.acts.sends, spoken.running.acts.replied = 1, {"e1"}
    assert kinds(spoken.heard(wait(), at(9)), Abort, Return) == []
    held = OneTurn(PLAIN)
    held.heard(event("e1", "refactor the parser"), at(0))
    held.heard(wait(), at(1))
    stop = immediate("s1", text="please don't bother", attention__reason="cancellation")
    assert settled(held.heard(stop, at(5))) == {"e1": "superseded", "s1": None}
    assert kinds(held.due(at(2 * HOLD)), Begin) == []
