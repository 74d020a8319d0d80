"""What a face says in a few words of an answer that was given, and where a draft goes that lost its question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.agent.commands.desk import card
from tacit.agent.commands.desk import desk as agent_desk
from tacit.agent.commands.desk.card import Draft
from tests.agent.commands.test_agent_card import CHECKPOINT, CONSENT, begun, question


@pytest.mark.spec("A2ACP-273")
@pytest.mark.parametrize(
    ("asks", "said", "words"),
    [
        (CONSENT, {"share": {"dietary": None, "car": "blue"}, "decline": []}, "shared dietary, car"),
        (CONSENT, {"decline_all": True}, "shared nothing"),
        (CHECKPOINT, {"alternative": 0, "ticks": []}, "confirmed alternative 1"),
        (CHECKPOINT, {"counter": ["time", "20:00"]}, "another time suggested"),
        (CHECKPOINT, {"excuse": "again"}, "excused"),
        (CHECKPOINT, {"confirm": True, "ticks": ["pay"]}, "confirmed"),
        (CHECKPOINT, {"refuse": True}, "refused"),
        (question("escalation"), {"choose": 1}, "chosen 2"),
        (question("scope"), {"confirm": True}, "yes"),
        (question("failure"), {"dismiss": True}, "put aside"),
    ],
)
def test_an_answer_is_told_in_a_few_words_and_without_a_value(asks, said, words):
    assert agent_desk._answer_text(begun(asks), said) == words


@pytest.mark.spec("A2ACP-131")
@pytest.mark.parametrize(
    ("mode", "typed", "kept"),
    [
        (card.EDIT, "a bike", True),
        (card.EDIT, "", False),
        (card.ASK, "a bike", False),
        (card.ASK, "", False),
    ],
)
def test_only_what_is_being_typed_is_kept_when_its_question_closes(mode, typed, kept):
    desk = agent_desk.Desk(None, via="terminal", changed=lambda: None)  # type: ignore[arg-type]
    desk.cards["qst_1"] = replace(begun(CONSENT), mode=mode, draft=Draft(typed, len(typed)))
    desk._take([])
    told = ["".join(part for _, part in line) for line in desk.told]
    assert len(told) == 1 + kept
    assert told[0].endswith("it no longer waits")
    assert told[1:] == ([f"  what you had typed: {typed}"] if kept else [])
