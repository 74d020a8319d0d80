"""The commands that the documents show are run, in their order, as a reader would type them."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.shell import TACIT, Shell
from tools.places import ROOT


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def test_the_tutorial_works_line_by_line(tmp_path):
    shell = Shell(tmp_path)
    shell.env["PATH"] = f"{Path(TACIT).parent}:{shell.env['PATH']}"
    shell.start()
    port = shell.env["TACIT_URL"].rsplit(":", 1)[1]
    shown = []
    try:
        for line in commands("docs/tutorial.md"):
            if line == "make run" or line.startswith("export "):
                continue
            if "search" in line:
                shell.stop(signal.SIGKILL)
                shell.start(port=port)
            typed = f"{line} --no-follow" if " tail " in line else line
            done = subprocess.run(
                ["sh", "-c", typed], env=shell.env, capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, f"{line}: {done.stderr}"
            shown.append((line, done.stdout))
    finally:
        shell.stop()
    inboxes = [text for line, text in shown if "inbox" in line]
    assert "1 to acknowledge" in inboxes[0]
    assert "to acknowledge" not in inboxes[1]
    assert "1 to acknowledge" in inboxes[2]
    assert "unread" not in inboxes[2]
    assert "Nothing waits for you." in inboxes[3]
    assert "release notes" in dict(shown)['tacit search "My first room" release']


def test_the_readmes_two_commands_are_targets_of_the_makefile():
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in commands("README.md"):
        name = line.split()[1]
        assert re.search(rf"^{name}:", targets, re.MULTILINE), name


def test_reference_pages_are_fresh():
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "docs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
