"""The tail, capped: no module over 600 lines, no function over 60, no port over ten methods.

Nor may more class names than today have two meanings: the number only falls.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from typing import TYPE_CHECKING

from tools.places import ROOT, modules

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MODULE, FUNCTION, PORT = 600, 60, 10
AMBIGUOUS = 30
"""How many class names may stand in more than one module. Lower it with every rename; never raise it."""


def faults(path: Path) -> list[str]:
    """What is too long in one file."""
    text = path.read_text(encoding="utf-8")
    where = path.relative_to(ROOT)
    found = []
    if (lines := text.count("\n")) > MODULE:
        found.append(f"{where}: {lines} lines, at most {MODULE}")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION:
                found.append(f"{where}: {node.name} has {length} lines, at most {FUNCTION}")
        if isinstance(node, ast.ClassDef) and any(
            getattr(base, "id", "") == "Protocol" for base in node.bases
        ):
            methods = sum(isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) for item in node.body)
            if methods > PORT:
                found.append(f"{where}: port {node.name} has {methods} methods, at most {PORT}")
    return found


def ambiguous(paths: Iterable[Path]) -> list[str]:
    """The names of classes that more than one of these modules defines, in the order of the alphabet."""
    names = Counter(
        node.name
        for path in paths
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    return sorted(name for name, count in names.items() if count > 1)


def main() -> int:
    """Look at every module of the product."""
    paths = [path for path, _ in modules()]
    wrong = [fault for path in paths for fault in faults(path)]
    if len(names := ambiguous(paths)) > AMBIGUOUS:
        wrong.append(f"{len(names)} class names have two meanings, at most {AMBIGUOUS}: {', '.join(names)}")
    print("\n".join(wrong) or "no module, function or port is too long")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
