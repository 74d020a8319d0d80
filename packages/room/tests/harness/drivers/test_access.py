"""How far an agent's own tools reach: the files of its working directory, and no further, unless granted."""

import pytest

from tacit.harness.drivers.options import Access
from tests.harness.drivers.rigs import RecordingWatch, named, soon, turn
from tests.model_server import Call, Say

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("rig", named("codex", "claude"), indirect=True, scope="module"),
]


def read(rig, path):
    if rig.name == "codex":
        return Call("exec_command", {"cmd": f"cat '{path}'"})
    return Call("Read", {"file_path": str(path)})


def write(rig, path):
    if rig.name == "codex":
        return Call("exec_command", {"cmd": f"echo written > '{path}'"})
    return Call("Write", {"file_path": str(path), "content": "written"})


def shell(rig, line):
    return Call("exec_command", {"cmd": line}) if rig.name == "codex" else Call("Bash", {"command": line})


@pytest.fixture
def place(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "inside.txt").write_text("INSIDE")
    (tmp_path / "outside.txt").write_text("SECRET")
    return work


async def told(driver, model, place, *calls):
    """What the agent's tools answered."""
    found = []
    for call in calls:
        model.script(call, Say("done"))
        outcome = await soon(driver.run(turn(directory=str(place)), RecordingWatch()))
        assert outcome.text == "done"
        found.append(model.calls[-1].texts("tool")[-1])
    return found


@pytest.mark.parametrize("access", [Access.READ, Access.WRITE])
async def test_the_working_directory_can_be_read_and_nothing_outside(rig, tmp_path, model, place, access):
    driver = rig.driver(tmp_path / "state", model, access=access)
    outside = place.parent / "outside.txt"
    inside, *secrets = await told(
        driver,
        model,
        place,
        read(rig, place / "inside.txt"),
        read(rig, outside),
        shell(rig, f"cat {outside}"),
    )
    await soon(driver.close())
    assert "INSIDE" in inside
    assert not any("SECRET" in secret for secret in secrets)


@pytest.mark.parametrize("access", list(Access))
async def test_what_may_be_written(rig, tmp_path, model, place, access):
    driver = rig.driver(tmp_path / "state", model, access=access)
    paths = [place / "new.txt", place.parent / "new.txt"]
    await told(driver, model, place, *(write(rig, path) for path in paths))
    await told(driver, model, place, shell(rig, f"echo x > {place.parent}/shell.txt"))
    await soon(driver.close())
    assert [path.exists() for path in paths] == [access is not Access.READ, access is Access.FULL]
    assert (place.parent / "shell.txt").exists() is (access is Access.FULL)


async def test_a_path_in_the_chat_does_not_put_the_file_before_the_model(rig, tmp_path, model, place):
    driver = rig.driver(tmp_path / "state", model, access=Access.FULL)
    model.script(Say("no"))
    asked = turn(f"look at @{place.parent}/outside.txt and @inside.txt", directory=str(place))
    assert (await soon(driver.run(asked, RecordingWatch()))).text == "no"
    model.script(Say("still here"))
    assert (
        await soon(driver.run(turn("/clear", directory=str(place)), RecordingWatch()))
    ).text == "still here"
    await soon(driver.close())
    assert "SECRET" not in str(model.calls[0].body)
    assert "INSIDE" not in str(model.calls[0].body)


@pytest.mark.parametrize("access", list(Access))
async def test_the_models_key_is_not_in_the_agents_own_shell(rig, tmp_path, model, place, access):
    driver = rig.driver(tmp_path / "state", model, access=access)
    shown, found = await told(
        driver, model, place, shell(rig, "env"), shell(rig, "echo key: $(env | grep -c k3y-of-the-model)")
    )
    await soon(driver.close())
    assert "k3y-of-the-model" not in shown
    if rig.name == "codex" or access is Access.FULL:  # elsewhere Claude has no shell at all
        assert "PATH=" in shown
        assert "key: 0" in found
