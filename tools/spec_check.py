"""Requirements and tests, held against each other both ways (see spec/README.md).

python tools/spec_check.py            fails on any mismatch
python tools/spec_check.py --rows     also prints which tests prove each row
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"\b(?:CCCS|C2A|CLOWL|A2ACP)-\d{3}\b")


def rows() -> dict[str, str]:
    """Every row and its text."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "spec").glob("*.toml")):
        if path.name not in {"open.toml", "unreached.toml"}:
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


def named() -> dict[str, list[str]]:
    """Which tests name which rows: in `spec(...)` marks, in tables of cases, and in vectors kept as JSON."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        where = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and ROW.fullmatch(str(node.value)):
                found[str(node.value)].append(where)
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "spec":
                for argument in node.args:
                    if isinstance(argument, ast.Constant) and not ROW.fullmatch(str(argument.value)):
                        found[str(argument.value)].append(where)
    for path in sorted((ROOT / "tests" / "conformance").rglob("*.json")):
        for name in ROW.findall(path.read_text(encoding="utf-8")):
            found[name].append(str(path.relative_to(ROOT)))
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
    if "--rows" in sys.argv:
        for name in known:
            print(f"{name}  {', '.join(sorted(set(proved.get(name, []))) or [waiting.get(name, 'NOTHING')])}")
    print("\n".join(faults) or f"{len(known)} rows: {len(known) - len(waiting)} proved, {len(waiting)} open")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
