"""The documents tell the truth: the reference is fresh, and every block of the tutorial runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tacit.language import encode
from tacit.language.commands.clowl import clowl
from tests.language.test_trace import story
from tools.places import ROOT

TUTORIAL = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")


@pytest.mark.spec("CLOWL-060", "CLOWL-034", "CLOWL-035")
def test_the_reference_is_fresh():
    done = subprocess.run([sys.executable, ROOT / "tools" / "clowl_reference.py", "--check"], check=False)
    assert done.returncode == 0, "run python tools/clowl_reference.py"


def test_the_python_of_the_tutorial_runs_from_top_to_bottom(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)
    assert len(blocks) >= 8
    script = tmp_path / "tutorial.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    for promised in re.findall(r"# (oscar asks .*|E00\d .*|E00\d)$", "\n".join(blocks), re.MULTILINE):
        assert promised in done.stdout


def test_the_commands_of_the_tutorial_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_bytes(b"".join(encode(one) + b"\n" for one in story()))
    (block,) = re.findall(r"```sh\n(.*?)```", TUTORIAL, re.DOTALL)
    for line in block.strip().splitlines():
        words = shlex.split(line, comments=True)
        assert words[:2] == ["tacit", "clowl"]
        found = CliRunner().invoke(clowl, words[2:])
        assert found.exit_code == 0, line
    assert Path("trace.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.spec("CLOWL-067")
def test_a_short_run_of_the_fuzzer_finds_nothing():
    done = subprocess.run(
        [sys.executable, ROOT / "fuzz" / "language.py", "--examples", "400"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert "nothing but documented errors" in done.stdout, done.stderr
