"""No module of the product imports one that imports it, by whatever way round: `python -m tools.circles`.

Late imports count, and so do imports for types alone.
"""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter

import grimp


def circle(imported: dict[str, set[str]]) -> list[str]:
    """One circle among these modules, its first module also last; empty if there is none."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def main() -> int:
    """Say whether the house has a circle, and which."""
    house = grimp.build_graph("tacit")
    imported = {name: house.find_modules_directly_imported_by(name) for name in house.modules}
    if in_circle := circle(imported):
        sys.stderr.write(f"these import each other: {' -> '.join(in_circle)}\n")
        return 1
    sys.stdout.write(f"no circle among {len(house.modules)} modules\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
