"""`tacit agent space` as it is typed: with no agent running, each command is the agent for a moment."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tests.agent.arrangements import registered
from tests.relay_support import Relay
from tests.typed import typed

if TYPE_CHECKING:
    from pathlib import Path


async def test_an_owner_keeps_a_space_at_the_terminal(tmp_path: Path) -> None:
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna", "ben")
        ben = f"agent:ben@{relay.domain}"

    def run(*words: str, code: int = 0, as_json: bool = True) -> Any:
        line = ("agent", "--data", str(tmp_path / "anna"), "space", *words, *(["--json"] if as_json else []))
        done = typed(line, dict(os.environ))
        assert done.returncode == code, (words, done)
        return json.loads(done.stdout.splitlines()[-1]) if as_json else done.stdout

    assert run("list") == {"spaces": []}
    space_id = run("new", "Side Quests")["space_id"]
    assert run("set", space_id, "status", "active") == {"space_id": space_id, "status": "written"}
    run("set", space_id, "decisions", '["one night", "eight players"]')
    run("link", space_id, "rules", "https://example.org/rules", "--name", "The rules")
    found = run("show", space_id)
    assert found["context"]["status"] == "active"
    assert sorted(found["context"]["decisions"]) == ["eight players", "one night"]
    assert found["version"] == 4
    assert len(found["changes"]) == 4
    assert run("unset", space_id, "status")["status"] == "written"
    assert "status" not in run("show", space_id)["context"]
    assert "new since" not in run("show", space_id, as_json=False), "what one does oneself is no news"
    assert run("open", space_id, "rules")["text"] == "https://example.org/rules"
    assert run("level", space_id, ben, "read-all", code=1)["code"] == "no_member"
    run("invite", space_id, ben)
    assert f"{ben.removeprefix('agent:')}: full-write, waiting" in run("show", space_id, as_json=False)
    assert run("notify", space_id, "all")["notify"] == "all"
    assert run("notify", space_id, "loudly", code=1)["code"] == "bad_choice"
    assert run("set", space_id, "x" * 10_240, "1", code=1)["code"] == "bad_field"
    assert run("show", "spc_none", code=1)["code"] == "unknown_space"
    assert run("leave", space_id)["status"] == "left"
    assert run("list") == {"spaces": []}
