"""A busy machine's few failures get a second look, alone; what fails steadily, or worse than that, fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

FEW_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}

# Passes when nobody hands it its work.
BESIDE_OTHERS = """
import os
def test_{name}():
    assert "PYTEST_XDIST_WORKER" not in os.environ
"""
PASSES = "def test_good(): pass\n"
BESIDE_OTHERS_IN_SETUP = """
import os, pytest
@pytest.fixture
def ground():
    assert "PYTEST_XDIST_WORKER" not in os.environ
def test_stands(ground): pass
"""


@pytest.fixture
def whole_run(tmp_path):
    def go(text: str, *options: str) -> tuple[int, str, list[str]]:
        (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = soak\n", encoding="utf-8")
        (tmp_path / "test_small.py").write_text(text, encoding="utf-8")
        said = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        command = [sys.executable, "-m", "tools.whole_run", "--jobs", "1", "--list", "named.txt", *options]
        ended = subprocess.run(
            command,
            cwd=tmp_path,
            env={**said, **FEW_PLUGINS, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        named = tmp_path / "named.txt"
        return ended.returncode, ended.stdout, named.read_text().split() if named.exists() else []

    return go


def test_a_failure_that_passes_alone_passes_and_is_named(whole_run, tmp_path):
    status, said, named = whole_run(PASSES + BESIDE_OTHERS.format(name="busy") + BESIDE_OTHERS_IN_SETUP)
    assert status == 0
    assert named == ["test_small.py::test_busy", "test_small.py::test_stands"]
    assert "failed beside the others and passed alone" in said
    assert "!!  test_small.py::test_busy" in said


def test_nothing_is_named_when_all_pass_and_an_old_list_goes(whole_run, tmp_path):
    (tmp_path / "named.txt").write_text("test_old.py::test_old\n", encoding="utf-8")
    status, said, named = whole_run(PASSES)
    assert (status, named) == (0, [])
    assert "second look" not in said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def test_bad(): assert 0\n", id="steady"),
        pytest.param(
            BESIDE_OTHERS.format(name="busy") + "def test_bad(): assert 0\n", id="one of two is steady"
        ),
        pytest.param(
            "import os, pytest\ndef test_bad():\n"
            "    if 'PYTEST_XDIST_WORKER' not in os.environ: pytest.skip()\n    assert 0\n",
            id="left out when alone",
        ),
    ],
)
def test_a_failure_that_does_not_pass_alone_fails(whole_run, text):
    status, said, named = whole_run(PASSES + text)
    assert (status, named) == (1, [])
    assert "a second look" in said


@pytest.mark.parametrize(
    ("text", "options"),
    [
        pytest.param("".join(BESIDE_OTHERS.format(name=one) for one in "abcdefg"), (), id="seven"),
        pytest.param(
            "import os, pytest\ndef test_ends():\n    if 'PYTEST_XDIST_WORKER' in os.environ: os._exit(3)\n",
            (),
            id="a worker died",
        ),
        pytest.param("import os\nassert 'PYTEST_XDIST_WORKER' not in os.environ\n", (), id="not collected"),
        pytest.param(BESIDE_OTHERS.format(name="busy"), ("-x",), id="ended early"),
        pytest.param("", ("-k", "nobody"), id="no test at all"),
    ],
)
def test_what_is_worse_than_a_few_failures_gets_no_second_look(whole_run, text, options):
    status, said, named = whole_run(PASSES + text, *options)
    assert status != 0
    assert named == []
    assert "a second look" not in said
