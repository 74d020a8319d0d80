"""`tacit agent nudge` as it is typed: with no agent running, each command is the agent for a moment."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tests.agent.arrangements import registered
from tests.relay_support import Relay
from tests.typed import typed

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "MARKER-SECRET"


async def test_an_owner_sets_how_to_be_nudged_and_sees_no_secret_again(tmp_path: Path) -> None:
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
    environment = {**os.environ, "PATH": str(tmp_path)}

    def nudge(*words: str, code: int = 0, stdin: str = "") -> Any:
        line = ("agent", "--data", str(tmp_path / "anna"), "nudge", *words, "--json")
        done = typed(line, environment, stdin)
        assert done.returncode == code, (words, done)
        assert SECRET not in done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    assert nudge("list") == {"ways": [], "quiet": None, "on": False}
    # From standard input: no shell remembers it.
    added = nudge("add", stdin=f"json://127.0.0.1:9/{SECRET}\n")
    assert added == {"ways": [{"number": 1, "way": "json://…"}], "quiet": None, "on": True}
    assert nudge("try")["tried"] == [False]
    assert nudge("quiet", "22:00-07:00")["quiet"] == "22:00-07:00"
    assert nudge("quiet", "late", code=1)["code"] == "bad_hours"
    assert nudge("quiet", "none")["quiet"] is None
    assert nudge("add", "desktop", code=1)["code"] == "no_desktop"
    assert nudge("add", stdin="\n", code=1)["code"] == "bad_way"
    assert nudge("off")["on"] is False
    assert nudge("on")["on"] is True
    assert nudge("remove", "1")["ways"] == []
    assert nudge("remove", "1", code=1)["code"] == "unknown_way"
