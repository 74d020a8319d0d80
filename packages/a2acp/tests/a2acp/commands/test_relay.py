"""Where a relay's folder is when nobody says."""

from __future__ import annotations

import pytest

from tacit.a2acp.commands.relay import relay


@pytest.mark.spec("A2ACP-003")
def test_every_command_means_the_folder_beside_the_hubs(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("TACIT_DATA", raising=False)
    commands = {"relay": relay, **relay.commands}
    folders = {
        name: option.default()
        for name, command in commands.items()
        for option in command.params
        if option.name == "data" and callable(option.default)
    }
    assert folders.keys() >= {"relay"}
    assert set(folders.values()) == {tmp_path / "tacit-relay"}
