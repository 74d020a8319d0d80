"""The agent's hands: a real MCP server is called by the real agent, and each end of a call is a boundary."""

import pytest

from tacit.harness.drivers.port import FailureKind, Insert, Stop, TokenUsage, ToolEnded, ToolStarted, TurnFile
from tests.harness.drivers.rigs import RecordingWatch, soon, turn
from tests.harness.pictures import pictures, png
from tests.model_server import Call, Say

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_agent_calls_a_tool_that_it_was_given(handy, model, tools, state):
    model.script(Call("read_note", {"name": "x"}), Say("it is blue"))
    watch = RecordingWatch()
    outcome = await soon(handy.run(turn("what says x?", tools=tools), watch))
    assert (outcome.text, outcome.failure) == ("it is blue", None)
    assert watch.tools() == ["notes.read_note"]
    assert "secret-of-the-room x" in (state / "notes.log").read_text()
    assert any("the note x says blue" in text for text in model.calls[1].texts("tool"))
    assert outcome.usage == TokenUsage(200, 40, 80)


async def test_a_tools_end_is_a_boundary(handy, model, tools):
    model.script(Call("read_note", {"name": "x"}), Call("read_note", {"name": "y"}), Say("both"))
    watch = RecordingWatch()
    await soon(handy.run(turn(tools=tools), watch))
    calls = [event for event in watch.events if isinstance(event, ToolStarted | ToolEnded)]
    assert [(type(event), event.name) for event in calls] == [
        (ToolStarted, "notes.read_note"),
        (ToolEnded, "notes.read_note"),
    ] * 2
    assert [ended.ok for ended in watch.boundaries] == [True, True]
    assert len({ended.call_id for ended in watch.boundaries}) == 2


async def test_a_tool_that_fails_is_told_to_model_and_watch(handy, model, tools):
    model.script(Call("read_note", {"name": "torn"}), Say("sorry"))
    watch = RecordingWatch()
    assert (await soon(handy.run(turn(tools=tools), watch))).text == "sorry"
    assert [ended.ok for ended in watch.boundaries] == [False]
    assert any("torn" in text for text in model.calls[1].texts("tool"))


@pytest.mark.spec("C2A-081")
async def test_text_put_in_at_a_boundary_reaches_the_model_as_a_user(handy, model, tools):
    model.follow(
        lambda seen: Say(f"answer {len(model.calls)}") if model.calls else Call("read_note", {"name": "x"})
    )
    outcome = await soon(handy.run(turn("QUESTION", tools=tools), RecordingWatch(Insert("URGENT NEWS"))))
    assert outcome.failure is None
    last = model.calls[-1]
    if handy.traits.inserts:
        assert any("URGENT NEWS" in text for text in last.texts("user"))
        assert not any("URGENT NEWS" in text for text in last.texts("system", "developer", "tool"))
        assert any("the note x says blue" in text for text in last.texts("tool"))
        assert outcome.text == f"answer {len(model.calls) - 1}"
    else:
        assert not any("URGENT NEWS" in text for _, text in last.said)


PICTURE = TurnFile("shot.png", "image/png", png(b"\xff\x00\x00"))
NOTES = TurnFile("notes.txt", "text/plain", b"the axis is off by seven", 24)


async def test_what_is_put_in_at_a_boundary_has_its_files_with_it(handy, model, tools):
    model.follow(
        lambda seen: Say(f"answer {len(model.calls)}") if model.calls else Call("read_note", {"name": "x"})
    )
    given = Insert("LOOK AT THIS", (PICTURE, NOTES))
    outcome = await soon(handy.run(turn("QUESTION", tools=tools), RecordingWatch(given)))
    assert outcome.failure is None
    if handy.traits.inserts:
        said = "\n".join(model.calls[-1].texts("user"))
        assert "LOOK AT THIS" in said
        assert "the axis is off by seven" in said
        assert pictures(model.calls[-1].body) == 1


async def test_stop_at_a_boundary_ends_the_turn_there(handy, model, tools):
    model.follow(lambda seen: Say("too late") if model.calls else Call("read_note", {"name": "x"}))
    watch = RecordingWatch(Stop())
    outcome = await soon(handy.run(turn(tools=tools), watch))
    assert outcome.failure.kind is FailureKind.CANCELLED
    assert isinstance(watch.events[-1], ToolEnded)
    model.script(Say("next"))
    assert (await soon(handy.run(turn(tools=tools), RecordingWatch()))).text == "next"
