"""docs/glossary.md and the code's nouns, held against each other both ways.

python -m tools.glossary_check            a class without its noun on the page, or a name on the page without its code, fails
python -m tools.glossary_check --missing  every noun the code uses and the page does not explain, by room, with its line

A public class is covered when the page has its name in backticks, or the noun at its end (`Claim` covers `LateClaim`).
A name in backticks that looks like code, `CamelCase` or `room.module` or `room/module.py`, must exist.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tools.places import ROOT, sources
from tools.reach import PACKAGE
from tools.source_tree import DEFS, Tree, load

if TYPE_CHECKING:
    from pathlib import Path

PAGE: Final = "docs/glossary.md"
_FENCE: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"`([^`\n]+)`")
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z]|\b|\d)|[A-Z][a-z]*|\d+")
_CAMEL: Final = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(?:\.\w+)?")
_PLACE: Final = re.compile(r"[a-z_0-9]+(?:[./][A-Za-z_0-9]+)+(?:\.py)?/?")


def explained(text: str) -> set[str]:
    """What the page has in backticks, examples left out."""
    return set(_CODE.findall(_FENCE.sub("", text)))


def heads(name: str) -> list[str]:
    """A class's name and the nouns at its end, longest first: LateClaim, Claim."""
    words = _WORDS.findall(name)
    return ["".join(words[start:]) for start in range(len(words))] if "".join(words) == name else [name]


def covers(page: set[str], name: str) -> bool:
    """Is one of its nouns explained, in the singular or as it stands?"""
    return any(head in page or head.removesuffix("s") in page or head.lower() in page for head in heads(name))


def nouns(tree: Tree) -> dict[str, list[tuple[str, str, str]]]:
    """By room: (noun, module, first line of its docstring), public classes and modules."""
    found: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for module in tree.modules.values():
        parts = module.name.split(".")
        room = parts[1] if len(parts) > 1 else parts[0]
        if not parts[-1].startswith("_"):
            found[room].append((parts[-1], module.name, _first(ast.get_docstring(module.tree))))
        for name, node in module.classes.items():
            if not name.startswith("_"):
                found[room].append((name, module.name, _first(ast.get_docstring(node))))
    return dict(found)


def _first(words: str | None) -> str:
    return (words or "").partition("\n")[0]


def names(tree: Tree) -> set[str]:
    """What the page may speak of: modules by any ending of their path, definitions, members, nouns of classes."""
    found: set[str] = set()
    for module in tree.modules.values():
        parts = module.name.split(".")
        for start in range(len(parts)):
            tail = parts[start:]
            found |= {".".join(tail), "/".join(tail), "/".join(tail) + ".py", "/".join(tail) + "/"}
            found |= {
                ".".join([*tail, name]) for name in (*module.functions, *module.classes, *module.variables)
            }
        found |= {*module.functions, *module.classes, *module.variables}
        for name, node in module.classes.items():
            found |= set(heads(name))
            found |= {f"{name}.{member}" for member in _members(node)}
    return found


def _members(node: ast.ClassDef) -> set[str]:
    found: set[str] = set()
    for item in node.body:
        if isinstance(item, DEFS):
            found.add(item.name)
        elif isinstance(item, ast.AnnAssign):
            found.add(getattr(item.target, "id", ""))
        elif isinstance(item, ast.Assign):
            found |= {getattr(target, "id", "") for target in item.targets}
    return found


def faults(root: Path = ROOT, package: str = PACKAGE) -> list[str]:
    """What the page lacks, and what it speaks of that is not there."""
    page = root / PAGE
    if not page.exists():
        return [f"{PAGE}: there is no such page"]
    tree = load(sources(root), package)
    said = explained(page.read_text(encoding="utf-8"))
    there = names(tree)
    found = [
        f"{module}: {name} is in {PAGE} neither by its name nor by its noun"
        for room in nouns(tree).values()
        for name, module, _ in room
        if name[0].isupper() and not covers(said, name)
    ]
    return found + [
        f"{PAGE}: `{name}` is not in the code"
        for name in sorted(said)
        if (_CAMEL.fullmatch(name) or _is_place(name, tree)) and name not in there
    ]


def _is_place(name: str, tree: Tree) -> bool:
    """Does it look like a module or a name in one? A wire member or an event kind does not begin with a room."""
    rooms = {one.split(".")[1] for one in tree.modules if "." in one} | {tree.package}
    return _PLACE.fullmatch(name) is not None and (
        name.endswith(".py") or re.split(r"[./]", name)[0] in rooms
    )


def missing(root: Path = ROOT, package: str = PACKAGE) -> list[str]:
    """Every noun that is not explained yet, by room."""
    page = root / PAGE
    said = explained(page.read_text(encoding="utf-8")) if page.exists() else set[str]()
    lines: list[str] = []
    for room, entries in sorted(nouns(load(sources(root), package)).items()):
        lines.append(f"## {room}")
        lines += [
            f"`{name}` ({module}): {line}"
            for name, module, line in sorted(entries, key=lambda one: (one[0][0].islower(), one[0]))
            if name not in said and not (name[0].isupper() and covers(said, name))
        ]
    return lines


def main() -> int:
    """Hold page and code against each other."""
    if "--missing" in sys.argv:
        print("\n".join(missing()))
        return 0
    found = faults()
    print("\n".join(found) or f"{PAGE} and the code use the same nouns")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
