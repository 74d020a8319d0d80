"""The page for those who bring an MCP agent: its commands run, its tables hold."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

from tacit.base.mcp_configs import CLIENTS
from tacit.bridges.mcp.tools import OFFERED
from tests.docs.test_tutorial import ROOT, commands
from tests.shell import TACIT, Shell

PAGE = "docs/mcp.md"
CLIENTS_OWN = ("claude ", "codex ", "pip ")


def test_the_commands_of_the_mcp_page_work_line_by_line(tmp_path):
    shell = Shell(tmp_path)
    shell.env["PATH"] = f"{Path(TACIT).parent}:{shell.env['PATH']}"
    (tmp_path / ".codex").mkdir()
    shell.start()
    try:
        for line in commands(PAGE):
            if line.startswith(CLIENTS_OWN):
                continue
            typed = f"{line} --no-follow" if " tail " in line else line
            done = subprocess.run(
                ["sh", "-c", typed],
                env=shell.env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}: {done.stderr}"
    finally:
        shell.stop()
    claude = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["tacit"]
    codex = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())["mcp_servers"]["tacit"]
    assert claude["args"] == codex["args"] == ["mcp", "--as", "ada", "--group", "Lab"]


def test_the_page_names_every_tool_and_every_client():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(chat_\w+)` \| `(chat\.\w+)` \| (yes)? ?\|", text, re.MULTILINE)
    assert {name: (c2a, bool(reads)) for name, c2a, reads in rows} == {
        name: (offered.c2a_name, offered.read_only) for name, offered in OFFERED.items()
    }
    assert all(f"`{client}`" in text or f" {client}\n" in text or f" {client} " in text for client in CLIENTS)
