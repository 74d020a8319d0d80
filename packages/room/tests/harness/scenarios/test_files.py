"""Files both ways, with every driver: a screenshot in, a plot out."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from tests.harness.drivers.rigs import named
from tests.harness.pictures import pictures, png
from tests.model_server import Call, Held, Say

ALL = pytest.mark.parametrize("rig", named("command", "codex", "claude", "acp", "openai"))


@ALL
@pytest.mark.spec("C2A-035", "CCCS-086")
async def test_a_screenshot_in_and_a_plot_out(rig, home, model, tmp_path):
    work = tmp_path / "project"
    work.mkdir()
    plot = png(b"\x10\x80\x20")
    (work / "plot.png").write_bytes(plot)
    (tmp_path / "shot.png").write_bytes(png(b"\xff\x00\x00"))
    (tmp_path / "notes.txt").write_text("the axis is wrong by a factor of seven\n")
    (tmp_path / "core.bin").write_bytes(b"\x00\x01\x02")
    sent = [
        await home.owner.files.upload(home.group, tmp_path / name)
        for name in ("shot.png", "notes.txt", "core.bin")
    ]
    model.script(
        Call("chat_attach", {"path": "../shot.png"}),
        Call("chat_attach", {"path": "plot.png", "title": "The plot"}),
        Say("The axis was wrong; this is the plot as it should be."),
    )
    options = replace(rig.options(home.folder / "ada" / "driver", model), directory=str(work))
    async with home.agent(
        "ada", rig.driver(home.folder / "ada" / "driver", model, directory=options.directory)
    ):
        asked = await home.say("@ada what is wrong on this picture?", attachments=sent)
        said = await home.until_reply(asked)
    first, refused, _ = model.calls
    assert pictures(first.body) == 1
    prompt = "\n".join(first.texts("user"))
    assert "C2A FILES" in prompt
    assert "shot.png (image/png" in prompt
    assert "the axis is wrong by a factor of seven" in prompt
    assert "- 3 bytes, not handed to you" in prompt
    assert "| core.bin (application/octet-stream)" in prompt
    assert "permission_denied" in "\n".join(refused.texts("tool"))
    [attached] = said.data["attachments"]
    assert (attached["title"], attached["mime_type"], attached["bytes"]) == (
        "The plot",
        "image/png",
        len(plot),
    )
    assert await home.owner.files.download(home.group, attached["path"]) == plot
    # What was handed over is gone from the folder that every audience's agent works in.
    assert not [
        path for path in work.rglob("*") if path.is_file() and path.name not in {"plot.png", ".gitignore"}
    ]
    assert json.dumps(first.body).count("core.bin") >= 1


@pytest.mark.parametrize("rig", named("codex", "claude", "acp", "openai"))
@pytest.mark.spec("C2A-035")
async def test_a_picture_that_comes_while_the_agent_works_is_seen_in_the_same_answer(
    rig, home, model, tmp_path
):
    (tmp_path / "shot.png").write_bytes(png(b"\xff\x00\x00"))
    sent = [await home.owner.files.upload(home.group, tmp_path / "shot.png")]
    held = Held(Call("chat_members", {}))
    model.script(held, Say("The red one is broken."), Say("The red one is broken, as I said."))
    async with home.agent("ada", rig.driver(home.folder / "ada" / "driver", model)) as harness:
        await home.say("@ada what is broken here", to=["ada"])
        await model.came(1)
        await home.say("and this is how it looks", to=["ada"], attachments=sent)
        await harness.told.until("heard", asyncio.current_task(), 2)
        if harness._driver.traits.steers:
            await harness.told.until("steered", asyncio.current_task())
        held.release()
        await home.until_said(1, "ada")
    last = model.calls[-1]
    assert "shot.png (image/png" in "\n".join(last.texts("user"))
    assert pictures(last.body) == 1
