"""Hints and new contacts: each at its moment, once, over restarts."""

from __future__ import annotations

import contextlib

import pytest

from tacit.agent import Agent
from tacit.agent.owner import hints
from tacit.agent.owner.hints import Hint, Tally
from tacit.agent.shell.io import calls
from tacit.base.errors import Refused
from tests.agent.arrangements import registered
from tests.relay_support import Relay

DINNER = "dinner with ben on Friday evening"
PROJECT = "hand over the billing project to ben by 2027-03-30"


@contextlib.asynccontextmanager
async def _registered(folder, *friends):
    async with Relay(folder / "relay") as relay:
        await registered(relay, folder / "anna", "anna", *(friends or ("ben", "cara")))
        yield folder / "anna"


async def _due(agent) -> list[str]:
    return [one["hint"] for one in (await calls.call(agent, "hints", {}))["hints"]]


async def _over(agent, text: str = DINNER) -> str:
    thread = (await agent.ask(text))["thread_id"]
    await agent.stop(thread)
    return thread


@pytest.mark.spec("A2ACP-234")
async def test_each_hint_is_due_at_its_moment_and_not_before_and_once_seen_never_again(tmp_path):
    async with _registered(tmp_path) as folder:
        async with Agent(folder) as anna:
            assert await _due(anna) == []
            first = (await anna.ask(DINNER))["thread_id"]
            (told,) = (await calls.call(anna, "hints", {}))["hints"]
            assert (told["hint"], told["thread_id"]) == (hints.FIRST_THREAD, first)
            assert "waits" in told["text"]
        async with Agent(folder) as anna:
            # Nobody has shown it: it is still due. Once it was shown it is over, also after a restart.
            assert await _due(anna) == [hints.FIRST_THREAD]
            await calls.call(anna, "seen", {"hint": hints.FIRST_THREAD})
            await calls.call(anna, "seen", {"hint": hints.FIRST_THREAD})
            assert await _due(anna) == []
        async with Agent(folder) as anna:
            assert await _due(anna) == []
            await anna.ask("lunch with cara on Saturday")
            await anna.ask("lunch with ben on Saturday")
            # Three threads, none of them the third with one person.
            assert await _due(anna) == []
            third = (await anna.ask("coffee with ben on Sunday morning"))["thread_id"]
            (told,) = (await calls.call(anna, "hints", {}))["hints"]
            assert (told["hint"], told["thread_id"]) == (hints.THIRD_THREAD, third)
            assert "ben" in told["text"]
            await calls.call(anna, "seen", {"hint": hints.THIRD_THREAD})
            await anna.ask("breakfast with ben on Monday morning")
            assert await _due(anna) == []


@pytest.mark.spec("A2ACP-234", "A2ACP-233")
async def test_the_first_project_and_the_tenth_ended_thread_bring_their_hints(tmp_path):
    async with _registered(tmp_path) as folder, Agent(folder) as anna:
        for _ in range(9):
            await _over(anna)
        for one in (hints.FIRST_THREAD, hints.THIRD_THREAD):
            await calls.call(anna, "seen", {"hint": one})
        assert await _due(anna) == []
        project = (await anna.ask(PROJECT))["thread_id"]
        (told,) = (await calls.call(anna, "hints", {}))["hints"]
        assert (told["hint"], told["thread_id"]) == (hints.FIRST_PROJECT, project)
        await calls.call(anna, "seen", {"hint": hints.FIRST_PROJECT})
        # Ten have begun, nine are over.
        assert await _due(anna) == []
        await anna.stop(project)
        assert await _due(anna) == [hints.TEN_THREADS]


@pytest.mark.spec("A2ACP-234")
def test_a_thread_with_more_than_one_counterpart_is_what_brings_the_hint_about_groups():
    tallies, due = {}, {}
    hints.begun(tallies, due, "thr_1", ("agent:ben@r",), project=False)
    assert hints.FIRST_GROUP not in due
    hints.begun(tallies, due, "thr_2", ("agent:ben@r", "agent:cara@r"), project=False)
    assert due[hints.FIRST_GROUP] == Hint("thr_2", "agent:ben@r")
    assert tallies["agent:cara@r"] == Tally(begun=1)
    hints.ended(tallies, due, "thr_2", ("agent:ben@r", "agent:cara@r"))
    assert tallies == {"": Tally(2, 1), "agent:ben@r": Tally(2, 1), "agent:cara@r": Tally(1, 1)}


async def test_a_hint_that_is_not_due_cannot_be_marked_as_shown(tmp_path):
    async with _registered(tmp_path) as folder, Agent(folder) as anna:
        with pytest.raises(Refused, match="no such hint"):
            await calls.call(anna, "seen", {"hint": hints.TEN_THREADS})
        with pytest.raises(Refused, match="field `hint`"):
            await calls.call(anna, "seen", {})


@pytest.mark.spec("A2ACP-232", "A2ACP-233")
async def test_a_counterpart_is_new_until_three_threads_with_it_are_over(tmp_path):
    async with _registered(tmp_path) as folder:
        async with Agent(folder) as anna:
            await anna.ask(DINNER)
            (asked,) = (await anna.pending())["questions"]
            assert asked["new_contact"] is True
            assert asked["new_contact_text"].startswith("this is the first time with ben")
            assert "more often" in asked["new_contact_text"]
            await anna.stop(asked["thread_id"])
            await _over(anna)
            await anna.ask(DINNER)
            (asked,) = (await anna.pending())["questions"]
            assert "ben is still new (2 of 3" in asked["new_contact_text"]
            await anna.stop(asked["thread_id"])
        async with Agent(folder) as anna:
            await anna.ask(DINNER)
            await anna.ask("lunch with cara on Saturday")
            asked = {one["counterpart"].partition("@")[0]: one for one in (await anna.pending())["questions"]}
            assert "new_contact" not in asked["agent:ben"]
            assert asked["agent:cara"]["new_contact"] is True
            # Whoever was forgotten is new again.
            ben = asked["agent:ben"]["counterpart"]
            await anna.forget(ben)
            await anna.ask(DINNER)
            asked = {one["counterpart"]: one for one in (await anna.pending())["questions"]}
            assert asked[ben]["new_contact_text"].startswith("this is the first time with ben")
