"""What a step of the play tells, and what it does, in that order."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tacit.agent.shell.commands.demo.stage import DemoPart, Stage


class Played:
    """Writes down instead of playing."""

    def __init__(self, question: dict) -> None:
        self.steps: list[tuple] = []
        self._question = question

    async def question(self, who, kind):
        self.steps.append(("waits", who, kind))
        return self._question

    async def packets(self, *_):
        """None are under way."""

    async def tell(self, kind, who="", **_):
        self.steps.append((kind, who))

    async def call(self, who, command, **given):
        self.steps.append((command, who, given))


@pytest.mark.spec("A2ACP-272")
async def test_a_proposal_is_shown_then_the_yes_and_then_it_is_said():
    played = Played({"question_id": "q1"})
    await Stage.confirms(played, DemoPart("bob", {}))  # type: ignore[arg-type]
    assert played.steps == [
        ("waits", "bob", "checkpoint"),
        ("asked", "bob"),
        ("answers", "bob"),
        ("answer", "bob", {"question_id": "q1", "confirm": True}),
    ]


@pytest.mark.spec("A2ACP-272")
async def test_what_a_person_keeps_is_declined_and_the_rest_shared():
    played = Played({"question_id": "q1", "fields": [{"field": "dietary"}, {"field": "budget_range"}]})
    part = SimpleNamespace(name="bob", keeps=("budget_range",))
    await Stage.consents(played, part)  # type: ignore[arg-type]
    shares = {"question_id": "q1", "share": {"dietary": None}, "decline": ["budget_range"]}
    assert played.steps == [
        ("waits", "bob", "consent"),
        ("asked", "bob"),
        ("answers", "bob"),
        ("answer", "bob", shares),
    ]
