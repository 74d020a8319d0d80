"""What only ACP agents do: ask for permission, want to be signed in, and say what is no message."""

import sys

import pytest

from tacit.base.errors import Refused
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import FailureKind, StandingInstructions
from tests.harness.drivers.rigs import RULES, RecordingWatch, named, soon, turn

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("rig", named("acp"), indirect=True, scope="module"),
]


@pytest.mark.parametrize(
    ("access", "answers"),
    [(Access.READ, "ynn"), (Access.WRITE, "yyn"), (Access.FULL, "yyy")],
)
async def test_permission_is_given_as_far_as_the_person_granted_it(rig, tmp_path, model, access, answers):
    driver = rig.driver(tmp_path, model, access=access)
    said = [
        (await soon(driver.run(turn(f"MAY I {kind}"), RecordingWatch()))).text
        for kind in ("read", "edit", "execute")
    ]
    await soon(driver.close())
    assert "".join(said) == answers


async def test_an_agent_that_is_signed_out_waits_for_a_person(rig, tmp_path, model):
    options = rig.options(tmp_path, model)
    driver = rig.driver(tmp_path, model, command=("env", "SIGNED_OUT=1", *options.command))
    with pytest.raises(Refused, match="signed in"):
        await soon(driver.start(StandingInstructions(RULES)))
    failure = (await soon(driver.run(turn(), RecordingWatch()))).failure
    assert failure.kind is FailureKind.PERMANENT
    await soon(driver.close())


async def test_a_program_that_is_no_agent_does_not_start(rig, tmp_path, model):
    driver = rig.driver(tmp_path, model, command=("echo", "hello"))
    failure = (await soon(driver.run(turn(), RecordingWatch()))).failure
    assert (failure.kind, failure.code) == (FailureKind.RETRYABLE, "agent_died")


BABBLER = """
import json, sys

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        say(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif asked["method"] == "session/new":
        say(id=asked["id"], result={"sessionId": "one"})
    elif asked["method"] == "session/prompt":
        wrong = {"sessionUpdate": "agent_message_chunk", "content": "the secret is swordfish"}
        say(method="session/update", params={"sessionId": "one", "update": wrong})
        right = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "well"}}
        say(method="session/update", params={"sessionId": "one", "update": right})
        say(id=asked["id"], result={"stopReason": "end_turn"})
"""


async def test_what_an_agent_says_wrongly_is_told_without_its_words(rig, tmp_path, model, caplog):
    program = tmp_path / "babbler.py"
    program.write_text(BABBLER)
    driver = rig.driver(tmp_path, model, command=(sys.executable, str(program)))
    outcome = await soon(driver.run(turn(), RecordingWatch()))
    await soon(driver.close())
    assert outcome.text == "well"
    assert "ValidationError" in caplog.text
    assert "swordfish" not in caplog.text
