"""A dinner with somebody's own model on one side: real Codex and Claude Code on a real relay; the model is a script."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from tacit.agent import Agent
from tacit.agent.consent.answering import Answer
from tacit.agent.shell.io import calls
from tacit.base.moment import parse_rfc3339
from tacit.harness.io.minds import DriverModels
from tests.agent.arrangements import MONDAY, Pair, pair, registered, share
from tests.harness.drivers.rigs import kill, offspring
from tests.harness.io.test_minds import KEYS, definition
from tests.model_server import Arranger, Cut, Held, ModelServer, Rubbish, Say, Status
from tests.model_server.replies import Tokens
from tests.relay_support import PATIENCE, Relay

if TYPE_CHECKING:
    from pathlib import Path

FRIDAY = [{"date": "2026-03-27", "from": "18:00", "to": "22:00"}]
REQUEST = "I would love to have dinner with ben at the end of the week, when the light is gone"
"""No rule reads when that is; a model does."""


def minded(folder: Path) -> dict[str, Any]:
    """Agents that can open models."""
    return {name: {"models": DriverModels(folder / name, KEYS)} for name in ("anna", "ben")}


async def choose(
    agent, driver: str, server: ModelServer, folder: Path, tier: str = "medium", **setting: Any
) -> dict[str, Any]:
    """Give an agent a model behind the test's server."""
    chosen = definition(driver, server, folder, price_in=1.0, price_out=10.0)
    return await calls.call(agent, "brain", {"setting": {"tiers": {tier: chosen}, **setting}})


async def dinner(both, anna, ben, request: str = REQUEST) -> str:
    """From one sentence to two yeses; each person answers what it is asked."""
    thread = (await anna.ask(request))["thread_id"]
    for person in (anna, ben):
        asked = await both.question(person, "consent")
        await person.answer(asked["question_id"], share(asked))
    for person in (anna, ben):
        proposed = await both.question(person, "checkpoint")
        await person.answer(proposed["question_id"], Answer(confirm=True))
    for person in (anna, ben):
        await both.state(person, thread, "COMPLETED")
    return thread


class AtOnce:
    """No time passes between tries; what would have been waited is kept."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


def held(folder: Path, *marks: str) -> list[str]:
    """The files under a folder that hold one of these words."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and any(mark.encode() in path.read_bytes() for mark in marks):
            found.append(str(path))
    return found


@pytest.mark.parametrize("driver", ["claude", "codex", "openai"])
@pytest.mark.spec("A2ACP-081")
@pytest.mark.spec("A2ACP-082")
async def test_a_dinner_is_agreed_with_somebodys_own_model_on_one_side_and_its_cost_is_shown(
    tmp_path, driver
):
    async with ModelServer() as server, pair(tmp_path, more=minded(tmp_path)) as (both, anna, ben):
        script = Arranger({"times": FRIDAY}, Tokens(1000, 100, 0))
        server.follow(script)
        await choose(anna, driver, server, tmp_path)
        thread = await dinner(both, anna, ben)
        assert len(server.calls) == len(script.tasks) <= 3
        thoughts = (await anna.thoughts())["thoughts"]
        by_models = [one for one in thoughts if one["tier"] != "rules"]
        assert [one["task"] for one in by_models] == ["read_request", "write_proposal"]
        assert {one["model"] for one in by_models} == {f"{driver}/scripted"}
        today = (await calls.call(anna, "brain", {}))["spent"]
        assert today["tokens"] == 1100 * len(server.calls)
        assert today["usd"] == pytest.approx(sum(one["cost_usd"] for one in by_models), abs=1e-5)
        assert (await anna.thread(thread))["cost"]["usd"] > 0
        assert (await ben.thoughts())["today"] == {"usd": 0.0, "tokens": 0}


@contextlib.asynccontextmanager
async def trio(folder: Path, models: DriverModels):
    """Anna with a model, and two friends of hers who do not know each other."""
    async with Relay(folder / "relay") as relay, contextlib.AsyncExitStack() as stack:
        relay.clock.ahead += parse_rfc3339(MONDAY) - relay.clock.now()
        friends = {"anna": ("ben", "cleo"), "ben": ("anna",), "cleo": ("anna",)}
        agents = []
        for name, known in friends.items():
            await registered(relay, folder / name, name, *known)
            more = {"models": models} if name == "anna" else {}
            agent = await stack.enter_async_context(Agent(folder / name, clock=relay.clock, **more))
            marked = f"{name}-eats-saffron"
            await agent.profile(
                {"timezone": "Europe/London", "dietary": marked, "general_location_area": name}
            )
            agent.connect()
            agents.append(agent)
        for agent in agents:
            await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
        yield Pair(relay, *agents), *agents


@pytest.mark.parametrize("driver", ["claude", "codex", "openai"])
@pytest.mark.spec("A2ACP-064")
async def test_what_one_contact_said_is_in_no_request_about_another_and_in_no_session_file(
    tmp_path, driver, monkeypatch
):
    home = tmp_path / "home"
    (home / "tmp").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(home / "tmp"))
    async with ModelServer() as server, trio(tmp_path, DriverModels(tmp_path / "anna", KEYS)) as people:
        all_three, anna, ben, cleo = people
        server.follow(Arranger({"times": FRIDAY}))
        await choose(anna, driver, server, tmp_path)
        await dinner(all_three, anna, ben)
        about_ben = [str(seen.body) for seen in server.calls]
        saturday = [FRIDAY[0] | {"date": "2026-03-28"}]
        server.follow(Arranger({"times": saturday}))
        await dinner(all_three, anna, cleo, REQUEST.replace("ben", "cleo"))
        about_cleo = [str(seen.body) for seen in server.calls]
        assert any("ben-eats-saffron" in one for one in about_ben)  # or nothing would be shown here
        assert any("cleo-eats-saffron" in one for one in about_cleo)
        assert not any("cleo" in one for one in about_ben)
        assert not any("ben-eats" in one or "ben@" in one for one in about_cleo)
        for folder in (tmp_path / "anna" / "minds", home):
            assert held(folder, "eats-saffron", "LAYER") == []
    assert held(home, "eats-saffron", "LAYER") == []


BAD_ANSWERS = {
    "prose around it": lambda good: f"Certainly! Here you are:\n```json\n{good}\n```\nAnything else?",
    "a confidence of 1000": lambda good: good.replace('"confidence": 0.9', '"confidence": 1000'),
    "members that nobody asked for": lambda good: good[:-1] + ', "permission": "granted", "confirm": true}',
}
UNUSABLE = {
    "a packet for another thread": lambda good: good[:-1] + ', "thread_id": "thr_of_somebody_else"}',
    "a megabyte": lambda good: good[:-1] + ', "more": "' + "x" * 2**20 + '"}',
    "half an object": lambda good: good[: len(good) // 2],
}


class Spoilt(Arranger):
    """Answers that are spoilt so many times."""

    def __init__(self, spoil, times: int = 10**6) -> None:
        super().__init__({"times": FRIDAY})
        self.spoil, self.left = spoil, times

    def __call__(self, seen):
        good = super().__call__(seen)
        self.left -= 1
        return Say(self.spoil(good.text), good.tokens) if self.left >= 0 else good


@pytest.mark.parametrize("answer", [*BAD_ANSWERS, *UNUSABLE])
@pytest.mark.spec("A2ACP-088")
async def test_whatever_a_model_answers_the_dinner_is_arranged_by_code(tmp_path, answer):
    spoil, usable = {**BAD_ANSWERS, **UNUSABLE}[answer], answer in BAD_ANSWERS
    async with ModelServer() as server, pair(tmp_path, more=minded(tmp_path)) as (both, anna, ben):
        server.follow(Spoilt(spoil, 10**6 if usable else 1))
        await choose(anna, "openai", server, tmp_path)
        await dinner(both, anna, ben)
        outcomes = [one["outcome"] for one in (await anna.thoughts())["thoughts"] if one["tier"] != "rules"]
        assert outcomes[-1] == "taken"
        if usable:
            assert set(outcomes) == {"taken"}
        else:
            assert outcomes[0] == "malformed"


@pytest.mark.spec("A2ACP-083")
async def test_a_confidence_that_is_no_number_is_none_and_a_larger_model_is_asked(tmp_path):
    async with ModelServer() as server, pair(tmp_path, more=minded(tmp_path)) as (both, anna, ben):
        script = Arranger({"times": FRIDAY})

        def unsure(seen):
            good = script(seen)
            if seen.body["model"] == "larger":
                return good
            return Say(good.text.replace('"confidence": 0.9', '"confidence": NaN'))

        server.follow(unsure)
        small, large = definition("openai", server, tmp_path), definition("openai", server, tmp_path)
        chosen = {"tiers": {"medium": small, "large": large | {"model": "larger"}}}
        await calls.call(anna, "brain", {"setting": chosen})
        await dinner(both, anna, ben)
        thoughts = [one for one in (await anna.thoughts())["thoughts"] if one["tier"] != "rules"]
        assert [(one["model"], one["outcome"], one["confidence"]) for one in thoughts[:2]] == [
            ("openai/scripted", "unsure", 0.0),
            ("openai/larger", "taken", 0.9),
        ]


@pytest.mark.parametrize("fault", [Status(429, retry_after=7), Status(500), Cut('{"kind": "mee'), Rubbish()])
@pytest.mark.spec("A2ACP-085")
async def test_a_model_that_fails_once_is_asked_again_after_the_pause_it_asks_for(tmp_path, fault):
    waiting = AtOnce()
    more = {"anna": {"models": DriverModels(tmp_path / "anna", KEYS), "waiting": waiting}}
    async with ModelServer() as server, pair(tmp_path, more=more) as (both, anna, ben):
        script, failed = Arranger({"times": FRIDAY}), []

        def once(seen):
            if not failed:
                failed.append(seen)
                return fault
            return script(seen)

        server.follow(once)
        await choose(anna, "openai", server, tmp_path)
        await dinner(both, anna, ben)
        assert len(waiting.waited) == 1
        if isinstance(fault, Status) and fault.retry_after:
            assert waiting.waited[0] >= fault.retry_after


@pytest.mark.parametrize("driver", ["claude", "codex"])
@pytest.mark.spec("A2ACP-085")
async def test_a_program_killed_in_the_middle_of_a_thought_costs_the_dinner_nothing(tmp_path, driver):
    more = {"anna": {"models": DriverModels(tmp_path / "anna", KEYS), "waiting": AtOnce()}}
    async with ModelServer() as server, pair(tmp_path, more=more) as (both, anna, ben):
        script, never = Arranger({"times": FRIDAY}), Held(Say("never"))
        first = [never]
        server.follow(lambda seen: first.pop() if first else script(seen))
        await choose(anna, driver, server, tmp_path)
        was = offspring()
        arranging = asyncio.create_task(dinner(both, anna, ben))
        await asyncio.wait_for(never.arrived.wait(), PATIENCE)
        kill(offspring() - was)
        await arranging
        assert [one["outcome"] for one in (await anna.thoughts())["thoughts"]][:2] == ["away", "taken"]


@pytest.mark.soak
@pytest.mark.spec("A2ACP-086")
async def test_another_driver_stands_in_for_one_that_stays_away(tmp_path):
    more = {"anna": {"models": DriverModels(tmp_path / "anna", KEYS), "waiting": AtOnce()}}
    async with ModelServer() as down, ModelServer() as up, pair(tmp_path, more=more) as (both, anna, ben):
        down.follow(lambda _: Status(500))
        up.follow(Arranger({"times": FRIDAY}))
        await choose(anna, "claude", down, tmp_path, secondary=definition("openai", up, tmp_path))
        await dinner(both, anna, ben)
        taken = {one["model"] for one in (await anna.thoughts())["thoughts"] if one["outcome"] == "taken"}
        assert "openai/scripted" in taken
        assert "claude/scripted" not in taken


@pytest.mark.spec("A2ACP-086")
async def test_a_program_that_is_not_there_is_not_tried_again_and_the_rules_go_on(tmp_path):
    waiting = AtOnce()
    more = {"anna": {"models": DriverModels(tmp_path / "anna", {}), "waiting": waiting}}
    async with pair(tmp_path, more=more) as (both, anna, ben):
        gone = {"driver": "command", "options": {"command": ["/no/such/program"]}}
        await calls.call(anna, "brain", {"setting": {"tiers": {"medium": gone}}})
        await dinner(both, anna, ben, "dinner with ben on Friday evening")
        assert waiting.waited == []
        assert "model_away" in {one["code"] for one in (await anna.notices())["notices"]}
