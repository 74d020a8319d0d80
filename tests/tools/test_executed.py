"""Every function notes that it ran, whatever its form, in a process that is killed too; rows keep what is theirs."""

from __future__ import annotations

import os
import subprocess
import sys

from tools import executed

MODULE = '''\
"""A shop."""

from __future__ import annotations

import functools
import os
import signal


def plain():
    """With words."""
    if True:
        return 1


def short(): return 2


def outer():
    @functools.cache
    def inner():
        return 3
    return inner()


class Till:
    def __init__(self, money: str = "\N{EURO SIGN}") -> None: self.money = money

    def open(self):
        # a comment first
        return self.money

    @property
    def shut(self):
        """Only words."""


async def never():
    return 4


plain(), short(), outer(), Till().open(), Till().shut
os.kill(os.getpid(), signal.SIGKILL)
'''


def test_every_form_of_function_notes_that_it_ran_even_in_a_process_that_is_killed(tmp_path):
    (tmp_path / "src" / "shop").mkdir(parents=True)
    (tmp_path / "maps").mkdir()
    (tmp_path / "src" / "shop" / "__init__.py").write_text(MODULE, encoding="utf-8")
    names = executed.instrument(tmp_path / "src", "shop")
    assert names == [
        f"shop:{name}" for name in ("plain", "short", "outer", "never", "Till.__init__", "Till.open")
    ]
    map_file = tmp_path / "maps" / str(os.getpid())
    map_file.write_bytes(bytes(len(names)))
    text = executed.RECORDER.format(maps=str(tmp_path / "maps"), size=len(names))
    (tmp_path / "src" / "tacit_ran.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "import shop"], cwd=tmp_path / "src", check=False, env={}, capture_output=True
    )
    assert done.returncode == -9, done.stderr
    ran = {name for name, byte in zip(names, map_file.read_bytes(), strict=True) if byte}
    assert ran == set(names) - {"shop:never"}


def test_a_row_keeps_its_rarest_functions_and_all_that_nothing_reaches():
    everywhere = {f"a:common{number}" for number in range(executed.KEPT)}
    rows = {"C2A-001": everywhere | {"a:own", "b:dead"}, "C2A-002": everywhere, "C2A-003": everywhere}
    kept = executed.specific(rows, {"b:dead"})
    assert {"a:own", "b:dead"} <= set(kept["C2A-001"])
    assert len(kept["C2A-001"]) == executed.KEPT + 1
    assert set(kept["C2A-002"]) == everywhere


def test_what_is_written_is_one_row_a_line_and_reads_back(tmp_path):
    rows = {"C2A-002": ["tacit.a:f"], "C2A-001": ["tacit.a.b:C.g", "tacit.a:f"]}
    executed.write(rows, tmp_path / "executed.json")
    assert (tmp_path / "executed.json").read_text().splitlines()[1:3] == [
        '"C2A-001": ["a.b:C.g", "a:f"],',
        '"C2A-002": ["a:f"]',
    ]
    assert executed.read(tmp_path / "executed.json") == rows
