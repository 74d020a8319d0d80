"""What a face says in a few words of an answer that was given, and where a draft goes that lost its question.

How a card closes is tried with a scripted agent: no screen, no socket.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tacit.agent.shell.commands.desk import card
from tacit.agent.shell.commands.desk import desk as agent_desk
from tacit.agent.shell.commands.desk.card import Draft
from tacit.base.agent_operations import PENDING
from tests.agent.shell.commands.test_agent_card import CHECKPOINT, CONSENT, begun, question


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
    desk._take([], afresh=True)
    told = ["".join(part for _, part in line) for line in desk.told]
    assert len(told) == 1 + kept
    assert told[0].endswith("it no longer waits")
    assert told[1:] == ([f"  what you had typed: {typed}"] if kept else [])


QUESTION = {
    "question_id": "q1",
    "thread_id": "thr_1",
    "kind": "consent",
    "counterpart": "agent:ben@mail.example",
    "asked_at": "2026-03-23T09:00:00Z",
    "fields": [],
    "proposal": None,
    "choices": [],
}


class ScriptedLine:
    """An agent whose answers and changes the test decides."""

    def __init__(self) -> None:
        self.waiting: list[dict] = [QUESTION]
        self.looks = 0
        self._changes: asyncio.Queue[dict] = asyncio.Queue()

    async def call(self, operation, /, **_given):
        if operation is PENDING:
            self.looks += 1
        return operation.answer({"questions": list(self.waiting), "hints": []})

    async def changes(self):
        yield {"change": "following"}
        while True:
            yield await self._changes.get()
            self._changes.task_done()

    async def happens(self, **change) -> None:
        self._changes.put_nowait(change)
        await self._changes.join()


def lines(desk: agent_desk.Desk) -> list[str]:
    return ["".join(text for _style, text in line) for line in desk.told]


@pytest.fixture
async def at_desk():
    line = ScriptedLine()
    desk = agent_desk.Desk(line, via="terminal", changed=lambda: None)
    following = asyncio.ensure_future(desk.follow())
    await line.happens(change="hint")
    yield line, desk
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


@pytest.mark.spec("A2ACP-273", "A2ACP-274")
@pytest.mark.parametrize(
    ("closing", "says"),
    [
        ({"via": "page"}, "answered on the page"),
        ({"via": ""}, "answered by a command"),
        ({}, "it no longer waits"),
    ],
)
async def test_a_look_that_is_quicker_than_the_change_does_not_hide_where_a_question_was_answered(
    at_desk, closing, says
):
    line, desk = at_desk
    assert desk.current == "q1"
    line.waiting = []
    await line.happens(change="thread", thread_id="thr_1")
    assert lines(desk) == []
    await line.happens(change="question", question_id="q1", open=False, **closing)
    assert [says in text for text in lines(desk)] == [True]
    assert desk.card is None


@pytest.mark.spec("A2ACP-274")
async def test_what_closed_while_changes_were_missed_closes_at_once(at_desk):
    line, desk = at_desk
    line.waiting = []
    await line.happens(change="everything")
    assert desk.card is None
    assert "it no longer waits" in lines(desk)[0]
