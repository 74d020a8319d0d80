"""Which rows a test names, running only those that name a row, and noting what their code ran.

`--spec C2A-001,C2A-002` leaves out every test that names none of these rows. With TACIT_EXECUTED set (tools/executed.py
does, for a product that notes which of its functions ran) each test that passed is written down with its rows, how long
it took, and what ran while it ran: in this process, its threads, and the processes that it started.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

ROW = re.compile(r"(?:CCCS|C2A|CLOWL|A2ACP)-\d{3}")


def rows_of(item: pytest.Item) -> set[str]:
    """The rows in a test's marks, and those that its case carries."""
    found = {str(row) for mark in item.iter_markers("spec") for row in mark.args}
    case: Iterable[Any] = getattr(getattr(item, "callspec", None), "params", {}).values()
    for value in case:
        for one in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(one, str) and ROW.fullmatch(one):
                found.add(one)
    return found


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what names one of the rows asked for."""
    asked = set(filter(None, config.getoption("--spec").split(",")))
    if not asked:
        return
    dropped = [item for item in items if not asked & rows_of(item)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if asked & rows_of(item)]


class Recorder:
    """One byte a function, in a file that this process and its children share; set by whoever runs the function."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        size = len(json.loads((folder / "functions.json").read_text(encoding="utf-8")))
        path = folder / "maps" / str(os.getpid())
        path.write_bytes(bytes(size))
        with path.open("r+b") as file:
            self._ran = mmap.mmap(file.fileno(), size)
        self._tests: dict[str, dict[str, Any]] = {}
        self._imported: list[int] = []
        self._passed = False

    def _numbers(self) -> list[int]:
        return [number for number, byte in enumerate(self._ran[:]) if byte]

    def pytest_collection_finish(self) -> None:
        # What ran while modules were imported belongs to no test, and to each.
        self._imported = self._numbers()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._ran[:] = bytes(len(self._ran))
        self._passed = False
        began = time.monotonic()
        result = yield
        if self._passed:
            self._tests[item.nodeid] = {
                "rows": sorted(rows_of(item)),
                "seconds": round(time.monotonic() - began, 3),
                "ran": self._numbers(),
            }
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._passed = report.passed

    def pytest_sessionfinish(self) -> None:
        found = {"tests": self._tests, "imported": self._imported}
        (self._folder / "tests" / f"{os.getpid()}.json").write_text(json.dumps(found), encoding="utf-8")


def recorder() -> Recorder | None:
    """The recorder of this process, begun before anything of the product is imported."""
    folder = os.environ.get("TACIT_EXECUTED")
    return Recorder(Path(folder)) if folder else None
