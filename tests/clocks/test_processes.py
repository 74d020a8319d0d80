"""A real hub and its commands, each a process of its own, on a machine whose clock stands wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.io.time_service import FILE
from tests.two_clocks import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOVED = """
import sys, time
off, real = int(sys.argv.pop(1)) * 1000, time.time_ns
time.time_ns = lambda: real() + off
from tacit.base.commands.main import main
main()
"""


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TACIT")}
    return {
        **kept,
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }


def run(home: Path, off: int, *words: str, code: int = 0) -> Any:
    """A command under a clock that is so far off."""
    done = subprocess.run(
        [sys.executable, "-c", MOVED, str(off), "--json", *words],
        env=environment(home), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout) if done.stdout.strip() else None


@contextmanager
def hub(home: Path, off: int) -> Iterator[dict[str, Any]]:
    process = subprocess.Popen(
        [sys.executable, "-c", MOVED, str(off), "--json", "up", "--port", "0"],
        env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.mark.parametrize("off", [91 * DAY, -365 * DAY], ids=["ahead", "behind"])
def test_a_hub_under_a_wrong_clock_says_so_until_its_owner_says_that_it_is_right(
    tmp_path: Path, off: int
) -> None:
    with hub(tmp_path, 0) as told:
        run(tmp_path, 0, "--url", told["url"], "group", "new", "Lab")
        run(tmp_path, 0, "--url", told["url"], "send", "Lab", "before")
    data = next((tmp_path / "data").rglob(FILE)).parent
    kept = json.loads((data / FILE).read_text("utf-8"))
    # The machine was started anew in between, so nobody watched how much time has passed.
    (data / FILE).write_text(json.dumps({**kept, "boot": "another"}), "utf-8")
    with hub(tmp_path, off) as told:
        at = ("--url", told["url"])
        run(tmp_path, off, *at, "send", "Lab", "after")
        found = run(tmp_path, off, "clock")
        way = "91 days ahead of" if off > 0 else "365 days behind"
        assert way in found["doubt"]
        assert run(tmp_path, off, "clock", "--trust") == {"believed": True, "doubt": None}
        assert len(run(tmp_path, off, *at, "search", "Lab", "before")) == 1, (
            "what was said stays, and is found"
        )
    assert run(tmp_path, off, "clock")["believed"]


def test_of_a_folder_in_which_nothing_has_run_nothing_is_known(tmp_path: Path) -> None:
    run(tmp_path, 0, "--data", str(tmp_path / "nothing"), "clock", code=3)
    assert not (tmp_path / "nothing").exists()
