"""No core module asks the machine for files, time or chance: those arrive as arguments or live in `io/` or `commands/`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tools.places import modules

if TYPE_CHECKING:
    from pathlib import Path

MODULES = {
    where: path
    for path, where in modules()
    if where.startswith(("attention/", "base/", "bridges/", "harness/", "ledger/"))
    if not {"io", "commands"} & set(where.split("/"))
    # What is installed does not change while a program runs.
    if where != "base/version.py"
}
FORBIDDEN_CALLS = {
    "open", "input", "print", "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time",
    "time.time_ns", "time.monotonic", "time.perf_counter", "time.sleep", "os.urandom", "uuid.uuid4", "uuid.uuid1",
    "uuid.uuid7", "Path.cwd", "Path.home",
}  # fmt: skip
FORBIDDEN_IMPORTS = {
    "random", "secrets", "time", "os", "io", "pathlib", "socket", "threading", "asyncio", "subprocess", "shutil",
    "tempfile", "sqlite3", "apsw", "uuid",
}  # fmt: skip


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _faults(tree: ast.Module) -> list[str]:
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and _dotted(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    faults: list[str] = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Call):
            name = _dotted(node.func)
            if name in FORBIDDEN_CALLS or ".".join(name.split(".")[-2:]) in FORBIDDEN_CALLS:
                faults.append(f"line {node.lineno} calls {name}")
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        faults += [
            f"line {node.lineno} imports {name}" for name in names if name.split(".")[0] in FORBIDDEN_IMPORTS
        ]
        faults += [f"line {node.lineno} imports {name}" for name in names if ".io" in name]
    return faults


@pytest.mark.spec("CCCS-003")
@pytest.mark.parametrize("path", MODULES.values(), ids=MODULES)
def test_a_core_module_does_no_io(path: Path) -> None:
    assert _faults(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "open('x')",
        "import datetime\ndatetime.datetime.now()",
        "from datetime import datetime\ndatetime.now()",
        "import time\ntime.time()",
        "import random",
        "from os import urandom",
        "from tacit.base.io.system import TimeService",
    ],
)
def test_the_check_itself_bites(text: str) -> None:
    assert _faults(ast.parse(text))


def test_the_check_looks_at_something() -> None:
    assert len(MODULES) > 15
