"""Several turns side by side: what belongs together stays in one slot, everything else takes a free one."""

from __future__ import annotations

from random import Random

import pytest

from tacit.harness.conduct import Conduct, ConductOptions
from tacit.harness.drivers.port import Failure, FailureKind, Stop, TurnOutcome
from tacit.harness.effects import Abort, Begin, PostAnswer, Postpone, Report, Settle, SteerTurn
from tacit.harness.session_view import session_name, slot_of, turn_name
from tests.harness.one_turn import reach_the_model
from tests.harness.test_conduct import at, event, immediate, kinds, settled

TWO = ConductOptions(boundaries=True, slots=2)
BO = {"author": {"id": "usr:bo", "kind": "human", "displayName": "Bo"}}
CY = {"author": {"id": "usr:cy", "kind": "human", "displayName": "Cy"}}


def ask(conduct, event_id, start, **more):
    """A question that is begun at once, as it looks whole; its turn, if a slot was free."""
    begun = kinds(conduct.heard(event(event_id, f"Which port has {event_id}?", **more), at(start)), Begin)
    return begun[0].turn if begun else None


def answered(turn, text="Eight thousand."):
    return TurnOutcome(turn.id, text)


def cancelled(turn):
    return TurnOutcome(turn.id, failure=Failure(FailureKind.CANCELLED, "cancelled"))


def test_an_unrelated_question_to_a_busy_agent_is_begun_in_another_slot():
    conduct = Conduct(TWO)
    first, second = ask(conduct, "e1", 0), ask(conduct, "e2", 10, **BO)
    assert (first.slot, second.slot) == (0, 1)
    assert (first.id, second.id) == ("e1.1", "e2.1~1")
    third = ask(conduct, "e3", 20, **CY)
    assert third is None
    reach_the_model(conduct)
    assert [(one.event_id, one.state, one.position) for one in conduct.work(at(24))] == [
        ("e1", "working", 0),
        ("e2", "working", 0),
        ("e3", "queued", 1),
    ]
    assert conduct.next_due is None
    effects = conduct.ended(answered(second), at(30))
    assert settled(effects) == {"e2": None}
    assert [(one.turn.carrier.event_id, one.turn.slot) for one in kinds(effects, Begin)] == [("e3", 1)]
    assert kinds(conduct.ended(answered(first), at(31)), PostAnswer)[0].turn is first


def test_no_more_run_side_by_side_than_the_day_has_left():
    conduct = Conduct(TWO)
    conduct.turns_left = 1
    first, second = ask(conduct, "e1", 0), ask(conduct, "e2", 10, **BO)
    assert second is None
    assert conduct.next_due is None, "the clock has nothing to ring for"
    conduct.turns_left = 2
    [begun] = kinds(conduct.due(at(20)), Begin)
    assert (begun.turn.carrier.event_id, begun.turn.slot) == ("e2", 1)
    conduct.turns_left = 0
    conduct.pause(at(100), "the day's budget is used up")
    conduct.ended(answered(first), at(21))
    conduct.ended(answered(begun.turn), at(22))
    conduct.heard(event("e3", "Which disk?", **CY), at(30))
    assert conduct.next_due == at(100)
    conduct.turns_left = 1
    assert [one.turn.carrier.event_id for one in kinds(conduct.due(at(100)), Begin)] == ["e3"]


def test_both_that_wait_are_begun_at_once():
    conduct = Conduct(TWO)
    conduct.heard(event("e1", "the port of staging"), at(0))
    conduct.heard(event("e2", "the host of staging", **BO), at(0))
    assert [one.turn.slot for one in kinds(conduct.due(at(4)), Begin)] == [0, 1]


def test_a_correction_restarts_its_own_turn_and_waits_for_its_slot():
    conduct = Conduct(TWO)
    first, second = ask(conduct, "e1", 0), ask(conduct, "e2", 10, **BO)
    effects = conduct.heard(event("e3", "sorry, I meant the other host", **BO), at(20))
    assert [one.turn_id for one in kinds(effects, Abort)] == [second.id]
    conduct.ended(answered(first), at(21))
    assert kinds(conduct.due(at(30)), Begin) == [], "a slot is free, and it is not the one with the work"
    [begun] = kinds(conduct.ended(answered(second), at(31)), Begin)
    assert (begun.turn.slot, [one.event_id for one in begun.turn.events]) == (1, ["e2", "e3"])


def test_what_comes_too_late_for_a_turn_follows_it_in_its_slot():
    conduct = Conduct(TWO)
    first, second = ask(conduct, "e1", 0), ask(conduct, "e2", 10, **BO)
    conduct.ended(answered(first), at(19))
    conduct.turn(second.id).tool_started("c1", "shell")
    conduct.heard(event("e3", "and the tests too", **BO), at(20))
    assert kinds(conduct.due(at(40)), Begin) == []
    [begun] = kinds(conduct.ended(answered(second), at(41)), Begin)
    assert (begun.turn.carrier.event_id, begun.turn.slot) == ("e3", 1)


def test_a_stop_ends_its_authors_work_and_no_other():
    conduct = Conduct(TWO)
    first, second = ask(conduct, "e1", 0), ask(conduct, "e2", 10, **BO)
    effects = conduct.heard(event("e3", "stop", attention__reason="cancellation", **BO), at(20))
    assert [one.turn_id for one in kinds(effects, Abort)] == [second.id]
    assert [one.work.event_id for one in kinds(effects, Report)] == ["e2"]
    assert not conduct.turn(first.id).is_ending


def test_a_failed_question_is_tried_again_where_it_was_begun():
    conduct = Conduct(TWO)
    ask(conduct, "e1", 0)
    second = ask(conduct, "e2", 10, **BO)
    down = Failure(FailureKind.RETRYABLE, "model_unavailable")
    conduct.ended(TurnOutcome(second.id, failure=down), at(20))
    [begun] = kinds(conduct.due(at(30)), Begin)
    assert (begun.turn.id, begun.turn.slot) == ("e2.2~1", 1)


def test_an_urgent_event_takes_a_free_slot_and_interrupts_only_where_there_is_none():
    conduct = Conduct(TWO)
    ask(conduct, "e1", 0)
    effects = conduct.heard(immediate("u1", text="Which host?", **BO), at(10))
    assert [one.turn.slot for one in kinds(effects, Begin)] == [1]
    conduct.heard(immediate("u2", text="Which disk?", attention__priority="urgent", **CY), at(11))
    assert conduct.next_due == at(21)
    aborted = [one.turn_id for one in kinds(conduct.due(at(21)), Abort)]
    assert len(aborted) == 1


def test_what_came_into_a_turn_that_is_ending_waits_and_is_not_at_work():
    conduct = Conduct(ConductOptions(inserts=True, boundaries=True))
    turn = ask(conduct, "e1", 0)
    running = conduct.turn(turn.id)
    reach_the_model(conduct)
    running.tool_started("c1", "read_file")
    conduct.heard(immediate("u1", text="Which host?"), at(10))
    conduct.boundary(turn.id, "c1", at(11))
    conduct.heard(event("s1", "stop", attention__reason="cancellation"), at(12))
    assert running.is_ending
    assert [(one.event_id, one.state) for one in conduct.work(at(12))] == [("u1", "queued")]


def test_a_boundary_and_a_steer_reach_the_turn_that_they_are_of():
    conduct = Conduct(ConductOptions(steers=True, inserts=True, boundaries=True, slots=2))
    first, second = ask(conduct, "e1", 0), ask(conduct, "e2", 10, **BO)
    [steer] = kinds(conduct.heard(event("e3", "and on which host", **BO), at(12)), SteerTurn)
    assert steer.turn_id == second.id
    conduct.steered(steer, at(12), taken=True)
    assert [one.event_id for one in conduct.turn(second.id).turn.events] == ["e2", "e3"]
    assert [one.event_id for one in conduct.turn(first.id).turn.events] == ["e1"]
    conduct.turn(first.id).tool_started("c1", "shell")
    conduct.turn(second.id).tool_started("c1", "shell")
    conduct.cancelled("e1", at(13))
    assert isinstance(conduct.boundary(first.id, "c1", at(14))[0], Stop)
    assert conduct.turn(second.id).is_in_effect


def test_what_was_begun_before_a_restart_goes_on_in_its_slot_while_there_is_one():
    for slots, wanted in ((2, 1), (1, 0)):
        conduct = Conduct(ConductOptions(boundaries=True, slots=slots))
        conduct.restore([(event("e1"), "e1.1~1", 0, 1)], at(0))
        [begun] = kinds(conduct.due(at(1)), Begin)
        assert begun.turn.slot == wanted


@pytest.mark.parametrize("carrier", ["e1", "e.1~7", "~"])
@pytest.mark.parametrize("slot", [0, 1, 7])
def test_a_turns_name_says_its_slot(carrier, slot):
    assert slot_of(turn_name(carrier, 12, slot)) == slot
    assert turn_name(carrier, 12, slot).rpartition(".")[0] == carrier


def test_no_two_audiences_or_slots_share_a_session():
    names = {session_name(audience, slot) for audience in ("", "ada+bo", "ada+cy") for slot in range(3)}
    assert len(names) == 9


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_each_slot_has_one_turn_and_every_event_ends_once_with_nothing_remembered(
    slots, seed
):
    random, now = Random(seed), 0.0
    steers = random.random() < 0.5
    conduct = Conduct(ConductOptions(steers=steers, inserts=steers, boundaries=True, slots=slots))
    heard, over = set(), []

    def carry_out(effects):
        for one in effects:
            if isinstance(one, Settle | Postpone):
                over.append(one.event_id)
            if isinstance(one, Begin):
                assert conduct.turns[one.turn.slot].turn is one.turn
            if isinstance(one, SteerTurn):
                carry_out(conduct.steered(one, at(now), taken=random.random() < 0.7))
        assert set(conduct.turns) <= set(range(slots))

    for number in range(120):
        now += random.random() * 4
        what = random.random()
        if what < 0.4:
            author = random.choice(({}, BO, CY))
            words = random.choice(("Which port is it?", "and the tests too", "sorry, I meant bo", "stop"))
            reason = {"attention__reason": "cancellation"} if words == "stop" else {}
            made = immediate if random.random() < 0.2 else event
            heard.add(f"n{number}")
            carry_out(conduct.heard(made(f"n{number}", text=words, **author, **reason), at(now)))
        elif what < 0.5 and heard - set(over):
            carry_out(conduct.cancelled(random.choice(sorted(heard - set(over))), at(now)))
        elif what < 0.8 and conduct.turns:
            turn = random.choice(list(conduct.turns.values())).turn
            down = Failure(FailureKind.RETRYABLE, "model_unavailable") if random.random() < 0.3 else None
            carry_out(conduct.ended(TurnOutcome(turn.id, "" if down else "Yes.", failure=down), at(now)))
        else:
            carry_out(conduct.due(at(now)))
    while conduct.owed:
        now += 700
        carry_out(conduct.due(at(now)))
        for running in list(conduct.turns.values()):
            carry_out(conduct.ended(answered(running.turn), at(now)))
    assert sorted(set(over)) == sorted(heard)
    assert len(conduct._runs) + len(conduct._failing) == 0


WAITS = "waits for permission to run a command"


def test_a_turn_that_waits_for_a_person_makes_room_only_when_somebody_needs_it():
    conduct = Conduct(ConductOptions(boundaries=True))
    first = ask(conduct, "e1", 0)
    reach_the_model(conduct)
    assert conduct.waits(first.id, WAITS, at(20)) == []
    assert [(one.state, one.code) for one in conduct.work(at(20))] == [("waiting", "permission")]
    aborted = kinds([*conduct.heard(event("e2", "and the disk?", **BO), at(30)), *conduct.due(at(40))], Abort)
    assert [one.turn_id for one in aborted] == [first.id]
    [begun] = kinds(conduct.ended(cancelled(first), at(41)), Begin)
    assert [one.event_id for one in begun.turn.events] == ["e2"]
    reach_the_model(conduct)
    told = {one.event_id: (one.state, one.code, one.message) for one in conduct.work(at(42))}
    assert told["e1"] == ("waiting", "permission", WAITS)
    assert not kinds(conduct.ended(answered(begun.turn), at(50)), Begin), "nothing is run again unanswered"
    assert conduct.next_due is None
    [again] = kinds(conduct.permitted(["e1"], "It is granted now.", at(10_000)), Begin)
    assert ([one.event_id for one in again.turn.events], again.turn.note) == (["e1"], "It is granted now.")
    assert again.turn.slot == first.slot


def test_a_turn_that_has_spoken_or_is_at_work_keeps_its_slot():
    for change in (lambda one: setattr(one.acts, "sends", 1), lambda one: one.tool_started("c2", "shell")):
        conduct = Conduct(ConductOptions(boundaries=True))
        first = ask(conduct, "e1", 0)
        change(conduct.turn(first.id))
        conduct.waits(first.id, WAITS, at(20))
        found = [*conduct.heard(event("e2", "and the disk?", **BO), at(30)), *conduct.due(at(40))]
        assert kinds(found, Abort) == []


def test_more_from_its_author_lets_a_parked_question_go_on_without_the_answer():
    conduct = Conduct(ConductOptions(boundaries=True))
    conduct.restore([(event("e1"), "e1.1", 0, 1)], at(0), {"e1": WAITS})
    assert conduct.due(at(1)) == []
    found = conduct.heard(event("e1b", "instead", supersedes="e1"), at(2))
    found += conduct.due(at(60))
    [begun] = kinds(found, Begin)
    assert [one.event_id for one in begun.turn.events] == ["e1b"]
