"""What an agent's own program asks a person reaches the room, and the answer, with its reason, the model."""

import asyncio

import pytest

from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import FailureKind, NotPermitted, Permitted
from tests.harness.drivers.rigs import RecordingWatch, named, soon, turn
from tests.model_server import Call, Say

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("rig", named("codex", "claude"), indirect=True, scope="module"),
]


@pytest.fixture
def place(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    return work


def command(rig, line):
    if rig.name == "codex":
        escalated = {"sandbox_permissions": "require_escalated", "justification": "it must"}
        return Call("exec_command", {"cmd": line, **escalated})
    return Call("Bash", {"command": line, "description": "it must"})


async def test_a_command_runs_when_a_person_says_so(rig, tmp_path, model, place):
    driver = rig.driver(tmp_path / "state", model, access=Access.READ)
    outside = tmp_path / "made.txt"
    model.script(command(rig, f"touch {outside}"), Say("done"))
    watch = RecordingWatch(answers=[Permitted()])
    outcome = await soon(driver.run(turn(directory=str(place)), watch))
    await soon(driver.close())
    assert outcome.text == "done"
    assert [(one.kind, one.title, one.whole) for one in watch.wanted] == [
        ("command", f"touch {outside}", True)
    ]
    assert watch.wanted[0].directory == str(place)
    assert outside.exists()


async def test_a_no_reaches_the_model_with_its_reason(rig, tmp_path, model, place):
    driver = rig.driver(tmp_path / "state", model, access=Access.READ)
    outside = tmp_path / "made.txt"
    model.script(command(rig, f"touch {outside}"), Say("so be it"))
    watch = RecordingWatch(answers=[NotPermitted("ask me after lunch")])
    outcome = await soon(driver.run(turn(directory=str(place)), watch))
    await soon(driver.close())
    assert outcome.text == "so be it"
    assert not outside.exists()
    assert "ask me after lunch" in str(model.calls[-1].body)


async def test_a_turn_that_waits_for_a_person_can_be_called_off(rig, tmp_path, model, place):
    driver = rig.driver(tmp_path / "state", model, access=Access.READ)
    outside, asked = tmp_path / "made.txt", asyncio.Event()

    class Waiting(RecordingWatch):
        was_cancelled = False

        async def asked(self, wanted):
            asked.set()
            try:
                await asyncio.Future()
            except asyncio.CancelledError:
                self.was_cancelled = True
                raise

    model.script(command(rig, f"touch {outside}"), Say("never"))
    watch, request = Waiting(), turn(directory=str(place))
    running = asyncio.create_task(driver.run(request, watch))
    await soon(asked.wait())
    await driver.cancel(request.turn_id)
    outcome = await soon(running)
    await soon(driver.close())
    assert outcome.failure.kind is FailureKind.CANCELLED
    assert watch.was_cancelled
    assert not outside.exists()


async def test_time_stands_still_while_a_person_is_asked(rig, tmp_path, model, place):
    driver = rig.driver(tmp_path / "state", model, access=Access.READ)
    # Long enough for a program that starts on a machine with much else to do.
    loop, limit = asyncio.get_running_loop(), 12.0
    began = []

    class Slow(RecordingWatch):
        async def asked(self, wanted):
            began.append(loop.time())
            late = asyncio.Event()
            loop.call_later(limit + 1, late.set)
            await late.wait()
            return Permitted()

    await soon(driver.start(turn(directory=str(place)).standing))
    model.script(command(rig, f"touch {tmp_path}/late.txt"), Say("done"))
    outcome = await soon(driver.run(turn(directory=str(place), time_limit=limit), Slow()))
    await soon(driver.close())
    assert began
    assert (outcome.failure, outcome.text) == (None, "done")


async def test_what_the_agent_does_can_be_watched(rig, tmp_path, model, place):
    driver = rig.driver(tmp_path / "state", model, access=Access.FULL)
    line = (
        Call("exec_command", {"cmd": "echo seen"})
        if rig.name == "codex"
        else Call("Bash", {"command": "echo seen"})
    )
    model.script(line, Say("done"))
    watch = RecordingWatch()
    await soon(driver.run(turn(directory=str(place)), watch))
    await soon(driver.close())
    commands = [one for one in watch.activities if one.kind == "command"]
    assert commands[0].title == "echo seen"
    assert commands[-1].state == "done"
    assert "seen" in "".join(one.text for one in commands)
