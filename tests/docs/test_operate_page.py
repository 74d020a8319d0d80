"""The operator's page: its commands are run, in their order, beside a running hub."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from click.testing import CliRunner

from tacit.base.commands.main import tacit
from tests.shell import TACIT, Shell
from tools.places import ROOT

PAGE = ROOT / "docs" / "operate.md"


def blocks() -> list[tuple[str, str]]:
    found = re.findall(
        r"^ *```sh ?(\w*)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return [(how, line.strip()) for how, block in found for line in block.splitlines() if line.strip()]


def test_every_command_of_the_page_does_what_it_says(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.env["PATH"] = f"{Path(TACIT).parent}:{shell.env['PATH']}"
    shell.start("--backup", str(tmp_path / "own"))
    (tmp_path / "backups").mkdir()
    (tmp_path / "passphrase.txt").write_text("a passphrase of an operator\n")
    try:
        shell.run("group", "new", "My room")
        shell.run("send", "My room", "hello")
        ran = [line for how, line in blocks() if how == "" and _does(shell, line)]
    finally:
        shell.stop()
    ran += [line for how, line in blocks() if how == "stopped" and _does(shell, line)]
    assert {" ".join(line.split()[1:3]).rstrip("/") for line in ran} >= {
        "backup backups",
        "ledger verify",
        "ledger export",
        "ledger import",
        "ledger rebuild",
        "ledger redact",
    }
    shell.env["TACIT_DATA"] = str(tmp_path / "restored")
    shell.start()
    assert "hello" in shell.run("tail", "My room", "--no-follow")
    shell.stop()


def _does(shell: Shell, line: str) -> bool:
    done = subprocess.run(
        ["sh", "-c", line],
        env=shell.env,
        cwd=shell.home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return True


def test_options_that_are_only_shown_are_options_of_the_command() -> None:
    shown = CliRunner().invoke(tacit, ["up", "--help"]).output
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:tacit up )?(--[a-z-]+)", text)) | {
        word for how, line in blocks() if how == "shown" for word in re.findall(r"--[a-z-]+", line)
    }
    elsewhere = {"--data", "--json", "--proof", "--passphrase-file"}
    assert named - elsewhere <= set(re.findall(r"--[a-z-]+", shown))
