"""`tacit agent brain`: choosing models, bounding them, trying them; and a dinner of a running agent that has one."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.agent.shell.commands.test_arrange import Owner, free_evening, shared
from tests.model_server import Arranger, ModelServer, Say, Status, task_of
from tests.model_server.replies import Tokens
from tests.processes import RelayProcess
from tests.relay_support import free_port

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "k3y-of-the-model-that-chance-does-not-write"
RULES = {"tiers": {}, "secondary": None, "budget": {"usd_per_day": None, "tokens_per_day": None}}


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    process = RelayProcess(tmp_path_factory.mktemp("relay"), free_port())
    process.start()
    yield process
    process.stop()


@pytest.fixture(scope="module")
def people(relay, tmp_path_factory):
    home = tmp_path_factory.mktemp("people")
    anna, ben = Owner(home, "anna"), Owner(home, "ben")
    anna.register(relay, "ben")
    ben.register(relay, "anna")
    for one in (anna, ben):
        one.env["OPENAI_API_KEY"] = KEY
    yield anna, ben
    for one in (anna, ben):
        one.stop()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def model():
    async with ModelServer() as server:
        yield server


async def said(owner: Owner, *words: str, code: int = 0) -> dict:
    return await asyncio.to_thread(owner.json, *words, code=code)


async def shown(owner: Owner, *words: str, code: int = 0) -> str:
    return await asyncio.to_thread(owner.type, *words, code=code)


def at(model: ModelServer, *more: str) -> tuple[str, ...]:
    return ("openai", "--model", "scripted", "--base-url", f"{model.url}/v1", *more)


@pytest.mark.spec("A2ACP-081")
async def test_models_are_chosen_shown_bounded_and_let_go(people, model):
    anna, _ = people
    assert (await said(anna, "brain"))["brain"] == RULES
    await said(anna, "brain", "medium", *at(model, "--price-in", "0", "--price-out", "0"))
    await said(anna, "brain", "large", "codex", "--use-my-config", "--model", "gpt-5")
    await said(anna, "brain", "secondary", "claude", "--key-env", "MY_KEY")
    found = await said(anna, "brain", "budget", "--usd", "0.5", "--tokens", "90000")
    assert found["brain"] == {
        "tiers": {
            "medium": {
                "driver": "openai",
                "model": "scripted",
                "options": {"base_url": f"{model.url}/v1", "price_in": 0.0, "price_out": 0.0},
            },
            "large": {"driver": "codex", "model": "gpt-5", "options": {"use_my_config": True}},
        },
        "secondary": {"driver": "claude", "model": "", "options": {"key_env": "MY_KEY"}},
        "budget": {"usd_per_day": 0.5, "tokens_per_day": 90000},
    }
    text = await shown(anna, "brain")
    assert "small     rules" in text
    assert "$0.5 and 90,000 tokens a day" in text
    assert "0 tokens, $0.0000" in text
    await said(anna, "brain", "medium", "rules")
    await said(anna, "brain", "secondary", "off")
    await said(anna, "brain", "large", "off")
    found = await said(anna, "brain", "budget", "--none")
    assert found["brain"] == RULES | {"tiers": {"medium": "rules"}}


async def test_a_program_of_ones_own_is_meant_from_where_it_was_typed(people, monkeypatch, tmp_path):
    anna, _ = people
    program = tmp_path / "think"
    answer = json.dumps({"type": "reply", "text": json.dumps({"summary": "dinner"}), "cost_usd": 0.25})
    program.write_text(f"#!/bin/sh\ncat >/dev/null\necho '{answer}'\n")
    program.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    found = json.loads(await shown(anna, "brain", "large", "command", "--json", "--", "./think", "--deeply"))
    assert found["brain"]["tiers"]["large"]["options"]["command"] == [str(program), "--deeply"]
    tried = (await said(anna, "brain", "try"))["tried"]["large"]
    assert (json.loads(tried["answer"]), tried["cost_usd"]) == ({"summary": "dinner"}, 0.25)
    await said(anna, "brain", "large", "off")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("medium", "openai"), "name of a model"),
        (("medium", "command"), "program"),
        (("medium", "openai", "--model", "m", "--use-my-config"), "use_my_config"),
        (("medium", "openai", "--model", "m", "--base-url", "http://me:s3cret@127.0.0.1/v1"), "password"),
        (("secondary", "codex"), "stands in"),
    ],
)
async def test_a_choice_that_cannot_work_is_refused_and_changes_nothing(people, words, says):
    anna, _ = people
    before = await said(anna, "brain")
    refused = await said(anna, "brain", *words, code=1)
    assert refused["code"] == "bad_brain"
    assert says in refused["message"]
    assert "s3cret" not in json.dumps(refused)
    assert await said(anna, "brain") == before


async def test_dollars_are_bounded_only_where_they_can_be_counted(people, model):
    anna, _ = people
    await said(anna, "brain", "medium", *at(model))
    refused = await said(anna, "brain", "budget", "--usd", "1", code=1)
    assert "--price-in" in refused["message"]
    await said(anna, "brain", "budget", "--tokens", "1000")
    await said(anna, "brain", "budget", "--none")
    await said(anna, "brain", "medium", "off")


async def test_a_try_shows_answer_time_tokens_and_cost_and_drives_no_terminal(people, model):
    anna, _ = people
    assert (await said(anna, "brain", "try", code=1))["code"] == "no_model"
    await said(anna, "brain", "medium", *at(model, "--price-in", "1", "--price-out", "10"))
    model.follow(lambda _: Say('{"summary": "\x1b[2Jdinner"}', Tokens(1000, 100, 0)))
    found = (await said(anna, "brain", "try"))["tried"]["medium"]
    assert (found["input_tokens"], found["output_tokens"]) == (1000, 100)
    assert found["cost_usd"] == pytest.approx(0.002)
    assert found["seconds"] >= 0
    text = await shown(anna, "brain", "try", "--tier", "medium")
    assert "dinner" in text
    assert "\x1b" not in text
    model.follow(lambda _: Status(401))
    found = (await said(anna, "brain", "try"))["tried"]["medium"]
    assert found["lasting"]
    assert "key" in found["away"]
    assert (await said(anna, "brain"))["spent"] == {"usd": 0.0, "tokens": 0}
    await said(anna, "brain", "medium", "off")


def _next_friday() -> str:
    today = dt.datetime.now(dt.UTC).date()
    return (today + dt.timedelta(days=(4 - today.weekday()) % 7 or 7)).isoformat()


@pytest.mark.spec("A2ACP-081")
@pytest.mark.spec("A2ACP-082")
async def test_a_running_agent_thinks_with_the_model_that_was_chosen_while_it_ran(people, model):
    anna, _ben = people
    for one in people:
        await asyncio.to_thread(one.run)
        await asyncio.to_thread(free_evening, one)
    await said(anna, "brain", "medium", *at(model, "--price-in", "1", "--price-out", "10"))
    times = [{"date": _next_friday(), "from": "18:00", "to": "22:00"}]
    model.follow(Arranger({"times": times}, Tokens(1000, 100, 0)))
    thread = (await said(anna, "ask", "let us eat with ben when the week has ended, after dark"))["thread_id"]
    for one in people:
        asked = await asyncio.to_thread(one.question, "consent")
        await said(one, "answer", asked["question_id"], *shared(asked))
    for one in people:
        asked = await asyncio.to_thread(one.question, "checkpoint")
        await said(one, "answer", asked["question_id"], "--confirm")
    for one in people:
        await asyncio.to_thread(one.state, thread, "COMPLETED")
    assert 1 <= len(model.calls) <= 3
    assert all(task_of(seen) for seen in model.calls)
    found = await said(anna, "brain")
    assert found["spent"]["tokens"] == 1100 * len(model.calls)
    assert found["spent"]["usd"] == pytest.approx(0.002 * len(model.calls))
    assert _keyless(anna.folder)


def _keyless(folder: Path) -> bool:
    return not any(KEY.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
