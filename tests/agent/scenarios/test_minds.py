"""A dinner with somebody's own model on one side: real Codex and Claude Code on a real relay; the model is a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.arrangements import pair, share
from tests.harness.io.test_minds import KEYS, definition
from tests.model_server import Arranger, ModelServer
from tests.model_server.replies import Tokens

from tacit.agent.engine.answering import Answer
from tacit.agent.io import calls
from tacit.harness.io.minds import DriverModels

if TYPE_CHECKING:
    from pathlib import Path

FRIDAY = [{"date": "2026-03-27", "from": "18:00", "to": "22:00"}]
REQUEST = "I would love to have dinner with ben at the end of the week, when the light is gone"
"""No rule reads when that is; a model does."""


def minded(folder: Path) -> dict[str, Any]:
    """Agents that can open models."""
    return {name: {"models": DriverModels(folder / name, KEYS)} for name in ("anna", "ben")}


async def choose(agent, driver: str, server: ModelServer, folder: Path, **setting: Any) -> dict[str, Any]:
    chosen = definition(driver, server, folder, price_in=1.0, price_out=10.0)
    return await calls.call(agent, "brain", {"setting": {"tiers": {"medium": chosen}, **setting}})


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
