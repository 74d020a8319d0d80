"""Tiers, confidence and faults: which model is asked, how often, and what comes of it."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest

from tacit.a2acp.consent.tiers import DEFAULT
from tacit.agent.brain.minded import AWAY, MALFORMED, TAKEN, UNSURE, established
from tacit.agent.brain.port import READ_PACKET, READ_REQUEST, WRITE_PROPOSAL, GenerationFailed, Scene, Task
from tacit.agent.scheduling.goal import MEETING, Goal
from tacit.base.language_model import ModelAway
from tacit.base.moment import parse_rfc3339
from tests.agent.scripted import DINNER, Kept, Scripted, Waited, honest, minded

NOW = parse_rfc3339("2026-03-23T09:00:00Z")
PACKET = {"intent": {"category": "scheduling", "summary": "Dinner on Friday"}, "context": {}}
OPTION = {
    "date": "2026-03-27",
    "time": "19:00+00:00/20:30+00:00",
    "timezone": "Europe/London",
    "event_type": "dinner",
}
GOAL = Goal(kind=MEETING, category="scheduling", summary="Dinner", event_type="dinner")


def scene(**more: Any) -> Scene:
    return Scene(owner="anna", counterpart="agent:ben@r.example", policy=DEFAULT, thread_id="thr_1", **more)


def task(kind: str = READ_REQUEST, options: int = 1, **more: Any) -> Task:
    given = {
        READ_REQUEST: {"text": "dinner on Friday with Ben"},
        READ_PACKET: {"packet": PACKET},
        WRITE_PROPOSAL: {"goal": GOAL, "options": (OPTION,) * options},
    }[kind]
    return Task(kind, NOW, "Europe/London", scene=scene(**more), **given)


def think(brain: Any, *tasks: Task) -> Any:
    async def all_of_them() -> list[Any]:
        return [await brain.think(one) for one in tasks]

    return asyncio.run(all_of_them())[-1]


def sure(value: Any) -> Scripted:
    return Scripted(lambda prompt: json.dumps({**json.loads(honest(prompt)), "confidence": value}))


# Which tier (081).


@pytest.mark.spec("A2ACP-081")
@pytest.mark.parametrize(
    ("kind", "options", "asked"),
    [(READ_PACKET, 1, 0), (READ_REQUEST, 1, 1), (WRITE_PROPOSAL, 1, 1), (WRITE_PROPOSAL, 2, 2)],
)
def test_each_task_begins_with_the_cheapest_tier_that_is_enough_for_it(kind, options, asked) -> None:
    models = [Scripted(), Scripted(), Scripted()]
    think(minded(*models), task(kind, options))
    assert [len(one.prompts) for one in models] == [int(number == asked) for number in range(3)]


@pytest.mark.spec("A2ACP-081", "A2ACP-084")
def test_from_three_ends_in_the_same_category_on_the_rules_follow_the_pattern_and_no_model_is_asked() -> None:
    model = Scripted()
    for kind in (READ_PACKET, WRITE_PROPOSAL):
        two, three = task(kind, completed={"scheduling": 2}), task(kind, completed={"scheduling": 3})
        assert (established(two), established(three)) == (False, True)
        think(minded(model), three)
        assert not model.prompts
    other = task(READ_PACKET, completed={"information": 7})
    assert not established(other)
    assert not established(task(READ_REQUEST, completed={"scheduling": 9}))


def test_a_tier_without_a_model_of_its_own_is_the_one_below_it() -> None:
    small = Scripted()
    think(minded(small), task(WRITE_PROPOSAL, 2))
    assert len(small.prompts) == 1
    large = Scripted()
    think(minded(None, None, large), task(READ_PACKET))
    assert not large.prompts


# Confidence (083, 084).


@pytest.mark.spec("A2ACP-083", "A2ACP-084")
def test_an_unsure_answer_climbs_one_tier_at_most_twice_and_then_the_owner_is_asked() -> None:
    models = [sure(0.59), sure(0.3), sure(0.1)]
    notes = Kept()
    thought = think(minded(*models, notes=notes), task(READ_PACKET))
    assert thought.ask_owner
    assert [len(one.prompts) for one in models] == [1, 1, 1]
    assert [(one.tier, one.outcome) for one in notes.noted] == [
        ("small", UNSURE),
        ("medium", UNSURE),
        ("large", UNSURE),
    ]


@pytest.mark.spec("A2ACP-083")
def test_a_sure_answer_of_a_larger_tier_is_taken() -> None:
    models = [sure(0.2), sure(0.6), sure(1)]
    thought = think(minded(*models), task(READ_PACKET))
    assert (thought.confidence, thought.ask_owner) == (0.6, False)
    assert not models[2].prompts


def test_what_the_rules_do_not_understand_climbs_to_a_model() -> None:
    model = Scripted()
    odd = {"intent": {"category": "scheduling", "summary": "Dinner on Friday 28 March 2026"}, "context": {}}
    unclear = Task(READ_PACKET, NOW, "Europe/London", packet=odd, scene=scene(completed={"scheduling": 3}))
    assert think(minded(None, model), unclear).confidence == 0.9
    assert len(model.prompts) == 1


@pytest.mark.spec("A2ACP-084")
@pytest.mark.parametrize(
    ("said", "taken"),
    [
        (1000, 1.0),
        (-3, 0.0),
        (0.7, 0.7),
        (math.nan, 0.0),
        (math.inf, 1.0),
        ("0.9", 0.0),
        (None, 0.0),
        (True, 0.0),
    ],
)
def test_confidence_is_a_number_from_0_to_1_and_whatever_is_none_is_0(said, taken) -> None:
    notes = Kept()
    thought = think(minded(sure(said), notes=notes), task(READ_PACKET))
    assert thought.confidence == taken
    assert thought.ask_owner == (taken < 0.6)


def test_a_missing_confidence_is_0() -> None:
    without = {name: value for name, value in DINNER.items() if name != "confidence"}
    assert think(minded(Scripted(lambda _: json.dumps(without))), task(READ_PACKET)).confidence == 0


# Away (084, 085, 086).


def away(**more: Any) -> Scripted:
    return Scripted(lambda _: ModelAway("429", **more))


@pytest.mark.spec("A2ACP-084", "A2ACP-085", "A2ACP-086")
def test_a_model_that_is_away_is_asked_again_after_1_2_and_4_seconds_then_the_secondary_likewise() -> None:
    first, second, waiting = away(), away(), Waited()
    with pytest.raises(ModelAway):
        think(minded((first, second), waiting=waiting), task(READ_PACKET))
    assert (len(first.prompts), len(second.prompts)) == (4, 4)
    assert waiting.seconds == pytest.approx([1, 2, 4, 1, 2, 4], rel=1e-6)


@pytest.mark.spec("A2ACP-086")
def test_the_secondary_answers_the_same_task_when_the_preferred_model_stays_away() -> None:
    first, second, notes = away(), Scripted(name="other"), Kept()
    thought = think(minded((first, second), notes=notes), task(READ_PACKET))
    assert thought.goal.event_type == "dinner"
    assert second.prompts == first.prompts[:1]
    assert [(one.model, one.outcome) for one in notes.noted] == [("m", AWAY)] * 4 + [("other", TAKEN)]


@pytest.mark.spec("A2ACP-084", "A2ACP-085")
@pytest.mark.parametrize(
    ("share", "asked", "first"),
    [(0, None, 0.8), (1, None, 1.2), (0, 7, 7), (0, 3600, 60), (0, 0.1, 0.8), (0, -5, 0.8)],
)
def test_a_pause_varies_by_a_fifth_and_what_the_model_asks_for_is_honoured_up_to_a_minute(
    share, asked, first
) -> None:
    waiting = Waited()
    with pytest.raises(ModelAway):
        think(minded(away(retry_after=asked), waiting=waiting, share=share), task(READ_PACKET))
    assert waiting.seconds[0] == pytest.approx(first, rel=1e-6)


def test_a_model_that_can_never_answer_is_not_waited_for() -> None:
    first, second, waiting = away(lasting=True), Scripted(), Waited()
    think(minded((first, second), waiting=waiting), task(READ_PACKET))
    assert (len(first.prompts), waiting.seconds) == (1, [])


@pytest.mark.spec("A2ACP-087")
def test_without_models_a_packet_is_not_guessed_at_and_the_owners_words_and_proposals_are_the_rules() -> None:
    brain = minded(away())
    with pytest.raises(ModelAway):
        asyncio.run(brain.without_models(task(READ_PACKET)))
    assert asyncio.run(brain.without_models(task(READ_PACKET, completed={"scheduling": 3}))).goal
    assert asyncio.run(brain.without_models(task(READ_REQUEST))).goal.event_type == "dinner"
    assert asyncio.run(brain.without_models(task(WRITE_PROPOSAL))).summaries
    unread = Task(READ_REQUEST, NOW, "Europe/London", text="xyzzy plugh", scene=scene())
    with pytest.raises(ModelAway):
        asyncio.run(brain.without_models(unread))


# Malformed (088).


@pytest.mark.spec("A2ACP-088", "A2ACP-089")
@pytest.mark.parametrize("kind", [READ_PACKET, WRITE_PROPOSAL])
def test_after_one_try_and_three_more_that_cannot_be_used_it_is_given_up(kind) -> None:
    model, notes = Scripted(lambda _: "I would rather not."), Kept()
    with pytest.raises(GenerationFailed):
        think(minded(model, notes=notes), task(kind))
    assert len(model.prompts) == 4
    assert [one.outcome for one in notes.noted] == [MALFORMED] * 4
    assert sum(one.input_tokens for one in notes.noted) == 400


@pytest.mark.spec("A2ACP-088")
def test_an_answer_is_asked_for_anew_with_the_reason_and_without_the_bad_one() -> None:
    said = iter(["{not this}", '{"kind": "SECRET-ECHO"}', json.dumps(DINNER)])
    model = Scripted(lambda _: next(said))
    assert think(minded(model), task(READ_PACKET)).goal.kind == MEETING
    again = [one.words for one in model.prompts[1:]]
    assert all(one.startswith(model.prompts[0].words) for one in again)
    assert "could not be used" in again[0]
    assert "SECRET-ECHO" not in "".join(again)


def test_the_owners_own_words_are_read_by_the_rules_when_no_answer_can_be_used() -> None:
    assert think(minded(Scripted(lambda _: "")), task(READ_REQUEST)).goal.event_type == "dinner"


# Log and budget (082).


@pytest.mark.spec("A2ACP-082")
def test_every_answer_is_noted_with_model_task_confidence_tokens_and_cost_and_no_word_of_it() -> None:
    notes = Kept()
    think(
        minded(Scripted(name="gpt"), notes=notes),
        task(READ_PACKET),
        task(WRITE_PROPOSAL, completed={"scheduling": 3}),
    )
    first, second = notes.noted
    assert (first.model, first.task, first.confidence, first.tier) == ("gpt", READ_PACKET, 0.9, "small")
    assert (first.input_tokens, first.output_tokens, first.cost_usd, first.thread_id) == (
        100,
        20,
        0.01,
        "thr_1",
    )
    assert (second.model, second.task, second.confidence, second.cost_usd) == (
        "rules",
        WRITE_PROPOSAL,
        1.0,
        0,
    )
    assert "dinner" not in repr(notes.noted).lower()


def test_beyond_the_budget_the_rules_go_on_and_say_so() -> None:
    model, notes = Scripted(), Kept(most=200)
    thought = think(minded(model, notes=notes), task(READ_PACKET), task(READ_PACKET), task(READ_PACKET))
    assert len(model.prompts) == 2
    assert thought.over_budget
    assert thought.goal.event_type == "dinner"
    assert notes.noted[-1].model == "rules"


def test_the_budget_also_ends_regenerations() -> None:
    model = Scripted(lambda _: "no")
    assert think(minded(model, notes=Kept(most=200)), task(READ_PACKET)).over_budget
    assert len(model.prompts) == 2
