"""Requirements, tests and the code that runs, held against each other (see spec/README.md).

python -m tools.spec_check            fails on any mismatch
python -m tools.spec_check --rows     also prints which tests prove each row

A row needs a test that names it; that test must run code which the product runs too. What ran is read from
spec/executed.json (`make reach` writes it, with the whole suite), what the product can run is computed (tools/reach.py).
"""

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.plugins import tiers
from tools import executed, reach, row_ids
from tools.places import ROOT, folders_of_tests, rooms

ROW = row_ids.ROW
# A function that more rows run than this proves none of them in particular.
FEW = 5
STALE = 0.10


def rows() -> dict[str, str]:
    """Every row and its text."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "spec").glob("*.toml")):
        if path.name not in {"open.toml", "survivors.toml", "unreached.toml"}:
            for name, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
                found[name] = row["text"]
    return found


def open_rows(known: dict[str, str]) -> dict[str, str]:
    """Rows that are listed as open, with the reason."""
    listed = tomllib.loads((ROOT / "spec" / "open.toml").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for entry in listed.get("open", []):
        first, _, last = entry["rows"].partition("..")
        for name in known:
            if first <= name <= (last or first) and name[:4] == first[:4]:
                found[name] = entry["reason"]
    return found


def _of_tests(pattern: str) -> list[Path]:
    return [path for folder in folders_of_tests() for path in sorted(folder.rglob(pattern))]


def _vectors() -> list[Path]:
    """The vectors that are kept as JSON: beside the tests, or in the package that publishes them."""
    folders = (ROOT / "tests" / "conformance", rooms()["a2acp"] / "data" / "vectors")
    return [path for folder in folders for path in sorted(folder.rglob("*.json"))]


def named() -> dict[str, list[str]]:
    """Which tests name which rows: in `spec(...)` marks, in tables of cases, and in vectors kept as JSON."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in _of_tests("*.py"):
        where = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and ROW.fullmatch(str(node.value)):
                found[str(node.value)].append(where)
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "spec":
                for argument in node.args:
                    if isinstance(argument, ast.Constant) and not ROW.fullmatch(str(argument.value)):
                        found[str(argument.value)].append(where)
    for path in _vectors():
        for name in ROW.findall(path.read_text(encoding="utf-8")):
            found[name].append(str(path.relative_to(ROOT)))
    return found


def of_proof_alone(proved: Iterable[str]) -> list[str]:
    """Which rows no test of `make test` names."""
    in_test: set[str] = set()
    tried = [path for path in _of_tests("*") if not tiers.is_proof(path) and path.suffix in {".py", ".json"}]
    for path in [*tried, *_vectors()]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py" and tiers.MARK in text:
            text = _without_proof(text)
        in_test.update(ROW.findall(text))
    return sorted(set(proved) - in_test)


def _without_proof(text: str) -> str:
    """A test module without what is marked as proof."""
    lines = text.splitlines()
    tree = ast.parse(text)
    if any(isinstance(node, ast.Assign) and tiers.MARK in ast.unparse(node) for node in tree.body):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            marks = node.decorator_list
            if any(tiers.MARK in ast.unparse(mark) for mark in marks):
                start, end = marks[0].lineno - 1, node.end_lineno or node.lineno
                lines[start:end] = [""] * (end - start)
    return "\n".join(lines)


def ran(
    proved: dict[str, list[str]],
    known: dict[str, str],
    runs: dict[str, list[str]] | None,
    dead: list[str],
    there: set[str],
) -> list[str]:
    """Rows that nothing of the product proves, and rows proved by code that the product never runs."""
    if runs is None:
        return ["spec/executed.json: there is no such file; `make reach` writes it"]
    named_at_all = [name for names in runs.values() for name in names]
    stale = sum(name not in there for name in named_at_all)
    if stale > STALE * len(named_at_all):
        return [
            f"spec/executed.json: {stale} of {len(named_at_all)} functions are gone or renamed; run `make reach` again"
        ]
    excused = reach.allowed(ROOT / "spec" / "unreached.toml")
    by_function: defaultdict[str, set[str]] = defaultdict(set)
    for row, names in runs.items():
        for name in names:
            by_function[name].add(row)
    unreachable = {
        name: not any(reach.covers(entry, name) for entry in excused)
        for name in by_function
        if any(reach.covers(one, name) for one in dead)
    }
    found: list[str] = []
    for row in sorted(proved.keys() & known.keys()):
        where = proved[row][0]
        if row not in runs:
            found.append(
                f"{row}: {where} names it, but spec/executed.json does not know it; run `make reach` again"
            )
        elif not any(name in there and name not in unreachable for name in runs[row]) and not any(
            name in unreachable and not unreachable[name] for name in runs[row]
        ):
            found.append(
                f"{row}: {where} runs nothing that an entry point reaches: {', '.join(runs[row][:3]) or 'nothing'}"
            )
        found += [
            f"{row}: {where} proves it with {name}, which no entry point reaches"
            for name in runs.get(row, [])
            if unreachable.get(name) and len(by_function[name]) <= FEW
        ]
    return found


def main() -> int:
    """Say what does not fit."""
    known, proved = rows(), named()
    waiting = open_rows(known)
    faults = [
        f"{name}: no test names it: {known[name][:100]}" for name in known if name not in proved | waiting
    ]
    faults += [
        f"{name}: named by {places[0]}, but no such row"
        for name, places in proved.items()
        if name not in known
    ]
    faults += [
        f"{name}: listed as open, yet {proved[name][0]} names it" for name in waiting if name in proved
    ]
    dead, there = reach.unreached(ROOT)
    runs = executed.read() if executed.EXECUTED.exists() else None
    faults += [*ran(proved, known, runs, dead, there), *reach.faults(ROOT, dead), *row_ids.faults(ROOT)]
    if "--rows" in sys.argv:
        for name in known:
            print(f"{name}  {', '.join(sorted(set(proved.get(name, []))) or [waiting.get(name, 'NOTHING')])}")
    alone = of_proof_alone(proved.keys() & known.keys())
    print(f"{len(alone)} rows are proved by `make proof` alone: {' '.join(alone)}")
    print("\n".join(faults) or f"{len(known)} rows: {len(known) - len(waiting)} proved, {len(waiting)} open")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
