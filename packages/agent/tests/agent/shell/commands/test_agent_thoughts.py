"""`tacit agent thoughts`: the log of models, at the terminal."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.agent.minds import choose, minds
from tests.agent.scripted import Scripted


@pytest.mark.spec("A2ACP-082")
async def test_the_log_says_which_model_for_what_how_sure_and_what_it_took(tmp_path) -> None:
    async with minds(tmp_path, anna=Scripted(name="gpt\x1b[2J")) as (_both, anna, ben):
        await choose(anna)
        thread = (await anna.ask("dinner with ben on Friday evening", [ben.me]))["thread_id"]
        found = await anna.thoughts()
        await anna.__aexit__()
        folder = str(tmp_path / "anna")
        told, plain, whole = (
            tacit(folder, *more)
            for more in (("thoughts",), ("thoughts", thread, "--json"), ("thread", thread))
        )
        await anna.__aenter__()
    assert "read_request    gpt⟨U+001B⟩[2J (small), taken, 0.90 sure, 120 tokens, $0.0100" in told
    assert "today: 0 tokens, $0.0000" in told  # by the clock of this machine
    assert json.loads(plain)["thoughts"] == found["thoughts"]
    assert "models: 1 answers, 120 tokens, $0.0100" in whole


def tacit(folder: str, *arguments: str) -> str:
    program = [sys.executable, "-m", "tacit", "agent", "--data", folder, *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout
