"""What an agent's log is told of a turn's end holds no secret that the harness knows."""

from __future__ import annotations

from types import SimpleNamespace

from tacit.c2a.messages import read_delivered
from tacit.harness.drivers.port import Failure, FailureKind
from tacit.harness.effects import ModelTurn
from tacit.harness.io.agent_config import AgentConfig
from tacit.harness.io.turn_runner import TurnRunner
from tests.c2a_peer import delivery
from tests.harness.living import Told

TOKEN, KEY = "tct_of_the_room_1234", "sk-of-the-model-5678"


def test_the_cause_and_the_hint_are_struck(tmp_path):
    told = Told()
    config = AgentConfig("http://127.0.0.1:1", TOKEN, "ada", tmp_path, secrets=(KEY,))
    runner = TurnRunner(
        config, (), SimpleNamespace(tell=told), None, None, files=None, permissions=None, activity=None
    )
    turn = ModelTurn("e1.1", (read_delivered(delivery("e1")),))
    failure = Failure(FailureKind.RETRYABLE, "agent_died", f"no {KEY}", cause=f"{TOKEN} and {KEY} are wrong")
    runner._tell_end(turn, failure)
    runner._tell_end(turn, None)
    first, second = told.of("turn_ended")
    assert (first["cause"], first["hint"]) == ("[redacted] and [redacted] are wrong", "no [redacted]")
    assert second == {"turn_id": "e1.1", "failure": "", "hint": ""}
