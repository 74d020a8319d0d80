"""What a brain is given for one thought: this counterpart, this thread, and its siblings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.agent.brain import layers
from tacit.agent.brain.port import Thought
from tacit.agent.brain.scenes import scene_of
from tacit.agent.kernel import records
from tacit.agent.scheduling import asking
from tacit.agent.scheduling.view import view_of
from tacit.agent.scheduling.wording import words_of
from tests.agent.scheduling.desk import begun, desks
from tests.agent.scripted import Scripted, minded

BEN = "agent:ben@relay.example"


def in_layers(desk, thread_id: str) -> str:
    scene = scene_of(desk.workspace(), desk.thread(thread_id).peer, desk.thread(thread_id))
    return layers.thread(scene)


@pytest.mark.spec("A2ACP-065")
def test_a_scene_has_the_history_and_what_was_shared_requested_and_is_outstanding() -> None:
    both = desks()
    thread = begun(both, "dinner with ben on Friday evening")
    scene = scene_of(both.anna.workspace(), BEN, both.anna.thread(thread))
    assert [(one.ours, one.type) for one in scene.history] == [(True, "context")]
    assert "time_windows" in scene.shared
    assert set(scene.requested) >= {"specific_availability", "dietary"}
    assert set(scene.outstanding) >= {"specific_availability", "dietary"}
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    after = scene_of(both.anna.workspace(), BEN, both.anna.thread(thread))
    assert "specific_availability" not in after.outstanding
    assert any(not one.ours for one in after.history)


@pytest.mark.spec("A2ACP-118")
def test_a_thread_knows_the_end_of_its_siblings_dinner() -> None:
    both = desks()
    thread = begun(both, "dinner with ben on Friday evening")
    goals = [both.anna.goal("dinner with ben on Friday evening"), both.anna.goal("a walk with ben on Friday")]
    dinner, walk = both.anna.decide(lambda ws: asking.fork(ws, thread, goals))
    both.settle()
    # That a thread became several is no end of what it was about.
    assert not any(isinstance(one, records.Completed) for one in both.anna.log)
    for _ in range(4):
        for desk in (both.anna, both.ben):
            for question in desk.questions("consent"):
                desk.share_all(question)
        both.settle()
    assert both.anna.thread(dinner).siblings == (walk,)
    slot = both.anna.workspace().packet(
        both.anna.thread(dinner),
        both.anna.thread(dinner).proposal.packet_id,
        both.anna.thread(dinner).proposal.side,
    )["proposal"]["details"]
    for desk in (both.anna, both.ben):
        told = in_layers(desk, walk)
        assert "a sibling of this thread, now PROPOSED" in told
        assert slot["time"] in told
        assert "Dinner on Friday 27 March 2026" in told


@pytest.mark.spec("A2ACP-071")
def test_what_is_not_cleared_is_withheld_until_its_owner_releases_it_in_this_thread() -> None:
    both = desks()
    thread = both.anna.ask("dinner with ben on Friday evening", BEN)
    before = scene_of(both.anna.workspace(), BEN, both.anna.thread(thread))
    assert (set(before.profile), set(before.withheld)) == ({"timezone"}, {"dietary"})
    both.anna.share_all(both.anna.question("consent"))
    after = scene_of(both.anna.workspace(), BEN, both.anna.thread(thread))
    assert (set(after.profile), set(after.withheld)) == ({"timezone", "dietary"}, set())


@pytest.mark.spec("A2ACP-071")
def test_words_that_name_a_value_are_used_only_once_it_is_cleared() -> None:
    both = desks()
    thread = both.anna.ask("dinner with ben on Friday evening", BEN)
    thought = Thought(summaries=("Dinner, ⟨dietary⟩", "Dinner in ⟨timezone⟩"), reasoning="⟨nothing⟩")
    view = view_of(both.anna.workspace(), both.anna.thread(thread))
    assert words_of(both.anna.workspace(), view, thought) == (["", "Dinner in Europe/London"], "")
    both.anna.share_all(both.anna.question("consent"))
    after = (["Dinner, anna eats no meat", "Dinner in Europe/London"], "")
    assert words_of(both.anna.workspace(), view, thought) == after
    assert words_of(both.anna.workspace(), view, replace(thought, ask_owner=True)) == ([], "")
    assert words_of(both.anna.workspace(), view, None) == ([], "")


@pytest.mark.spec("A2ACP-061")
def test_the_owners_style_is_for_the_brain_and_may_not_leave() -> None:
    both = desks()
    both.anna.own["communication_style"] = "grumpy and terse to everybody"
    scene = scene_of(both.anna.workspace(), BEN)
    assert scene.style == "grumpy and terse to everybody"
    assert scene.gives_away(["grumpy and terse to everybody"])


@pytest.mark.spec("A2ACP-084")
def test_each_thread_that_comes_to_its_end_counts_once_for_its_counterpart_and_category() -> None:
    both = desks()
    for day in (27, 28, 29):
        begun(both, f"dinner with ben on 2026-03-{day}")
        both.ben.share_all(both.ben.question("consent"))
        both.settle()
        both.confirmed()
    for desk, peer in ((both.anna, BEN), (both.ben, both.anna.me)):
        assert desk.book.completions == {(peer, "scheduling"): 3}
    model = Scripted()
    both.ben.brain = minded(model)
    begun(both, "dinner with ben on 2026-03-30")
    assert model.prompts == []


def test_a_category_of_a_counterparts_own_is_not_counted() -> None:
    both = desks()
    thread = begun(both, "dinner with ben on Friday evening")
    ws = both.ben.workspace()
    intent = ws.keep(both.anna.me, {"category": "MARKER", "summary": "x"})
    both.ben.contents[intent] = ws.kept[intent][1]
    both.ben.decide(lambda ws: ws.change(thread, intent=intent))
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    both.confirmed()
    assert both.ben.state(thread) == "COMPLETED"
    assert not any(isinstance(one, records.Completed) for one in both.ben.log)
