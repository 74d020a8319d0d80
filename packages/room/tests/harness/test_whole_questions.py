"""Whole questions: what looks finished is asked at once, what hangs is waited for, what comes late is merged."""

from __future__ import annotations

import pytest

from tacit.attention.settings import Settings
from tacit.harness.belonging import belongs
from tacit.harness.conduct import ConductOptions
from tacit.harness.drivers.port import TurnOutcome
from tacit.harness.effects import Abort, Begin, PostAnswer, SteerTurn
from tacit.harness.question import TurnQuestion, key_of
from tests.harness.one_turn import OneTurn
from tests.harness.test_conduct import PLAIN, at, event, kinds, settled


def added(event_id, text, **more):
    """A line without a name that the hub says is more of what its author has just asked."""
    attention = {"policy": "may_respond", "reason": "added", "priority": "normal"}
    return event(event_id, text, attention=attention, policy="may_respond", target__mentions=[], **more)


def begun(effects):
    """The lines of the turn that begins."""
    [found] = kinds(effects, Begin)
    return [one.text for one in found.turn.events]


@pytest.mark.spec("C2A-083", "C2A-221")
@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("@ada which branch do we release from?", 0),
        ("@ada the staging logs are in.", 0),
        ("@ada 请看一下\uff1f", 0),
        ("@ada which branch do we release from", 0.7),
        ("请@ada看一下", 0.7),
        ("@ada the staging logs", 3),
        ("@ada hey", 5),
        ("@ada", 5),
        ("@ada two things:", 5),
        ("@ada look at the build and", 5),
    ],
)
def test_how_long_is_waited_is_told_by_how_the_line_ends(text, waits):
    conduct = OneTurn(PLAIN)
    effects = conduct.heard(event("e1", text), at(0))
    if waits:
        assert effects == []
        assert conduct.next_due == at(waits)
        effects = conduct.due(at(waits))
    assert begun(effects) == [text]


def test_an_owner_may_have_every_line_waited_for_alike():
    conduct = OneTurn(PLAIN, Settings(compose_adapts=False))
    assert conduct.heard(event("e1", "@ada which branch?"), at(0)) == []
    assert conduct.next_due == at(3)


@pytest.mark.spec("C2A-083", "C2A-087")
def test_a_greeting_and_two_more_lines_are_one_turn():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "@ada hey"), at(0))
    assert conduct.heard(added("e2", "the importer is slow since noon"), at(4)) == []
    lines = begun(conduct.heard(added("e3", "can you look?"), at(6)))
    assert lines == ["@ada hey", "the importer is slow since noon", "can you look?"]
    effects = conduct.ended(TurnOutcome("t", "Looking."), at(9))
    assert settled(effects) == {"e3": None, "e1": "superseded", "e2": "superseded"}


@pytest.mark.spec("C2A-083")
@pytest.mark.parametrize("content", ["the importer is slow", "The importer is slow."])
def test_what_came_before_the_call_is_in_the_same_turn_and_first(content):
    conduct = OneTurn(PLAIN)
    assert conduct.heard(added("e1", content, timing__createdAt="2026-01-13T09:59:15Z"), at(0)) == []
    assert begun(conduct.heard(event("e2", "@ada can you look?"), at(0.1))) == [content, "@ada can you look?"]


@pytest.mark.spec("C2A-188")
@pytest.mark.parametrize("text", ["I mean the staging one", "Which one is failing?", "since noon."])
def test_what_is_added_while_the_model_thinks_has_the_turn_begun_anew(text):
    conduct = OneTurn(PLAIN)
    first = "@ada please restart the database."
    assert begun(conduct.heard(event("e1", first), at(0))) == [first]
    effects = conduct.heard(added("e2", text), at(40))
    assert kinds(effects, Abort)
    # Whoever went on after what looked whole writes in pieces, and is waited for from now on.
    assert conduct.ended(TurnOutcome("t", "Half read."), at(41))
    assert conduct.next_due == at(43)
    assert begun(conduct.due(at(43))) == [first, text]
    assert [one.body for one in kinds(conduct.ended(TurnOutcome("t", "Both."), at(50)), PostAnswer)] == [
        "Both."
    ]


@pytest.mark.spec("C2A-188")
def test_a_turn_that_is_begun_anew_goes_before_what_was_asked_later_and_looks_whole():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "@ada check the main branch."), at(0))
    conduct.heard(event("e2", "@ada sorry, I meant the release branch"), at(5))
    conduct.heard(event("e3", "@ada unrelated: which port does the hub use?"), at(6))
    assert kinds(conduct.ended(TurnOutcome("t", "Half read."), at(6.5)), Begin) == []
    assert conduct.next_due == at(8)
    assert len(begun(conduct.due(at(8)))) == 2
    assert len(begun(conduct.ended(TurnOutcome("t", "Both."), at(9)))) == 1


@pytest.mark.spec("C2A-188")
def test_a_driver_that_can_be_steered_is_given_what_is_added():
    conduct = OneTurn(ConductOptions(boundaries=True, steers=True))
    conduct.heard(event("e1", "@ada please restart the database."), at(0))
    [steer] = kinds(conduct.heard(added("e2", "I mean the staging one"), at(9)), SteerTurn)
    assert "I mean the staging one" in steer.text


@pytest.mark.spec("C2A-084", "C2A-086")
def test_a_hanging_line_waits_for_the_typing_up_to_the_cap():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "@ada hey"), at(0))
    conduct.typing("g1", "user", at(4), typing=True)
    assert conduct.next_due == at(10)
    for second in range(9, 30, 5):
        conduct.typing("g1", "user", at(second), typing=True)
    assert conduct.next_due == at(30)
    assert begun(conduct.due(at(30))) == ["@ada hey"]


def test_what_is_added_to_nothing_that_is_here_is_a_question_of_its_own():
    conduct = OneTurn(PLAIN)
    assert conduct.heard(added("e2", "Which one is failing?"), at(0)) == []
    assert begun(conduct.due(at(3))) == ["Which one is failing?"]


@pytest.mark.spec("C2A-083")
def test_nothing_is_added_across_authors():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "@ada hey"), at(0))
    other = {"author": {"id": "usr:bo", "kind": "human", "displayName": "Bo"}}
    conduct.heard(added("e2", "it is slow", **other), at(1))
    assert begun(conduct.due(at(5))) == ["it is slow"]


@pytest.mark.spec("C2A-083")
def test_what_an_earlier_process_left_is_put_together_again():
    conduct = OneTurn(PLAIN)
    rows = [(event("e1", "@ada hey"), "", 0, 0), (added("e2", "it is slow"), "", 0, 0)]
    conduct.restore(rows, at(100))
    assert begun(conduct.due(at(100))) == ["@ada hey", "it is slow"]


def test_a_question_opens_one_thread_and_goes_on_there_alone():
    root = added("t1", "the importer")
    asked_under = event("e1", "@ada how is it?", conversation__threadId="t1")
    alone, opened = TurnQuestion(key_of(root), (root,)), TurnQuestion(key_of(root), (root, asked_under))
    for question, line, expected in (
        (alone, asked_under, True),
        (opened, event("e2", "@ada since when?", conversation__threadId="t1"), True),
        (opened, added("t2", "the exporter"), False),
        (opened, event("e3", "@ada how is it?", conversation__threadId="t2"), False),
    ):
        assert belongs(line, question, None, at(0), Settings()) is expected, line.text
