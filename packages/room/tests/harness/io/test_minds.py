"""A driver as a personal agent's mind: what is asked, what comes back, and what each fault becomes."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tacit.base.errors import Refused
from tacit.base.language_model import ModelAway, Prompt
from tacit.harness.drivers.port import NotPermitted, PermissionRequest, Proceed, ToolEnded
from tacit.harness.io.minds import DriverModels, _Alone
from tacit.harness.minds import LONGEST_ANSWER
from tests.harness.drivers.rigs import AGENTS, alive, kill, offspring, soon
from tests.model_server import Cut, Held, ModelServer, Rubbish, Say, Status
from tests.model_server.replies import Tokens

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")
SCHEMA = {
    "type": "object",
    "properties": {"goal": {"type": "string"}, "confidence": {"type": "number"}},
    "required": ["goal", "confidence"],
    "additionalProperties": False,
}
DRIVERS = ("openai", "codex", "claude", "acp", "command")
SAID = '{"goal": "dinner", "confidence": 0.9}'
KEYS = {"OPENAI_API_KEY": "k3y", "ANTHROPIC_API_KEY": "k3y"}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def server():
    async with ModelServer() as found:
        yield found


def asked(
    words: str = "dinner with ben", *, standing: str = "You read requests.", longest: float = 30.0
) -> Prompt:
    return Prompt("read_request", standing, words, SCHEMA, longest)


def definition(driver: str, server: ModelServer, folder: Path, **options) -> dict:
    """The definition of a model by this driver, behind the test's server."""
    match driver:
        case "acp":
            line = ["env", f"MODEL_URL={server.url}", sys.executable, str(AGENTS / "acp_agent.py")]
            return {"driver": driver, "options": {"command": line, **options}}
        case "command":
            sessions = folder / "program"
            sessions.mkdir(parents=True, exist_ok=True)
            line = ["env", f"MODEL_URL={server.url}", f"SESSIONS={sessions}", sys.executable]
            return {"driver": driver, "options": {"command": [*line, str(AGENTS / "program.py")], **options}}
        case _:
            where = server.url if driver == "claude" else f"{server.url}/v1"
            return {"driver": driver, "model": "scripted", "options": {"base_url": where, **options}}


@pytest.fixture(params=DRIVERS)
def driver(request):
    return request.param


@pytest_asyncio.fixture(loop_scope="module")
async def mind(driver, server, tmp_path):
    found = DriverModels(tmp_path / "agent", KEYS).open(definition(driver, server, tmp_path))
    yield found
    await soon(found.close())


async def away(mind, prompt: Prompt | None = None) -> ModelAway:
    with pytest.raises(ModelAway) as found:
        await soon(mind.complete(prompt or asked()))
    return found.value


async def test_a_thought_is_asked_with_its_rules_its_words_and_its_form(mind, driver, server):
    server.script(Say(SAID))
    reply = await soon(mind.complete(asked()))
    assert reply.text == SAID
    assert (reply.input_tokens, reply.output_tokens) == (100, 20)
    assert reply.model == mind.name
    seen = server.calls[0]
    rules = "user" if driver == "acp" else "system"  # the protocol has no place for system text
    ours = seen.system if rules == "system" else "\n".join(seen.texts("user"))
    assert "You read requests." in ours
    assert '"confidence"' in ours
    assert "dinner with ben" in "\n".join(seen.texts("user"))
    assert "dinner with ben" not in seen.system


async def test_a_thought_knows_of_no_other_thought(mind, driver, server, tmp_path):
    server.follow(lambda _: Say(SAID))
    for name in ("saffron", "turmeric"):
        await soon(mind.complete(asked(f"words of {name}", standing=f"rules of {name}")))
    first, second = (str(seen.body) for seen in server.calls)
    assert "saffron" in first
    assert "saffron" not in second
    if driver != "command":  # what a program of one's own writes is its owner's matter
        kept = [path for path in tmp_path.rglob("*") if path.is_file() and b"saffron" in path.read_bytes()]
        assert kept == []


FAULTS = {
    "too many calls": (Status(429, retry_after=7), False),
    "a server's fault": (Status(500), False),
    "a cut stream": (Cut('{"goal": "din'), False),
    "rubbish": (Rubbish(), False),
    "a key that is refused": (Status(401), True),
    "a request that is refused": (Status(400), True),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.spec("A2ACP-085")
async def test_a_fault_of_the_model_is_a_model_that_is_away(mind, driver, server, fault):
    reply, lasting = FAULTS[fault]
    server.follow(lambda _: reply)
    found = await away(mind)
    assert found.lasting is lasting
    if fault == "too many calls" and driver in {"openai", "command"}:  # the others' agents do not pass it on
        assert found.retry_after == 7
    assert "dinner" not in str(found)


async def test_after_a_fault_the_next_thought_is_answered(mind, server):
    server.script(Status(500))
    await away(mind)
    server.script(Say(SAID))
    assert (await soon(mind.complete(asked()))).text == SAID


# Each waits for its limit in full.
@pytest.mark.parametrize(
    "driver",
    ["openai", "command", *(pytest.param(one, marks=pytest.mark.soak) for one in ("codex", "claude", "acp"))],
)
@pytest.mark.spec("A2ACP-085")
async def test_a_model_that_hangs_is_given_up_at_the_prompts_own_limit(mind, server, tmp_path):
    held = Held(Say("too late"))
    server.script(held)
    was = offspring()
    thinking = asyncio.create_task(away(mind, asked(longest=8.0)))
    await soon(held.arrived.wait())
    found = await soon(thinking)
    assert not found.lasting
    assert alive(offspring() - was) == set()
    assert not list(tmp_path.rglob("passing"))


# `openai` has no process.
@pytest.mark.parametrize("driver", ["codex", "claude", "acp", "command"])
async def test_a_driver_killed_in_the_middle_of_a_thought_is_a_model_that_is_away(mind, server, tmp_path):
    held = Held(Say("never"))
    server.script(held, Say(SAID))
    was = offspring()
    thinking = asyncio.create_task(away(mind))
    await soon(held.arrived.wait())
    kill(offspring() - was)
    found = await soon(thinking)
    assert not found.lasting
    assert (await soon(mind.complete(asked()))).text == SAID
    assert not list(tmp_path.rglob("passing"))


async def test_an_answer_of_a_megabyte_is_cut_and_its_tokens_are_counted(mind, driver, server):
    server.script(Say("x" * 2**20, Tokens(100, 300_000, 0)))
    reply = await soon(mind.complete(asked()))
    assert len(reply.text) == LONGEST_ANSWER
    assert reply.output_tokens == 300_000


async def test_a_model_without_a_word_is_away(mind, driver, server):
    server.follow(lambda _: Say(""))
    assert not (await away(mind)).lasting


async def test_a_price_that_is_named_or_known_makes_a_cost(server, tmp_path):
    models = DriverModels(tmp_path, KEYS)
    server.follow(lambda _: Say(SAID, Tokens(1_000_000, 100_000, 0)))
    named = models.open(definition("openai", server, tmp_path, price_in=2.0, price_out=10.0))
    assert (await soon(named.complete(asked()))).cost_usd == pytest.approx(3.0)
    known = models.open({**definition("openai", server, tmp_path), "model": "gpt-5-mini"})
    assert (await soon(known.complete(asked()))).cost_usd == pytest.approx(0.45)
    unknown = models.open(definition("openai", server, tmp_path))
    assert (await soon(unknown.complete(asked()))).cost_usd is None
    assert (named.knows_cost, known.knows_cost, unknown.knows_cost) == (True, True, False)
    claude = models.open(definition("claude", server, tmp_path))
    assert (await soon(claude.complete(asked()))).cost_usd > 0
    for one in (named, known, unknown, claude):
        await soon(one.close())


async def test_an_endpoint_that_takes_no_schema_is_asked_without_and_once_only(server, tmp_path):
    mind = DriverModels(tmp_path, KEYS).open(definition("openai", server, tmp_path))
    server.follow(lambda seen: Status(400) if "response_format" in seen.body else Say(SAID))
    for _ in range(2):
        assert (await soon(mind.complete(asked()))).text == SAID
    assert ["response_format" in seen.body for seen in server.calls] == [True, False, False]
    await soon(mind.close())


async def test_a_request_that_is_refused_for_another_reason_does_not_cost_the_schema(server, tmp_path):
    mind = DriverModels(tmp_path, KEYS).open(definition("openai", server, tmp_path))
    server.script(Status(400), Status(400), Say(SAID))
    assert (await away(mind)).lasting
    await soon(mind.complete(asked()))
    assert "response_format" in server.calls[2].body
    await soon(mind.close())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"driver": "codex"}, "OPENAI_API_KEY"),
        ({"driver": "claude", "options": {"key_env": "MY_KEY"}}, "MY_KEY"),
        ({"driver": "openai", "model": "m", "options": {"key_file": "no-such-file"}}, "key"),
        ({"driver": "command", "options": {"command": ["/no/such/program"]}}, "program"),
        ({"driver": "acp", "options": {"command": ["/no/such/agent"]}}, "agent"),
        (
            {"driver": "codex", "options": {"base_url": "http://127.0.0.1:1/v1", "command": ["/no/codex"]}},
            "codex",
        ),
    ],
)
async def test_what_is_missing_is_said_when_it_is_asked_and_lasts(tmp_path, given, says):
    mind = DriverModels(tmp_path, {}).open(given)
    found = await away(mind)
    assert found.lasting
    assert says in str(found)
    await soon(mind.close())


async def test_a_key_is_taken_from_a_file_that_nobody_else_may_read(server, tmp_path):
    file = tmp_path / "key"
    file.write_text("k3y-in-a-file\n")
    file.chmod(0o600)
    mind = DriverModels(tmp_path, {}).open(definition("openai", server, tmp_path, key_file=str(file)))
    server.script(Say(SAID))
    await soon(mind.complete(asked()))
    assert server.calls[0].headers["Authorization"] == "Bearer k3y-in-a-file"
    await soon(mind.close())
    file.chmod(0o640)
    open_to_all = DriverModels(tmp_path, {}).open(definition("openai", server, tmp_path, key_file=str(file)))
    found = await away(open_to_all)
    assert found.lasting
    assert "600" in str(found)


@pytest.mark.parametrize(
    "wrong",
    [
        {"driver": "telepathy"},
        {"driver": "openai"},
        {"driver": "acp"},
        {"driver": "command", "options": {}},
        {"driver": "command", "model": "m", "options": {"command": ["x"]}},
        {"driver": "acp", "options": {"command": ["x"], "base_url": "http://127.0.0.1:1"}},
        {"driver": "openai", "model": "m", "options": {"use_my_config": True}},
        {"driver": "openai", "model": "m", "options": {"command": ["x"]}},
        {"driver": "openai", "model": "m", "options": {"key": "sk-1"}},
        {"driver": "openai", "model": "m", "options": {"key_env": "A", "key_file": "b"}},
        {"driver": "openai", "model": "m", "options": {"retries": 1000}},
        {"driver": "openai", "model": "m", "options": {"price_in": 1.0}},
        {"driver": "openai", "model": "m", "options": {"price_in": -1.0, "price_out": 1.0}},
        {"driver": "openai", "model": "m", "options": {"base_url": 7}},
        {"driver": "openai", "model": "m", "options": {"base_url": "http://me:sk-1@127.0.0.1/v1"}},
        {"driver": "openai", "model": "m", "options": {"base_url": "http://127.0.0.1/v1?key=sk-1"}},
        {"driver": "openai", "model": "m", "options": {"base_url": "file:///etc/passwd"}},
        {"driver": "openai", "model": "m", "options": {"base_url": "http://["}},
        {"driver": "codex", "options": {"cwd": "/"}},
        {"driver": "codex", "options": {"access": "full"}},
    ],
)
async def test_a_definition_that_can_never_work_is_refused_when_it_is_opened(tmp_path, wrong):
    with pytest.raises(Refused) as refused:
        DriverModels(tmp_path, KEYS).open(wrong)
    assert refused.value.code == "bad_brain"
    assert "sk-1" not in str(refused.value)


async def test_what_a_killed_agent_left_of_a_thought_goes_with_the_next_one_of_whatever_model(
    server, tmp_path
):
    models = DriverModels(tmp_path, KEYS)
    left = models.folder / "of-another-definition" / "passing" / "home" / "session.jsonl"
    left.parent.mkdir(parents=True)
    left.write_text("saffron")
    mind = models.open(definition("openai", server, tmp_path))
    assert left.exists()
    server.script(Say(SAID))
    await soon(mind.complete(asked()))
    assert not left.exists()
    await soon(mind.close())


@pytest.mark.spec("A2ACP-085")
async def test_in_the_middle_of_a_thought_nobody_is_asked_and_nothing_is_held_up():
    alone = _Alone()
    assert isinstance(await alone.asked(PermissionRequest("command", "rm -r /")), NotPermitted)
    assert await alone.at_boundary(ToolEnded("1", "Bash", ok=True)) == Proceed()
