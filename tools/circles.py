"""No module of the product imports one that imports it, by whatever way round: `python tools/circles.py`.

Late imports count, and so do imports for types alone, but inside the folders in `TYPES_STILL`: what stands there in
a circle of types is not there when the code runs, and is to be untied yet. No folder is to be added.
"""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter
from typing import Final

import grimp

TYPES_STILL: Final = ("tacit.agent.io.", "tacit.hub.")


def circle(imported: dict[str, set[str]]) -> list[str]:
    """One circle among these modules, its first module also last; empty if there is none."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def left_out(importer: str, imported: str) -> bool:
    """Is this inside a folder whose circles of types are not untied yet?"""
    return any(importer.startswith(folder) and imported.startswith(folder) for folder in TYPES_STILL)


def main() -> int:
    """Say whether the house has a circle, and which."""
    house = grimp.build_graph("tacit")
    runs = grimp.build_graph("tacit", exclude_type_checking_imports=True)
    loaded = {name: runs.find_modules_directly_imported_by(name) for name in house.modules & runs.modules}
    named = {
        name: {
            other
            for other in house.find_modules_directly_imported_by(name)
            if other in loaded.get(name, set()) or not left_out(name, other)
        }
        for name in house.modules
    }
    for imports in (loaded, named):
        if in_circle := circle(imports):
            sys.stderr.write(f"these import each other: {' -> '.join(in_circle)}\n")
            return 1
    sys.stdout.write(f"no circle among {len(house.modules)} modules\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
