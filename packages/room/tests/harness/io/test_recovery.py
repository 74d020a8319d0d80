"""After a crash: what had come into a turn beside its question is a question of its own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tacit.base.moment import SECOND, Moment
from tacit.harness.conduct import Conduct, ConductOptions
from tacit.harness.effects import Begin, Settle
from tacit.harness.io.recovery import recovered
from tacit.harness.io.store import HarnessStore, OutboxRow
from tacit.harness.session_view import SessionView
from tests.c2a_peer import delivery

NOW = Moment(1_768_298_400 * SECOND)
ANN = {"id": "ann", "kind": "human"}
BO = {"id": "bo", "kind": "human"}


@pytest.fixture
def context(tmp_path):
    store = HarnessStore(tmp_path / "harness.db")
    yield SimpleNamespace(store=store, view=SessionView("ada"))
    store.close()


def left(context, *answered):
    """Ann's job with a line more, into which Bo's urgent question came; then the process was killed."""

    def write(writing):
        writing.accept("e0", "r0", delivery("e0", "please do", author=ANN), NOW)
        writing.accept("e1", "r1", delivery("e1", "the long job", author=ANN), NOW)
        writing.begin("e1.1", ["e0", "e1"])
        urgent = delivery("e2", "is the disk full?", author=BO, injection__mode="immediate")
        writing.accept("e2", "r2", urgent, NOW)
        writing.begin("e1.1", ["e2"])
        for event_id in answered:
            key = f"e1.1:ada:tool:{event_id}"
            writing.say(OutboxRow(key, "e1.1", event_id, "chat.send_message", {}, "sent"), NOW)

    context.store.write(write)


def asked(context):
    """The questions that are asked again, and how the others ended."""
    conduct = Conduct(ConductOptions())
    effects = recovered(context, conduct, NOW)
    ended = {one.event_id: one.disposition for one in effects if isinstance(one, Settle)}
    questions = []
    while True:
        begun = [one for one in conduct.due(NOW) if isinstance(one, Begin)]
        if not begun:
            return questions, ended
        questions.append([one.event_id for one in begun[0].turn.events])
        conduct.turns.clear()


@pytest.mark.spec("C2A-163")
def test_two_peoples_questions_in_one_turn_are_asked_again_apart(context):
    left(context)
    assert asked(context) == ([["e2"], ["e0", "e1"]], {})


@pytest.mark.spec("C2A-163", "C2A-164")
def test_an_answer_to_the_one_is_not_one_to_the_other(context):
    left(context, "e2")
    assert asked(context) == ([], {"e2": None, "e1": "failed", "e0": "superseded"})


@pytest.mark.spec("C2A-163", "C2A-164")
def test_what_came_in_is_asked_again_when_the_turns_own_question_was_answered(context):
    left(context, "e1")
    assert asked(context) == ([["e2"]], {"e1": None, "e0": "superseded"})


@pytest.mark.spec("C2A-163", "C2A-164")
@pytest.mark.parametrize("answered", [True, False])
def test_an_immediate_first_part_of_the_question_itself_stays_one_with_it(context, answered):
    def write(writing):
        urgent = delivery("e1", "the disk is full", author=ANN, injection__mode="immediate")
        writing.accept("e1", "r1", urgent, NOW)
        writing.accept("e2", "r2", delivery("e2", "and the index gone", author=ANN), Moment(NOW + 1))
        writing.begin("e2.1", ["e1", "e2"])
        if answered:
            writing.say(OutboxRow("k", "e2.1", "e2", "chat.send_message", {}, "sent"), NOW)

    context.store.write(write)
    one = ([], {"e2": None, "e1": "superseded"}) if answered else ([["e1", "e2"]], {})
    assert asked(context) == one
