"""What runs under each row: which functions of the product the tests that name the row execute.

python -m tools.executed                       the whole suite (`make reach`); writes spec/executed.json
python -m tools.executed packages/core -n 2    only these tests; the other rows stay as they are

The suite runs once, against a copy of the product (tools/overlay.py) in which every function first sets its byte in a
file that the test's process and all its children share: a byte survives SIGKILL and costs some 50 ns. Import time
does not count, nor does a test that failed. For each row the rarest functions are kept, those that few other rows run,
and all that no entry point reaches.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools import overlay, reach
from tools.places import ROOT
from tools.source_tree import Module, definitions, load

EXECUTED: Final = ROOT / "spec" / "executed.json"
KEPT: Final = 12

RECORDER: Final = '''\
import mmap, os, pathlib
from tools.places import ROOT
def _shared():
    """The bytes of the nearest ancestor that records; without one, bytes that nobody reads."""
    pid = os.getpid()
    while pid > 1:
        path = pathlib.Path({maps!r}, str(pid))
        if path.exists():
            with path.open("r+b") as file:
                return memoryview(mmap.mmap(file.fileno(), 0))
        try:
            pid = int(pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
    return memoryview(bytearray({size}))
RAN = _shared()
'''


def instrument(folder: Path, package: str = reach.PACKAGE) -> list[str]:
    """Let every function of `folder/package` note that it ran; gives their names, by number."""
    tree = load([folder], package)
    marks: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for name, module, function, _ in definitions(tree):
        first = _first(function.body)
        if first is None:
            continue
        line = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))])
        # Numbers begin anew in each module: Hypothesis draws from the numbers in the product's text.
        number = len(inside[module.name])
        marks[module.name].append((line, first.col_offset, f"_tacit_ran[{number}] = 1"))
        inside[module.name].append(name)
    names: list[str] = []
    for module in tree.modules.values():
        _rewrite(module, marks[module.name], len(names))
        names += inside[module.name]
    return names


def _first(body: list[ast.stmt]) -> ast.stmt | None:
    """The first statement behind the docstring, unless there is nothing to run."""
    rest = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return rest[0] if rest else None


def _rewrite(module: Module, marks: list[tuple[int, int, str]], begin: int) -> None:
    # Column offsets count bytes.
    lines = module.path.read_bytes().splitlines(keepends=True)
    for line, column, mark in sorted(marks, reverse=True):
        before, after = lines[line - 1][:column], lines[line - 1][column:]
        if before.strip():
            lines[line - 1] = before + mark.encode() + b"; " + after
        else:
            lines.insert(line - 1, before + mark.encode() + b"\n")
    at = 0
    for one in module.tree.body:
        is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not (is_text or (isinstance(one, ast.ImportFrom) and one.module == "__future__")):
            break
        at = one.end_lineno or at
    lines.insert(at, f'import tacit_ran; _tacit_ran = tacit_ran.RAN[int("{begin}"):]\n'.encode())
    module.path.write_bytes(b"".join(lines))


@dataclass(frozen=True, slots=True)
class RunOfTest:
    """A test that passed: the rows it names, how long it took, and the functions that ran meanwhile."""

    rows: frozenset[str]
    seconds: float
    ran: frozenset[str]


@dataclass(frozen=True, slots=True)
class Recording:
    """What a run of tests executed, by test; what ran while modules were imported; and how the run ended."""

    tests: dict[str, RunOfTest]
    imported: frozenset[str]
    status: int

    def rows(self) -> dict[str, set[str]]:
        """What ran under each row."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for test in self.tests.values():
            for row in test.rows:
                found[row] |= test.ran
        return dict(found)


def record(arguments: list[str]) -> Recording:
    """Run tests against the copy, and note what each ran."""
    with tempfile.TemporaryDirectory(prefix="ran-") as name:
        folder = Path(name)
        made = overlay.build(folder)
        names = instrument(made.source)
        for part in ("maps", "tests"):
            (folder / part).mkdir()
        (folder / "functions.json").write_text(json.dumps(names), encoding="utf-8")
        recorder = RECORDER.format(maps=str(folder / "maps"), size=len(names))
        (made.source / "tacit_ran.py").write_text(recorder, encoding="utf-8")
        overlay.compile_modules(made)
        command = [str(made.python), "-m", "pytest", "-m", "not soak", *arguments]
        # The tests' own compiled modules are kept beside them: a mutant's tests are imported many times.
        environment = {**made.environment(), "TACIT_EXECUTED": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        tests: dict[str, RunOfTest] = {}
        imported: set[str] = set()
        for path in (folder / "tests").glob("*.json"):
            found = json.loads(path.read_text(encoding="utf-8"))
            imported |= {names[number] for number in found["imported"]}
            for test, said in found["tests"].items():
                ran = frozenset(names[number] for number in said["ran"])
                tests[test] = RunOfTest(frozenset(said["rows"]), said["seconds"], ran)
        return Recording(tests, frozenset(imported), status)


def specific(rows: dict[str, set[str]], dead: set[str]) -> dict[str, list[str]]:
    """Each row's rarest functions, and all of its dead ones."""
    runs = Counter(name for ran in rows.values() for name in ran)
    found: dict[str, list[str]] = {}
    for row, ran in rows.items():
        alive = sorted(ran - dead, key=lambda name: (runs[name], name))[:KEPT]
        found[row] = sorted({*alive, *(ran & dead)})
    return found


def write(rows: dict[str, list[str]], path: Path = EXECUTED) -> None:
    """One row a line, so that a change can be read."""
    short = {row: [name.removeprefix(f"{reach.PACKAGE}.") for name in names] for row, names in rows.items()}
    lines = [f"{json.dumps(row)}: {json.dumps(short[row])}" for row in sorted(short)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read(path: Path = EXECUTED) -> dict[str, list[str]]:
    """What was written, with whole names."""
    found: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return {row: [f"{reach.PACKAGE}.{name}" for name in names] for row, names in found.items()}


def main() -> int:
    """Record and write; a failing test is reported as the suite reports it."""
    arguments = sys.argv[1:]
    recording = record(arguments)
    rows = recording.rows()
    dead, known = reach.unreached()
    gone = {name for name in known if any(reach.covers(one, name) for one in dead)}
    found = specific(rows, gone)
    if (
        any(not one.startswith("-") and (ROOT / one.partition("::")[0]).exists() for one in arguments)
        and EXECUTED.exists()
    ):
        # A part of the suite adds to what is known of a row; only the whole suite says it anew.
        before = read()
        fresh = {row: sorted({*before.get(row, []), *names}) for row, names in found.items()}
        found = before | fresh
    write(found)
    print(f"{EXECUTED.relative_to(ROOT)}: {len(rows)} rows of this run, {EXECUTED.stat().st_size // 1000} kB")
    return recording.status


if __name__ == "__main__":
    sys.exit(main())
