"""The tail, capped: no module over 600 lines, no function over 60, no port over ten methods."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from tools.places import ROOT, modules

if TYPE_CHECKING:
    from pathlib import Path

MODULE, FUNCTION, PORT = 600, 60, 10


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


def main() -> int:
    """Look at every module of the product."""
    too_long = [fault for path, _ in modules() for fault in faults(path)]
    print("\n".join(too_long) or "no module, function or port is too long")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
