"""Files both ways, with every driver: a screenshot in, a plot out."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import replace

import pytest

from tests.harness.drivers.rigs import named
from tests.model_server import Call, Say

ALL = pytest.mark.parametrize("rig", named("command", "codex", "claude", "acp", "openai"))


def png(colour: bytes, side: int = 16) -> bytes:
    """A square picture in one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\x00" + colour * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pictures(value) -> int:
    """How many pictures are in a request, in whichever format."""
    if isinstance(value, dict):
        mine = str(value.get("type")) in {"input_image", "image", "image_url"}
        return mine + sum(pictures(one) for one in value.values())
    return sum(pictures(one) for one in value) if isinstance(value, list) else 0


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
    assert "core.bin (application/octet-stream, 3 bytes): not handed to you" in prompt
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
