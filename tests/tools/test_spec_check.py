"""A row is proved by what runs: the ways in which it is not, each told with row, test and function."""

from __future__ import annotations

import pytest

from tools import spec_check

ALIVE, DEAD = "tacit.a:alive", "tacit.a:dead"
THERE = {ALIVE, DEAD}

CASES = {
    "proved": ({"C2A-001": [ALIVE]}, []),
    "not in the file": (
        {"C2A-002": [ALIVE]},
        ["C2A-001: tests/t.py names it, but spec/executed.json does not know it; run `make reach` again"],
    ),
    "nothing ran": (
        {"C2A-001": [], "C2A-002": [ALIVE]},
        ["C2A-001: tests/t.py runs nothing that an entry point reaches: nothing"],
    ),
    "only dead code ran": (
        {"C2A-001": [DEAD]},
        [
            "C2A-001: tests/t.py runs nothing that an entry point reaches: tacit.a:dead",
            "C2A-001: tests/t.py proves it with tacit.a:dead, which no entry point reaches",
        ],
    ),
    "dead code is what is special about it": (
        {"C2A-001": [ALIVE, DEAD]},
        ["C2A-001: tests/t.py proves it with tacit.a:dead, which no entry point reaches"],
    ),
    "dead code that many rows run": (
        {f"C2A-{number:03}": [ALIVE, DEAD] for number in range(1, 8)},
        [],
    ),
    "old": (
        {"C2A-001": [ALIVE, "tacit.a:gone"]},
        ["spec/executed.json: 1 of 2 functions are gone or renamed; run `make reach` again"],
    ),
    "no file": (None, ["spec/executed.json: there is no such file; `make reach` writes it"]),
}


@pytest.mark.parametrize(("runs", "faults"), CASES.values(), ids=CASES.keys())
def test_a_row_needs_code_that_the_product_runs(runs, faults):
    assert spec_check.ran({"C2A-001": ["tests/t.py"]}, {"C2A-001": "text"}, runs, [DEAD], THERE) == faults
