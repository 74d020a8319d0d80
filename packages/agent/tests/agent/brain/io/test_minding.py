"""A model's driver, whatever it does, costs a thread nothing: it is away, or it has answered."""

from __future__ import annotations

import pytest

from tacit.agent.brain.io.minding import Patient
from tacit.base.errors import Refused, Unavailable
from tacit.base.language_model import ModelAway, Prompt
from tests.agent.scripted import Scripted

PROMPT = Prompt("read_request", "be brief", "what day is it?", {})


class Patiently:
    """A driver in its patience, and how often it was heard."""

    def __init__(self, model: Scripted) -> None:
        self.heard = 0
        self.patient = Patient(model, self._heard)

    def _heard(self) -> None:
        self.heard += 1


@pytest.mark.spec("A2ACP-087")
@pytest.mark.parametrize(
    "fault",
    [
        ModelAway("it is off"), TimeoutError(), Refused("no", "no"), Unavailable("away"), OSError("pipe"),
        ValueError("odd"), RuntimeError("odd"), KeyError("odd"), TypeError("odd"),
    ],
)  # fmt: skip
async def test_a_driver_that_fails_in_any_way_is_away_and_was_not_heard(fault):
    one = Patiently(Scripted(lambda _prompt: fault))
    with pytest.raises(ModelAway):
        await one.patient.complete(PROMPT)
    assert one.heard == 0


@pytest.mark.spec("A2ACP-087")
async def test_a_mistake_that_is_nobodys_driver_is_not_hidden():
    one = Patiently(Scripted(lambda _prompt: ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        await one.patient.complete(PROMPT)


@pytest.mark.spec("A2ACP-081")
async def test_an_answer_is_heard_under_the_models_own_name_and_a_model_let_go_is_closed():
    model = Scripted(lambda _prompt: "Monday", name="small")
    one = Patiently(model)
    assert (await one.patient.complete(PROMPT)).text == "Monday"
    assert (one.heard, one.patient.name, model.closed) == (1, "small", 0)
    await one.patient.close()
    assert model.closed == 1
